//! Clients that do not read what they asked for: each costs a bounded amount, and only itself.

use std::time::{Duration, Instant};

use quipu_testkit::client::within;
use quipu_testkit::process::Signal;
use quipu_testkit::raw::Raw;
use tokio::io::AsyncWriteExt as _;

use crate::support::{app_server, converse, initialize, list, websocket_server};

/// Each of these is answered with some two thousand bytes: the names of all methods.
const SHORT_QUESTION: &str = r#"{"id":1,"method":"?"}"#;
/// What the server may need beyond its size at rest, in KiB: one full outbox and some slack.
const ROOM: u64 = 48 * 1024;

#[tokio::test]
async fn a_websocket_client_that_never_reads_is_disconnected() {
    let mut process = websocket_server();
    let mut other = Raw::new(process.websocket(&[]).await);
    converse(&mut other).await;
    let at_rest = process.memory();

    let deaf = process.websocket(&[]).await;
    let mut writer = deaf.writer;
    let asking = async {
        let batch = || std::iter::repeat_n(SHORT_QUESTION.into(), 100);
        while writer.write(batch()).await.is_ok() {}
    };
    within("the end of a client that does not read", asking).await;

    let page = other.call(&list(3)).await;
    assert!(page["result"].is_object(), "{page}");
    let grown = process.memory().saturating_sub(at_rest);
    assert!(grown < ROOM, "grew by {grown} KiB");
}

/// The owner of the process is never disconnected; it is not read from either while it does not read.
#[tokio::test]
async fn a_stdio_client_that_never_reads_is_held_back() {
    let mut process = app_server([]).start();
    let mut stdin = process.stdin.take().unwrap();
    let hello = format!("{}\n", initialize(0));
    stdin.write_all(hello.as_bytes()).await.unwrap();
    let questions = format!("{SHORT_QUESTION}\n").repeat(1000);
    let flood = async {
        loop {
            stdin.write_all(questions.as_bytes()).await.unwrap();
        }
    };
    let held_back = tokio::time::timeout(Duration::from_secs(1), flood).await;
    assert!(held_back.is_err());
    assert!(process.memory() < 2 * ROOM, "{} KiB", process.memory());
    // Even so the process can be asked to end.
    let asked = Instant::now();
    process.signal(Signal::TERM);
    assert_eq!(process.exit().await.code(), Some(0));
    assert!(
        asked.elapsed() < Duration::from_secs(6),
        "{:?}",
        asked.elapsed()
    );
}

/// While its answers are unread its input is unread too; the server must see the end of it all the same.
#[tokio::test]
async fn a_stdio_client_that_never_reads_may_still_end_its_input() {
    let mut process = app_server([]).start();
    let mut stdin = process.stdin.take().unwrap();
    let hello = format!("{}\n", initialize(0));
    stdin.write_all(hello.as_bytes()).await.unwrap();
    let questions = format!("{SHORT_QUESTION}\n").repeat(1000);
    let flood = async { while stdin.write_all(questions.as_bytes()).await.is_ok() {} };
    let held_back = tokio::time::timeout(Duration::from_secs(1), flood).await;
    assert!(held_back.is_err());
    drop(stdin);
    assert_eq!(process.exit().await.code(), Some(0));
}
