//! Turns that take too long.

use std::future::pending;
use std::time::Duration;

use quipu_client::wire::{
    CommandExecutionApprovalDecision as Decision, CommandExecutionRequestApprovalParams, TurnStatus,
};
use quipu_client::{Error, Handler, Timeouts, TurnLimit, prompt};
use serde_json::{Value, json};

use crate::support::{Lab, connect, script, scripted, thread, within};

fn limits(silence: Option<u64>, total: Option<u64>) -> Timeouts {
    Timeouts {
        turn_silence: silence.map(Duration::from_millis),
        turn_total: total.map(Duration::from_millis),
        ..Timeouts::default()
    }
}

async fn run(timeouts: Timeouts, steps: Value) -> Error {
    let lab = Lab::new();
    let client = connect(lab.options().timeouts(timeouts)).await;
    let thread = thread(&client).await;
    let turn = client.run_turn(prompt(&thread, script(steps)));
    within("the end", turn).await.unwrap_err()
}

#[test]
fn calls_have_half_a_minute_and_turns_five() {
    let minutes = Duration::from_secs(5 * 60);
    let limits = Timeouts::default();
    assert_eq!(limits.request, Duration::from_secs(30));
    assert_eq!(limits.turn_silence, Some(minutes));
    assert_eq!(limits.turn_total, Some(minutes));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_silent_turn_is_interrupted() {
    let steps = json!([{ "text": "I think.", "stall": true }]);
    let error = run(limits(Some(300), None), steps).await;
    assert!(
        error
            .to_string()
            .contains("nothing was heard of it for 300ms")
    );
    let Error::TurnTimedOut { limit, outcome } = error else {
        panic!("{error}");
    };
    assert_eq!(limit, TurnLimit::Silence(Duration::from_millis(300)));
    assert_eq!(outcome.turn.status, TurnStatus::Interrupted);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_turn_that_is_never_silent_has_a_limit_too() {
    let steps = json!([{ "deltas": 100_000, "every": 5 }]);
    let error = run(limits(None, Some(500)), steps).await;
    let Error::TurnTimedOut { limit, outcome } = error else {
        panic!("{error}");
    };
    assert_eq!(limit, TurnLimit::Total(Duration::from_millis(500)));
    assert_eq!(outcome.turn.status, TurnStatus::Interrupted);
}

struct Ponders;

impl Handler for Ponders {
    async fn approve_command(&self, _: CommandExecutionRequestApprovalParams) -> Decision {
        let pondering = pending::<()>();
        let pondered = tokio::time::timeout(Duration::from_secs(3), pondering).await;
        assert!(pondered.is_err());
        Decision::Accept
    }
}

#[tokio::test]
async fn a_turn_is_not_silent_while_its_question_is_thought_about() {
    let limits = limits(Some(1000), None);
    let (client, mut peer) = scripted(|it| it.handler(Ponders).timeouts(limits)).await;
    let turn = |status: &str| json!({ "id": "u", "items": [], "status": status, "error": null });
    let running = client.run_turn(prompt("t", "hello"));
    let serve = async {
        let request = peer.asked("turn/start").await;
        peer.answer(&request, json!({ "turn": turn("inProgress") }))
            .await;
        let question = json!({ "threadId": "t", "turnId": "u", "itemId": "i" });
        let answer = peer
            .ask("item/commandExecution/requestApproval", question)
            .await;
        assert_eq!(answer["result"]["decision"], "accept");
        let ended = json!({ "threadId": "t", "turn": turn("completed") });
        peer.notify("turn/completed", ended).await;
    };
    let (done, ()) = within("the turn", async { tokio::join!(running, serve) }).await;
    assert_eq!(done.unwrap().turn.status, TurnStatus::Completed);
}
