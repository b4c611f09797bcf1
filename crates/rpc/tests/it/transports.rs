//! What holds for every transport.

use std::sync::Arc;

use bytes::Bytes;
use quipu_rpc::{Budget, CloseCode, Connection, Excess, Incoming, Intake};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;

use crate::support::{BIG, TRANSPORTS, connect, message, text, within};

#[tokio::test]
async fn messages_arrive_in_order_in_both_directions() {
    for transport in TRANSPORTS {
        let (mut left, mut right) = connect(transport).await;
        left.writer
            .write(["{\"a\":1}", "{\"b\":\"é\"}"].map(Bytes::from))
            .await
            .unwrap();
        right.writer.write([Bytes::from("{}")]).await.unwrap();
        assert_eq!(text(&mut right.reader).await, "{\"a\":1}", "{transport:?}");
        assert_eq!(text(&mut right.reader).await, "{\"b\":\"é\"}");
        assert_eq!(text(&mut left.reader).await, "{}");
    }
}

#[tokio::test]
async fn a_message_of_30_mb_passes_among_small_ones() {
    let big = Bytes::from(vec![b'x'; 30 << 20]);
    for transport in TRANSPORTS {
        let (mut left, mut right) = connect(transport).await;
        let batch = [Bytes::from("1"), big.clone(), Bytes::from("2")];
        let (written, ()) = within(async {
            tokio::join!(left.writer.write(batch), async {
                assert_eq!(text(&mut right.reader).await, "1");
                assert!(message(&mut right.reader).await == big, "{transport:?}");
                assert_eq!(text(&mut right.reader).await, "2");
            })
        })
        .await;
        written.unwrap();
    }
}

#[tokio::test]
async fn many_small_messages_pass_in_order() {
    const MESSAGES: usize = 200_000;
    const BATCH: usize = 500;
    for transport in TRANSPORTS {
        let (mut left, mut right) = connect(transport).await;
        let writing = tokio::spawn(async move {
            for start in (0..MESSAGES).step_by(BATCH) {
                let batch = (start..start + BATCH).map(|number| Bytes::from(number.to_string()));
                left.writer.write(batch).await.unwrap();
            }
            left
        });
        within(async {
            for number in 0..MESSAGES {
                let Ok(Some(Incoming::Message(message))) = right.reader.next().await else {
                    panic!("{transport:?} ended at {number}");
                };
                assert!(message == number.to_string().as_bytes(), "{transport:?}");
            }
        })
        .await;
        writing.await.unwrap();
    }
}

#[tokio::test]
async fn a_closed_writer_ends_the_other_reader_after_the_last_message() {
    for transport in TRANSPORTS {
        let (mut left, mut right) = connect(transport).await;
        left.writer.write([Bytes::from("last")]).await.unwrap();
        left.writer.close(CloseCode::NORMAL).await.unwrap();
        assert_eq!(text(&mut right.reader).await, "last", "{transport:?}");
        assert_eq!(within(right.reader.next()).await.unwrap(), None);
        assert_eq!(within(right.reader.next()).await.unwrap(), None);
    }
}

#[tokio::test]
async fn a_dropped_connection_ends_the_other_side() {
    for transport in TRANSPORTS {
        let (left, mut right) = connect(transport).await;
        drop(left);
        let end = within(right.reader.next()).await;
        assert!(matches!(end, Ok(None)), "{transport:?}: {end:?}");
        // A kernel buffer may take a message or two before it knows.
        let broken = within(async {
            while right.writer.write([Bytes::from("lost")]).await.is_ok() {
                tokio::task::yield_now().await;
            }
        });
        broken.await;
    }
}

#[tokio::test]
async fn reading_may_be_cancelled_without_loss() {
    for transport in TRANSPORTS {
        let (mut left, mut right) = connect(transport).await;
        let big = Bytes::from(vec![b'y'; 1 << 20]);
        let sent = big.clone();
        let writing = tokio::spawn(async move {
            left.writer.write([sent.clone(), sent]).await.unwrap();
            left
        });
        let mut received = 0;
        within(async {
            while received < 2 {
                tokio::select! {
                    biased;
                    () = tokio::task::yield_now() => {}
                    next = right.reader.next() => {
                        assert_eq!(next.unwrap(), Some(Incoming::Message(big.clone())));
                        received += 1;
                    }
                }
                tokio::select! {
                    biased;
                    next = right.reader.next() => {
                        assert_eq!(next.unwrap(), Some(Incoming::Message(big.clone())));
                        received += 1;
                    }
                    () = tokio::task::yield_now() => {}
                }
            }
        })
        .await;
        writing.await.unwrap();
    }
}

