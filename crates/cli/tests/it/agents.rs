//! Agents when the whole server ends.

use quipu_testkit::conversation::Conversation;
use quipu_testkit::process::Signal;
use serde_json::{Value, json};

use crate::support::app_server;

/// Words that take a minute.
fn endless() -> Value {
    json!({ "deltas": 6000, "every": 10 })
}

#[tokio::test]
async fn an_agent_at_work_ends_with_the_server_and_leaves_no_open_turn() {
    let mut process = app_server([]).start();
    let mut client = Conversation::start(process.stdio()).await;
    let started = client.call("thread/start", json!({})).await;
    let task = json!({ "script": [endless()] }).to_string();
    let spawn = json!({ "calls": [{ "name": "spawn_agent", "arguments": { "message": task } }] });
    let text = json!({ "script": [spawn, endless()] }).to_string();
    let input = json!([{ "type": "text", "text": text }]);
    let params = json!({ "threadId": started["thread"]["id"], "input": input });
    client.call("turn/start", params).await;
    let agent = loop {
        let announced = client.skip_to("thread/started").await;
        if announced["params"]["thread"]["agentNickname"].is_string() {
            break announced["params"]["thread"].clone();
        }
    };
    loop {
        let delta = client.skip_to("item/agentMessage/delta").await;
        if delta["params"]["threadId"] == agent["id"] {
            break;
        }
    }
    process.signal(Signal::TERM);
    for _ in 0..2 {
        let end = client.skip_to("turn/completed").await;
        assert_eq!(end["params"]["turn"]["status"], "interrupted");
    }
    assert_eq!(process.exit().await.code(), Some(0));
    for thread in [&started["thread"], &agent] {
        let rollout = std::fs::read_to_string(thread["path"].as_str().unwrap()).unwrap();
        let begun = rollout.matches("\"task_started\"").count();
        let ended = rollout.matches("\"turn_aborted\"").count();
        assert_eq!((begun, ended), (1, 1), "{rollout}");
    }
}
