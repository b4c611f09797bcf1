//! Where in a file a block of lines stands, when the model remembered it only roughly.

/// Ways to compare two lines, from strict to loose. A looser one is tried only after the stricter found nothing in the
/// whole range, so an exact match further down wins over a loose one nearby.
const COMPARISONS: [fn(&str, &str) -> bool; 4] = [
    |a, b| a == b,
    |a, b| a.trim_end() == b.trim_end(),
    |a, b| a.trim() == b.trim(),
    |a, b| plain(a).eq(plain(b)),
];

/// The index of the first line of `pattern` in `lines`, at or after `from`. With `at_end` only the end of `lines` is
/// looked at.
pub(crate) fn find(lines: &[&str], pattern: &[&str], from: usize, at_end: bool) -> Option<usize> {
    if pattern.is_empty() {
        return Some(from);
    }
    let last = lines.len().checked_sub(pattern.len())?;
    let first = if at_end { last.max(from) } else { from };
    COMPARISONS.into_iter().find_map(|same| {
        (first..=last).find(|&start| {
            pattern
                .iter()
                .zip(&lines[start..])
                .all(|(wanted, line)| same(wanted, line))
        })
    })
}

/// A line with the punctuation that editors and models like to exchange replaced by its ASCII form.
fn plain(line: &str) -> impl Iterator<Item = char> {
    line.trim().chars().map(|c| match c {
        '\u{2010}'..='\u{2015}' | '\u{2212}' => '-',
        '\u{2018}'..='\u{201B}' => '\'',
        '\u{201C}'..='\u{201F}' => '"',
        '\u{A0}' | '\u{2002}'..='\u{200A}' | '\u{202F}' | '\u{205F}' | '\u{3000}' => ' ',
        other => other,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stricter_comparisons_win_over_nearer_lines() {
        let file = ["\u{2018}x\u{2019}", "  'x'", "'x' ", "'x'"];
        assert_eq!(find(&file, &["'x'"], 0, false), Some(3));
        assert_eq!(find(&file[..3], &["'x'"], 0, false), Some(2));
        assert_eq!(find(&file[..2], &["'x'"], 0, false), Some(1));
        assert_eq!(find(&file[..1], &["'x'"], 0, false), Some(0));
    }

    #[test]
    fn range_is_respected() {
        let file = ["a", "b", "a"];
        assert_eq!(find(&file, &["a"], 1, false), Some(2));
        assert_eq!(find(&file, &["a"], 3, false), None);
        assert_eq!(find(&file, &["b"], 0, true), None);
        assert_eq!(find(&file, &["b", "a"], 2, true), None);
        assert_eq!(find(&file, &["a", "b", "a", "b"], 0, false), None);
    }
}
