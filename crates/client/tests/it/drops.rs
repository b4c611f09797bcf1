//! What becomes of turns whose futures are dropped.

use futures_util::FutureExt as _;
use quipu_client::wire::{ServerNotification, TurnStatus};
use quipu_client::{Event, EventStream, prompt};
use serde_json::json;

use crate::support::{Lab, script, soon, thread, within};

/// A turn that never ends by itself.
fn endless(thread: &str) -> quipu_client::wire::TurnStartParams {
    prompt(thread, script(json!([{ "text": "…", "stall": true }])))
}

async fn started(events: &mut EventStream) {
    while within("the start", events.next()).await.unwrap().method() != "turn/started" {}
}

/// How the turn ended that the events tell of.
async fn ended(events: &mut EventStream) -> TurnStatus {
    loop {
        let event = within("the end", events.next()).await.unwrap();
        if let Event::Notification(ServerNotification::TurnCompleted(it)) = event {
            return it.turn.status;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_turn_whose_future_is_dropped_is_interrupted() {
    let lab = Lab::new();
    let client = lab.client().await;
    let thread = thread(&client).await;
    let mut events = client.thread_events(&thread);
    tokio::select! {
        done = client.run_turn(endless(&thread)) => panic!("{done:?}"),
        () = started(&mut events) => {}
    }
    assert_eq!(ended(&mut events).await, TurnStatus::Interrupted);
    // The request is on its way, but its answer is not known yet.
    let mut running = Box::pin(client.run_turn(endless(&thread)));
    assert!((&mut running).now_or_never().is_none());
    drop(running);
    assert_eq!(ended(&mut events).await, TurnStatus::Interrupted);
    // The thread is free for the next turn.
    let done = soon(client.run_turn(prompt(&thread, "hello"))).await;
    assert_eq!(done.turn.status, TurnStatus::Completed);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stream_that_is_dropped_interrupts_and_one_that_is_detached_does_not() {
    let lab = Lab::new();
    let client = lab.client().await;
    let thread = thread(&client).await;
    let mut events = client.thread_events(&thread);
    drop(soon(client.stream_turn(endless(&thread))).await);
    assert_eq!(ended(&mut events).await, TurnStatus::Interrupted);

    let slow = script(json!([{ "deltas": ["a", "b", "c"], "every": 10 }]));
    soon(client.stream_turn(prompt(&thread, slow)))
        .await
        .detach();
    assert_eq!(ended(&mut events).await, TurnStatus::Completed);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_turn_can_be_steered_and_interrupted_by_hand() {
    let lab = Lab::new();
    let client = lab.client().await;
    let thread = thread(&client).await;
    let turn = soon(client.stream_turn(endless(&thread))).await;
    assert_eq!(turn.thread_id(), thread);
    soon(turn.steer(prompt("", "more").input)).await;
    soon(turn.interrupt()).await;
    let done = soon(turn.finish()).await;
    assert_eq!(done.turn.status, TurnStatus::Interrupted);
}
