//! `--listen unix://`: the socket in the home directory, and `app-server proxy`, which connects standard input and output
//! to it.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use futures_util::{SinkExt as _, StreamExt as _};
use quipu_rpc::Connection;
use quipu_testkit::client::within;
use quipu_testkit::process::{ServerProcess, Signal};
use quipu_testkit::raw::Raw;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::UnixStream;
use tokio_tungstenite::tungstenite::Message;

use crate::support::{app_server, converse, initialize, list};
use crate::unix::connect;

/// A server on the socket of its home.
struct Listener {
    process: ServerProcess,
    home: TempDir,
}

impl Listener {
    async fn start() -> Listener {
        let home = tempfile::tempdir().unwrap();
        let process = in_home(&["--listen", "unix://"], &home);
        let listener = Listener { process, home };
        drop(listener.connect().await);
        listener
    }

    fn path(&self) -> PathBuf {
        socket_in(self.home.path())
    }

    async fn connect(&self) -> UnixStream {
        connect(&self.path()).await.unwrap()
    }
}

fn socket_in(home: &Path) -> PathBuf {
    home.join("app-server-control/app-server-control.sock")
}

fn in_home(args: &[&str], home: &TempDir) -> ServerProcess {
    let path = home.path().to_str().unwrap();
    let launch = app_server(args.iter().copied());
    launch.env("QUIPU_HOME", path).start()
}

#[tokio::test]
async fn the_socket_is_in_a_private_directory_of_the_home() {
    let mut listener = Listener::start().await;
    let directory = listener.path().parent().unwrap().to_owned();
    for (path, mode) in [(&directory, 0o700), (&listener.path(), 0o600)] {
        let found = std::fs::metadata(path).unwrap().permissions().mode();
        assert_eq!(found & 0o777, mode, "{}", path.display());
    }
    let stream = listener.connect().await;
    let upgraded = tokio_tungstenite::client_async("ws://localhost/", stream).await;
    let (mut socket, _) = upgraded.unwrap();
    let hello = Message::text(initialize(1).to_string());
    socket.send(hello).await.unwrap();
    let answer = within("an answer", socket.next()).await.unwrap().unwrap();
    let answer = answer.to_text().unwrap();
    assert!(answer.starts_with(r#"{"id":1,"result":"#), "{answer}");
    listener.process.signal(Signal::TERM);
    assert_eq!(listener.process.exit().await.code(), Some(0));
    assert!(!listener.path().exists(), "the socket was left behind");
}

#[tokio::test]
async fn a_proxy_finds_the_socket_by_home_or_by_path() {
    let listener = Listener::start().await;
    let mut by_home = in_home(&["proxy"], &listener.home);
    converse(&mut Raw::new(by_home.stdio())).await;
    let path = listener.path();
    let args = ["proxy", "--sock", path.to_str().unwrap()];
    let mut by_path = app_server(args).start();
    converse(&mut Raw::new(by_path.stdio())).await;
}

#[tokio::test]
async fn a_proxy_passes_on_the_answers_after_the_end_of_its_input() {
    let listener = Listener::start().await;
    let mut proxy = in_home(&["proxy"], &listener.home);
    let text = format!("{}\n{}\n", initialize(1), list(2));
    let mut stdin = proxy.stdin.take().unwrap();
    stdin.write_all(text.as_bytes()).await.unwrap();
    drop(stdin);
    let mut answers = String::new();
    let mut stdout = proxy.stdout.take().unwrap();
    let reading = stdout.read_to_string(&mut answers);
    within("the answers", reading).await.unwrap();
    assert_eq!(answers.lines().count(), 2, "{answers}");
    assert_eq!(proxy.exit().await.code(), Some(0));
}

#[tokio::test]
async fn a_proxy_ends_with_its_server() {
    let mut listener = Listener::start().await;
    let mut proxy = in_home(&["proxy"], &listener.home);
    let mut raw = Raw::new(proxy.stdio());
    converse(&mut raw).await;
    listener.process.signal(Signal::KILL);
    listener.process.exit().await;
    assert_eq!(raw.next().await, None);
    proxy.exit().await;
}

#[tokio::test]
async fn a_proxy_without_a_server_says_where_it_looked() {
    let home = tempfile::tempdir().unwrap();
    let mut proxy = in_home(&["proxy"], &home);
    assert_eq!(proxy.exit().await.code(), Some(1));
    let path = socket_in(&home.path().canonicalize().unwrap());
    let expected = format!("Error: cannot connect to {}: ", path.display());
    assert!(proxy.stderr().starts_with(&expected), "{}", proxy.stderr());
}

#[tokio::test]
async fn stdio_is_the_listener_of_that_name() {
    let mut process = app_server(["--stdio"]).start();
    converse(&mut Raw::new(process.stdio())).await;
    let mut both = app_server(["--stdio", "--listen", "off"]).start();
    assert_eq!(both.exit().await.code(), Some(2));
    let text = both.stderr();
    assert!(text.contains("cannot be used with"), "{text}");
}

/// Lines are for programs that do not speak websocket.
#[tokio::test]
async fn clients_of_the_socket_may_speak_lines() {
    let listener = Listener::start().await;
    let stream = listener.connect().await;
    converse(&mut Raw::new(Connection::unix(stream, 1 << 20))).await;
}
