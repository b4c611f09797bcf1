//! The approval table against recorded answers of codex 0.118.0.

use std::path::{Path, PathBuf};

use quipu_policy::commands::{CommandRequest, CommandVerdict, decide_command};
use quipu_policy::permissions::{CommandTool, Grants};
use quipu_policy::rules::Rules;
use quipu_policy::session::SessionApprovals;
use quipu_policy::settings::Settings;
use quipu_wire::{AdditionalPermissionProfile, AskForApproval, SandboxPolicy};
use serde_json::{Value, json};

use crate::support::{assert_none, bash, fixture, strings};

const RULES: &str = r#"
prefix_rule(pattern=["rallow"])
prefix_rule(pattern=["rprompt"], decision="prompt")
prefix_rule(pattern=["rpromptj"], decision="prompt", justification="talks to remote")
prefix_rule(pattern=["rforbid"], decision="forbidden")
prefix_rule(pattern=["rforbid", "sub"], decision="forbidden", justification="use other")
prefix_rule(pattern=["mix"])
prefix_rule(pattern=["mix", "x"], decision="prompt")
"#;

const POLICIES: [&str; 8] = [
    "untrusted",
    "on-failure",
    "on-request",
    "never",
    "granular+sandbox+rules",
    "granular+sandbox",
    "granular+rules",
    "granular",
];
const SANDBOXES: [&str; 4] = [
    "readOnly",
    "workspaceWrite",
    "dangerFullAccess",
    "externalSandbox",
];

fn policy(name: &str) -> AskForApproval {
    let value = match name.strip_prefix("granular") {
        None => json!(name),
        Some(on) => json!({"granular": {
            "sandbox_approval": on.contains("sandbox"),
            "rules": on.contains("rules"),
            "mcp_elicitations": false,
        }}),
    };
    serde_json::from_value(value).unwrap()
}

fn cells(row: &Value) -> Vec<(&'static str, &'static str)> {
    let listed = strings(&row["cells"]);
    let all = POLICIES
        .iter()
        .flat_map(|p| SANDBOXES.iter().map(move |s| (*p, *s)));
    all.filter(|(policy, sandbox)| {
        listed
            .iter()
            .any(|cell| cell == "*" || cell == policy || *cell == format!("{policy}/{sandbox}"))
    })
    .collect()
}

/// A verdict in the words of the fixture.
fn outcome(verdict: &CommandVerdict) -> Value {
    match verdict {
        CommandVerdict::Run(_) => json!("run"),
        CommandVerdict::Refuse(text) | CommandVerdict::Misuse(text) => json!({"refuse": text}),
        CommandVerdict::Ask(question) => {
            let decisions: Vec<Value> = question
                .available_decisions
                .iter()
                .map(|decision| match json!(decision) {
                    Value::Object(object) => json!(object.keys().next()),
                    name => name,
                })
                .collect();
            json!({"ask": {
                "reason": question.reason,
                "amendment": question.proposed_amendment,
                "decisions": decisions,
            }})
        }
    }
}

#[test]
fn the_table_is_as_recorded() {
    let rules = Rules::parse(Path::new("test.rules"), RULES).unwrap();
    let mut differences = Vec::new();
    let mut seen = 0;
    for row in fixture("approval_table.jsonl") {
        let asks = &row["asks"];
        let additional: Option<AdditionalPermissionProfile> =
            serde_json::from_value(asks["additional_permissions"].clone()).unwrap();
        let prefix_rule = asks.get("prefix_rule").map(strings).unwrap_or_default();
        let argv = bash(row["command"].as_str().unwrap());
        let request = CommandRequest {
            argv: &argv,
            cwd: Path::new("/project"),
            tool: match row["tool"].as_str().unwrap() {
                "exec_command" => CommandTool::ExecCommand,
                _ => CommandTool::Shell,
            },
            tty: false,
            permissions: serde_json::from_value(
                asks.get("sandbox_permissions")
                    .cloned()
                    .unwrap_or(json!("use_default")),
            )
            .unwrap(),
            additional_permissions: additional.as_ref(),
            justification: asks["justification"].as_str(),
            prefix_rule: &prefix_rule,
        };
        for (policy_name, sandbox) in cells(&row) {
            seen += 1;
            let sandbox: SandboxPolicy = serde_json::from_value(json!({"type": sandbox})).unwrap();
            let verdict = decide_command(
                &request,
                &Settings {
                    approval_policy: &policy(policy_name),
                    sandbox: &sandbox,
                    writable: &[PathBuf::from("/project")],
                    shell: "/bin/bash",
                    rules: &rules,
                    grants: &Grants::default(),
                    session: &SessionApprovals::default(),
                    additional_permissions: true,
                },
            );
            let ours = outcome(&verdict);
            if ours != row["outcome"] {
                differences.push(format!("{policy_name} {row}\n   {ours}"));
            }
        }
    }
    assert_none(&differences);
    assert!(seen > 2000, "{seen}");
}
