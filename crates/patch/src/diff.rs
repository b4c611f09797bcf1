//! Unified hunks between two texts.

use std::time::Duration;

use similar::TextDiff;

/// After this long the search for a small diff ends and a larger one, just as right, is taken.
const PATIENCE: Duration = Duration::from_millis(200);

/// The hunks, without file headers, that lead from `old` to `new`; nothing if they are equal.
///
/// Lines end at `\n` only, as in the files of a patch.
pub(crate) fn hunks(old: &str, new: &str, context: usize) -> String {
    let old: Vec<&str> = old.split_inclusive('\n').collect();
    let new: Vec<&str> = new.split_inclusive('\n').collect();
    TextDiff::configure()
        .timeout(PATIENCE)
        .newline_terminated(true)
        .diff_slices(&old, &new)
        .unified_diff()
        .context_radius(context)
        .to_string()
}

#[cfg(test)]
mod tests {
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

    #[test]
    fn a_lone_carriage_return_ends_no_line() {
        assert_eq!(hunks("a\rb\n", "a\rc\n", 1), "@@ -1 +1 @@\n-a\rb\n+a\rc\n");
    }
}
