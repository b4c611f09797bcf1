//! Numbered events: clients that did not ask for them see no changed byte, and those that did can resume anywhere.

use quipu_testkit::conversation::Conversation;
use quipu_testkit::stream::StreamCheck;
use serde_json::{Value, json};

use crate::stage::{Stage, calls, gate, input, open, run, say, text};

/// A turn with a tool call and two messages, in many pieces.
fn steps() -> [Value; 2] {
    [
        json!({ "text": "first of all", "calls": [{ "name": "shell_command", "arguments": { "command": "echo hi" } }] }),
        json!({ "deltas": 20 }),
    ]
}

async fn numbered_thread(stage: &Stage) -> (Conversation, String, i64) {
    let mut client = stage.numbered().await;
    let started = client.call("thread/start", json!({})).await;
    client.skip_to("thread/started").await;
    let seq = started["quipu"]["seq"].as_i64().unwrap();
    (client, text(&started["thread"]["id"]), seq)
}

fn resume(thread: &str, after: i64) -> Value {
    json!({ "threadId": thread, "quipu": { "after": after } })
}

fn is_numbered(message: &Value) -> bool {
    message.get("quipu").is_some()
}

/// The numbered events of a list of messages.
fn events(messages: Vec<Value>) -> Vec<Value> {
    messages.into_iter().filter(is_numbered).collect()
}

fn seq(event: &Value) -> i64 {
    event["quipu"]["seq"].as_i64().unwrap()
}

