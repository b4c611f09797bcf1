//! The offline model: scripts, faults and the answer to everything else. The scripts of
//! `docs/offline-model.md` are played here.

use quipu_model::script::Script;
use quipu_model::{Client, Credentials, ModelEvent, OFFLINE, ProviderConfig};
use serde_json::json;

use crate::support::{collect, done_items, failure, item, request, short};

fn offline() -> Client {
    let mut config = ProviderConfig::built_in(OFFLINE).unwrap();
    config.stream_idle_timeout_ms = Some(300);
    config.request_max_retries = Some(0);
    config.stream_max_retries = Some(1);
    Client::new(config, Credentials::None)
}

#[tokio::test]
async fn a_script_is_played_through_its_tool_calls() {
    let model = offline();
    let mut turn = request(
        r#"Play {"script":[{"reasoning":"Hm.","patch":"*** Begin Patch"},{"deltas":["do","ne"]}]} please"#,
    );
    let events = collect(model.stream(turn.clone())).await;
    let items = done_items(&events);
    assert_eq!(items[0]["type"], "reasoning");
    assert_eq!(items[1]["name"], "apply_patch");
    turn.input.extend(items.iter().map(item));
    turn.input.push(item(
        &json!({"type": "custom_tool_call_output", "call_id": items[1]["call_id"], "output": "ok"}),
    ));
    let events = collect(model.stream(turn)).await;
    let lines = short(&events);
    assert_eq!(&lines[..3], ["0 started Message", "0 text do", "0 text ne"]);
}

#[tokio::test]
async fn faults_are_the_real_ones() {
    let model = offline();
    let events = collect(model.stream(request(r#"{"script":[{"fail":400,"body":"no"}]}"#))).await;
    assert_eq!(failure(&events).to_string(), "no");
    let events = collect(model.stream(request(
        r#"{"script":[{"fail":503,"times":1,"text":"ok"}]}"#,
    )))
    .await;
    assert!(matches!(&events[0], ModelEvent::Retrying(_)), "{events:?}");
    assert_eq!(done_items(&events)[0]["content"][0]["text"], "ok");
    let events =
        collect(model.stream(request(r#"{"script":[{"text":"a","cut":true,"times":1}]}"#))).await;
    assert!(
        matches!(events.last(), Some(ModelEvent::Completed(_))),
        "{events:?}"
    );
    let events = collect(model.stream(request(r#"{"script":[{"text":"a","stall":true}]}"#))).await;
    assert_eq!(
        failure(&events).to_string(),
        "stream disconnected before completion: idle timeout waiting for SSE"
    );
}

#[tokio::test]
async fn everything_else_gets_a_short_answer() {
    let events = collect(offline().stream(request("Please fix my code."))).await;
    let text = done_items(&events)[0]["content"][0]["text"]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(text.starts_with("This is the offline model"), "{text}");
    assert!(text.contains("model_provider") && text.contains("docs/offline-model.md"));
    let events = collect(offline().stream(request(r#"{"script":[{"txet":"a"}]}"#))).await;
    let text = done_items(&events)[0]["content"][0]["text"]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(
        text.starts_with("The script cannot be played: unknown field `txet`"),
        "{text}"
    );
}

/// Every script of the manual can be played and ends.
#[tokio::test]
async fn the_manual_is_right() {
    let manual = include_str!("../../../../docs/offline-model.md");
    let scripts: Vec<&str> = manual
        .split("```json")
        .skip(1)
        .map(|block| block.split("```").next().unwrap().trim())
        .collect();
    assert!(scripts.len() >= 9);
    for script in scripts {
        let events = collect(offline().stream(request(script))).await;
        let ending = events.last().unwrap();
        assert!(
            matches!(ending, ModelEvent::Completed(_) | ModelEvent::Failed(_)),
            "{script}"
        );
        let text = format!("{:?}", done_items(&events));
        assert!(!text.contains("cannot be played"), "{script}: {text}");
    }
}

/// The table of the manual has the fields that scripts have, and no others.
#[test]
fn the_manual_names_every_field() {
    let manual = include_str!("../../../../docs/offline-model.md");
    let refused = Script::find(r#"{"script":[{"nope":1}]}"#).unwrap();
    let reason = refused.unwrap_err();
    let (_, known) = reason.split_once("expected one of ").unwrap();
    let known: Vec<&str> = known.split('`').skip(1).step_by(2).collect();
    assert!(known.len() > 20, "{known:?}");
    for field in &known {
        assert!(manual.contains(&format!("`{field}`")), "{field}");
    }
    let rows = manual.lines().filter_map(|line| line.strip_prefix("| `"));
    for field in rows.map(|row| row.split('`').next().unwrap()) {
        assert!(known.contains(&field), "{field}");
    }
}
