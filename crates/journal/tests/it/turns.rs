//! Turns read back from rollouts are those the official program reads back.

use std::fs;

use quipu_journal::{Event, Record, Replay};
use quipu_wire::Turn;
use serde_json::{Value, json};

use crate::support::{declined_did_not_run, fixture, replay, rollout, rollout_of, started};

/// Turns as the wire shows them, without the ids that the official program makes up again on every
/// reading.
fn comparable(turns: Value, lines: &str) -> Value {
    let mut turns = turns;
    declined_did_not_run(&mut turns);
    for turn in turns.as_array_mut().unwrap() {
        if !lines.contains(turn["id"].as_str().unwrap()) {
            turn["id"] = "made up".into();
        }
        for item in turn["items"].as_array_mut().unwrap() {
            if item["type"] == "hookPrompt" {
                item["id"] = "made up".into();
            }
        }
    }
    turns
}

fn at_rest(mut replay: Replay) -> Value {
    replay.settle();
    serde_json::to_value::<&[Turn]>(&replay.turns).unwrap()
}

#[test]
fn every_case_reads_as_the_official_program_reads_it() {
    let cases = fs::read_to_string(fixture("turns-read-by-codex.jsonl")).unwrap();
    for case in cases.lines() {
        let mut case: Value = serde_json::from_str(case).unwrap();
        let name = case["name"].as_str().unwrap().to_owned();
        let lines = case["lines"].as_array().unwrap().clone();
        let text = serde_json::to_string(&lines).unwrap();
        let ours = comparable(at_rest(replay(&rollout_of(&lines))), &text);
        let theirs = comparable(case["turns"].take(), &text);
        match name.as_str() {
            // They lose a failure for a reason they do not know, and a patch of an old file.
            "error_kinds" | "patch" => assert_ne!(ours, theirs, "{name}"),
            _ => assert_eq!(ours, theirs, "{name}"),
        }
    }
}

#[test]
fn a_long_real_session_reads_as_the_official_program_reads_it() {
    let path = fixture("long-session.jsonl");
    let theirs = fs::read_to_string(fixture("long-session.turns.json")).unwrap();
    let lines = fs::read_to_string(&path).unwrap();
    let replay = Replay::open(&path).unwrap();
    assert_eq!(replay.warnings.count, 0, "{:?}", replay.warnings.first);
    let theirs = comparable(serde_json::from_str(&theirs).unwrap(), &lines);
    assert_eq!(comparable(at_rest(replay), &lines), theirs);
}

#[test]
fn settings_usage_and_identity_are_the_last_recorded() {
    let replay = Replay::open(&fixture("every-tool-once.jsonl")).unwrap();
    assert_eq!(
        replay.meta.id.to_string(),
        "01a1de06-978d-7802-ac6e-a69e59e16326"
    );
    assert_eq!(replay.context.as_ref().unwrap().model, "gpt-5.1-codex");
    assert!(replay.context_is_current);
    assert_eq!(replay.usage.unwrap().total_token_usage.total_tokens, 330);
    assert_eq!(replay.open_turn(), None);
    assert_eq!(replay.turns.len(), 1);
    assert_eq!(replay.turns[0].items.len(), 6);
}

#[test]
fn items_that_are_stored_are_read_back() {
    let cases = fs::read_to_string(fixture("turns-read-by-codex.jsonl")).unwrap();
    let captured = fs::read_to_string(fixture("long-session.turns.json")).unwrap();
    let captured: Vec<Turn> = serde_json::from_str(&captured).unwrap();
    let cases = cases.lines().flat_map(|case| {
        let mut case: Value = serde_json::from_str(case).unwrap();
        serde_json::from_value::<Vec<Turn>>(case["turns"].take()).unwrap()
    });
    for turn in cases.chain(captured) {
        for item in turn.items {
            let stored = Event::of_item(item.clone(), "thread", "turn");
            let events = stored.into_iter().map(Record::from);
            let records: Vec<_> = [started("turn")].into_iter().chain(events).collect();
            let mut read =
                serde_json::to_value(&replay(&rollout(&records)).turns[0].items).unwrap();
            let mut recorded = json!([{ "items": [item] }]);
            declined_did_not_run(&mut recorded);
            let item = recorded[0]["items"][0].take();
            match item["type"].as_str().unwrap() {
                // These are stored for the model only.
                "hookPrompt" => assert_eq!(read, Value::Array(vec![])),
                _ => {
                    read[0]["id"] = item["id"].clone();
                    assert_eq!(read, Value::Array(vec![item]));
                }
            }
        }
    }
}
