//! Dependencies between our crates follow the crate map, so that a border on the page is a border
//! in the code.

use super::Problem;
use crate::crate_map::{self, MayUse, Row};
use crate::manifest::{Dependency, Manifest};
use crate::tree::Tree;

/// Scripted peers and fault injection: nothing that is shipped may contain it.
const TESTS_ONLY: &str = "testkit";

pub fn check(tree: &Tree) -> Vec<Problem> {
    let Some(map) = tree.file(crate_map::PATH) else {
        let path = crate_map::PATH.to_owned();
        return vec![Problem {
            path,
            line: None,
            message: "the crate map is missing".to_owned(),
        }];
    };
    let rows = crate_map::parse(&map.text);
    let mut problems = Vec::new();
    for row in &rows {
        if !tree
            .crates()
            .any(|(directory, _)| directory == row.directory)
        {
            let message = format!(
                "the crate map shows `{}`, which does not exist",
                row.directory
            );
            problems.push(Problem::at(map, row.line, message));
        }
    }
    for (directory, file) in tree.crates() {
        let Some(row) = rows.iter().find(|row| row.directory == directory) else {
            let message = format!(
                "`{directory}` is missing from the crate map in {}",
                crate_map::PATH
            );
            problems.push(Problem::in_file(file, message));
            continue;
        };
        for dependency in &Manifest::parse(&file.text).dependencies {
            if let Some(message) = forbidden(row, dependency) {
                problems.push(Problem::at(file, dependency.line, message));
            }
        }
    }
    problems
}

fn forbidden(row: &Row, dependency: &Dependency) -> Option<String> {
    let used = dependency.package.strip_prefix("quipu-")?;
    if dependency.dev || row.may_use.names(used) {
        None
    } else if used == TESTS_ONLY {
        Some(format!(
            "`{TESTS_ONLY}` is for tests; move it to [dev-dependencies]"
        ))
    } else if row.may_use == MayUse::Everything {
        None
    } else {
        Some(format!(
            "`{}` may not use `{used}`; see the crate map in {}",
            row.directory,
            crate_map::PATH
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::super::assert_says;

    const MAP: &str = "\
## Crate map
| `wire` | w | — |
| `server` | s | `wire` |
| `cli` | c | everything |
| `bench` | b | `testkit` |
";

    fn check(server: &str, cli: &str, bench: &str, expected: &[&str]) {
        let files = [
            ("ARCHITECTURE.md", MAP),
            ("crates/bench/Cargo.toml", bench),
            ("crates/cli/Cargo.toml", cli),
            ("crates/server/Cargo.toml", server),
            ("crates/wire/Cargo.toml", ""),
        ];
        assert_says(super::check, &files, expected);
    }

    #[test]
    fn edges_of_the_map_are_allowed() {
        let server = "[dependencies]\nquipu-wire.workspace = true\nserde = \"1\"\n";
        let dev = "[dev-dependencies]\nquipu-testkit.workspace = true\n";
        let bench = "[dependencies]\nquipu-testkit.workspace = true\n";
        check(
            &format!("{server}{dev}"),
            "[dependencies]\nquipu-server = {}\n",
            bench,
            &[],
        );
    }

    #[test]
    fn other_edges_are_reported() {
        let server = "[dependencies]\nquipu-cli.workspace = true\n";
        let cli = "[dependencies]\nquipu-testkit.workspace = true\n";
        check(
            server,
            cli,
            "",
            &[
                "crates/cli/Cargo.toml:2: `testkit` is for tests; move it to [dev-dependencies]",
                "crates/server/Cargo.toml:2: `server` may not use `cli`; see the crate map in ARCHITECTURE.md",
            ],
        );
    }

    #[test]
    fn map_and_crates_are_the_same_set() {
        let files = [
            ("ARCHITECTURE.md", "## Crate map\n| `old` | o | — |\n"),
            ("crates/new/Cargo.toml", ""),
        ];
        assert_says(
            super::check,
            &files,
            &[
                "ARCHITECTURE.md:2: the crate map shows `old`, which does not exist",
                "crates/new/Cargo.toml: `new` is missing from the crate map in ARCHITECTURE.md",
            ],
        );
    }
}
