//! Sessions, and the threads that go on in them.

use std::collections::BTreeSet;

use quipu_adapter::{
    Approvals, McpServer, Mount, Prompt, Session, Slice, Snapshot, ThreadState, Tool, ToolContext,
    ToolError, Workspace,
};
use quipu_client::wire::{SandboxMode, SandboxPolicy};
use quipu_testkit::model::ModelServer;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::support::{Lab, scripted, soon};

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Cart(Vec<String>);

impl Slice for Cart {
    const NAME: &'static str = "cart";
    type Event = String;

    fn apply(&mut self, item: String) {
        self.0.push(item);
    }
}

#[test]
fn a_session_survives_as_json() {
    let session = Session::new();
    session.dispatch::<Cart>("bread".to_owned());
    let before = session.snapshot();
    session.dispatch::<Cart>("wine".to_owned());
    let text = serde_json::to_string(&session).unwrap();
    let read: Session = serde_json::from_str(&text).unwrap();
    assert_eq!(read.get::<Cart>().0, ["bread", "wine"]);
    assert_eq!(read.events::<Cart>(), ["bread", "wine"]);
    assert_eq!(read.snapshot(), session.snapshot());
    read.dispatch::<Cart>("salt".to_owned());
    assert_eq!(read.get::<Cart>().0.len(), 3);
    assert_eq!(session.get::<Cart>().0.len(), 2);

    let stored = serde_json::to_string(&before).unwrap();
    let stored: Snapshot = serde_json::from_str(&stored).unwrap();
    read.restore(&stored);
    assert_eq!(read.get::<Cart>().0, ["bread"]);
    assert_eq!(read.events::<Cart>().len(), 3);
}

