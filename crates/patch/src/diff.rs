//! Unified hunks between two texts.

use std::fmt::Write as _;
use std::iter::zip;
use std::ops::{Index, Range};
use std::time::{Duration, Instant};

use similar::algorithms::IdentifyDistinct;
use similar::udiff::UnifiedHunkHeader;
use similar::{Algorithm, DiffOp, capture_diff_deadline, group_diff_ops};

/// After this long the search for a small diff ends and a larger one, just as right, is taken.
const PATIENCE: Duration = Duration::from_millis(200);

/// From so many lines on numbering all of them pays for itself.
const MANY: usize = 100;

/// How much of two texts is compared at a time to find where they differ.
const PIECE: usize = 1024;

/// The hunks, without file headers, that lead from `old` to `new`; nothing if they are equal.
///
/// Lines end at `\n` only, as in the files of a patch.
pub(crate) fn hunks(old: &str, new: &str, context: usize) -> String {
    let (before, after) = common(old, new, context + 1);
    let mut lines = [old, new].map(|text| Lines::new(text, before, after));
    let mut operations = compare(&lines);
    // An insertion slides down over lines that are like it, so it must see where they end.
    let is_settled = matches!(operations.last(), Some(DiffOp::Equal { len, .. }) if *len > context);
    if !is_settled && after > 0 {
        lines = [old, new].map(|text| Lines::new(text, 0, 0));
        operations = compare(&lines);
    }
    let [old, new] = &lines;
    let mut text = String::new();
    for hunk in group_diff_ops(operations, context) {
        // Writing to a string cannot fail.
        writeln!(text, "{}", UnifiedHunkHeader::new(&hunk)).ok();
        for change in hunk.iter().flat_map(|it| it.iter_changes(old, new)) {
            write!(text, "{}{}", change.tag(), change.value()).ok();
            if !change.value().ends_with('\n') {
                text.push_str("\n\\ No newline at end of file\n");
            }
        }
    }
    text
}

/// How many bytes at the beginning, and at the end, are the same in both texts and need not be looked at.
/// Both are whole lines, and at least `margin` more lines are the same next to them.
fn common(old: &str, new: &str, margin: usize) -> (usize, usize) {
    let (old, new) = (old.as_bytes(), new.as_bytes());
    let same = zip(old.chunks(PIECE), new.chunks(PIECE)).take_while(|(old, new)| old == new);
    let same = &old[..same.map(|(old, _)| old.len()).sum()];
    let mut ends = memchr::memrchr_iter(b'\n', same);
    let before = ends.nth(margin).map_or(0, |end| end + 1);
    let (old, new) = (&old[same.len()..], &new[same.len()..]);
    let same = zip(old.rchunks(PIECE), new.rchunks(PIECE)).take_while(|(old, new)| old == new);
    let same: usize = same.map(|(old, _)| old.len()).sum();
    let same = &old[old.len() - same..];
    let mut ends = memchr::memchr_iter(b'\n', same);
    let after = ends.nth(margin).map_or(0, |end| same.len() - end - 1);
    (before, after)
}

/// Consecutive lines of a text, by their numbers in the whole of it.
struct Lines<'a> {
    first: usize,
    lines: Vec<&'a str>,
}

impl<'a> Lines<'a> {
    /// All lines but those in so many bytes at the beginning and at the end.
    fn new(text: &'a str, before: usize, after: usize) -> Self {
        Self {
            first: memchr::memchr_iter(b'\n', &text.as_bytes()[..before]).count(),
            lines: text[before..text.len() - after]
                .split_inclusive('\n')
                .collect(),
        }
    }

    fn range(&self) -> Range<usize> {
        self.first..self.first + self.lines.len()
    }
}

impl<'a> Index<usize> for Lines<'a> {
    type Output = &'a str;

    fn index(&self, number: usize) -> &Self::Output {
        &self.lines[number - self.first]
    }
}

/// What leads from old lines to new ones. A patch changes little of a file, so lines are compared as they
/// are; only for a large change they are numbered first, which costs more than the rest of a small one.
fn compare([old, new]: &[Lines; 2]) -> Vec<DiffOp> {
    let deadline = Instant::now().checked_add(PATIENCE);
    if old.lines.len().max(new.lines.len()) < MANY {
        return capture_diff_deadline(
            Algorithm::Myers,
            old,
            old.range(),
            new,
            new.range(),
            deadline,
        );
    }
    let numbered = IdentifyDistinct::<u32>::new(old, old.range(), new, new.range());
    capture_diff_deadline(
        Algorithm::Myers,
        numbered.old_lookup(),
        numbered.old_range(),
        numbered.new_lookup(),
        numbered.new_range(),
        deadline,
    )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn headers_count_lines_as_git_does() {
        assert_eq!(hunks("", "a\nb\n", 3), "@@ -0,0 +1,2 @@\n+a\n+b\n");
        assert_eq!(hunks("a\n", "", 3), "@@ -1 +0,0 @@\n-a\n");
        assert_eq!(hunks("a\n", "b\n", 3), "@@ -1 +1 @@\n-a\n+b\n");
        assert_eq!(hunks("a\n", "a\n", 3), "");
        assert_eq!(
            hunks("a", "a\n", 3),
            "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n"
        );
    }

    /// What the library makes of the same texts by itself, which is what clients of the protocol know.
    fn reference(old: &str, new: &str, context: usize) -> String {
        let old: Vec<&str> = old.split_inclusive('\n').collect();
        let new: Vec<&str> = new.split_inclusive('\n').collect();
        let diff = similar::TextDiff::configure()
            .newline_terminated(true)
            .diff_slices(&old, &new);
        diff.unified_diff().context_radius(context).to_string()
    }

    proptest! {
        /// Few different lines, so that hunks can slide; some texts long, so that lines are numbered and
        /// those far from a change are not looked at.
        #[test]
        fn hunks_are_those_of_the_library(
            old in "([ab]\n){0,300}[ab]?",
            repeats in 1..20_usize,
            cut in 0..3000_usize,
            removed in prop_oneof![0..3_usize, 0..200_usize],
            added in "([ab]\n){0,20}",
            context in 0..4_usize,
        ) {
            let old = old.repeat(repeats);
            let mut lines: Vec<&str> = old.split_inclusive('\n').collect();
            let from = cut.min(lines.len());
            let to = (from + removed).min(lines.len());
            lines.splice(from..to, added.split_inclusive('\n'));
            let new = lines.concat();
            prop_assert_eq!(hunks(&old, &new, context), reference(&old, &new, context));
        }
    }

    #[test]
    fn a_lone_carriage_return_ends_no_line() {
        assert_eq!(hunks("a\rb\n", "a\rc\n", 1), "@@ -1 +1 @@\n-a\rb\n+a\rc\n");
    }
}
