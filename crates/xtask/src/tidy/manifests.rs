//! Every crate is named after its directory, says what it is for and takes the workspace's lints.

use super::Problem;
use crate::manifest::Manifest;
use crate::tree::Tree;

pub fn check(tree: &Tree) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (directory, file) in tree.crates() {
        let manifest = Manifest::parse(&file.text);
        let name = if directory == "xtask" {
            directory.to_owned()
        } else {
            format!("quipu-{directory}")
        };
        if manifest.name != name {
            problems.push(Problem::in_file(file, format!("name the package `{name}`")));
        }
        if manifest.description.is_empty() {
            problems.push(Problem::in_file(
                file,
                "add a `description`: the crate's charter",
            ));
        }
        if !manifest.workspace_lints {
            problems.push(Problem::in_file(
                file,
                "add `[lints]` with `workspace = true`",
            ));
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::super::assert_says;

    #[test]
    fn a_complete_manifest_passes() {
        let rest = "description = \"a\"\n[lints]\nworkspace = true\n";
        let product = format!("[package]\nname = \"quipu-a\"\n{rest}");
        let chores = format!("[package]\nname = \"xtask\"\n{rest}");
        let files = [
            ("crates/a/Cargo.toml", &*product),
            ("crates/xtask/Cargo.toml", &*chores),
        ];
        assert_says(super::check, &files, &[]);
    }

    #[test]
    fn what_is_missing_is_named() {
        assert_says(
            super::check,
            &[("crates/a/Cargo.toml", "[package]\nname = \"a\"\n")],
            &[
                "crates/a/Cargo.toml: add `[lints]` with `workspace = true`",
                "crates/a/Cargo.toml: add a `description`: the crate's charter",
                "crates/a/Cargo.toml: name the package `quipu-a`",
            ],
        );
    }
}
