//! The outgoing queue over real sockets: bounds, order, slow readers, endings.

use bytes::Bytes;
use quipu_rpc::{
    CloseCode, CloseReason, Connection, ErrorObject, Id, Limits, OnFull, Outbox, Responder,
    SendError,
};
use tokio::net::UnixStream;
use tokio::task::JoinHandle;

use crate::support::{BIG, text, websocket_pair, within};

const SMALL: Limits = Limits {
    messages: 8,
    bytes: 1 << 20,
};

/// An outbox writing to a unix socket, its writing task, and the other end.
fn unix(limits: Limits, on_full: OnFull) -> (Outbox, JoinHandle<CloseReason>, Connection) {
    let (ours, theirs) = UnixStream::pair().unwrap();
    let (outbox, writer) = Outbox::new(limits, on_full);
    let ours = Connection::unix(ours, BIG);
    let writing = tokio::spawn(writer.run(ours.writer));
    (outbox, writing, Connection::unix(theirs, BIG))
}

fn kilobytes(count: usize) -> Bytes {
    Bytes::from(vec![b'k'; count << 10])
}

#[test]
fn both_limits_hold_without_a_writer() {
    let (outbox, _writer) = Outbox::new(SMALL, OnFull::Wait);
    for _ in 0..8 {
        outbox.try_send(Bytes::from("{}")).unwrap();
    }
    assert!(matches!(
        outbox.try_send(Bytes::from("{}")),
        Err(SendError::Full)
    ));

    let (outbox, _writer) = Outbox::new(SMALL, OnFull::Wait);
    outbox.try_send(kilobytes(3000)).unwrap();
    assert!(matches!(
        outbox.try_send(Bytes::from("{}")),
        Err(SendError::Full)
    ));
    assert!(!outbox.is_idle());
}

#[tokio::test]
async fn a_slow_reader_is_disconnected_and_nobody_else() {
    let (slow, slow_writing, silent) = unix(SMALL, OnFull::Disconnect);
    let (quick, _quick_writing, mut reading) = unix(SMALL, OnFull::Disconnect);
    let mut taken = 0;
    let reason = within(async {
        loop {
            quick.send(kilobytes(64)).await.unwrap();
            assert_eq!(text(&mut reading.reader).await.len(), 64 << 10);
            match slow.send(kilobytes(64)).await {
                Ok(()) => taken += 1,
                Err(reason) => return reason,
            }
        }
    })
    .await;
    assert!(matches!(reason, CloseReason::Overflow));
    assert!(
        taken < 40,
        "took {taken} messages for a client that never reads"
    );
    // The writer was stuck in the middle of a write and ended all the same.
    let end = within(slow_writing).await.unwrap();
    assert!(matches!(end, CloseReason::Overflow));
    assert!(matches!(within(slow.closed()).await, CloseReason::Overflow));
    assert!(matches!(
        slow.try_send(Bytes::from("{}")),
        Err(SendError::Closed(CloseReason::Overflow))
    ));
    drop(silent);
}

#[tokio::test]
async fn a_slow_websocket_reader_is_disconnected_too() {
    let (silent, server) = websocket_pair(BIG).await;
    let (outbox, writer) = Outbox::new(SMALL, OnFull::Disconnect);
    let writing = tokio::spawn(writer.run(server.writer));
    within(async {
        while outbox.send(kilobytes(256)).await.is_ok() {
            tokio::task::yield_now().await;
        }
    })
    .await;
    assert!(matches!(
        within(writing).await.unwrap(),
        CloseReason::Overflow
    ));
    drop(silent);
}

