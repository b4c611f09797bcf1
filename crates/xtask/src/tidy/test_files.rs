//! Every integration test runs: one binary per crate, `tests/it/main.rs`, and each file beside it
//! is declared as a module. Cargo would pass over a forgotten file in silence.

use super::Problem;
use crate::rust_text::{self, Part};
use crate::tree::{File, Tree};

const MAIN: &str = "it/main.rs";

pub fn check(tree: &Tree) -> Vec<Problem> {
    tree.rust_files()
        .filter_map(|file| problem(tree, file))
        .collect()
}

fn problem(tree: &Tree, file: &File) -> Option<Problem> {
    let (tests, path) = file.path.split_once("/tests/")?;
    if tests.matches('/').count() != 1 || path == MAIN {
        return None;
    }
    if !path.contains('/') || (path.ends_with("/main.rs") && path.matches('/').count() == 1) {
        let message = "a second test binary; make it a module of `tests/it/main.rs`";
        return Some(Problem::in_file(file, message));
    }
    let module = path
        .strip_prefix("it/")?
        .trim_end_matches(".rs")
        .trim_end_matches("/mod");
    let (parents, name) = match module.rsplit_once('/') {
        Some((folder, name)) => (
            vec![
                format!("{tests}/tests/it/{folder}.rs"),
                format!("{tests}/tests/it/{folder}/mod.rs"),
            ],
            name,
        ),
        None => (vec![format!("{tests}/tests/{MAIN}")], module),
    };
    let declared = parents
        .iter()
        .filter_map(|path| tree.file(path))
        .any(|parent| {
            let code = rust_text::only(&parent.text, Part::Code);
            code.lines()
                .any(|line| line.trim().ends_with(&format!("mod {name};")))
        });
    let message = || format!("never runs: declare `mod {name};` in {}", parents[0]);
    (!declared).then(|| Problem::in_file(file, message()))
}

#[cfg(test)]
mod tests {
    use super::super::assert_says;

    #[test]
    fn declared_files_pass() {
        let files = [
            (
                "crates/a/tests/it/main.rs",
                "mod one;\npub(crate) mod deep;\nmod old;\n",
            ),
            ("crates/a/tests/it/one.rs", ""),
            ("crates/a/tests/it/deep.rs", "mod er;\n"),
            ("crates/a/tests/it/deep/er.rs", ""),
            ("crates/a/tests/it/old/mod.rs", ""),
            ("crates/a/tests/data/x.rs", ""),
            ("crates/a/src/tests/unit.rs", ""),
        ];
        assert_says(super::check, &files, &[]);
    }

    #[test]
    fn forgotten_files_and_second_binaries_are_reported() {
        let files = [
            ("crates/a/tests/it/main.rs", "// mod one;\n"),
            ("crates/a/tests/it/one.rs", ""),
            ("crates/a/tests/it/deep/er.rs", ""),
            ("crates/a/tests/loose.rs", ""),
            ("crates/a/tests/more/main.rs", ""),
        ];
        assert_says(
            super::check,
            &files,
            &[
                "crates/a/tests/it/deep/er.rs: never runs: declare `mod er;` in crates/a/tests/it/deep.rs",
                "crates/a/tests/it/one.rs: never runs: declare `mod one;` in crates/a/tests/it/main.rs",
                "crates/a/tests/loose.rs: a second test binary; make it a module of `tests/it/main.rs`",
                "crates/a/tests/more/main.rs: a second test binary; make it a module of `tests/it/main.rs`",
            ],
        );
    }
}
