//! No tabs and no trailing blanks in what people write; data files keep the bytes they need.

use super::Problem;
use crate::tree::Tree;

const WRITTEN: &[&str] = &[".md", ".rs", ".sh", ".toml"];

pub fn check(tree: &Tree) -> Vec<Problem> {
    let mut problems = Vec::new();
    for file in tree
        .files()
        .filter(|file| WRITTEN.iter().any(|end| file.path.ends_with(end)))
    {
        for (line, number) in file.text.split('\n').zip(1..) {
            if line.contains('\t') {
                problems.push(Problem::at(
                    file,
                    number,
                    "tab; use spaces, or \\t in a literal",
                ));
            }
            if line.ends_with(char::is_whitespace) {
                problems.push(Problem::at(file, number, "trailing whitespace"));
            }
        }
        if !file.text.is_empty() && !file.text.ends_with('\n') {
            problems.push(Problem::in_file(file, "end the file with a line break"));
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::super::assert_says;

    #[test]
    fn blanks_that_nobody_sees_are_reported() {
        let files = [
            ("a.md", "a \nb\tc\nd\r\ne"),
            ("a.jsonl", "a \n"),
            ("empty.md", ""),
        ];
        assert_says(
            super::check,
            &files,
            &[
                "a.md: end the file with a line break",
                "a.md:1: trailing whitespace",
                "a.md:2: tab; use spaces, or \\t in a literal",
                "a.md:3: trailing whitespace",
            ],
        );
    }
}
