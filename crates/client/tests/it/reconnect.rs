//! A client over connections that break: it misses nothing, sees nothing twice, and its requests act once.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::Mutex;
use quipu_client::wire::{ThreadStartParams, TurnStatus};
use quipu_client::{Arrival, Connect, Event, Options, Reconnecting, Reconnection, prompt};
use quipu_testkit::cut;
use quipu_testkit::stream::StreamCheck;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::support::{Lab, script, soon, unconnected, within};

const AT_ONCE: Reconnection = Reconnection {
    attempts: 10,
    first: std::time::Duration::ZERO,
    longest: std::time::Duration::ZERO,
};

/// An arrival as the checker reads it.
fn message(event: &Event, number: Option<quipu_client::EventNumber>) -> Value {
    let Event::Notification(notification) = event else {
        return Value::Null;
    };
    let mut message = serde_json::to_value(notification).unwrap();
    if let Some(number) = number {
        message["quipu"] = json!({ "seq": number.seq, "condensed": number.condensed });
    }
    message
}

/// Reads until so many turns have ended.
async fn read(arrivals: &mut mpsc::Receiver<Arrival>, check: &mut StreamCheck, ended: usize) {
    while check.ended < ended {
        match within("an event", arrivals.recv()).await.unwrap() {
            Arrival::Event { event, number } => check.take(&message(&event, number)).unwrap(),
            Arrival::Resumed {
                replay, thread_id, ..
            } => {
                assert_eq!(replay.to_string(), "complete");
                assert!(!thread_id.is_empty());
            }
            other => panic!("{other:?}"),
        }
    }
}

/// Connections of which the first breaks after so many messages.
fn breaking(lab: &Lab, messages: usize) -> (Connect, Arc<AtomicUsize>) {
    let server = Arc::clone(&lab.server);
    let made = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&made);
    let connect = move || {
        let connection = server.connect_in_process();
        Options::connection(match count.fetch_add(1, Ordering::Relaxed) {
            0 => cut::after(messages, connection),
            _ => connection,
        })
    };
    (Arc::new(connect), made)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_connection_may_break_at_every_message() {
    let lab = Lab::new();
    let reader = lab.client().await;
    // The handshake is three messages; without it there is nothing to resume.
    for messages in 3.. {
        let (connect, made) = breaking(&lab, messages);
        let (client, mut arrivals) = soon(Reconnecting::connect(connect, AT_ONCE)).await;
        let mut check = StreamCheck::default();
        let turn = async {
            let started = client.start_thread(ThreadStartParams::default());
            let thread = started.await.unwrap().thread.id;
            let steps = json!([{ "deltas": 12 }]);
            let turn = client.start_turn(prompt(&thread, script(steps))).await;
            (thread, turn.unwrap().turn.id)
        };
        let (_, (thread, turn)) = tokio::join!(read(&mut arrivals, &mut check, 1), turn);
        assert!(check.open_turns().is_empty());
        let stored = soon(reader.thread_read(quipu_client::wire::ThreadReadParams {
            thread_id: thread,
            include_turns: true,
        }));
        let turns = stored.await.thread.turns;
        assert_eq!(turns.len(), 1, "after {messages} messages");
        assert_eq!(turns[0].id, turn);
        assert_eq!(turns[0].status, TurnStatus::Completed);
        if made.load(Ordering::Relaxed) == 1 {
            assert!(messages > 20);
            break;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_does_not_number_events_is_refused() {
    let (options, mut peer) = unconnected();
    let options = given_once(options);
    let (connected, ()) = tokio::join!(Reconnecting::connect(options, AT_ONCE), peer.greet());
    let error = connected.map(|_| ()).unwrap_err().to_string();
    assert!(error.contains("does not number events"), "{error}");
}

/// Options that are given out once.
fn given_once(options: Options) -> Connect {
    let options = Mutex::new(Some(options));
    Arc::new(move || options.lock().take().unwrap())
}
