//! Requirement 31: what is reported of a session.

use std::time::SystemTime;

use quipu_runner::session::{EventKind, Usage};
use serde_json::json;

use super::support::Lab;

#[tokio::test]
async fn r31_every_message_is_reported_with_session_method_time_process_and_payload() {
    let before = SystemTime::now();
    let lab = Lab::new(
        r#"
        greet; get
        # In one write with the answer, so that it is read before the answer can be understood.
        printf '%s\n%s\n' '{"id":3,"result":{"turn":{"id":"turn-1"}}}' '{"method":"item/started","params":{"threadId":"thread-1","turnId":"turn-1","unknown":{"kept":true}}}'
        say 'noise'; completed turn-1; stay
        "#,
    );
    lab.run().await.unwrap();
    let reported = lab.events(EventKind::Notification);
    let item = reported
        .iter()
        .find(|it| it.method == "item/started")
        .unwrap();
    assert_eq!(
        item.payload,
        json!({ "threadId": "thread-1", "turnId": "turn-1", "unknown": { "kept": true } })
    );
    assert_eq!(item.session_id.as_deref(), Some("thread-1-turn-1"));
    assert!(item.at >= before && item.at <= SystemTime::now());
    let noise = &lab.events(EventKind::Malformed)[0];
    assert_eq!(noise.payload, "noise");
    assert!(item.pid.is_some());
    assert_eq!(item.pid, noise.pid);
    let done = &lab.events(EventKind::TurnCompleted)[0];
    assert_eq!(done.session_id.as_deref(), Some("thread-1-turn-1"));
    assert_eq!(done.kind.name(), "turn_completed");
}

#[tokio::test]
async fn tokens_rate_limits_message_and_diff_are_extracted() {
    let lab = Lab::new(
        r#"
        greet; turn 3 turn-1
        say '{"method":"thread/tokenUsage/updated","params":{"threadId":"other","tokenUsage":{"total":{"totalTokens":9}}}}'
        say '{"method":"thread/tokenUsage/updated","params":{"threadId":"thread-1","tokenUsage":{"total":{"totalTokens":30,"inputTokens":20,"cachedInputTokens":5,"outputTokens":10},"last":{"totalTokens":1}}}}'
        say '{"method":"account/rateLimits/updated","params":{"rateLimits":{"primary":{"usedPercent":7}}}}'
        say '{"method":"turn/diff/updated","params":{"threadId":"thread-1","turnId":"turn-1","diff":"--- a"}}'
        say '{"method":"item/completed","params":{"threadId":"thread-1","turnId":"turn-1","item":{"type":"agentMessage","text":"done"}}}'
        completed turn-1; stay
        "#,
    );
    let done = lab.run().await.unwrap();
    let usage = Usage {
        input: 20,
        cached_input: 5,
        output: 10,
        total: 30,
    };
    assert_eq!(
        (done.usage, &*done.message, done.diff.as_deref()),
        (Some(usage), "done", Some("--- a"))
    );
    let reported = lab.events(EventKind::Notification);
    assert_eq!(
        reported.iter().filter_map(|it| it.usage()).next_back(),
        Some(usage)
    );
    let limits = reported.iter().find_map(|it| it.rate_limits()).unwrap();
    assert_eq!(limits["primary"]["usedPercent"], 7);
}
