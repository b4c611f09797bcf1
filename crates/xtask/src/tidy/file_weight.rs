//! A clone stays small: a large file is made by a generator or does not belong here.

use std::path::Path;

use super::Problem;
use crate::codegen;
use crate::tree::Tree;

const LIMIT: usize = 512 * 1024;

pub fn check(tree: &Tree) -> Vec<Problem> {
    let generated = codegen::outputs(tree);
    tree.files()
        .filter(|file| file.size > LIMIT && file.path != "Cargo.lock")
        .filter(|file| {
            !generated
                .iter()
                .any(|output| Path::new(&file.path).starts_with(output))
        })
        .map(|file| {
            let kib = file.size / 1024;
            Problem::in_file(
                file,
                format!("{kib} KiB, over the limit of {} KiB", LIMIT / 1024),
            )
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::assert_says;

    #[test]
    fn only_generated_files_may_be_large() {
        let large = "x".repeat(600 * 1024);
        let files = [
            ("crates/xtask/codegen.txt", "schema/json: generate {out}\n"),
            ("docs/picture.svg", &large),
            ("schema/json/all.json", &large),
        ];
        assert_says(
            super::check,
            &files,
            &["docs/picture.svg: 600 KiB, over the limit of 512 KiB"],
        );
    }
}
