//! Unified diffs as the texts before and after, which is what editors show.

/// One hunk: where it begins in the new file, and its texts.
#[derive(Debug, PartialEq, Eq)]
pub struct Hunk {
    pub line: u32,
    pub old: String,
    pub new: String,
}

/// The hunks of a unified diff. What is not part of one is skipped.
pub fn hunks(diff: &str) -> Vec<Hunk> {
    let mut hunks: Vec<Hunk> = Vec::new();
    for line in diff.lines() {
        if let Some(head) = line.strip_prefix("@@ ") {
            let added = head.split(' ').find_map(|word| word.strip_prefix('+'));
            let start = added.and_then(|it| it.split(',').next()?.parse().ok());
            let line = start.unwrap_or(1);
            hunks.push(Hunk {
                line,
                old: String::new(),
                new: String::new(),
            });
            continue;
        }
        let Some(hunk) = hunks.last_mut() else {
            continue;
        };
        let (old, new, text) = match line.split_at_checked(1) {
            Some(("-", text)) => (true, false, text),
            Some(("+", text)) => (false, true, text),
            Some((" ", text)) => (true, true, text),
            _ => continue,
        };
        for (is_part, side) in [(old, &mut hunk.old), (new, &mut hunk.new)] {
            if is_part {
                side.push_str(text);
                side.push('\n');
            }
        }
    }
    hunks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hunks_have_the_texts_before_and_after() {
        let diff = "@@ -1,2 +1,2 @@\n a\n-b\n+c\n@@ -9 +9,2 @@\n z\n+y\n";
        let hunk = |line, old: &str, new: &str| Hunk {
            line,
            old: old.into(),
            new: new.into(),
        };
        assert_eq!(
            hunks(diff),
            [hunk(1, "a\nb\n", "a\nc\n"), hunk(9, "z\n", "z\ny\n")]
        );
        assert_eq!(hunks("no diff"), []);
    }
}