#[test]
fn a_stored_slice_of_another_form_says_so() {
    let session: Session = serde_json::from_value(json!({ "slices": { "cart": 7 } })).unwrap();
    assert!(session.try_get::<Cart>().is_err());
    assert_eq!(session.get::<Cart>(), Cart::default());
    assert!(session.has::<Cart>());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_thread_is_reused_only_if_everything_is_the_same() {
    let lab = Lab::new();
    let adapter = lab.adapter().reuse_threads();
    let session = Session::new();
    let prompt = scripted(json!([{ "text": "one", "usage": { "input": 70, "output": 30 } }]));
    let first = soon(adapter.evaluate(&prompt, &session)).await.unwrap();
    // The session may have been stored meanwhile.
    let session: Session = serde_json::from_str(&serde_json::to_string(&session).unwrap()).unwrap();
    let second = soon(adapter.evaluate(&prompt, &session)).await.unwrap();
    let thread =
        |response: &quipu_adapter::Response<String>| response.place.clone().unwrap().thread_id;
    assert_eq!(thread(&first), thread(&second));
    assert_eq!((first.usage.total, second.usage.total), (100, 100));
    assert_eq!(session.get::<ThreadState>().used.total, 200);

    let tool = Tool::new("act", "Acts.", async |(), _: ToolContext| {
        Ok::<_, ToolError>("ok")
    });
    let with_tool = scripted(json!([{ "text": "two" }])).tool(tool);
    let third = soon(adapter.evaluate(&with_tool, &session)).await.unwrap();
    assert_ne!(thread(&second), thread(&third));
    let confined = adapter.clone().sandbox(SandboxMode::ReadOnly);
    let confined = soon(confined.evaluate(&with_tool, &session)).await.unwrap();
    assert_ne!(thread(&third), thread(&confined));
    let sandbox = confined.place.unwrap().sandbox;
    assert!(matches!(sandbox, SandboxPolicy::ReadOnly { .. }));
    let asking = adapter.clone().approvals(Approvals::OnRequest);
    let asking = soon(asking.evaluate(&with_tool, &session)).await.unwrap();
    let third = soon(adapter.evaluate(&with_tool, &session)).await.unwrap();
    assert_ne!(thread(&asking), thread(&third));
    let elsewhere = adapter.clone().cwd("/");
    let fourth = soon(elsewhere.evaluate(&with_tool, &session))
        .await
        .unwrap();
    assert_ne!(thread(&third), thread(&fourth));
    let other_model = elsewhere.clone().model("another");
    let fifth = soon(other_model.evaluate(&with_tool, &session))
        .await
        .unwrap();
    assert_ne!(thread(&fourth), thread(&fifth));
    let workspace = Workspace::builder()
        .allow_root(lab.directory.path())
        .build()
        .unwrap();
    let mounted = Prompt::text("test").workspace(workspace);
    let sixth = soon(adapter.evaluate(&mounted, &session)).await.unwrap();
    assert!(session.get::<ThreadState>().workspace_fingerprint.is_some());
    assert_ne!(thread(&fifth), thread(&sixth));
}

/// A loaded thread keeps the MCP servers that it was started with, so others need another thread.
#[tokio::test(flavor = "multi_thread")]
async fn a_thread_is_reused_only_with_the_same_mcp_servers() {
    let lab = Lab::new();
    let plain = lab.adapter().reuse_threads();
    let with = |server: McpServer| plain.clone().mcp_server("notes", server);
    let server = || McpServer::command("true", ["--notes"]);
    let adapters = [
        ("none", plain.clone()),
        ("one", with(server())),
        (
            "other arguments",
            with(McpServer::command("true", ["--other"])),
        ),
        ("a variable", with(server().env("KEY", "first"))),
        ("another value", with(server().env("KEY", "second"))),
        ("an address", with(McpServer::url("http://127.0.0.1:1/mcp"))),
        ("another name", plain.clone().mcp_server("papers", server())),
        ("two", with(server()).mcp_server("papers", server())),
    ];
    let session = Session::new();
    let prompt = scripted(json!([{ "text": "one" }]));
    let mut threads = BTreeSet::new();
    for (name, adapter) in &adapters {
        let thread = async || {
            let response = soon(adapter.evaluate(&prompt, &session)).await;
            response.unwrap().place.unwrap().thread_id
        };
        let first = thread().await;
        assert_eq!(thread().await, first, "{name}: the same servers");
        assert!(threads.insert(first), "{name}: other servers");
    }
    // The order in which they are named does not matter.
    let two = plain.clone().mcp_server("papers", server());
    let two = two.mcp_server("notes", server());
    let response = soon(two.evaluate(&prompt, &session)).await.unwrap();
    assert!(threads.contains(&response.place.unwrap().thread_id));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_thread_that_is_gone_is_replaced() {
    let lab = Lab::new();
    let adapter = lab.adapter().reuse_threads();
    let session = Session::new();
    let prompt = scripted(json!([{ "text": "one" }]));
    soon(adapter.evaluate(&prompt, &session)).await.unwrap();
    let mut state = session.get::<ThreadState>();
    state.thread_id = "0199a213-81c0-7800-8aa1-bbab2a035a53".to_owned();
    session.dispatch::<ThreadState>(state.clone());
    soon(adapter.evaluate(&prompt, &session)).await.unwrap();
    assert_ne!(session.get::<ThreadState>().thread_id, state.thread_id);
}

/// The model sees what was said before, after a resume over a new connection.
#[tokio::test(flavor = "multi_thread")]
async fn a_reused_thread_has_its_history() {
    let model = ModelServer::start().await.unwrap();
    let lab = Lab::with(&crate::support::on(&model));
    let adapter = lab.adapter().reuse_threads();
    let session = Session::new();
    for words in ["remember the llama", "what animal was it"] {
        let prompt = Prompt::text("test").section(quipu_adapter::Section::new("Task", words));
        soon(adapter.evaluate(&prompt, &session)).await.unwrap();
    }
    let last = model.requests().last().unwrap().body.to_string();
    assert!(
        last.contains("remember the llama") && last.contains("what animal was it"),
        "{last}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_workspace_is_where_the_agent_works() {
    let lab = Lab::new();
    let files = tempfile::tempdir().unwrap();
    std::fs::write(files.path().join("hello.txt"), "hello").unwrap();
    let workspace = Workspace::builder()
        .allow_root(files.path())
        .mount(Mount::new(files.path(), "repo"))
        .build()
        .unwrap();
    let command = json!({ "name": "exec_command", "arguments": { "cmd": "cat repo/hello.txt && echo bye > repo/hello.txt" } });
    let path = workspace.path().to_owned();
    let prompt = scripted(json!([{ "calls": [command] }, { "text": "done" }])).workspace(workspace);
    let (adapter, events) = crate::support::Events::of(lab.adapter());
    let response = soon(adapter.evaluate(&prompt, &Session::new()))
        .await
        .unwrap();
    assert!(
        response
            .recording
            .rendered
            .contains("- `repo`: 1 file, 5 bytes"),
        "{}",
        response.recording.rendered
    );
    assert_eq!(events.tools()[0].result, "hello");
    assert_eq!(
        std::fs::read_to_string(path.join("repo/hello.txt")).unwrap(),
        "bye\n"
    );
    assert_eq!(
        std::fs::read_to_string(files.path().join("hello.txt")).unwrap(),
        "hello"
    );
    drop(prompt);
    assert!(!path.exists());
}

/// The agent works in the workspace and nowhere else, if the sandbox says so.
#[tokio::test(flavor = "multi_thread")]
async fn nothing_outside_the_workspace_is_written() {
    let lab = Lab::with(
        "model_provider = \"offline\"\n[sandbox_workspace_write]\nexclude_slash_tmp = true\nexclude_tmpdir_env_var = true\n",
    );
    let outside = tempfile::tempdir().unwrap();
    let file = outside.path().join("notes.txt");
    std::fs::write(&file, "before").unwrap();
    let mount = Mount::new(&file, "notes.txt");
    let workspace = Workspace::builder().allow_root(outside.path()).mount(mount);
    let workspace = workspace.build().unwrap();
    let path = workspace.path().to_owned();
    let write = |path: &std::path::Path| {
        let command = format!("echo after > {}", path.display());
        json!({ "calls": [{ "name": "exec_command", "arguments": { "cmd": command } }] })
    };
    let steps = json!([write("notes.txt".as_ref()), write(&file), { "text": "done" }]);
    let prompt = scripted(steps).workspace(workspace);
    let adapter = lab.adapter().sandbox(SandboxMode::WorkspaceWrite);
    let (adapter, events) = crate::support::Events::of(adapter);
    let response = soon(adapter.evaluate(&prompt, &Session::new())).await;
    let rendered = response.unwrap().recording.rendered;
    assert!(
        rendered.contains("- `notes.txt`: 1 file, 6 bytes\n\n"),
        "{rendered}"
    );
    assert_eq!(
        events.summary(),
        ["rendered", "command", "command failed", "executed"]
    );
    let copy = std::fs::read_to_string(path.join("notes.txt")).unwrap();
    assert_eq!(copy, "after\n");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "before");
}
