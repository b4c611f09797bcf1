//! Command actions and the known-safe list against recorded answers of codex 0.118.0.

use quipu_policy::actions::command_actions;
use quipu_policy::bash::Command;
use quipu_policy::safe::is_known_safe;
use serde_json::json;

use crate::support::{assert_none, bash, bash_commands, commands, fixture, strings, words};

#[test]
fn actions_are_as_recorded() {
    let differences: Vec<String> = fixture("command_actions.jsonl")
        .into_iter()
        .filter_map(|row| {
            let ours = json!(command_actions(&strings(&row["argv"])));
            (ours != row["actions"])
                .then(|| format!("{}\n  {}\n  {ours}", row["argv"], row["actions"]))
        })
        .collect();
    assert_none(&differences);
}

#[test]
fn no_command_at_all_is_unknown() {
    assert_eq!(
        json!(command_actions(&[])),
        json!([{"type": "unknown", "command": ""}])
    );
}

/// A quoted connector is an ordinary word, although codex 0.118.0 cuts the command there.
#[test]
fn quoted_connectors_are_words() {
    assert_eq!(
        json!(command_actions(&bash("grep '|' table.md"))),
        json!([{"type": "search", "command": "grep '|' table.md", "query": "|", "path": "table.md"}])
    );
}

/// Commands that are asked about here and not there, because they can write or run something.
const STRICTER: [&str; 9] = [
    "rg --search-zip=x",
    "sed -n 1p -i",
    "./ls",
    "../bin/cat x",
    "~/ls",
    "/x/find .",
    "uniq x y",
    "sed -n 1p -f",
    "sed -n 5p -s",
];

#[test]
fn known_safe_commands_are_as_recorded() {
    let differences: Vec<String> = fixture("known_safe.jsonl")
        .into_iter()
        .filter_map(|row| {
            let argv = strings(&row["argv"]);
            if argv
                .get(2)
                .is_some_and(|script| STRICTER.contains(&script.as_str()))
            {
                return None;
            }
            let unsafe_one = commands(&argv).into_iter().find(|one| !is_known_safe(one));
            let ours = json!(unsafe_one.map(|command| command.words));
            (ours != row["first_unsafe"]).then(|| format!("{} {ours}", row["argv"]))
        })
        .collect();
    assert_none(&differences);
}

#[test]
fn what_can_write_or_run_is_not_safe() {
    let scripts = STRICTER.into_iter().chain([
        r"find . \-delete",
        r"find . -de\lete",
        "find . {-delete,}",
        "rg {--pre,sh} x",
        r"git log --out\put=x",
        r#"bash -c "ls \`touch x\`""#,
        r#"bash -c "ls \$x""#,
        r"bash -c ls\ *",
        "./bash -c ls",
        "bash -c 'ls '{a,b}",
        "/bin/../tmp/ls",
        "/usr/bin/../../tmp/cat x",
    ]);
    for script in scripts {
        let all_safe = bash_commands(script).iter().all(is_known_safe);
        assert!(!all_safe, "{script}");
    }
    assert!(is_known_safe(&Command::verbatim(&words("/usr/bin/ls -la"))));
}
