//! What the tests share: fixtures, and words made from text.

use quipu_policy::bash::{Command, Script, parse_script, script_of};
use quipu_policy::rules::{Decision, RuleMatch};
use serde_json::{Value, json};

/// The lines of a fixture.
pub fn fixture(name: &str) -> Vec<Value> {
    let path = format!("{}/tests/it/fixtures/{name}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// A JSON list of strings.
pub fn strings(value: &Value) -> Vec<String> {
    serde_json::from_value(value.clone()).unwrap()
}

/// A match as fixtures have it.
pub fn in_fixture_words(found: &RuleMatch) -> Value {
    let decision = match found.decision {
        Decision::Allow => "allow",
        Decision::Prompt => "prompt",
        Decision::Forbidden => "forbidden",
    };
    let mut value = json!({"matchedPrefix": found.prefix, "decision": decision});
    if let Some(reason) = &found.justification {
        value["justification"] = json!(reason);
    }
    value
}

/// Words that hold no blanks.
pub fn words(line: &str) -> Vec<String> {
    line.split_whitespace().map(str::to_owned).collect()
}

/// A script as the tools pass it on.
pub fn bash(script: &str) -> Vec<String> {
    ["/bin/bash", "-c", script].map(str::to_owned).to_vec()
}

/// The commands of an argument vector: those of its script, or itself.
pub fn commands(argv: &[String]) -> Vec<Command> {
    match script_of(argv).map(parse_script) {
        Some(Script::Plain(commands)) => commands,
        Some(Script::HereDoc { command, .. }) => vec![command],
        _ => vec![Command::verbatim(argv)],
    }
}

/// The commands of a script.
pub fn bash_commands(script: &str) -> Vec<Command> {
    commands(&bash(script))
}

/// Fails with every difference at once.
pub fn assert_none(differences: &[String]) {
    assert!(
        differences.is_empty(),
        "{} differences:\n{}",
        differences.len(),
        differences.join("\n")
    );
}
