//! A disk that fills up under the real program, which is killed before there is room again.

use quipu_testkit::conversation::Conversation;
use quipu_testkit::process::Signal;
use quipu_testkit::small_disk::SmallDisk;
use serde_json::{Value, json};

use crate::support::app_server;

/// How a turn in which the model does this ends.
async fn turn(client: &mut Conversation, thread: &Value, step: Value) -> Value {
    let script = json!({ "script": [step] });
    let input = json!([{ "type": "text", "text": script.to_string() }]);
    client
        .call("turn/start", json!({ "threadId": thread, "input": input }))
        .await;
    let ended = client.skip_to("turn/completed").await;
    ended["params"]["turn"]["status"].clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_that_failed_on_a_full_disk_reads_back_as_failed_after_kill_9() {
    let disk = match SmallDisk::mount() {
        Ok(disk) => disk,
        Err(reason) => return eprintln!("skipped: {reason}"),
    };
    let home = disk.path().join("home");
    std::fs::create_dir(&home).unwrap();
    std::fs::write(home.join("config.toml"), "model_provider = \"offline\"\n").unwrap();
    let serve = || {
        let home = home.to_str().unwrap();
        app_server([]).env("QUIPU_HOME", home).start()
    };

    let mut process = serve();
    let mut client = Conversation::start(process.stdio()).await;
    let started = client.call("thread/start", json!({})).await;
    let thread = &started["thread"]["id"];
    let said = turn(&mut client, thread, json!({ "text": "before" })).await;
    assert_eq!(said, "completed");
    disk.fill();
    let long = json!({ "deltas": 1, "size": 128 << 10 });
    assert_eq!(turn(&mut client, thread, long).await, "failed");
    process.signal(Signal::KILL);
    process.exit().await;

    let mut process = serve();
    let mut client = Conversation::start(process.stdio()).await;
    let params = json!({ "threadId": thread, "includeTurns": true });
    let read = client.call("thread/read", params).await;
    let turns = read["thread"]["turns"].as_array().unwrap().iter();
    let statuses: Vec<&Value> = turns.map(|turn| &turn["status"]).collect();
    assert_eq!(statuses, ["completed", "failed"]);
}
