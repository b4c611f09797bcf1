//! Every source file begins by saying why it exists, so that nobody has to guess from its code.

use super::Problem;
use crate::tree::Tree;

pub fn check(tree: &Tree) -> Vec<Problem> {
    tree.rust_files()
        .filter(|file| !begins_with_docs(&file.text))
        .map(|file| {
            Problem::at(
                file,
                1,
                "begin the file with a `//!` line that says why it exists",
            )
        })
        .collect()
}

/// Whether a doc comment comes first, but for a shebang and inner attributes.
fn begins_with_docs(text: &str) -> bool {
    let mut rest = text;
    if rest.starts_with("#!") && !rest.starts_with("#![") {
        rest = rest.split_once('\n').map_or("", |(_, rest)| rest);
    }
    while rest.trim_start().starts_with("#![") {
        rest = rest.split_once("]\n").map_or("", |(_, rest)| rest);
    }
    rest.trim_start().starts_with("//!")
}

#[cfg(test)]
mod tests {
    use super::super::assert_says;

    const SAID: &str =
        "crates/a/src/lib.rs:1: begin the file with a `//!` line that says why it exists";

    fn check(text: &str, expected: &[&str]) {
        assert_says(super::check, &[("crates/a/src/lib.rs", text)], expected);
    }

    #[test]
    fn docs_come_first() {
        check("//! Why.\nfn a() {}\n", &[]);
        check("#![allow(\n    x,\n)]\n#![no_std]\n\n//! Why.\n", &[]);
        check("#!/usr/bin/env x\n//! Why.\n", &[]);
    }

    #[test]
    fn anything_else_is_reported() {
        check("", &[SAID]);
        check("// Why.\n", &[SAID]);
        check("use a;\n//! Late.\n", &[SAID]);
        check("#![no_std]\nfn a() {}\n", &[SAID]);
    }
}
