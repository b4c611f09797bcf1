//! The official TypeScript SDK of MCP and its inspector, as clients of this program. They need Node and
//! the directory that holds their `node_modules` in `QUIPU_TEST_NODE`; CONTRIBUTING says how to make one.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use quipu_testkit::client::within;
use serde_json::{Value, json};

use crate::exec::{Place, text};
use crate::support::QUIPU;

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
    let output = within("the end of the program", command.output()).await;
    let output = output.unwrap();
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
    let seen = seen(&packages, include_str!("mcp_clients.mjs"), &place).await;
    let expected = json!({
        "tools": ["codex", "codex-reply"],
        "asked": ["command"],
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