#[tokio::test]
async fn a_waiting_sender_loses_nothing_and_keeps_the_order() {
    let (outbox, writing, mut other) = unix(SMALL, OnFull::Wait);
    let sending = tokio::spawn(async move {
        for number in 0..2000 {
            let message = format!("{number} {}", "w".repeat(1000));
            outbox.send(Bytes::from(message)).await.unwrap();
        }
    });
    // The socket holds a fraction of this, so the sender has to wait for the reads.
    for number in 0..2000 {
        let message = text(&mut other.reader).await;
        assert!(message.starts_with(&format!("{number} ")), "{number}");
    }
    sending.await.unwrap();
    assert!(matches!(within(writing).await.unwrap(), CloseReason::Local));
    assert_eq!(within(other.reader.next()).await.unwrap(), None);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn many_senders_wait_for_room_together_and_each_keeps_its_order() {
    const SENDERS: usize = 8;
    const MESSAGES: usize = 2000;
    let (ours, mut theirs) = Connection::pair(SMALL);
    let (outbox, writer) = Outbox::new(SMALL, OnFull::Wait);
    tokio::spawn(writer.run(ours.writer));
    for sender in 0..SENDERS {
        let outbox = outbox.clone();
        tokio::spawn(async move {
            for number in 0..MESSAGES {
                let message = Bytes::from(format!("{sender} {number}"));
                outbox.send(message).await.unwrap();
            }
        });
    }
    drop(outbox);
    let mut next = [0; SENDERS];
    for _ in 0..SENDERS * MESSAGES {
        let message = text(&mut theirs.reader).await;
        let (sender, number) = message.split_once(' ').unwrap();
        let next = &mut next[sender.parse::<usize>().unwrap()];
        assert_eq!(number, next.to_string());
        *next += 1;
    }
    assert_eq!(within(theirs.reader.next()).await.unwrap(), None);
}

#[tokio::test]
async fn memory_is_released_when_written() {
    let (outbox, _writing, mut other) = unix(SMALL, OnFull::Disconnect);
    for _ in 0..100 {
        outbox.send(kilobytes(1024)).await.unwrap();
        assert_eq!(text(&mut other.reader).await.len(), 1 << 20);
        within(async {
            while !outbox.is_idle() {
                tokio::task::yield_now().await;
            }
        })
        .await;
    }
}

#[tokio::test]
async fn closing_writes_what_is_queued_and_aborting_does_not() {
    let (outbox, writing, mut other) = unix(SMALL, OnFull::Wait);
    outbox.try_send(Bytes::from("1")).unwrap();
    outbox.try_send(Bytes::from("2")).unwrap();
    outbox.close(CloseCode::NORMAL);
    assert!(matches!(
        outbox.try_send(Bytes::from("3")),
        Err(SendError::Closed(CloseReason::Local))
    ));
    assert_eq!(text(&mut other.reader).await, "1");
    assert_eq!(text(&mut other.reader).await, "2");
    assert_eq!(within(other.reader.next()).await.unwrap(), None);
    assert!(matches!(within(writing).await.unwrap(), CloseReason::Local));

    let (outbox, writing, mut other) = unix(SMALL, OnFull::Wait);
    outbox.try_send(Bytes::from("1")).unwrap();
    outbox.abort(CloseReason::Overflow);
    assert_eq!(within(other.reader.next()).await.unwrap(), None);
    assert!(matches!(
        within(writing).await.unwrap(),
        CloseReason::Overflow
    ));
}

#[tokio::test]
async fn a_waiting_sender_hears_of_the_end() {
    let (outbox, writing, silent) = unix(SMALL, OnFull::Wait);
    let waiting = tokio::spawn({
        let outbox = outbox.clone();
        async move {
            loop {
                if let Err(reason) = outbox.send(kilobytes(512)).await {
                    return reason;
                }
            }
        }
    });
    drop(silent);
    let reason = within(waiting).await.unwrap();
    assert!(matches!(reason, CloseReason::Write(_)), "{reason:?}");
    assert!(matches!(
        within(writing).await.unwrap(),
        CloseReason::Write(_)
    ));
    assert!(matches!(
        within(outbox.closed()).await,
        CloseReason::Write(_)
    ));
}

#[tokio::test]
async fn a_websocket_gets_the_close_code_after_the_last_message() {
    let (mut client, server) = websocket_pair(BIG).await;
    let (outbox, writer) = Outbox::new(SMALL, OnFull::Disconnect);
    let writing = tokio::spawn(writer.run(server.writer));
    outbox.send(Bytes::from("last")).await.unwrap();
    outbox.close(CloseCode::GOING_AWAY);
    assert_eq!(text(&mut client.reader).await, "last");
    assert_eq!(within(client.reader.next()).await.unwrap(), None);
    assert!(matches!(within(writing).await.unwrap(), CloseReason::Local));
}

#[tokio::test]
async fn a_responder_answers_exactly_once() {
    let (outbox, _writing, mut other) = unix(SMALL, OnFull::Wait);
    let responder = |id: &str| Responder::new(Id::from(id), outbox.clone());
    responder("a").result(&[1]).await.unwrap();
    responder("b")
        .error(&ErrorObject::invalid_request("no"))
        .await
        .unwrap();
    drop(responder("c"));
    let unwritable = std::collections::HashMap::from([([1, 2], 3)]);
    responder("d").result(&unwritable).await.unwrap();
    let panicking = tokio::spawn({
        let responder = responder("e");
        async move {
            let _owed = responder;
            panic!("on purpose");
        }
    });
    assert!(panicking.await.is_err());
    outbox.close(CloseCode::NORMAL);
    for expected in [
        r#"{"id":"a","result":[1]}"#,
        r#"{"error":{"code":-32600,"message":"no"},"id":"b"}"#,
        r#"{"error":{"code":-32603,"message":"the request was dropped without an answer"},"id":"c"}"#,
        r#"{"error":{"code":-32603,"message":"the result cannot be written as JSON: key must be a string"},"id":"d"}"#,
        r#"{"error":{"code":-32603,"message":"the request was dropped without an answer"},"id":"e"}"#,
    ] {
        assert_eq!(text(&mut other.reader).await, expected);
    }
    assert_eq!(within(other.reader.next()).await.unwrap(), None);
}

#[tokio::test]
async fn an_answer_cancelled_while_waiting_for_room_becomes_an_error() {
    let (outbox, writer) = Outbox::new(SMALL, OnFull::Wait);
    for _ in 0..8 {
        outbox.try_send(Bytes::from("{}")).unwrap();
    }
    let answering = Responder::new(Id::from(1), outbox.clone()).result(&());
    let waited = tokio::time::timeout(std::time::Duration::ZERO, answering).await;
    assert!(waited.is_err(), "there was no room");
    outbox.close(CloseCode::NORMAL);
    let (ours, mut theirs) = Connection::pair(crate::support::LIMITS);
    within(writer.run(ours.writer)).await;
    for _ in 0..8 {
        assert_eq!(text(&mut theirs.reader).await, "{}");
    }
    assert!(text(&mut theirs.reader).await.ends_with(r#""id":1}"#));
    assert_eq!(theirs.reader.next().await.unwrap(), None);
}
