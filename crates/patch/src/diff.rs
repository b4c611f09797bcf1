//! Unified hunks between two texts.

use std::fmt::Write as _;
use std::iter::zip;
use std::time::{Duration, Instant};

use similar::algorithms::IdentifyDistinct;
use similar::udiff::UnifiedHunkHeader;
use similar::{Algorithm, DiffOp, capture_diff_deadline, group_diff_ops};

/// After this long the search for a small diff ends and a larger one, just as right, is taken.
const PATIENCE: Duration = Duration::from_millis(200);

/// From so many lines on, between those that both texts begin and end with, numbering all lines pays
/// for itself.
const MANY: usize = 100;

/// The hunks, without file headers, that lead from `old` to `new`; nothing if they are equal.
///
/// Lines end at `\n` only, as in the files of a patch.
pub(crate) fn hunks(old: &str, new: &str, context: usize) -> String {
    let old: Vec<&str> = old.split_inclusive('\n').collect();
    let new: Vec<&str> = new.split_inclusive('\n').collect();
    let mut text = String::new();
    for hunk in group_diff_ops(operations(&old, &new), context) {
        // Writing to a string cannot fail.
        writeln!(text, "{}", UnifiedHunkHeader::new(&hunk)).ok();
        for change in hunk.iter().flat_map(|it| it.iter_changes(&old, &new)) {
            write!(text, "{}{}", change.tag(), change.value()).ok();
            if !change.value().ends_with('\n') {
                text.push_str("\n\\ No newline at end of file\n");
            }
        }
    }
    text
}

/// What leads from `old` to `new`. A patch changes little of a file, so lines are compared as they are;
/// only for a large change they are numbered first, which costs more than the rest of a small one.
fn operations(old: &[&str], new: &[&str]) -> Vec<DiffOp> {
    let deadline = Instant::now().checked_add(PATIENCE);
    let begin = zip(old, new).take_while(|(old, new)| old == new).count();
    let rest = zip(old[begin..].iter().rev(), new[begin..].iter().rev());
    let end = rest.take_while(|(old, new)| old == new).count();
    let (all_old, all_new) = (0..old.len(), 0..new.len());
    if old.len().max(new.len()) - begin - end < MANY {
        return capture_diff_deadline(Algorithm::Myers, old, all_old, new, all_new, deadline);
    }
    let numbered = IdentifyDistinct::<u32>::new(old, all_old, new, all_new);
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
        /// Few different lines, so that hunks can slide; some texts long, so that lines are numbered.
        #[test]
        fn hunks_are_those_of_the_library(
            old in "([ab]\n){0,300}[ab]?",
            cut in 0..300_usize,
            removed in 0..200_usize,
            added in "([ab]\n){0,20}",
            context in 0..4_usize,
        ) {
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
