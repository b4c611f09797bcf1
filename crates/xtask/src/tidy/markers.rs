//! A comment that promises later work names the issue that owns it; otherwise nobody does.

use super::Problem;
use crate::rust_text::{self, Part, line_of, words};
use crate::tree::{File, Tree};

const MARKERS: &[&str] = &["TODO", "FIXME", "HACK", "XXX"];

pub fn check(tree: &Tree) -> Vec<Problem> {
    tree.rust_files().flat_map(check_file).collect()
}

fn check_file(file: &File) -> Vec<Problem> {
    let comments = rust_text::only(&file.text, Part::Comment);
    let mut problems = Vec::new();
    for marker in MARKERS {
        for at in words(&comments, marker) {
            let after = &comments[at + marker.len()..];
            let longer_word = after.starts_with(|c: char| c.is_alphanumeric() || c == '_');
            if !longer_word && !has_owner(after) {
                let message = format!("write the issue that owns it: `{marker}(#123)`");
                problems.push(Problem::at(file, line_of(&comments, at), message));
            }
        }
    }
    problems
}

fn has_owner(after: &str) -> bool {
    let issue = after
        .strip_prefix("(#")
        .and_then(|rest| rest.split_once(')'));
    issue.is_some_and(|(number, _)| number.parse::<u32>().is_ok())
}

#[cfg(test)]
mod tests {
    use super::super::assert_says;

    #[test]
    fn a_marker_needs_an_issue() {
        let text =
            "// TODO(#12): later\n// FIXME: some day\n/* TODO(me) */\nlet a = \"TODO\"; // TODOS\n";
        assert_says(
            super::check,
            &[("crates/a/src/lib.rs", text)],
            &[
                "crates/a/src/lib.rs:2: write the issue that owns it: `FIXME(#123)`",
                "crates/a/src/lib.rs:3: write the issue that owns it: `TODO(#123)`",
            ],
        );
    }
}
