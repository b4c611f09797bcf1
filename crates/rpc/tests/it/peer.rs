//! A peer against a scripted other side.

use std::time::Duration;

use bytes::Bytes;
use quipu_rpc::write::NoParams;
use quipu_rpc::{
    CallError, CloseCode, CloseReason, Connection, ErrorObject, Event, Inbox, Limits, Peer,
    PeerOptions,
};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;

use crate::support::{BIG, LIMITS, TRANSPORTS, connect, text, within};

fn start(options: PeerOptions) -> (Peer, Inbox, Connection) {
    let (ours, theirs) = Connection::pair(LIMITS);
    let (peer, inbox) = Peer::start(ours, options);
    (peer, inbox, theirs)
}

async fn say(other: &mut Connection, message: &str) {
    let message = Bytes::copy_from_slice(message.as_bytes());
    other.writer.write([message]).await.unwrap();
}

#[tokio::test]
async fn calls_are_on_the_wire_in_call_order_and_awaited_in_any() {
    for transport in TRANSPORTS {
        let (ours, mut other) = connect(transport).await;
        let (peer, _inbox) = Peer::start(ours, PeerOptions::default());
        let first = peer.call("a", &json!({"x": 1}));
        peer.notify("b", &NoParams {}).unwrap();
        let second = peer.call("c", &NoParams {});
        for expected in [
            r#"{"method":"a","id":0,"params":{"x":1}}"#,
            r#"{"method":"b","params":{}}"#,
            r#"{"method":"c","id":1,"params":{}}"#,
        ] {
            assert_eq!(text(&mut other.reader).await, expected);
        }
        say(&mut other, r#"{"id":1,"result":"second"}"#).await;
        say(&mut other, r#"{"id":7,"result":"unasked"}"#).await;
        say(
            &mut other,
            r#"{"error":{"code":-32600,"message":"no"},"id":0}"#,
        )
        .await;
        let outcome = within(second).await.unwrap();
        assert_eq!(outcome.decode::<String>().unwrap(), "second");
        let outcome = within(first).await;
        let expected = ErrorObject::invalid_request("no");
        assert!(matches!(outcome, Err(CallError::Rejected(error)) if error == expected));
    }
}

#[tokio::test]
async fn what_the_other_side_sends_comes_in_order_with_the_duty_to_answer() {
    let (_peer, mut inbox, mut other) = start(PeerOptions::default());
    for message in [
        r#"{"method":"n","params":{"k":1}}"#,
        r#"{"id":"q","method":"ask"}"#,
        "nonsense",
        r#"{"id":8,"method":"ask"}"#,
    ] {
        say(&mut other, message).await;
    }
    let Some(Event::Notification(notification)) = within(inbox.next()).await else {
        panic!("a notification");
    };
    assert_eq!(notification.params.unwrap().as_bytes(), br#"{"k":1}"#);
    let Some(Event::Request(request)) = within(inbox.next()).await else {
        panic!("a request");
    };
    request
        .responder
        .result(&json!({"decision": "accept"}))
        .await
        .unwrap();
    assert_eq!(
        text(&mut other.reader).await,
        r#"{"id":"q","result":{"decision":"accept"}}"#
    );
    assert!(matches!(
        within(inbox.next()).await,
        Some(Event::Malformed { .. })
    ));
    drop(within(inbox.next()).await);
    assert!(text(&mut other.reader).await.contains("-32603"));
}

#[tokio::test]
async fn answers_overtake_notifications_that_nobody_takes() {
    let (peer, inbox, mut other) = start(PeerOptions::default());
    for _ in 0..1000 {
        say(&mut other, r#"{"method":"n"}"#).await;
    }
    let call = peer.call("m", &NoParams {});
    text(&mut other.reader).await;
    say(&mut other, r#"{"id":0,"result":1}"#).await;
    within(call).await.unwrap();
    drop(inbox);
}

const ONE: PeerOptions = PeerOptions {
    outbox: LIMITS,
    inbox: Limits {
        messages: 1,
        bytes: BIG,
    },
    stall_timeout: Duration::from_secs(30),
    linger: Duration::from_secs(5),
    first_id: 0,
};

#[tokio::test(start_paused = true)]
async fn an_inbox_nobody_empties_fails_waiting_calls_instead_of_hanging() {
    let (peer, mut inbox, mut other) = start(ONE);
    let call = peer.call("m", &NoParams {});
    text(&mut other.reader).await;
    for message in [
        r#"{"method":"1"}"#,
        r#"{"method":"2"}"#,
        r#"{"id":0,"result":1}"#,
    ] {
        say(&mut other, message).await;
    }
    let outcome = call.await;
    assert!(
        matches!(outcome, Err(CallError::Closed(CloseReason::Stalled(_)))),
        "{outcome:?}"
    );
    assert!(matches!(inbox.closed().await, CloseReason::Stalled(_)));
    assert!(matches!(inbox.next().await, Some(Event::Notification(_))));
    assert!(inbox.next().await.is_none());
    assert_eq!(other.reader.next().await.unwrap(), None);
}

#[tokio::test(start_paused = true)]
async fn an_inbox_nobody_empties_only_holds_the_sender_back_while_nothing_waits() {
    let (peer, mut inbox, mut other) = start(ONE);
    for number in 0..5 {
        say(&mut other, &format!(r#"{{"method":"{number}"}}"#)).await;
    }
    tokio::time::advance(Duration::from_secs(3600)).await;
    for number in 0..5 {
        let Some(Event::Notification(notification)) = inbox.next().await else {
            panic!("a notification");
        };
        assert_eq!(notification.method, number.to_string());
    }
    let call = peer.call("m", &NoParams {});
    say(&mut other, r#"{"id":0,"result":1}"#).await;
    call.await.unwrap();
}

#[tokio::test]
async fn the_end_of_the_other_side_fails_all_calls() {
    let (peer, mut inbox, mut other) = start(PeerOptions::default());
    let calls = [peer.call("a", &NoParams {}), peer.call("b", &NoParams {})];
    other.writer.close(CloseCode::NORMAL).await.unwrap();
    for call in calls {
        let outcome = within(call).await;
        assert!(
            matches!(outcome, Err(CallError::Closed(CloseReason::Remote))),
            "{outcome:?}"
        );
    }
    assert!(inbox.next().await.is_none());
    assert!(matches!(within(peer.closed()).await, CloseReason::Remote));
    let outcome = within(peer.call("c", &NoParams {})).await;
    assert!(matches!(
        outcome,
        Err(CallError::Closed(CloseReason::Remote))
    ));
}

#[tokio::test]
async fn answers_on_their_way_arrive_although_writing_fails() {
    let (ours, theirs) = UnixStream::pair().unwrap();
    let theirs = theirs.into_std().unwrap();
    let (peer, _inbox) = Peer::start(Connection::unix(ours, BIG), PeerOptions::default());
    let call = peer.call("a", &NoParams {});
    theirs.shutdown(std::net::Shutdown::Read).unwrap();
    within(async {
        while peer.notify("n", &NoParams {}).is_ok() {
            tokio::task::yield_now().await;
        }
    })
    .await;
    std::io::Write::write_all(&mut &theirs, b"{\"id\":0,\"result\":1}\n").unwrap();
    within(call).await.unwrap();
    drop(theirs);
    within(peer.closed()).await;
}

#[tokio::test(start_paused = true)]
async fn closing_sends_the_rest_and_waits_a_little_for_answers() {
    let (peer, _inbox, mut other) = start(PeerOptions::default());
    let answered = peer.call("a", &NoParams {});
    let unanswered = peer.call("b", &NoParams {});
    peer.close();
    let refused = peer.call("c", &NoParams {});
    assert!(matches!(
        refused.await,
        Err(CallError::Closed(CloseReason::Local))
    ));
    assert!(text(&mut other.reader).await.contains("\"a\""));
    assert!(text(&mut other.reader).await.contains("\"b\""));
    assert_eq!(other.reader.next().await.unwrap(), None);
    say(&mut other, r#"{"id":0,"result":1}"#).await;
    answered.await.unwrap();
    assert!(matches!(
        unanswered.await,
        Err(CallError::Closed(CloseReason::Local))
    ));
}

#[tokio::test]
async fn dropping_the_peer_closes_the_connection() {
    let (peer, inbox, mut other) = start(PeerOptions::default());
    drop(peer.clone());
    peer.notify("n", &NoParams {}).unwrap();
    drop((peer, inbox));
    assert_eq!(
        text(&mut other.reader).await,
        r#"{"method":"n","params":{}}"#
    );
    assert_eq!(within(other.reader.next()).await.unwrap(), None);
}

#[tokio::test(start_paused = true)]
async fn a_dropped_peer_does_not_wait_forever_for_a_reader() {
    let (ours, mut theirs) = tokio::io::duplex(8);
    let (reader, writer) = tokio::io::split(ours);
    let (peer, inbox) = Peer::start(
        Connection::lines(reader, writer, BIG),
        PeerOptions::default(),
    );
    peer.notify("never read", &NoParams {}).unwrap();
    drop(peer);
    assert!(matches!(inbox.closed().await, CloseReason::Local));
    let mut rest = String::new();
    theirs.read_to_string(&mut rest).await.unwrap();
    assert_eq!(rest, "{\"method", "what fitted before the cut");
}

#[tokio::test]
async fn a_peer_that_stopped_sending_still_gets_answers() {
    let (ours, mut theirs) = UnixStream::pair().unwrap();
    let (peer, mut inbox) = Peer::start(Connection::unix(ours, BIG), PeerOptions::default());
    theirs
        .write_all(b"{\"id\":1,\"method\":\"ask\"}\n")
        .await
        .unwrap();
    theirs.shutdown().await.unwrap();
    let Some(Event::Request(request)) = within(inbox.next()).await else {
        panic!("a request");
    };
    assert!(matches!(within(peer.closed()).await, CloseReason::Remote));
    request.responder.result(&1).await.unwrap();
    drop(peer);
    let mut answer = String::new();
    within(theirs.read_to_string(&mut answer)).await.unwrap();
    assert_eq!(answer, "{\"id\":1,\"result\":1}\n");
}

#[tokio::test]
async fn a_full_outbox_fails_the_call_and_keeps_the_connection() {
    let outbox = Limits {
        messages: 2,
        bytes: BIG,
    };
    // Nobody has polled the writing task yet when these are queued.
    let (peer, _inbox, mut other) = start(PeerOptions {
        outbox,
        ..PeerOptions::default()
    });
    let [first, _second, third] = ["a", "b", "c"].map(|method| peer.call(method, &NoParams {}));
    assert!(matches!(third.await, Err(CallError::Full)));
    text(&mut other.reader).await;
    say(&mut other, r#"{"id":0,"result":1}"#).await;
    within(first).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_call_may_time_out_alone() {
    let (peer, _inbox, mut other) = start(PeerOptions::default());
    let slow = peer.call("slow", &NoParams {});
    assert_eq!(slow.id(), 0);
    let outcome = slow.within(Duration::from_secs(1)).await;
    assert!(matches!(outcome, Err(CallError::TimedOut(_))));
    let next = peer.call("next", &NoParams {});
    say(&mut other, r#"{"id":0,"result":"late"}"#).await;
    say(&mut other, r#"{"id":1,"result":1}"#).await;
    next.await.unwrap();
}

#[tokio::test]
async fn messages_name_the_version_where_wanted_and_all_are_written_before_the_end() {
    let (ours, mut other) = UnixStream::pair().unwrap();
    let (peer, _inbox) = Peer::start(
        Connection::unix(ours, BIG).with_version(),
        PeerOptions::default(),
    );
    let _call = peer.call_when_room("a", &json!({})).await.unwrap();
    peer.notify_when_room("b", &json!([1])).await.unwrap();
    let error = ErrorObject::invalid_request("no");
    peer.reject(None, &error).await.unwrap();
    within(peer.finish()).await;
    let mut written = String::new();
    within(other.read_to_string(&mut written)).await.unwrap();
    assert_eq!(
        written,
        concat!(
            r#"{"jsonrpc":"2.0","method":"a","id":0,"params":{}}"#,
            "\n",
            r#"{"jsonrpc":"2.0","method":"b","params":[1]}"#,
            "\n",
            r#"{"jsonrpc":"2.0","error":{"code":-32600,"message":"no"},"id":null}"#,
            "\n",
        )
    );
}
