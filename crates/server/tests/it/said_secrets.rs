//! Secrets that others than tools repeat: the model, and MCP servers outside calls.

use serde_json::{Value, json};

use crate::mcp::server;
use crate::stage::{Stage, completed, run, text};

const KEY: &str = "sk-abcdefgh-12345";

/// A stage whose provider is asked with this key.
async fn keyed(key: &str, settings: &str) -> Stage {
    let directory = tempfile::tempdir().unwrap();
    let tables = format!("experimental_bearer_token = {key:?}\n{settings}");
    Stage::in_directory(directory, &tables).await
}

/// What is stored of all threads.
fn stored(stage: &Stage) -> String {
    let mut directories = vec![stage.home().join("sessions")];
    let mut all = String::new();
    while let Some(directory) = directories.pop() {
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => directories.push(path),
                false => all += &std::fs::read_to_string(path).unwrap(),
            }
        }
    }
    all
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_that_the_model_repeats_is_hidden_from_clients_and_files() {
    let stage = keyed(KEY, "").await;
    let (mut client, thread) = stage.thread().await;
    let deltas = ["the key is sk-abc", "defgh-1", "2345, or sk-abc"];
    stage.play([json!({ "reasoning": format!("think of {KEY}"), "deltas": deltas })]);
    let messages = run(&mut client, &thread, "hi").await;
    let message = completed(&messages, "agentMessage");
    assert_eq!(message[0]["text"], "the key is [redacted], or sk-abc");
    let pieces = messages
        .iter()
        .filter(|it| it["method"] == "item/agentMessage/delta");
    let pieces: String = pieces.map(|it| text(&it["params"]["delta"])).collect();
    assert_eq!(pieces, "the key is [redacted], or sk-abc");
    let seen = Value::from(messages).to_string();
    assert!(!seen.contains(KEY), "{seen}");
    let stored = stored(&stage);
    assert!(stored.contains("the key is [redacted]") && !stored.contains(KEY));

    // A call is run as it is stored.
    let command = format!("echo {KEY}");
    stage.play([
        json!({ "calls": [{ "name": "shell_command", "arguments": { "command": command } }] }),
        json!({ "text": "done" }),
    ]);
    let messages = run(&mut client, &thread, "again").await;
    let output = &completed(&messages, "commandExecution")[0]["aggregatedOutput"];
    assert_eq!(output, "[redacted]\n");
    assert!(!self::stored(&stage).contains(KEY) && !stage.last_request().contains(KEY));
}

/// The words of an MCP server serve as the key, so nothing of them may be seen.
#[tokio::test(flavor = "multi_thread")]
async fn a_key_in_the_question_of_a_server_is_hidden() {
    let stage = Stage::with(&server("s", "curious", "")).await;
    let policy = json!({ "approvalPolicy": "on-request" });
    let (mut client, _) = stage.thread_with(policy.clone()).await;
    let question = client.skip_to("mcpServer/elicitation/request").await;
    let words = text(&question["params"]["url"]);

    let stage = keyed(&words, &server("s", "curious", "")).await;
    let (mut client, _) = stage.thread_with(policy).await;
    let question = client.skip_to("mcpServer/elicitation/request").await;
    assert_eq!(question["params"]["url"], "[redacted]");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_in_the_error_of_a_server_that_does_not_start_is_hidden() {
    let answer =
        r#"{"jsonrpc":"2.0","id":'$id',"error":{"code":-1,"message":"bad '$SOME_TOKEN'"}}"#;
    let script = format!(
        "read -r line; id=$(printf %s \"$line\" | sed 's/.*\"id\":\\([0-9]*\\).*/\\1/'); echo '{answer}'"
    );
    let config = format!(
        "[mcp_servers.s]\ncommand = \"sh\"\nargs = [\"-c\", {}]\nenv = {{ SOME_TOKEN = {KEY:?} }}\n",
        Value::from(script)
    );
    let stage = keyed("another-key", &config).await;
    let (mut client, _) = stage.thread().await;
    let error = loop {
        let status = client.skip_to("mcpServer/startupStatus/updated").await;
        if status["params"]["status"] == "failed" {
            break text(&status["params"]["error"]);
        }
    };
    assert!(
        error.contains("bad [redacted]") && !error.contains(KEY),
        "{error}"
    );
}
