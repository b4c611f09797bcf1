//! A thread that streams far more than fits into memory, to a client that reads and one that does not.

use quipu_testkit::client::within;
use quipu_testkit::conversation::Conversation;
use serde_json::json;

use crate::support::app_server;

/// Bytes of output of an ordinary run, and of a long one.
const STREAMED: (usize, usize) = (20_000_000, 200_000_000);
/// What the server may need beyond its size at rest, in KiB: one full outbox for each client, the
/// output that is kept of one command, and some slack.
const ROOM: u64 = 64 * 1024;

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_never_reads_costs_only_itself() {
    let wanted = if std::env::var_os("QUIPU_SOAK").is_some() {
        STREAMED.1
    } else {
        STREAMED.0
    };
    let launch = app_server(["--listen", "ws://127.0.0.1:0"]);
    let home = launch.directory().join("quipu");
    std::fs::create_dir_all(&home).unwrap();
    let settings = "model_provider = \"offline\"\nsandbox_mode = \"danger-full-access\"\napproval_policy = \"never\"\n";
    std::fs::write(home.join("config.toml"), settings).unwrap();
    let mut process = launch.start();
    let mut reader = Conversation::start(process.websocket(&[]).await).await;
    let started = reader.call("thread/start", json!({})).await;
    let thread = started["thread"]["id"].as_str().unwrap().to_owned();
    let say = |script: serde_json::Value| {
        let input = json!([{ "type": "text", "text": json!({ "script": script }).to_string() }]);
        json!({ "threadId": thread, "input": input })
    };
    reader
        .call("turn/start", say(json!([{ "text": "hello" }])))
        .await;
    reader.skip_to("turn/completed").await;
    // It follows the thread, and never reads again.
    let mut deaf = Conversation::start(process.websocket(&[]).await).await;
    deaf.call("thread/resume", json!({ "threadId": thread }))
        .await;

    let at_rest = process.memory();
    let output = json!({ "command": "head -c 10000000 /dev/zero | tr '\\0' x" });
    let call = json!([{ "calls": [{ "name": "shell_command", "arguments": output }] }, { "text": "done" }]);
    let mut received = 0;
    let mut most = 0;
    while received < wanted {
        reader.call("turn/start", say(call.clone())).await;
        let turn = async {
            loop {
                let message = reader.next().await;
                match message["method"].as_str() {
                    Some("item/commandExecution/outputDelta") => {
                        received += message["params"]["delta"].as_str().unwrap().len();
                    }
                    Some("turn/completed") => return message["params"]["turn"]["status"].clone(),
                    _ => {}
                }
            }
        };
        assert_eq!(within("the end of a turn", turn).await, "completed");
        most = most.max(process.memory());
    }
    let grown = most.saturating_sub(at_rest);
    assert!(grown < ROOM, "grew by {grown} KiB over {received} bytes");
    drop(deaf);
}
