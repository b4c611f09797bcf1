//! Every integration test runs: one binary per crate, `tests/it/main.rs`, and each file beside it
//! is declared as a module. Cargo would pass over a forgotten file in silence. A binary that must stand
//! alone is listed here with its crate.

use super::Problem;
use crate::rust_text::{self, Part};
use crate::tree::{File, Tree};

/// The binary of a crate.
const BINARY: &str = "it";
/// Binaries beside it: the fault matrix has a harness of its own, since its output is a product.
const MORE_BINARIES: &[(&str, &str)] = &[("crates/server", "faults")];

pub fn check(tree: &Tree) -> Vec<Problem> {
    tree.rust_files()
        .filter_map(|file| problem(tree, file))
        .collect()
}

fn problem(tree: &Tree, file: &File) -> Option<Problem> {
    let (owner, path) = file.path.split_once("/tests/")?;
    if owner.matches('/').count() != 1 {
        return None;
    }
    let (binary, rest) = path.split_once('/').unwrap_or(("", path));
    let is_allowed = binary == BINARY || MORE_BINARIES.contains(&(owner, binary));
    match (is_allowed, rest) {
        (true, "main.rs") => return None,
        (false, _) if binary.is_empty() || rest == "main.rs" => {
            let message = "a second test binary; make it a module of `tests/it/main.rs`";
            return Some(Problem::in_file(file, message));
        }
        (false, _) => return None,
        (true, _) => {}
    }
    let module = rest.trim_end_matches(".rs").trim_end_matches("/mod");
    let (parents, name) = match module.rsplit_once('/') {
        Some((directory, name)) => (
            vec![
                format!("{owner}/tests/{binary}/{directory}.rs"),
                format!("{owner}/tests/{binary}/{directory}/mod.rs"),
            ],
            name,
        ),
        None => (vec![format!("{owner}/tests/{binary}/main.rs")], module),
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
    fn a_listed_binary_may_stand_alone_but_its_files_must_run() {
        let files = [
            ("crates/server/tests/faults/main.rs", "mod one;\n"),
            ("crates/server/tests/faults/one.rs", ""),
            ("crates/server/tests/faults/two.rs", ""),
            ("crates/a/tests/faults/main.rs", ""),
        ];
        assert_says(
            super::check,
            &files,
            &[
                "crates/a/tests/faults/main.rs: a second test binary; make it a module of `tests/it/main.rs`",
                "crates/server/tests/faults/two.rs: never runs: declare `mod two;` in crates/server/tests/faults/main.rs",
            ],
        );
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
