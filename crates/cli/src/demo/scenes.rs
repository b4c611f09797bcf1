//! What the demo shows, one after the other. Each scene is a turn whose prompt is a script for the
//! offline model; `docs/offline-model.md` has the language.

use quipu_client::wire::{
    ReviewStartParams, ReviewTarget, ServerNotification, ThreadItem, ThreadResumeParams, TurnStatus,
};
use quipu_client::{Client, Error, Event, TurnStream, prompt};
use serde_json::{Value, json};

use super::narrator::Narrator;

/// Pieces of text to let pass before the turn is interrupted.
const PIECES: usize = 12;

pub async fn words(client: &Client, narrator: &Narrator, thread: &str) -> Result<(), Error> {
    narrator.say("A thread holds turns, a turn holds items. An item of text arrives in pieces:");
    let pieces = "Hello! I am not a real model, but every event you see travelled \
                  the way a real model's would."
        .split_inclusive(' ')
        .collect::<Vec<_>>();
    let script = script(json!([{ "deltas": pieces, "every": 25 }]));
    watch(client.stream_turn(prompt(thread, script)).await?, narrator).await
}

pub async fn work(client: &Client, narrator: &Narrator, thread: &str) -> Result<(), Error> {
    narrator.say("Now work: a plan, a command that needs your approval, a patch and its diff.");
    let plan = |first: &str, second: &str| {
        let plan = json!([
            { "step": "Read the greeting", "status": first },
            { "step": "Make it friendlier", "status": second },
        ]);
        json!({ "calls": [{ "name": "update_plan", "arguments": { "plan": plan } }] })
    };
    let read = "grep -n . greeting.txt && date > seen.txt";
    let patch = "*** Begin Patch\n*** Update File: greeting.txt\n@@\n-Hello, world!\n\
                 +Hello, dear world!\n*** End Patch";
    let script = script(json!([
        plan("in_progress", "pending"),
        { "calls": [{ "name": "exec_command", "arguments": { "cmd": read, "login": false } }] },
        plan("completed", "in_progress"),
        { "patch": patch },
        plan("completed", "completed"),
        { "text": "The greeting is friendlier now." },
    ]));
    watch(client.stream_turn(prompt(thread, script)).await?, narrator).await
}

pub async fn review(client: &Client, narrator: &Narrator, thread: &str) -> Result<(), Error> {
    narrator.say("A review is a turn run by a dedicated reviewer:");
    let found = json!({
        "findings": [],
        "overall_correctness": "patch is correct",
        "overall_explanation": "The change does what it says, and nothing besides.",
        "overall_confidence_score": 0.9,
    });
    let params = ReviewStartParams {
        thread_id: thread.to_owned(),
        target: ReviewTarget::Custom {
            instructions: script(json!([{ "text": found.to_string() }])),
        },
        delivery: None,
    };
    watch(client.stream_review(params).await?, narrator).await
}

pub async fn interrupt(client: &Client, narrator: &Narrator, thread: &str) -> Result<(), Error> {
    narrator.say("A turn that talks too long is interrupted. Every turn ends, and ends once:");
    let pieces = vec!["and so on "; 10_000];
    let script = script(json!([{ "deltas": pieces, "every": 25 }]));
    let mut turn = client.stream_turn(prompt(thread, script)).await?;
    let mut seen = 0;
    while let Some(event) = turn.next().await {
        if let Event::Notification(notification) = event {
            narrator.text().notified(&notification);
            if matches!(notification, ServerNotification::ItemAgentMessageDelta(_)) {
                seen += 1;
                if seen == PIECES {
                    turn.interrupt().await?;
                }
            }
        }
    }
    let done = turn.finish().await?;
    let mut text = narrator.text();
    text.end(None, None);
    text.indented(&format!("The turn's status: {}", word(done.turn.status)));
    Ok(())
}

pub async fn resume(client: &Client, narrator: &Narrator, thread: &str) -> Result<(), Error> {
    let found = client
        .resume_thread(thread, ThreadResumeParams::default())
        .await?;
    for (number, turn) in found.turns.iter().enumerate() {
        let kinds: Vec<String> = turn.items.iter().map(kind).collect();
        let status = word(turn.status);
        narrator.show(&format!(
            "turn {}: {status:<12} {}",
            number + 1,
            kinds.join(", ")
        ));
    }
    Ok(())
}

async fn watch(mut turn: TurnStream, narrator: &Narrator) -> Result<(), Error> {
    while let Some(event) = turn.next().await {
        if let Event::Notification(notification) = event {
            narrator.text().notified(&notification);
        }
    }
    let done = turn.finish().await;
    narrator.text().end(None, None);
    done.map(drop)
}

fn script(steps: Value) -> String {
    json!({ "script": steps }).to_string()
}

fn word(status: TurnStatus) -> String {
    let word = serde_json::to_value(status).unwrap_or_default();
    word.as_str().unwrap_or("unknown").to_owned()
}

fn kind(item: &ThreadItem) -> String {
    let item = serde_json::to_value(item).unwrap_or_default();
    item["type"].as_str().unwrap_or("unknown").to_owned()
}
