//! `turn/settings/update`: settings for the rest of a running turn.

use quipu_testkit::conversation::Conversation;
use serde_json::{Value, json};

use crate::stage::{Stage, calls, gate, open, run, say};

const ON: &str = "[features]\nstep_model_switching = true\n";

/// A client whose turn waits between two requests to the model.
async fn halfway(stage: &Stage) -> (Conversation, String, String, Value) {
    let (mut client, thread) = stage.thread_with(gate()).await;
    stage.play([calls("gate", json!({})), json!({ "text": "done" })]);
    let turn = say(&mut client, &thread, "go").await;
    let held = client.skip_to("item/tool/call").await;
    (client, thread, turn, held["id"].clone())
}

fn update(thread: &str, turn: &str, more: Value) -> Value {
    let mut params = json!({ "threadId": thread, "turnId": turn });
    let members = params.as_object_mut().unwrap();
    members.extend(more.as_object().unwrap().clone());
    params
}

/// What the model was asked with, by request.
fn asked(stage: &Stage) -> Vec<Value> {
    let requests = stage.model.requests();
    let shown = requests.iter().map(|request| {
        let (model, effort) = (&request.body["model"], &request.body["reasoning"]["effort"]);
        json!([model, effort, request.body.get("service_tier")])
    });
    shown.collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_next_request_of_the_turn_has_them_and_the_next_turn_has_not() {
    let stage = Stage::with(ON).await;
    let (mut client, thread, turn, held) = halfway(&stage).await;
    let chosen = json!({ "model": "gpt-5.2", "effort": "high", "serviceTier": "flex" });
    let first = update(&thread, &turn, chosen);
    let answer = client.call("turn/settings/update", first).await;
    assert_eq!(answer, json!({ "status": "applied" }));
    let later = update(&thread, &turn, json!({ "serviceTier": null }));
    client.call("turn/settings/update", later).await;
    client.reply(&held, open()).await;
    client.until("turn/completed").await;
    stage.play([json!({ "text": "next" })]);
    run(&mut client, &thread, "again").await;
    let asked = asked(&stage);
    assert_eq!(asked[1], json!(["gpt-5.2", "high", null]));
    assert_eq!(asked[2], asked[0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn settings_of_the_thread_that_change_meanwhile_last() {
    let stage = Stage::with(ON).await;
    let (mut client, thread, turn, held) = halfway(&stage).await;
    let chosen = update(&thread, &turn, json!({ "serviceTier": "flex" }));
    client.call("turn/settings/update", chosen).await;
    let lasting = json!({ "threadId": thread, "model": "gpt-5.2" });
    client.call("thread/settings/update", lasting).await;
    client.reply(&held, open()).await;
    client.until("turn/completed").await;
    stage.play([json!({ "text": "next" })]);
    run(&mut client, &thread, "again").await;
    let asked = asked(&stage);
    assert_eq!(asked[1][2], "flex");
    assert_eq!(asked[2][0], "gpt-5.2");
    assert_eq!(asked[2][2], Value::Null);
}

#[tokio::test(flavor = "multi_thread")]
async fn only_the_running_turn_has_settings_of_its_own() {
    let stage = Stage::with(ON).await;
    let (mut client, thread, turn, held) = halfway(&stage).await;
    let unavailable = json!({ "status": "targetUnavailable" });
    for other in ["nope", ""] {
        let params = update(&thread, other, json!({ "effort": "low" }));
        let answer = client.call("turn/settings/update", params).await;
        assert_eq!(answer, unavailable);
    }
    let params = update(&thread, &turn, json!({ "cwd": "/" }));
    let refused = client.refused("turn/settings/update", params).await;
    assert!(refused.starts_with("Invalid request: unknown field `cwd`, expected one of"));
    client.reply(&held, open()).await;
    client.until("turn/completed").await;
    let params = update(&thread, &turn, json!({ "effort": "low" }));
    let answer = client.call("turn/settings/update", params).await;
    assert_eq!(answer, unavailable);
}

#[tokio::test(flavor = "multi_thread")]
async fn without_the_feature_only_the_reviewer_changes() {
    let stage = Stage::new().await;
    let (mut client, thread, turn, held) = halfway(&stage).await;
    for more in [
        json!({}),
        json!({ "effort": "low", "approvalsReviewer": "user" }),
    ] {
        let params = update(&thread, &turn, more);
        let refused = client.refused("turn/settings/update", params).await;
        assert_eq!(
            refused,
            "turn settings updates require the step_model_switching feature"
        );
    }
    let params = update(
        &thread,
        &turn,
        json!({ "approvalsReviewer": "auto_review" }),
    );
    let answer = client.call("turn/settings/update", params).await;
    assert_eq!(answer, json!({ "status": "applied" }));
    client.reply(&held, open()).await;
    client.until("turn/completed").await;
}
