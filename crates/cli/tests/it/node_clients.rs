//! The official TypeScript SDKs of MCP and ACP, and the MCP inspector, as clients of this program. They need Node and
//! the directory that holds their `node_modules` in `QUIPU_TEST_NODE`; CONTRIBUTING says how to make one.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};

use crate::exec::{Place, text};
use crate::support::QUIPU;

/// How long a program of many steps may take on a slow machine.
const LONGEST: Duration = Duration::from_secs(300);

/// The directory with the packages, if the tester has it.
fn packages() -> Option<PathBuf> {
    let found = std::env::var_os("QUIPU_TEST_NODE").map(PathBuf::from);
    if found.is_none() {
        eprintln!("skipped: set QUIPU_TEST_NODE to a directory with the SDKs in node_modules");
    }
    found
}

/// Runs a program of Node in a directory that has the packages.
#[expect(
    clippy::disallowed_methods,
    reason = "a program of the test, killed on drop"
)]
async fn node(packages: &Path, args: &[&str], home: &Path) -> String {
    let mut command = tokio::process::Command::new("node");
    command
        .args(args)
        .current_dir(packages)
        .env("HOME", home)
        .stdin(Stdio::null())
        .kill_on_drop(true);
    let output = tokio::time::timeout(LONGEST, command.output()).await;
    let output = output.expect("the program ends").unwrap();
    assert!(output.status.success(), "{output:?}");
    text(&output.stdout).to_owned()
}

