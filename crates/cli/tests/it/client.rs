//! The client library with the program on the other side, over every transport.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use quipu_client::wire::{
    AskForApproval, CommandExecParams, CommandExecutionApprovalDecision as Decision,
    CommandExecutionRequestApprovalParams, CommandExecutionStatus,
    DynamicToolCallOutputContentItem, DynamicToolCallParams, DynamicToolCallResponse,
    DynamicToolSpec, ModelListParams, ReviewStartParams, ReviewTarget, ThreadItem,
    ThreadResumeParams, ThreadStartParams, TurnStatus,
};
use quipu_client::{Cause, Client, ConnectError, Handler, Options, Version, prompt};
use quipu_testkit::client::within;
use quipu_testkit::process::ServerProcess;
use quipu_testkit::wait::found;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{QUIPU, app_server, websocket_server};

/// Connects once the server listens, which a unix socket announces to nobody.
async fn connect(options: impl Fn() -> Options) -> Client {
    let connect = async || match Client::connect(options()).await {
        Ok(client) => Some(client),
        Err(ConnectError::Unix { .. }) => None,
        Err(error) => panic!("{error}"),
    };
    found("a connection", connect).await
}

/// Says yes to commands, and has a tool.
struct Yes;

impl Handler for Yes {
    async fn approve_command(&self, _: CommandExecutionRequestApprovalParams) -> Decision {
        Decision::Accept
    }

    async fn call_tool(&self, request: DynamicToolCallParams) -> DynamicToolCallResponse {
        let text = format!("{} was called", request.tool);
        DynamicToolCallResponse {
            content_items: vec![DynamicToolCallOutputContentItem::InputText { text }],
            success: true,
        }
    }
}

fn script(steps: Value) -> String {
    json!({ "script": steps }).to_string()
}

/// Everything that clients do, over a connection to be made as told: a call, a turn, an approval, a tool, an
/// interrupt, a review, the end of the connection, and a resume over a second one.
async fn converse(options: impl Fn() -> Options) {
    let client = connect(|| options().handler(Yes)).await;
    assert_eq!(client.server().version, Some(Version::new(0, 166, 0)));
    let models = client.list_models(ModelListParams::default());
    assert!(!within("models", models).await.unwrap().data.is_empty());
    let tool = DynamicToolSpec {
        name: "weather".to_owned(),
        description: "tells the weather".to_owned(),
        input_schema: json!({ "type": "object" }).into(),
        defer_loading: false,
        namespace: None,
    };
    let started = client.start_thread(ThreadStartParams {
        approval_policy: Some(AskForApproval::Untrusted),
        dynamic_tools: Some(vec![tool.into()]),
        ..ThreadStartParams::default()
    });
    let thread = within("a thread", started).await.unwrap().id;
    let steps = json!([
        { "calls": [{ "name": "shell_command", "arguments": { "command": "touch nothing-to-see; true" } }] },
        { "calls": [{ "name": "weather", "arguments": {} }] },
        { "text": "hi" },
    ]);
    let turn = client.run_turn(prompt(&thread, script(steps)));
    let done = within("a turn", turn).await.unwrap();
    assert_eq!(done.turn.status, TurnStatus::Completed);
    assert_eq!(done.agent_message, "hi");
    let printed = format!("{:?}", done.items);
    assert!(printed.contains("weather was called"), "{printed}");
    let ran = |it: &ThreadItem| matches!(it, ThreadItem::CommandExecution { status, .. } if *status != CommandExecutionStatus::Declined);
    assert!(done.items.iter().any(ran), "{printed}");

    let stalled = script(json!([{ "text": "…", "stall": true }]));
    let turn = client.stream_turn(prompt(&thread, stalled));
    let turn = within("a turn", turn).await.unwrap();
    within("an interrupt", turn.interrupt()).await.unwrap();
    let done = within("its end", turn.finish()).await.unwrap();
    assert_eq!(done.turn.status, TurnStatus::Interrupted);

    let review = client.run_review(ReviewStartParams {
        thread_id: thread.clone(),
        target: ReviewTarget::Custom {
            instructions: script(json!([{ "text": "Nothing to complain about." }])),
        },
        delivery: None,
    });
    let text = within("a review", review).await.unwrap().review_text;
    assert!(text.contains("Nothing to complain about."), "{text}");
    within("the end", client.disconnect()).await;
    assert!(matches!(client.closed().await, Cause::Disconnected));

    let client = connect(&options).await;
    let resumed = client.resume_thread(&thread, ThreadResumeParams::default());
    let turns = within("a resume", resumed).await.unwrap().turns;
    assert_eq!(turns.len(), 3, "{turns:?}");
    within("the end", client.disconnect()).await;
}

fn spawned(home: &Path) -> Options {
    Options::spawn(QUIPU)
        .env("QUIPU_HOME", home)
        .env_remove("OPENAI_API_KEY")
        .cwd(home)
}

#[tokio::test]
async fn over_standard_input_and_output() {
    let home = TempDir::new().unwrap();
    converse(|| spawned(home.path())).await;
}

#[tokio::test]
async fn over_a_websocket() {
    let mut server: ServerProcess = websocket_server();
    let url = server.url().await;
    converse(|| Options::websocket(&url)).await;
}

#[tokio::test]
async fn over_a_websocket_with_a_token() {
    let directory = TempDir::new().unwrap();
    let file = directory.path().join("token");
    let token = "open sesame".repeat(3);
    std::fs::write(&file, &token).unwrap();
    std::fs::set_permissions(&file, PermissionsExt::from_mode(0o600)).unwrap();
    let args = ["--ws-auth", "capability-token", "--ws-token-file"];
    let listen = ["--listen", "ws://127.0.0.1:0"];
    let file = file.to_str().unwrap();
    let mut server = app_server(listen.into_iter().chain(args).chain([file])).start();
    let url = server.url().await;
    let refused = Client::connect(Options::websocket(&url)).await.unwrap_err();
    assert!(refused.to_string().contains("401"), "{refused}");
    converse(|| Options::websocket(&url).bearer_token(&token)).await;
}

#[tokio::test]
async fn over_a_unix_socket() {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("socket");
    let _server = app_server(["--listen", &format!("unix://{}", path.display())]).start();
    converse(|| Options::unix(&path)).await;
}

#[tokio::test]
async fn a_command_runs_longer_than_requests_may_take() {
    let home = TempDir::new().unwrap();
    let timeouts = quipu_client::Timeouts {
        request: std::time::Duration::from_secs(5),
        ..Default::default()
    };
    let client = connect(|| spawned(home.path()).timeouts(timeouts)).await;
    let params = CommandExecParams {
        command: ["sh", "-c", "echo out; echo err >&2; exit 3"]
            .map(str::to_owned)
            .to_vec(),
        disable_timeout: true,
        ..CommandExecParams::default()
    };
    let ended = within("the end", client.exec_command(params))
        .await
        .unwrap();
    assert_eq!(
        (ended.exit_code, &*ended.stdout, &*ended.stderr),
        (3, "out\n", "err\n")
    );
}