/// The next numbered events, up to a number.
async fn events_to(client: &mut Conversation, last: i64) -> Vec<Value> {
    let mut events = Vec::new();
    loop {
        let message = client.next().await;
        if is_numbered(&message) {
            let is_last = seq(&message) >= last;
            events.push(message);
            if is_last {
                return events;
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_did_not_ask_sees_no_changed_byte() {
    let stage = Stage::new().await;
    let (mut numbered, thread, _) = numbered_thread(&stage).await;
    stage.play(steps());
    run(&mut numbered, &thread, "go").await;
    let mut plain = stage.client().await;
    let joined = plain
        .call("thread/resume", json!({ "threadId": thread }))
        .await;
    assert!(!is_numbered(&joined), "{joined}");
    // Nothing happens until both follow the thread, so both see the same from here.
    let again = numbered
        .call("thread/resume", json!({ "threadId": thread }))
        .await;
    let position = again["quipu"]["seq"].as_i64().unwrap();
    stage.play(steps());
    let theirs = events(run(&mut numbered, &thread, "go").await).into_iter();
    let theirs = theirs.filter(|it| seq(it) > position).map(|mut message| {
        message.as_object_mut().unwrap().remove("quipu");
        message
    });
    let ours = plain.until("turn/completed").await.into_iter();
    let ours = ours.filter(|it| it["params"]["threadId"] == *thread);
    let theirs: Vec<_> = theirs.collect();
    assert!(theirs.len() > 25, "{theirs:?}");
    assert_eq!(ours.collect::<Vec<_>>(), theirs);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_can_resume_after_every_event() {
    let stage = Stage::new().await;
    let (mut client, thread, first) = numbered_thread(&stage).await;
    stage.play(steps());
    let seen = events(run(&mut client, &thread, "go").await);
    assert!(seen.len() > 25, "{seen:?}");
    let mut check = StreamCheck::default();
    for event in &seen {
        check.take(event).unwrap();
    }
    assert_eq!((check.ended, check.open_turns()), (1, Vec::new()));
    let last = seq(seen.last().unwrap());
    let mut positions = vec![first];
    positions.extend(seen.iter().map(seq));
    for after in positions {
        let mut client = stage.numbered().await;
        let joined = client.call("thread/resume", resume(&thread, after)).await;
        assert_eq!(joined["quipu"]["replay"], "complete", "{joined}");
        assert!(joined["quipu"]["seq"].as_i64().unwrap() >= last);
        let missed = match after == last {
            true => Vec::new(),
            false => events_to(&mut client, last).await,
        };
        let expected: Vec<_> = seen.iter().filter(|it| seq(it) > after).cloned().collect();
        assert_eq!(missed, expected);
        client.leave().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn numbers_go_on_after_a_restart_and_what_was_missed_comes_condensed() {
    let mut stage = Stage::new().await;
    let (mut client, thread, first) = numbered_thread(&stage).await;
    stage.play(steps());
    let seen = events(run(&mut client, &thread, "go").await);
    let middle = seq(&seen[seen.len() / 2]);
    let last = seq(seen.last().unwrap());
    stage.restart().await;
    for after in [first, middle, last] {
        let mut client = stage.numbered().await;
        let joined = client.call("thread/resume", resume(&thread, after)).await;
        assert_eq!(joined["quipu"]["replay"], "condensed", "{joined}");
        let now = joined["quipu"]["seq"].as_i64().unwrap();
        assert!(now > last);
        stage.play([json!({ "text": "more" })]);
        say(&mut client, &thread, "on").await;
        let is_end = |it: &Value| it["method"] == "turn/completed";
        let mut more: Vec<Value> = Vec::new();
        while !more.last().is_some_and(|it| is_end(it) && seq(it) > now) {
            more.extend(events(vec![client.next().await]));
        }
        assert!(more.iter().all(|it| seq(it) > after));
        assert!(more.is_sorted_by_key(seq));
        // What the server before this one sent comes without deltas; what this one sent, in full.
        let (old, new): (Vec<_>, Vec<_>) = more.into_iter().partition(|it| seq(it) <= last);
        assert!(old.iter().all(|it| it["quipu"]["condensed"] == true));
        assert!(new.iter().all(|it| it["quipu"].get("condensed").is_none()));
        let expected = seen.iter().filter(|it| seq(it) > after && is_stored(it));
        assert_eq!(old.len(), expected.count());
        client.leave().await;
    }
}

fn is_stored(event: &Value) -> bool {
    let method = event["method"].as_str().unwrap();
    !method.ends_with("elta") && method != "thread/status/changed"
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unknown_number_resets_and_questions_are_asked_again() {
    let stage = Stage::new().await;
    let mut client = stage.numbered().await;
    let started = client.call("thread/start", gate()).await;
    let thread = text(&started["thread"]["id"]);
    stage.play([calls("gate", json!({})), json!({ "text": "done" })]);
    say(&mut client, &thread, "go").await;
    client.skip_to("item/tool/call").await;
    client.leave().await;
    let mut client = stage.numbered().await;
    for (after, replay) in [(i64::MAX, "reset"), (0, "reset")] {
        let joined = client.call("thread/resume", resume(&thread, after)).await;
        assert_eq!(joined["quipu"]["replay"], replay);
        assert_eq!(joined["thread"]["turns"].as_array().unwrap().len(), 1);
        let question = client.skip_to("item/tool/call").await["id"].clone();
        if after == 0 {
            client.reply(&question, open()).await;
        }
    }
    client.skip_to("turn/completed").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_with_a_key_act_once() {
    let mut stage = Stage::new().await;
    let mut client = stage.client().await;
    let start = json!({ "idempotencyKey": "start" });
    let ids = [
        client.ask("thread/start", start.clone()).await,
        client.ask("thread/start", start.clone()).await,
    ];
    let mut threads = Vec::new();
    for id in ids {
        let started = client.answered(id).await.unwrap();
        threads.push(text(&started["thread"]["id"]));
    }
    assert_eq!(threads[0], threads[1]);
    let thread = threads.swap_remove(0);
    let mut turn = input(&thread, "go");
    turn["idempotencyKey"] = json!("turn");
    stage.play([json!({ "text": "once" })]);
    let ids = [
        client.ask("turn/start", turn.clone()).await,
        client.ask("turn/start", turn.clone()).await,
    ];
    let first = client.answered(ids[0]).await.unwrap();
    assert_eq!(client.answered(ids[1]).await.unwrap(), first);
    client.skip_to("turn/completed").await;
    assert_eq!(client.call("turn/start", turn.clone()).await, first);
    let mut other = input(&thread, "something else");
    other["idempotencyKey"] = json!("turn");
    let refused = client.refused("turn/start", other).await;
    assert!(
        refused.contains("was used for another request"),
        "{refused}"
    );
    let fork = json!({ "threadId": thread, "idempotencyKey": "fork" });
    let forked = client.call("thread/fork", fork.clone()).await;
    stage.restart().await;
    let mut client = stage.client().await;
    for (method, params, expected) in [
        ("thread/start", start, json!(thread)),
        ("thread/fork", fork, forked["thread"]["id"].clone()),
    ] {
        let again = client.call(method, params).await;
        assert_eq!(again["thread"]["id"], expected);
    }
    assert_eq!(client.call("turn/start", turn).await, first);
    assert_eq!(stage.model.requests().len(), 1);
    let listed = client.call("thread/list", json!({})).await;
    assert_eq!(listed["data"].as_array().unwrap().len(), 2, "{listed}");
}

#[tokio::test(flavor = "multi_thread")]
async fn input_with_a_key_is_added_once() {
    let stage = Stage::new().await;
    let (mut client, thread) = stage.thread_with(gate()).await;
    stage.play([calls("gate", json!({})), json!({ "text": "seen" })]);
    let turn = say(&mut client, &thread, "go").await;
    let question = client.skip_to("item/tool/call").await["id"].clone();
    let mut more = input(&thread, "and this");
    more["expectedTurnId"] = json!(turn);
    more["idempotencyKey"] = json!("more");
    let first = client.call("turn/steer", more.clone()).await;
    assert_eq!(client.call("turn/steer", more.clone()).await, first);
    client.reply(&question, open()).await;
    client.skip_to("turn/completed").await;
    assert_eq!(client.call("turn/steer", more).await, first);
    assert_eq!(stage.last_request().matches("and this").count(), 1);
}
