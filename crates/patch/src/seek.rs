//! Where in a file a block of lines stands, when the model remembered it only roughly.

use std::borrow::Cow;

/// What two lines must have in common to be the same, from strict to loose. A looser one is tried
/// only after the stricter found nothing in the whole range, so an exact match further down wins
/// over a loose one nearby.
const KEYS: [fn(&str) -> Cow<'_, str>; 4] = [
    |line| line.into(),
    |line| line.trim_end().into(),
    |line| line.trim().into(),
    |line| line.trim().chars().map(plain).collect(),
];

/// The index of the first line of `pattern` in `lines`, at or after `from`. With `at_end` only the
/// end of `lines` is looked at.
pub(crate) fn find(lines: &[&str], pattern: &[&str], from: usize, at_end: bool) -> Option<usize> {
    let last = lines.len().checked_sub(pattern.len())?;
    let first = if at_end { last.max(from) } else { from };
    let range = lines.get(first..)?;
    let found = KEYS
        .into_iter()
        .find_map(|key| search(range, pattern, key))?;
    Some(first + found)
}

/// Knuth, Morris and Pratt's search: no pattern, however repetitive, makes it look at a line twice.
fn search(lines: &[&str], pattern: &[&str], key: fn(&str) -> Cow<'_, str>) -> Option<usize> {
    let pattern: Vec<Cow<str>> = pattern.iter().map(|line| key(line)).collect();
    if pattern.is_empty() {
        return Some(0);
    }
    let borders = borders(&pattern);
    let mut matched = 0;
    for (index, line) in lines.iter().enumerate() {
        let line = key(line);
        while matched > 0 && pattern[matched] != line {
            matched = borders[matched - 1];
        }
        matched += usize::from(pattern[matched] == line);
        if matched == pattern.len() {
            return Some(index + 1 - matched);
        }
    }
    None
}

/// For each prefix of `pattern`, how much of its beginning is also its end.
fn borders(pattern: &[Cow<str>]) -> Vec<usize> {
    let mut borders = vec![0; pattern.len()];
    for index in 1..pattern.len() {
        let mut border = borders[index - 1];
        while border > 0 && pattern[border] != pattern[index] {
            border = borders[border - 1];
        }
        borders[index] = border + usize::from(pattern[border] == pattern[index]);
    }
    borders
}

/// The ASCII form of punctuation that editors and models like to exchange for it.
fn plain(c: char) -> char {
    match c {
        '\u{2010}'..='\u{2015}' | '\u{2212}' => '-',
        '\u{2018}'..='\u{201B}' => '\'',
        '\u{201C}'..='\u{201F}' => '"',
        '\u{A0}' | '\u{2002}'..='\u{200A}' | '\u{202F}' | '\u{205F}' | '\u{3000}' => ' ',
        other => other,
    }
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

    #[test]
    fn repetitive_patterns_are_found_where_they_stand() {
        let file: Vec<&str> = "a a b a a a b a a a a b".split(' ').collect();
        for length in 1..=5 {
            for start in 0..=file.len() - length {
                let pattern = &file[start..start + length];
                let expected = file.windows(length).position(|window| window == pattern);
                assert_eq!(find(&file, pattern, 0, false), expected, "{pattern:?}");
            }
        }
    }
}
