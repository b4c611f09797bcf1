//! Standard input and output of a process of our own, seen from its parent over pipes and
//! over a socket.

use std::os::fd::OwnedFd;
use std::process::Stdio;

use bytes::Bytes;
use quipu_rpc::{CloseCode, Connection, Incoming};
use tokio::net::UnixStream;
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

fn child(stdin: impl Into<Stdio>, stdout: impl Into<Stdio>) -> Child {
    #[expect(
        clippy::disallowed_methods,
        reason = "the child is this test binary itself"
    )]
    Command::new(std::env::current_exe().unwrap())
        .args(["stdio::echo_child", "--exact", "--nocapture"])
        .env(CHILD, "1")
        .stdin(stdin)
        .stdout(stdout)
        .kill_on_drop(true)
        .spawn()
        .unwrap()
}

/// Skips what the child's test harness prints first.
async fn ready(child: Child, mut connection: Connection) -> (Child, Connection) {
    while text(&mut connection.reader).await != "ready" {}
    (child, connection)
}

async fn over_pipes() -> (Child, Connection) {
    let mut child = child(Stdio::piped(), Stdio::piped());
    let (stdin, stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    ready(child, Connection::lines(stdout, stdin, BIG)).await
}

/// Both directions are one socket, which stays a blocking one for this process, its other holder.
async fn over_a_socket() -> (Child, Connection, OwnedFd) {
    let (ours, theirs) = std::os::unix::net::UnixStream::pair().unwrap();
    ours.set_nonblocking(true).unwrap();
    let held = OwnedFd::from(theirs);
    let end = || held.try_clone().unwrap();
    let child = child(end(), end());
    let connection = Connection::unix(UnixStream::from_std(ours).unwrap(), BIG);
    let (child, connection) = ready(child, connection).await;
    (child, connection, held)
}

#[tokio::test]
async fn lines_pass_through_a_child_and_end_with_it() {
    let (child, connection) = over_pipes().await;
    echo_until_the_end(child, connection).await;
}

#[tokio::test]
async fn a_socket_serves_like_pipes_and_stays_as_it_was() {
    let (child, connection, held) = over_a_socket().await;
    let flags = rustix::fs::fcntl_getfl(&held).unwrap();
    assert!(!flags.contains(rustix::fs::OFlags::NONBLOCK));
    drop(held);
    echo_until_the_end(child, connection).await;
}

async fn echo_until_the_end(mut child: Child, mut connection: Connection) {
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
    let (mut child, mut connection) = over_pipes().await;
    child.kill().await.unwrap();
    assert_eq!(within(connection.reader.next()).await.unwrap(), None);
    let error = connection.writer.write([Bytes::from("{}")]).await;
    assert_eq!(error.unwrap_err().kind(), std::io::ErrorKind::BrokenPipe);
}
