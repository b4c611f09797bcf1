//! The language of rules files against what codex 0.118.0 was seen to make of small programs.
//!
//! A row of `starlark.jsonl` is a file, a command, and the rules that matched, or null where the
//! file was refused. `QUIPU_TEST_CODEX` names official programs, separated by colons, that are
//! asked again.

use std::path::Path;

use quipu_policy::bash::Command;
use quipu_policy::rules::{Place, Rules};
use serde_json::Value;

use crate::support::{assert_none, fixture, in_fixture_words, strings};

/// Where this program differs: numbers of more than 127 bits, long computations, calls of functions of the language from the
/// deepest call there can be, and symbols outside of the basic plane; see docs/differences.md.
const DIFFERENT: [&str; 9] = [
    "100000000000000000000000000000000000000000",
    "1 << 600",
    "1 << 1000",
    "[0] * 100000000",
    "for i in range(1000) for j in range(1000)",
    "f(47)",
    "def f(n): return str(n)",
    "chr(128512)",
    "😀",
];

#[test]
fn programs_mean_what_they_were_recorded_to_mean() {
    let place = Place {
        cwd: Path::new("/project"),
        writable: &[],
    };
    let mut differences = Vec::new();
    for row in fixture("starlark.jsonl") {
        let source = row["source"].as_str().unwrap();
        let parsed = Rules::parse(Path::new("test.rules"), source);
        let ours = match &parsed {
            Err(_) => Value::Null,
            Ok(rules) => {
                let command = Command::verbatim(&strings(&row["command"]));
                let found = rules.matches(&command, &place);
                found.iter().map(in_fixture_words).collect()
            }
        };
        let same = ours == row["matches"];
        if same == DIFFERENT.iter().any(|part| source.contains(part)) {
            let error = parsed.err().map(|error| error.to_string());
            let theirs = &row["matches"];
            differences.push(format!(
                "{source}\n  ours {ours} {error:?}\n  theirs {theirs}\n"
            ));
        }
    }
    assert_none(&differences);
}

/// Asks the official program again.
#[test]
fn official_programs_agree_with_the_record() {
    let Some(programs) = std::env::var_os("QUIPU_TEST_CODEX") else {
        return;
    };
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("test.rules");
    let mut differences = Vec::new();
    for program in std::env::split_paths(&programs) {
        for row in fixture("starlark.jsonl") {
            std::fs::write(&file, row["source"].as_str().unwrap()).unwrap();
            #[expect(clippy::disallowed_methods, reason = "tests")]
            let output = std::process::Command::new(&program)
                .args(["execpolicy", "check", "--rules"])
                .arg(&file)
                .arg("--")
                .args(strings(&row["command"]))
                .env("CODEX_HOME", directory.path())
                .output()
                .unwrap();
            let theirs: Value = match output.status.success() {
                false => Value::Null,
                true => {
                    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
                    let matched = answer["matchedRules"].as_array().unwrap();
                    let rules = matched.iter().map(|found| &found["prefixRuleMatch"]);
                    rules.cloned().collect()
                }
            };
            if theirs != row["matches"] {
                differences.push(format!("{row}\n  {theirs}"));
            }
        }
    }
    assert_none(&differences);
}
