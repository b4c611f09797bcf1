//! Streams of events: what they hold, what they leave out, what they lose.

use quipu_client::wire::{ServerNotification, ThreadItem};
use quipu_client::{Cause, Client, Event, EventStream, Options};
use serde_json::{Value, json};

use crate::support::{Peer, scripted, unconnected, within};

async fn next(stream: &mut EventStream) -> Event {
    within("an event", stream.next()).await.unwrap()
}

fn delta(thread: &str, turn: &str, text: &str) -> Value {
    json!({ "threadId": thread, "turnId": turn, "itemId": "i", "delta": text })
}

/// Everything that was sent before is handed out when this returns.
async fn settle(client: &Client, peer: &mut Peer) {
    let mut settled = client.thread_events("settled");
    peer.notify("thread/closed", json!({ "threadId": "settled" }))
        .await;
    next(&mut settled).await;
}

#[tokio::test]
async fn what_is_not_known_arrives_as_it_is() {
    let (client, mut peer) = scripted(|it| it).await;
    let mut events = client.thread_events("t");
    peer.notify("thread/dreamt", json!({ "threadId": "t", "of": ["sheep"] }))
        .await;
    let item = json!({ "type": "hologram", "id": "i", "depth": 3 });
    let params = json!({ "threadId": "t", "turnId": "u", "item": item });
    peer.notify("item/completed", params).await;
    peer.notify("turn/completed", json!({ "threadId": "t", "turn": 7 }))
        .await;

    let Event::Notification(ServerNotification::Unrecognized { method, params }) =
        next(&mut events).await
    else {
        panic!("not as it is");
    };
    assert_eq!(method, "thread/dreamt");
    assert_eq!(params.to_value()["of"][0], "sheep");
    let Event::Notification(ServerNotification::ItemCompleted(it)) = next(&mut events).await else {
        panic!("no item");
    };
    let ThreadItem::Unrecognized(item) = it.item else {
        panic!("a known item");
    };
    assert_eq!(item.to_value()["depth"], 3);
    drop(client);
}

/// A server may speak right after the handshake, before the caller could ask for a stream.
#[tokio::test]
async fn a_stream_from_the_first_moment_misses_nothing() {
    let (options, mut peer) = unconnected();
    let greet = async {
        let hello = peer.asked("initialize").await;
        // Before the answer, so it is handed out before the client exists.
        let warning = json!({ "summary": "careful", "details": null });
        peer.notify("configWarning", warning).await;
        peer.answer(&hello, json!({ "userAgent": "peer/0.118.0 (test)" }))
            .await;
    };
    let connect = Client::connect_with_events(options);
    let (connected, ()) = within("a handshake", async { tokio::join!(connect, greet) }).await;
    let (_client, mut events) = connected.unwrap();
    let Event::Notification(ServerNotification::ConfigWarning(it)) = next(&mut events).await else {
        panic!("the warning was lost");
    };
    assert_eq!(it.summary, "careful");
}

#[tokio::test]
async fn known_methods_of_an_unknown_shape_are_reported_as_unreadable() {
    let (client, mut peer) = scripted(|it| it).await;
    let mut events = client.events();
    peer.notify("turn/completed", json!({ "threadId": "t", "turn": 7 }))
        .await;
    let Event::Unreadable { method, params, .. } = next(&mut events).await else {
        panic!("readable");
    };
    assert_eq!(
        (&*method, params.to_value()["turn"].as_i64()),
        ("turn/completed", Some(7))
    );
    peer.0.send(["{\"method\": "]).await;
    assert!(matches!(next(&mut events).await, Event::Malformed { .. }));
    peer.notify("skills/changed", json!({})).await;
    assert_eq!(next(&mut events).await.method(), "skills/changed");
}

#[tokio::test]
async fn streams_hear_what_concerns_them() {
    let (client, mut peer) = scripted(|it| it).await;
    let mut all = client.events();
    let mut thread = client.thread_events("t");
    let mut turn = client.turn_events("t", "u");
    let method = "item/agentMessage/delta";
    for (of_thread, of_turn) in [("t", "u"), ("t", "v"), ("s", "u")] {
        peer.notify(method, delta(of_thread, of_turn, "x")).await;
    }
    let ended = json!({ "id": "u", "items": [], "status": "completed", "error": null });
    peer.notify("turn/completed", json!({ "threadId": "t", "turn": ended }))
        .await;
    peer.0.end().await;
    let count = async |stream: &mut EventStream| {
        let mut methods = Vec::new();
        while let Some(event) = within("an event", stream.next()).await {
            match event {
                Event::Closed(cause) => assert!(matches!(cause, Cause::ServerClosed)),
                event => methods.push(event.method().to_owned()),
            }
        }
        methods
    };
    assert_eq!(count(&mut all).await.len(), 4);
    assert_eq!(count(&mut thread).await.len(), 3);
    assert_eq!(count(&mut turn).await, [method, "turn/completed"]);
    let mut late = client.events();
    assert!(matches!(next(&mut late).await, Event::Closed(_)));
}

#[tokio::test]
async fn a_slow_reader_learns_what_it_missed() {
    let (client, mut peer) = scripted(|it: Options| it.event_buffer(3, 1 << 20)).await;
    let mut slow = client.thread_events("t");
    for number in 0..8 {
        let method = match number % 2 {
            0 => "item/agentMessage/delta",
            _ => "item/plan/delta",
        };
        peer.notify(method, delta("t", "u", &number.to_string()))
            .await;
    }
    settle(&client, &mut peer).await;
    let Event::Lagged(lagged) = next(&mut slow).await else {
        panic!("nothing is missed");
    };
    assert_eq!(lagged.missed, 5);
    let counts: Vec<_> = lagged.by_method.iter().map(|(k, v)| (&**k, *v)).collect();
    assert_eq!(
        counts,
        [("item/agentMessage/delta", 3), ("item/plan/delta", 2)]
    );
    for number in 5..8 {
        let text = match next(&mut slow).await {
            Event::Notification(ServerNotification::ItemAgentMessageDelta(it)) => it.delta,
            Event::Notification(ServerNotification::ItemPlanDelta(it)) => it.delta,
            other => panic!("{other:?}"),
        };
        assert_eq!(text, number.to_string());
    }
}

#[tokio::test]
async fn large_events_are_bounded_by_their_size() {
    let (client, mut peer) = scripted(|it: Options| it.event_buffer(1000, 10_000)).await;
    let mut slow = client.thread_events("t");
    for _ in 0..5 {
        let text = "x".repeat(4000);
        peer.notify("item/agentMessage/delta", delta("t", "u", &text))
            .await;
    }
    settle(&client, &mut peer).await;
    let Event::Lagged(lagged) = next(&mut slow).await else {
        panic!("nothing is missed");
    };
    assert_eq!(lagged.missed, 3);
}
