//! The unix socket: private to its owner, and open to clients that speak lines or websocket frames.

use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixListener;
use std::path::Path;

use quipu_rpc::Connection;
use quipu_testkit::client::within;
use quipu_testkit::process::{ServerProcess, Signal};
use quipu_testkit::raw::Raw;
use quipu_testkit::wait::found;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::UnixStream;
use tokio_tungstenite::tungstenite::Message;

use crate::support::{app_server, converse, initialize, list};

struct Listener {
    process: ServerProcess,
    directory: TempDir,
}

impl Listener {
    fn path(&self) -> std::path::PathBuf {
        self.directory.path().join("socket")
    }

    async fn connect(&self) -> UnixStream {
        connect(&self.path()).await.unwrap()
    }
}

/// Connects once the server listens, which it announces to nobody.
pub async fn connect(path: &Path) -> std::io::Result<UnixStream> {
    let connecting = found("the socket", async || UnixStream::connect(path).await.ok());
    Ok(connecting.await)
}

fn listen_in(directory: TempDir) -> Listener {
    let url = format!("unix://{}", directory.path().join("socket").display());
    let process = app_server(["--listen", &url]).start();
    Listener { process, directory }
}

/// A server with places for a thousand clients: half of the files that it may open.
fn listen_with_few_files() -> Listener {
    let directory = tempfile::tempdir().unwrap();
    let url = format!("unix://{}", directory.path().join("socket").display());
    let launch = app_server(["--listen", &url]).limit(libc::RLIMIT_NOFILE, 2_000);
    Listener {
        process: launch.start(),
        directory,
    }
}

fn listen() -> Listener {
    listen_in(tempfile::tempdir().unwrap())
}

#[tokio::test]
async fn clients_speak_lines_or_websocket_frames() {
    let mut listener = listen();
    let stream = listener.connect().await;
    let mode = std::fs::metadata(listener.path())
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600);
    converse(&mut Raw::new(Connection::unix(stream, 1 << 20))).await;

    let stream = listener.connect().await;
    let (mut socket, _) = tokio_tungstenite::client_async("ws://localhost/", stream)
        .await
        .unwrap();
    use futures_util::{SinkExt as _, StreamExt as _};
    socket
        .send(Message::text(initialize(1).to_string()))
        .await
        .unwrap();
    let answer = within("an answer", socket.next()).await.unwrap().unwrap();
    assert!(
        answer
            .to_text()
            .unwrap()
            .starts_with(r#"{"id":1,"result":"#)
    );

    let mut stream = listener.connect().await;
    stream
        .write_all(b"GET /healthz HTTP/1.1\r\n\r\n")
        .await
        .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 200 OK"), "{answer}");

    listener.process.signal(Signal::TERM);
    assert_eq!(listener.process.exit().await.code(), Some(0));
    assert!(!listener.path().exists(), "the socket was left behind");
}

#[tokio::test]
async fn a_client_that_stops_sending_still_gets_its_answers() {
    let listener = listen();
    let mut stream = listener.connect().await;
    let text = format!("{}\n{}\n", initialize(1), list(2));
    stream.write_all(text.as_bytes()).await.unwrap();
    stream.shutdown().await.unwrap();
    let mut answers = String::new();
    within("the answers", stream.read_to_string(&mut answers))
        .await
        .unwrap();
    assert_eq!(answers.lines().count(), 2, "{answers}");
}

#[tokio::test]
async fn an_abandoned_socket_is_replaced_and_nothing_else() {
    let directory = tempfile::tempdir().unwrap();
    drop(UnixListener::bind(directory.path().join("socket")).unwrap());
    let listener = listen_in(directory);
    converse(&mut Raw::new(Connection::unix(
        listener.connect().await,
        1 << 20,
    )))
    .await;

    let url = format!("unix://{}", listener.path().display());
    let mut second = app_server(["--listen", &url]).start();
    assert_eq!(second.exit().await.code(), Some(1));
    assert!(
        second
            .stderr()
            .starts_with(&format!("Error: cannot listen on {url}: Address"))
    );

    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("socket");
    std::fs::write(&file, "precious").unwrap();
    let mut refused = listen_in(directory);
    assert_eq!(refused.process.exit().await.code(), Some(1));
    assert_eq!(std::fs::read_to_string(file).unwrap(), "precious");
}

/// More silent clients than the server has places: the newest come in, and the oldest make room.
#[tokio::test]
async fn silent_clients_do_not_keep_others_out() {
    const SILENT: usize = 1005;
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile);
    let raised = rustix::process::Rlimit {
        current: limit.maximum,
        ..limit
    };
    rustix::process::setrlimit(rustix::process::Resource::Nofile, raised).unwrap();
    let listener = listen_with_few_files();
    let first = listener.connect().await;
    let mut client = Raw::new(Connection::unix(first, 1 << 20));
    converse(&mut client).await;
    let mut silent = Vec::new();
    for _ in 0..SILENT {
        silent.push(listener.connect().await);
    }
    converse(&mut Raw::new(Connection::unix(
        listener.connect().await,
        1 << 20,
    )))
    .await;
    // The oldest of them was asked to leave, and the one that had initialized was not.
    let mut rest = Vec::new();
    within(
        "the end of a silent client",
        silent[0].read_to_end(&mut rest),
    )
    .await
    .unwrap();
    let page = client.call(&list(3)).await;
    assert!(page["result"].is_object(), "{page}");
}
