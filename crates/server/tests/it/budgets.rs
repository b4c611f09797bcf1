//! Budgets in tokens, money and time: warned of once, then the turn fails, once, also after a restart.

use serde_json::{Value, json};

use crate::stage::{Stage, calls, run, status};

/// An answer that uses so many tokens.
fn answer(text: &str, tokens: u64) -> Value {
    json!({ "text": text, "usage": { "input": tokens - 1, "output": 1 } })
}

fn warnings(messages: &[Value]) -> Vec<&str> {
    let warnings = messages.iter().filter(|it| it["method"] == "warning");
    warnings
        .map(|it| it["params"]["message"].as_str().unwrap())
        .collect()
}

fn failure(messages: &[Value]) -> (&str, &Value) {
    let ends = messages
        .iter()
        .filter(|it| it["method"] == "turn/completed");
    let ends: Vec<&Value> = ends.map(|it| &it["params"]["turn"]).collect();
    assert_eq!(ends.len(), 1, "{ends:?}");
    let error = &ends[0]["error"];
    (
        error["message"].as_str().unwrap_or_default(),
        &error["codexErrorInfo"],
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn a_thread_that_used_its_tokens_fails_and_says_why() {
    let stage = Stage::with("[budget.thread]\ntokens = 100\n").await;
    let (mut client, thread) = stage.thread().await;
    stage.play([answer("one", 85), answer("two", 20)]);
    let messages = run(&mut client, &thread, "go").await;
    assert_eq!(status(&messages), "completed");
    assert!(warnings(&messages).is_empty(), "{messages:?}");
    let messages = run(&mut client, &thread, "go on").await;
    assert_eq!(status(&messages), "completed");
    assert_eq!(
        warnings(&messages),
        ["The budget is nearly used up: 85 of 100 tokens in this thread (`budget.thread.tokens`)."]
    );
    let messages = run(&mut client, &thread, "more").await;
    let (message, info) = failure(&messages);
    assert!(
        message.contains("105 of 100 tokens in this thread"),
        "{message}"
    );
    assert_eq!(*info, "usageLimitExceeded");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_money_of_a_day_is_shared_by_all_threads_and_servers_of_a_home() {
    let stage = Stage::with("[budget.day]\ndollars = 0.000001\n").await;
    let (mut client, thread) = stage.thread().await;
    stage.play([answer("free", 50)]);
    let messages = run(&mut client, &thread, "go").await;
    assert_eq!(status(&messages), "completed");
    assert!(
        warnings(&messages)[0].starts_with("No price is known for"),
        "{messages:?}"
    );
    // Another program of the same home has spent the day's money.
    let day = chrono::Utc::now();
    let entry = json!({ "at": day.timestamp(), "thread": "other", "turn": "t", "cwd": "/", "provider": "p",
        "model": "m", "input": 1, "cached": 0, "output": 1, "reasoning": 0, "total": 2, "dollars": 3.0,
        "seconds": 1.0 });
    let file = stage
        .home()
        .join("usage")
        .join(format!("{}.jsonl", day.date_naive()));
    let known = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, format!("{known}{entry}\n")).unwrap();
    let messages = run(&mut client, &thread, "go on").await;
    let (message, _) = failure(&messages);
    assert!(
        message.contains("$3.0000 of $0.0000 today (`budget.day.dollars`)"),
        "{message}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_whose_time_is_over_ends_in_the_middle_of_a_command() {
    let stage = Stage::with("[budget.turn]\nseconds = 1\n").await;
    let (mut client, thread) = stage.thread().await;
    stage.play([calls("exec_command", json!({ "cmd": "sleep 1000" }))]);
    let messages = run(&mut client, &thread, "go").await;
    let (message, info) = failure(&messages);
    assert!(message.contains("1 of 1 seconds in this turn"), "{message}");
    assert_eq!(*info, "usageLimitExceeded");
    stage.play([answer("fresh", 2)]);
    let messages = run(&mut client, &thread, "again").await;
    assert_eq!(status(&messages), "completed");
}
