//! Standard input and output of a process of our own, seen from its parent over pipes.

use std::process::Stdio;

use bytes::Bytes;
use quipu_rpc::{CloseCode, Connection, Incoming};
use tokio::process::{Child, Command};

use crate::support::{BIG, text, within};

const CHILD: &str = "QUIPU_RPC_ECHO_CHILD";

/// Not a test of its own: the child of the tests below, which sends back each line it gets.
#[tokio::test]
async fn echo_child() {
    if std::env::var_os(CHILD).is_none() {
        return;
    }
    let mut connection = Connection::stdio(BIG);
    connection
        .writer
        .write([Bytes::from("ready")])
        .await
        .unwrap();
    while let Some(Incoming::Message(message)) = connection.reader.next().await.unwrap() {
        connection.writer.write([message]).await.unwrap();
    }
    // The test harness must not print its summary into the protocol.
    std::process::exit(0);
}

/// Starts the child and skips what its test harness prints first.
async fn start() -> (Child, Connection) {
    #[expect(
        clippy::disallowed_methods,
        reason = "the child is this test binary itself"
    )]
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["stdio::echo_child", "--exact", "--nocapture"])
        .env(CHILD, "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let (stdin, stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let mut connection = Connection::lines(stdout, stdin, BIG);
    while text(&mut connection.reader).await != "ready" {}
    (child, connection)
}

#[tokio::test]
async fn lines_pass_through_a_child_and_end_with_it() {
    let (mut child, mut connection) = start().await;
    let big = "x".repeat(3 << 20);
    for line in ["{}", big.as_str(), "last"] {
        let sent = Bytes::copy_from_slice(line.as_bytes());
        let (written, received) = tokio::join!(
            connection.writer.write([sent]),
            text(&mut connection.reader)
        );
        written.unwrap();
        assert!(received == line);
    }
    connection.writer.close(CloseCode::NORMAL).await.unwrap();
    drop(connection.writer);
    assert_eq!(within(connection.reader.next()).await.unwrap(), None);
    assert!(within(child.wait()).await.unwrap().success());
}

#[tokio::test]
async fn a_killed_child_is_the_end_of_input() {
    let (mut child, mut connection) = start().await;
    child.kill().await.unwrap();
    assert_eq!(within(connection.reader.next()).await.unwrap(), None);
    let error = connection.writer.write([Bytes::from("{}")]).await;
    assert_eq!(error.unwrap_err().kind(), std::io::ErrorKind::BrokenPipe);
}