/// Runs a script of the tests and returns what it saw, by the name of each step.
async fn seen(packages: &Path, script: &str, place: &Place) -> Value {
    // Packages are looked up from where the script is.
    let file = tempfile::Builder::new()
        .suffix(".mjs")
        .tempfile_in(packages);
    let file = file.unwrap();
    std::fs::write(file.path(), script).unwrap();
    let [path, home, work] = [file.path(), place.directory.path(), &place.work()]
        .map(|it| it.to_str().unwrap().to_owned());
    let printed = node(
        packages,
        &[&path, QUIPU, &home, &work],
        place.directory.path(),
    )
    .await;
    let mut seen = json!({});
    for line in printed.lines() {
        let step: Value = serde_json::from_str(line).unwrap();
        seen[step[0].as_str().unwrap()] = step[1].clone();
    }
    seen
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_mcp_sdk_calls_the_agent_over_both_transports() {
    let Some(packages) = packages() else { return };
    let place = Place::new();
    std::fs::write(place.work().join("mcp.mjs"), include_str!("acp_mcp.mjs")).unwrap();
    let seen = seen(&packages, include_str!("mcp_clients.mjs"), &place).await;
    assert_eq!(seen["plain"], true);
    let expected = json!({
        "tools": ["codex", "codex-reply"],
        "asked": ["command", "Which?", "forms: Who?"],
        "answers": [true, true],
        "progress": true,
        "first": "made",
        "reply": "again",
        "slow": "cancelled",
    });
    for transport in ["stdio", "http"] {
        assert_eq!(seen[transport], expected);
        assert!(place.work().join(format!("{transport}.txt")).exists());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_mcp_inspector_lists_and_calls_the_tools() {
    let Some(packages) = packages() else { return };
    let place = Place::new();
    let home = place.directory.path();
    let inspector = "node_modules/@modelcontextprotocol/inspector/cli/build/cli.js";
    let variable = format!("HOME={}", home.display());
    let server = [
        inspector,
        "--cli",
        QUIPU,
        "mcp-server",
        "-e",
        &variable,
        "--method",
    ];
    let listed = node(&packages, &[&server[..], &["tools/list"]].concat(), home).await;
    let listed: Value = serde_json::from_str(&listed).unwrap();
    assert_eq!(listed["tools"][1]["name"], "codex-reply");
    let prompt = format!("prompt={}", json!({ "script": [{ "text": "inspected" }] }));
    let call = ["tools/call", "--tool-name", "codex", "--tool-arg", &prompt];
    let called = node(&packages, &[&server[..], &call].concat(), home).await;
    let called: Value = serde_json::from_str(&called).unwrap();
    assert_eq!(called["structuredContent"]["content"], "inspected");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_acp_sdk_works_with_the_agent_as_an_editor_does() {
    let Some(packages) = packages() else { return };
    let place = Place::new();
    std::fs::write(place.work().join("mcp.mjs"), include_str!("acp_mcp.mjs")).unwrap();
    let seen = seen(&packages, include_str!("acp_client.mjs"), &place).await;
    let expected = json!({ "version": 1, "load": true, "image": true, "auth": ["api-key"] });
    assert_eq!(seen["initialize"], expected);
    assert_eq!(
        seen["new"],
        json!({ "commands": ["compact", "review", "status"], "modes": ["configured", "read-only", "auto", "full-access"], "options": ["mode", "model"] })
    );
    assert_eq!(
        seen["message"],
        json!({ "stop": "end_turn", "text": "hello", "thought": "hm" })
    );
    let kinds = json!(["allow_once", "allow_always", "reject_once"]);
    let asked = json!([{ "title": "Edit a.txt", "kinds": kinds, "known": true }]);
    assert_eq!(
        seen["rejected"],
        json!({ "stop": "end_turn", "asked": asked, "file": "one\ntwo\n" })
    );
    let path = place.work().join("a.txt");
    let diff =
        json!({ "type": "diff", "path": path, "oldText": "one\ntwo\n", "newText": "one\nthree\n" });
    assert_eq!(
        seen["patch"],
        json!({ "stop": "end_turn", "kind": "edit", "title": "Edit a.txt", "diff": diff, "line": 1,
            "end": "completed", "file": "one\nthree\n" })
    );
    let output = json!(["```console\nout\n```", "exit code 3"]);
    assert_eq!(
        seen["command"],
        json!({ "stop": "end_turn", "asked": 0, "title": "`printf out; exit 3`", "status": "failed", "output": output })
    );
    assert_eq!(seen["plan"], json!(["a completed", "b pending"]));
    let written = format!("Write {}", place.work().join("written.txt").display());
    assert_eq!(
        seen["editor"],
        json!({ "stop": "end_turn", "asked": [written, "Run `make all`"], "file": "w", "terminal": true })
    );
    assert_eq!(seen["cancelled"], "cancelled");
    let kinds = json!(["allow_once", "allow_always", "allow_always", "reject_once"]);
    assert_eq!(
        seen["mcp"],
        json!({ "always": [kinds], "again": 0, "status": "completed" })
    );
    assert_eq!(
        seen["no forms"],
        json!({ "stop": "end_turn", "result": r#"{"action":"decline"}"#, "told": true })
    );
    let filled = r#"{"action":"accept","content":{"color":"blue","name":"Ada","really":true}}"#;
    assert_eq!(
        seen["form"],
        json!({ "asked": ["forms: Who?"], "result": filled })
    );
    assert_eq!(
        seen["lost"],
        json!({ "stop": "cancelled", "lost": true, "again": true, "next": "end_turn", "text": "on" })
    );
    assert_eq!(seen["schema"]["invalid"], json!([]));
    let checked = seen["schema"]["checked"].as_array().unwrap();
    assert!(checked.len() >= 26, "{checked:?}");
    assert!(checked.contains(&json!("Error")), "{checked:?}");
    assert_eq!(
        seen["status"],
        json!({ "stop": "end_turn", "text": "- mode: Workspace" })
    );
    assert_eq!(
        seen["compact"],
        json!({ "stop": "end_turn", "titles": ["Shorten the history"] })
    );
    assert_eq!(seen["model"], "other-model");
    assert_eq!(
        seen["errors"],
        json!([
            "unknown session nope; start or load one first",
            "audio is not supported",
            "there is no mode `nope`",
            "cwd must be an absolute path, but is `relative`",
            "there is no authentication method `nope`",
        ])
    );
    assert_eq!(seen["exit"], 0);
    assert_eq!(
        seen["loaded"],
        json!({ "listed": true, "user": true, "agent": true, "edits": 2 })
    );
    assert_eq!(
        seen["resumed"],
        json!({ "stop": "end_turn", "text": "again" })
    );
    assert_eq!(seen["deleted"], false);
}
