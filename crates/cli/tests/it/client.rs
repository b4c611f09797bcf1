//! The client library with the program on the other side, over every transport.

use std::path::Path;

use quipu_client::wire::{CommandExecParams, ModelListParams, TurnStatus};
use quipu_client::{Cause, Client, ConnectError, Options, Version, prompt};
use quipu_testkit::client::within;
use quipu_testkit::process::ServerProcess;
use tempfile::TempDir;

use crate::support::{QUIPU, app_server, websocket_server};

/// Connects once the server listens, which a unix socket announces to nobody.
async fn connect(options: impl Fn() -> Options) -> Client {
    let connecting = async {
        loop {
            match Client::connect(options()).await {
                Ok(client) => return client,
                Err(ConnectError::Unix { .. }) => tokio::task::yield_now().await,
                Err(error) => panic!("{error}"),
            }
        }
    };
    within("a connection", connecting).await
}

/// A call, a turn and the end of the connection.
async fn converse(client: Client) {
    assert_eq!(client.server().version, Some(Version::new(0, 118, 0)));
    let models = client.list_models(ModelListParams::default());
    assert!(!within("models", models).await.unwrap().data.is_empty());
    let thread = client.start_thread(Default::default());
    let thread = within("a thread", thread).await.unwrap().id;
    let turn = client.run_turn(prompt(thread, r#"{"script":[{"text":"hi"}]}"#));
    let done = within("a turn", turn).await.unwrap();
    assert_eq!(done.turn.status, TurnStatus::Completed);
    assert_eq!(done.agent_message, "hi");
    within("the end", client.disconnect()).await;
    assert!(matches!(client.closed().await, Cause::Disconnected));
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
    converse(connect(|| spawned(home.path())).await).await;
}

#[tokio::test]
async fn over_a_websocket() {
    let mut server: ServerProcess = websocket_server();
    let url = server.url().await;
    converse(connect(|| Options::websocket(&url)).await).await;
}

#[tokio::test]
async fn over_a_websocket_with_a_token() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("token");
    std::fs::write(&file, "open sesame").unwrap();
    let args = ["--ws-auth", "capability-token", "--ws-token-file"];
    let listen = ["--listen", "ws://127.0.0.1:0"];
    let file = file.to_str().unwrap();
    let mut server = app_server(listen.into_iter().chain(args).chain([file])).start();
    let url = server.url().await;
    let refused = Client::connect(Options::websocket(&url)).await.unwrap_err();
    assert!(refused.to_string().contains("401"), "{refused}");
    converse(connect(|| Options::websocket(&url).bearer_token("open sesame")).await).await;
}

#[tokio::test]
async fn over_a_unix_socket() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("socket");
    let _server = app_server(["--listen", &format!("unix://{}", path.display())]).start();
    converse(connect(|| Options::unix(&path)).await).await;
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
