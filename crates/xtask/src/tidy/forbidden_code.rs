//! Code that compiles but must not be merged: leftovers of debugging, tests that are switched off,
//! tests that guess how long something takes, results that are dropped without a reason.

use super::Problem;
use crate::rust_text::{line_of, words};
use crate::tree::{File, Tree};

/// Crates whose job includes writing to a terminal.
const PRINTING: &[&str] = &["bench", "cli", "xtask"];

struct Rule {
    code: &'static str,
    scope: Scope,
    message: &'static str,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Scope {
    Everywhere,
    Tests,
    /// Product code of crates that have no business with a terminal.
    Silent,
}

const RULES: &[Rule] = &[
    Rule {
        code: "todo!",
        scope: Scope::Everywhere,
        message: "finish it or leave it out",
    },
    Rule {
        code: "dbg!",
        scope: Scope::Everywhere,
        message: "remove the debugging output",
    },
    Rule {
        code: "PoisonError",
        scope: Scope::Everywhere,
        message: "use `parking_lot::Mutex`, which a panic does not poison",
    },
    Rule {
        code: "#[ignore",
        scope: Scope::Everywhere,
        message: "a test runs or is removed; make a slow one depend on QUIPU_SOAK",
    },
    Rule {
        code: "print!",
        scope: Scope::Silent,
        message: PRINT,
    },
    Rule {
        code: "println!",
        scope: Scope::Silent,
        message: PRINT,
    },
    Rule {
        code: "sleep(",
        scope: Scope::Tests,
        message: SLEEP,
    },
    Rule {
        code: "sleep_until(",
        scope: Scope::Tests,
        message: SLEEP,
    },
];

const PRINT: &str = "stdout belongs to the protocol; use `tracing`";
const SLEEP: &str = "wait for an event instead of sleeping";

pub fn check(tree: &Tree) -> Vec<Problem> {
    tree.rust_files().flat_map(check_file).collect()
}

fn check_file(file: &File) -> Vec<Problem> {
    let code = file.code();
    let prints = file
        .crate_directory()
        .is_some_and(|directory| PRINTING.contains(&directory));
    let mut problems = Vec::new();
    for rule in RULES {
        for at in words(&code.text, rule.code) {
            let line = line_of(&code.text, at);
            let in_test = line > code.product_lines;
            let applies = match rule.scope {
                Scope::Everywhere => true,
                Scope::Tests => in_test,
                Scope::Silent => !in_test && !prints,
            };
            if applies {
                let message = format!("`{}`: {}", rule.code, rule.message);
                problems.push(Problem::at(file, line, message));
            }
        }
    }
    let dropped = (1..=code.product_lines).filter(|line| drops_silently(&file.text, *line));
    let message = "`.ok();`: handle the error, or say in a comment why it does not matter";
    problems.extend(dropped.map(|line| Problem::at(file, line, message)));
    problems
}

/// Whether this line drops an error with no comment on it since the last empty line. Writing to a string cannot fail.
fn drops_silently(text: &str, line: usize) -> bool {
    let lines: Vec<&str> = text.lines().take(line).map(str::trim).collect();
    let Some(last) = lines.last().filter(|it| it.ends_with(".ok();")) else {
        return false;
    };
    let keeps = ["let ", "return ", "write!(", "writeln!("];
    let before = lines.iter().rev().nth(1);
    let is_value = keeps.iter().any(|it| last.starts_with(it))
        || last.contains(" = ")
        || before.is_some_and(|it| it.ends_with(" ="));
    let mut paragraph = lines.iter().rev().take_while(|it| !it.is_empty());
    !is_value && !paragraph.any(|it| it.contains("//"))
}

#[cfg(test)]
mod tests {
    use super::super::assert_says;

    #[test]
    fn leftovers_are_reported_everywhere() {
        let files = [
            ("crates/a/src/lib.rs", "fn a() {\n    todo!()\n}\n"),
            (
                "crates/a/tests/it/main.rs",
                "#[ignore]\nfn b() {\n    dbg!(1);\n}\n",
            ),
        ];
        assert_says(
            super::check,
            &files,
            &[
                "crates/a/src/lib.rs:2: `todo!`: finish it or leave it out",
                "crates/a/tests/it/main.rs:1: `#[ignore`: a test runs or is removed; \
             make a slow one depend on QUIPU_SOAK",
                "crates/a/tests/it/main.rs:3: `dbg!`: remove the debugging output",
            ],
        );
    }

    #[test]
    fn dropped_errors_are_explained() {
        let text = "fn a() {\n    // It may be gone.\n    b().ok();\n\n    let c = d().ok();\n    write!(text, \"\").ok();\n    \
                    e().ok();\n}\n";
        assert_says(
            super::check,
            &[("crates/a/src/lib.rs", text)],
            &[
                "crates/a/src/lib.rs:7: `.ok();`: handle the error, or say in a comment why it does not matter",
            ],
        );
    }

    #[test]
    fn only_tests_may_not_sleep() {
        let text =
            "fn a() { sleep(d) }\n#[cfg(test)]\nmod tests {\n    fn b() { time::sleep(d) }\n}\n";
        assert_says(
            super::check,
            &[("crates/a/src/lib.rs", text)],
            &["crates/a/src/lib.rs:4: `sleep(`: wait for an event instead of sleeping"],
        );
    }

    #[test]
    fn only_terminal_crates_print() {
        let text = "fn a() { println!() }\n";
        let files = [
            ("crates/cli/src/main.rs", text),
            ("crates/rpc/examples/a.rs", text),
            ("crates/rpc/src/lib.rs", text),
        ];
        assert_says(
            super::check,
            &files,
            &["crates/rpc/src/lib.rs:1: `println!`: stdout belongs to the protocol; use `tracing`"],
        );
    }

    #[test]
    fn text_and_longer_names_are_not_code() {
        let text = "// todo! and dbg!\nfn a() { eprintln!(\"println!\"); my_todo!() }\n";
        assert_says(super::check, &[("crates/a/src/lib.rs", text)], &[]);
    }
}
