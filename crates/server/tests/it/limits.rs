//! What providers say of limits, and what clients are told of it.

use serde_json::{Value, json};

use crate::stage::{Stage, run, status};

/// The params of all notifications of a method.
fn received<'a>(messages: &'a [Value], method: &str) -> Vec<&'a Value> {
    let of_method = messages.iter().filter(|it| it["method"] == method);
    of_method.map(|it| &it["params"]).collect()
}

fn limits(messages: &[Value]) -> Vec<&Value> {
    let updates = received(messages, "account/rateLimits/updated");
    updates.into_iter().map(|it| &it["rateLimits"]).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn limits_are_reported_as_soon_as_an_answer_begins() {
    let stage = Stage::new().await;
    let (mut client, thread) = stage.thread().await;
    let credits = json!({ "hasCredits": true, "unlimited": false, "balance": "5" });
    stage.play([
        json!({ "text": "one", "headers": {
            "x-codex-primary-used-percent": "40.4", "x-codex-primary-window-minutes": "300",
            "x-codex-secondary-used-percent": "12.5", "x-codex-secondary-reset-at": "2000000000",
            "x-codex-credits-has-credits": "true", "x-codex-credits-unlimited": "false",
            "x-codex-credits-balance": "5",
        } }),
        json!({ "text": "two" }),
    ]);
    let messages = run(&mut client, &thread, "hi").await;
    let first = json!({
        "limitId": "codex", "limitName": null,
        "primary": { "usedPercent": 40, "windowDurationMins": 300, "resetsAt": null },
        "secondary": { "usedPercent": 13, "windowDurationMins": null, "resetsAt": 2_000_000_000 },
        "credits": credits, "planType": null,
    });
    assert_eq!(
        limits(&messages),
        [&first, &first],
        "at both ends of the answer"
    );
    // An answer that says nothing takes the windows back; what is known of the account stays.
    let messages = run(&mut client, &thread, "and").await;
    for limits in limits(&messages) {
        assert_eq!(limits["primary"], Value::Null);
        assert_eq!(limits["credits"], credits);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_used_up_limit_is_reported_before_the_turn_fails() {
    let stage = Stage::new().await;
    let (mut client, thread) = stage.thread().await;
    let body = json!({ "error": { "type": "usage_limit_reached", "plan_type": "plus" } });
    stage.play([json!({ "fail": 429, "body": body, "headers": {
        "x-codex-active-limit": "codex_other", "x-codex-other-limit-name": "Other",
        "x-codex-other-primary-used-percent": "100", "x-codex-primary-used-percent": "7",
    } })]);
    let messages = run(&mut client, &thread, "hi").await;
    assert_eq!(status(&messages), "failed");
    let limits = limits(&messages);
    assert_eq!(limits.len(), 1, "only the one that it is about");
    assert_eq!(limits[0]["limitId"], "codex_other");
    assert_eq!(limits[0]["primary"]["usedPercent"], 100);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_window_is_the_total() {
    let stage = Stage::new().await;
    let (mut client, thread) = stage.thread().await;
    stage.play([
        json!({ "text": "one", "usage": { "input": 100, "cached": 10, "output": 20, "reasoning": 5 } }),
        json!({ "error": { "code": "context_length_exceeded", "message": "too long" } }),
    ]);
    run(&mut client, &thread, "hi").await;
    let messages = run(&mut client, &thread, "more").await;
    let error = &messages.last().unwrap()["params"]["turn"]["error"];
    assert_eq!(error["codexErrorInfo"], "contextWindowExceeded");
    let counts = received(&messages, "thread/tokenUsage/updated");
    let counts = &counts.last().unwrap()["tokenUsage"];
    let only = |tokens: i64| {
        json!({
            "totalTokens": tokens, "inputTokens": 0, "cachedInputTokens": 0, "outputTokens": 0,
            "reasoningOutputTokens": 0,
        })
    };
    assert_eq!(counts["total"], only(258_400));
    assert_eq!(counts["last"], only(258_400 - 120));
}