#[tokio::test]
async fn a_half_closed_peer_still_gets_its_answers() {
    let (ours, mut theirs) = UnixStream::pair().unwrap();
    let mut ours = Connection::unix(ours, BIG);
    theirs.write_all(b"question\n").await.unwrap();
    theirs.shutdown().await.unwrap();
    assert_eq!(text(&mut ours.reader).await, "question");
    assert_eq!(within(ours.reader.next()).await.unwrap(), None);
    ours.writer.write([Bytes::from("answer")]).await.unwrap();
    ours.writer.close(CloseCode::NORMAL).await.unwrap();
    let mut answer = String::new();
    theirs.read_to_string(&mut answer).await.unwrap();
    assert_eq!(answer, "answer\n");
}

#[tokio::test]
async fn a_peer_cut_in_the_middle_of_a_line_delivers_what_it_sent() {
    let (ours, mut theirs) = UnixStream::pair().unwrap();
    let mut ours = Connection::unix(ours, BIG);
    theirs.write_all(b"whole\r\n\nhal").await.unwrap();
    drop(theirs);
    assert_eq!(text(&mut ours.reader).await, "whole");
    assert_eq!(text(&mut ours.reader).await, "hal");
    assert_eq!(within(ours.reader.next()).await.unwrap(), None);
}

#[tokio::test]
async fn an_oversized_line_costs_only_itself() {
    let (ours, theirs) = UnixStream::pair().unwrap();
    let mut ours = Connection::unix(ours, 100);
    let mut theirs = Connection::unix(theirs, 100);
    let writing = tokio::spawn(async move {
        let long = Bytes::from(vec![b'z'; 5 << 20]);
        let batch = [Bytes::from("before"), long, Bytes::from("after")];
        theirs.writer.write(batch).await.unwrap();
    });
    assert_eq!(text(&mut ours.reader).await, "before");
    let oversized = Incoming::Oversized {
        length: 5 << 20,
        excess: Excess::TooLong { limit: 100 },
    };
    assert_eq!(within(ours.reader.next()).await.unwrap(), Some(oversized));
    assert_eq!(text(&mut ours.reader).await, "after");
    writing.await.unwrap();
}

#[tokio::test]
async fn unfinished_lines_of_all_connections_share_a_budget() {
    let budget = Budget::new(1 << 20);
    let intake = Intake {
        limit: BIG,
        budget: Arc::clone(&budget),
    };
    let mut ends: Vec<_> = (0..2)
        .map(|_| {
            let (ours, theirs) = UnixStream::pair().unwrap();
            let mut ours = Connection::unix(ours, BIG);
            ours.reader.set_intake(&intake);
            (ours, theirs)
        })
        .collect();
    let (second, first) = (ends.pop().unwrap(), ends.pop().unwrap());
    let (mut first, mut first_end) = first;
    let (mut second, mut second_end) = second;
    // The first holds most of the budget in a line without an end.
    let half = vec![b'a'; 1 << 20];
    tokio::select! {
        read = first.reader.next() => panic!("{read:?}"),
        () = async {
            first_end.write_all(&half).await.unwrap();
            while budget.free() > 128 << 10 {
                tokio::task::yield_now().await;
            }
        } => {}
    }
    let writing = tokio::spawn(async move {
        second_end.write_all(&vec![b'b'; 1 << 20]).await.unwrap();
        second_end.write_all(b"\nnext\n").await.unwrap();
        second_end
    });
    let refused = Incoming::Oversized {
        length: 1 << 20,
        excess: Excess::NoRoom,
    };
    assert_eq!(within(second.reader.next()).await.unwrap(), Some(refused));
    assert_eq!(text(&mut second.reader).await, "next");
    drop(writing.await.unwrap());
    // The first is not disturbed, and gives back what it held.
    first_end.write_all(b"\nshort\n").await.unwrap();
    assert_eq!(text(&mut first.reader).await.len(), 1 << 20);
    assert_eq!(text(&mut first.reader).await, "short");
    assert_eq!(budget.free(), 1 << 20);
}
