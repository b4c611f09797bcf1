//! Requirements 15 to 18: how a turn ends.

use std::time::Duration;

use quipu_client::TurnLimit;
use quipu_runner::session::{EventKind, Limits, SessionError, SessionOptions};
use serde_json::json;

use super::support::{Lab, lives, start, within};

#[tokio::test]
async fn r15_turn_completed_is_success_if_it_says_completed_or_nothing() {
    for end in [
        r#"{"method":"turn/completed"}"#,
        r#"{"method":"turn/completed","params":{}}"#,
        r#"{"method":"turn/completed","params":{"threadId":"thread-1","turn":{"id":"turn-1","status":"completed"}}}"#,
    ] {
        let lab = Lab::new(&format!("greet; turn 3 turn-1; say '{end}'; stay"));
        lab.run().await.unwrap();
        assert_eq!(lab.events(EventKind::TurnCompleted).len(), 1);
    }
}

#[tokio::test]
async fn r16_turn_completed_with_another_status_is_an_error() {
    for (status, code) in [
        ("failed", "turn_failed"),
        ("interrupted", "turn_cancelled"),
        ("abandoned", "turn_failed"),
    ] {
        let lab = Lab::new(&format!(
            r#"greet; turn 3 turn-1
            say '{{"method":"turn/completed","params":{{"threadId":"thread-1","turn":{{"id":"turn-1","status":"{status}","error":{{"message":"no luck"}}}}}}}}'
            stay"#
        ));
        let error = lab.run().await.unwrap_err();
        assert_eq!(error.code(), code);
        assert!(error.to_string().contains("no luck"), "{error}");
    }
}

#[tokio::test]
async fn r17_turn_failed_and_turn_cancelled_are_errors_with_their_params() {
    let lab = Lab::new(
        r#"greet; turn 3 turn-1; say '{"method":"turn/failed","params":{"message":"boom"}}'; stay"#,
    );
    let error = lab.run().await.unwrap_err();
    let SessionError::TurnFailed { params } = &error else {
        panic!("{error}");
    };
    assert_eq!(*params, json!({ "message": "boom" }));
    assert_eq!(lab.events(EventKind::TurnFailed).len(), 1);

    let lab = Lab::new(
        r#"greet; turn 3 turn-1; say '{"method":"turn/cancelled","params":{"reason":"enough"}}'; stay"#,
    );
    let error = lab.run().await.unwrap_err();
    let SessionError::TurnCancelled { params } = &error else {
        panic!("{error}");
    };
    assert_eq!(*params, json!({ "reason": "enough" }));
    assert_eq!(lab.events(EventKind::TurnCancelled).len(), 1);
}

#[tokio::test]
async fn ends_of_other_threads_and_turns_are_not_ours() {
    let lab = Lab::new(
        r#"
        greet; turn 3 turn-1
        say '{"method":"turn/completed","params":{"threadId":"agent","turn":{"id":"turn-9","status":"failed"}}}'
        say '{"method":"turn/completed","params":{"threadId":"thread-1","turn":{"id":"turn-0","status":"interrupted"}}}'
        completed turn-1; stay
        "#,
    );
    lab.run().await.unwrap();
}

fn hasty(lab: &Lab, limits: Limits) -> SessionOptions {
    SessionOptions {
        limits: Limits {
            response: Duration::from_secs(20),
            shutdown: Duration::from_millis(200),
            ..limits
        },
        ..lab.options()
    }
}

#[tokio::test]
async fn r18_a_silent_turn_is_interrupted_and_its_process_ended() {
    let lab = Lab::new(r#"greet; turn 3 turn-1; get; say '{"id":4,"result":{}}'; stay"#);
    let limit = Duration::from_millis(300);
    let limits = Limits {
        turn_silence: Some(limit),
        ..Limits::default()
    };
    let mut session = start(hasty(&lab, limits)).await.unwrap();
    let pid = session.pid().unwrap();
    let error = within("the limit", session.run_turn("do it"))
        .await
        .unwrap_err();
    let SessionError::TurnTimeout { limit: found } = error else {
        panic!("{error}");
    };
    assert_eq!(found, TurnLimit::Silence(limit));
    let interrupt = lab.sent("turn/interrupt");
    assert_eq!(
        interrupt,
        json!({ "threadId": "thread-1", "turnId": "turn-1" })
    );
    assert!(!lives(pid));
}

#[tokio::test]
async fn r18_a_turn_that_talks_without_end_is_stopped_by_the_limit_of_the_whole() {
    let lab = Lab::new(
        r#"
        greet; turn 3 turn-1
        while :; do
            say '{"method":"item/agentMessage/delta","params":{"threadId":"thread-1","turnId":"turn-1","delta":"x"}}'
            IFS= read -t 0.05 -r line && say '{"id":4,"result":{}}'
        done
        "#,
    );
    let limit = Duration::from_millis(600);
    let limits = Limits {
        // Far more than a busy machine needs between two words.
        turn_silence: Some(Duration::from_secs(20)),
        turn_total: Some(limit),
        ..Limits::default()
    };
    let error = lab.run_with(hasty(&lab, limits)).await.unwrap_err();
    let SessionError::TurnTimeout { limit: found } = error else {
        panic!("{error}");
    };
    assert_eq!(found, TurnLimit::Total(limit));
}
