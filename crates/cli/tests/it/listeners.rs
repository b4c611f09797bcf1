//! Several listeners at once, sockets that a service manager opened, and the way to a new process without refusing
//! anybody.

use std::os::fd::OwnedFd;
use std::os::unix::net::UnixListener;
use std::path::Path;

use quipu_rpc::{Connection, websocket};
use quipu_testkit::client::{PATIENCE, within};
use quipu_testkit::conversation::Conversation;
use quipu_testkit::process::{Launch, ServerProcess, Signal};
use quipu_testkit::raw::Raw;
use quipu_testkit::wait::found;
use serde_json::{Value, json};

use crate::support::{QUIPU, app_server, converse};

const LIMIT: usize = 1 << 20;

async fn unix(path: &Path) -> Connection {
    let stream = within("a socket", tokio::net::UnixStream::connect(path)).await;
    Connection::unix(stream.unwrap(), LIMIT)
}

/// Every address that a server said it listens on, once it has said this many.
async fn addresses(process: &mut ServerProcess, count: usize) -> Vec<String> {
    let all = async || {
        let text = process.said("listening on: ").await;
        let listed: Vec<String> = text
            .lines()
            .filter_map(|line| line.trim().strip_prefix("listening on: "))
            .map(str::to_owned)
            .collect();
        (listed.len() >= count).then_some(listed)
    };
    found("all addresses", all).await
}

#[tokio::test]
async fn a_server_listens_in_several_places() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("socket");
    let socket = format!("unix://{}", path.display());
    let args = [
        "--listen",
        "ws://localhost:0",
        "--listen",
        &socket,
        "--listen",
        "ws://127.0.0.1:0",
    ];
    let mut process = app_server(args).start();
    let places = addresses(&mut process, 3).await;
    assert!(places[0].starts_with("ws://127.0.0.1:") && places[0] != places[2]);
    assert_eq!(places[1], socket);
    for url in [&places[0], &places[2]] {
        let connected = websocket::connect(url, &[], LIMIT, PATIENCE).await;
        converse(&mut Raw::new(connected.unwrap())).await;
    }
    converse(&mut Raw::new(unix(&path).await)).await;
    process.signal(Signal::TERM);
    assert_eq!(process.exit().await.code(), Some(0));
    assert!(!path.exists());
}

#[tokio::test]
async fn the_end_of_standard_input_ends_the_other_listeners_too() {
    let mut process = app_server(["--listen", "stdio://", "--listen", "ws://localhost:0"]).start();
    let mut other = Raw::new(process.websocket(&[]).await);
    converse(&mut other).await;
    let mut own = Raw::new(process.stdio());
    converse(&mut own).await;
    own.end().await;
    assert_eq!(process.exit().await.code(), Some(0));
    assert_eq!(other.next().await, None);
}

#[tokio::test]
async fn one_place_that_cannot_be_opened_keeps_the_server_from_starting() {
    let args = [
        "--listen",
        "ws://localhost:0",
        "--listen",
        "unix:///no/such/directory/socket",
    ];
    let mut process = app_server(args).start();
    assert_eq!(process.exit().await.code(), Some(1));
    let text = process.stderr();
    assert!(
        text.starts_with("Error: cannot listen on unix:///no/such"),
        "{text}"
    );
}

/// A server that is given a socket, and listens at this address.
fn activated(socket: &UnixListener, listen: &str) -> Launch {
    let socket = OwnedFd::from(socket.try_clone().unwrap());
    Launch::with_socket(QUIPU, socket)
        .args(["app-server", "--listen", listen])
        .env("RUST_LOG", "info")
}

/// Words that take minutes, unless they are interrupted.
async fn begin_endless_turn(client: &mut Conversation) -> (Value, Value) {
    let started = client.call("thread/start", json!({})).await;
    let thread = started["thread"]["id"].clone();
    let text = json!({ "script": [{ "deltas": 60_000, "every": 10 }] }).to_string();
    let input = json!([{ "type": "text", "text": text }]);
    let params = json!({ "threadId": thread, "input": input });
    let turn = client.call("turn/start", params).await;
    client.skip_to("item/agentMessage/delta").await;
    (thread, turn["turn"]["id"].clone())
}

#[tokio::test]
async fn a_reload_waits_for_turns_and_leaves_new_clients_to_the_next_process() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("socket");
    let listen = format!("unix://{}", path.display());
    let socket = UnixListener::bind(&path).unwrap();
    let mut first = activated(&socket, &listen).start();
    first.said("listening on: ").await;
    let mut client = Conversation::start(unix(&path).await).await;
    let (thread, turn) = begin_endless_turn(&mut client).await;
    let idle = client.call("thread/start", json!({})).await;

    first.signal(Signal::HUP);
    first.said("received reload signal").await;
    let input = json!([{ "type": "text", "text": "hello" }]);
    let params = json!({ "threadId": idle["thread"]["id"], "input": input });
    let refused = client.try_call("turn/start", params).await.unwrap_err();
    assert_eq!(refused["code"], -32001, "{refused}");
    let mut early = Raw::new(unix(&path).await);

    let params = json!({ "threadId": thread, "turnId": turn });
    client.call("turn/interrupt", params).await;
    let ended = client.skip_to("turn/completed").await;
    assert_eq!(ended["params"]["turn"]["status"], "interrupted");
    assert_eq!(first.exit().await.code(), Some(0));
    assert!(path.exists(), "the socket is not the server's to remove");

    let mut second = activated(&socket, &listen).start();
    second.said("listening on: ").await;
    converse(&mut early).await;
}

#[tokio::test]
async fn a_socket_that_nothing_listens_on_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("socket");
    let socket = UnixListener::bind(&path).unwrap();
    let mut process = activated(&socket, "ws://localhost:0").start();
    assert_eq!(process.exit().await.code(), Some(1));
    let text = process.stderr();
    let name = format!(
        "a socket that nothing listens on: unix://{}",
        path.display()
    );
    assert!(text.contains(&name), "{text}");
}

#[tokio::test]
async fn a_port_can_be_passed_too() {
    let socket = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let listen = format!("ws://{}", socket.local_addr().unwrap());
    let mut process = Launch::with_socket(QUIPU, OwnedFd::from(socket))
        .args(["app-server", "--listen", &listen])
        .start();
    assert_eq!(process.url().await, listen);
    converse(&mut Raw::new(process.websocket(&[]).await)).await;
}

/// The images listen beyond loopback, which takes authentication.
#[tokio::test]
async fn the_commands_of_the_container_images_start_a_server() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../dist/Containerfile");
    let text = std::fs::read_to_string(file).unwrap();
    let commands: Vec<&str> = text
        .lines()
        .filter_map(|it| it.strip_prefix("CMD "))
        .collect();
    assert_eq!(commands.len(), 2);
    let directory = tempfile::tempdir().unwrap();
    let token = directory.path().join("token");
    std::fs::write(&token, "0123456789abcdef".repeat(4)).unwrap();
    std::fs::set_permissions(&token, std::os::unix::fs::PermissionsExt::from_mode(0o400)).unwrap();
    for command in commands {
        let command = command
            .replace("/run/secrets/quipu-token", token.to_str().unwrap())
            .replace(":8765", ":0");
        let arguments: Vec<String> = serde_json::from_str(&command).unwrap();
        let arguments = arguments.iter().map(String::as_str);
        let mut process = Launch::new(QUIPU).args(arguments).start();
        assert!(process.url().await.starts_with("ws://0.0.0.0:"));
    }
}
