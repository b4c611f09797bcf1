//! Turns whose requests go over a websocket.

use std::collections::BTreeMap;

use quipu_testkit::model::Sockets;
use serde_json::json;

use crate::stage::{Stage, calls, order, run, status};

async fn stage(sockets: Sockets) -> Stage {
    let stage = Stage::speaking("responses", "supports_websockets = true").await;
    stage.model.set_sockets(sockets);
    stage
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_with_tools_and_a_compaction_use_one_connection() {
    let stage = stage(Sockets::Open(BTreeMap::new())).await;
    let (mut client, thread) = stage.thread().await;
    stage.play([
        calls("exec_command", json!({ "cmd": "true" })),
        json!({ "text": "a long story" }),
        json!({ "text": "the gist" }),
        json!({ "text": "yes" }),
    ]);
    let messages = run(&mut client, &thread, "work").await;
    assert_eq!(status(&messages), "completed");
    client
        .call("thread/compact/start", json!({ "threadId": thread }))
        .await;
    client.skip_to("turn/completed").await;
    assert_eq!(
        status(&run(&mut client, &thread, "more").await),
        "completed"
    );
    let requests = stage.model.requests();
    let answered: Vec<_> = requests
        .iter()
        .filter(|it| it.body["generate"] != false)
        .collect();
    assert_eq!(answered.len(), 4);
    let connection = answered[0].connection;
    for request in &answered {
        assert_eq!(request.body["type"], "response.create");
        assert_eq!(request.connection, connection);
    }
    let output = answered[1].body["input"].as_array().unwrap();
    assert_eq!(output.len(), 1, "only the output of the tool is new");
    assert_eq!(output[0]["type"], "function_call_output");
    let whole = |n: usize| answered[n].body.get("previous_response_id").is_none();
    assert!(whole(2) && whole(3), "a compacted history is another one");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_websocket_that_breaks_is_replaced_by_http_in_silence() {
    let stage = stage(Sockets::Break).await;
    let (mut client, thread) = stage.thread().await;
    stage.play([json!({ "text": "hi" })]);
    let messages = run(&mut client, &thread, "hello").await;
    assert_eq!(status(&messages), "completed");
    assert!(!order(&messages).iter().any(|it| it.starts_with("error")));
    let last = stage.model.requests().pop().unwrap();
    assert!(last.body.get("type").is_none(), "over HTTP");
}
