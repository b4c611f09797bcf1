//! The websocket listener: where it listens, and what its clients see.

use futures_util::{SinkExt as _, StreamExt as _};
use quipu_testkit::client::within;
use quipu_testkit::process::Signal;
use quipu_testkit::raw::Raw;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::{Bytes, Message};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};

use crate::support::{app_server, converse, initialize, list, websocket_server};

type Socket = WebSocketStream<MaybeTlsStream<tokio::net::TcpStream>>;

async fn connect(url: &str) -> Socket {
    within("a websocket", connect_async(url)).await.unwrap().0
}

async fn next(socket: &mut Socket) -> Message {
    within("a frame", socket.next()).await.unwrap().unwrap()
}

/// What a client gets next that it cannot answer itself: the code of a close, or nothing.
async fn close_code(socket: &mut Socket) -> Option<CloseCode> {
    loop {
        match within("the end", socket.next()).await {
            Some(Ok(Message::Close(frame))) => return frame.map(|it| it.code),
            Some(Ok(_)) => {}
            Some(Err(_)) | None => return None,
        }
    }
}

#[tokio::test]
async fn the_banner_tells_where_it_listens() {
    let mut process = websocket_server();
    let url = process.url().await;
    let address = url.strip_prefix("ws://").unwrap();
    let banner = process.said("note: ").await;
    let expected = format!(
        "quipu app-server (WebSockets)\n  listening on: ws://{address}\n  readyz: \
         http://{address}/readyz\n  healthz: http://{address}/healthz\n  note: binds localhost only \
         (use SSH port-forwarding for remote access)\n"
    );
    assert_eq!(banner, expected);
    let mut taken = app_server(["--listen", &url]).start();
    assert_eq!(taken.exit().await.code(), Some(1));
    let text = taken.stderr();
    assert!(
        text.starts_with(&format!("Error: cannot listen on {url}: Address")),
        "{text}"
    );
}

#[tokio::test]
async fn ipv6_works() {
    let mut process = app_server(["--listen", "ws://[::1]:0"]).start();
    converse(&mut Raw::new(process.websocket(&[]).await)).await;
}

#[tokio::test]
async fn clients_come_and_go() {
    let mut process = websocket_server();
    let url = process.url().await;
    // Some clients probe the port first, with or without an upgrade.
    drop(
        tokio::net::TcpStream::connect(url.strip_prefix("ws://").unwrap())
            .await
            .unwrap(),
    );
    connect(&url).await.close(None).await.unwrap();
    let mut first = Raw::new(process.websocket(&[]).await);
    let mut second = Raw::new(process.websocket(&[]).await);
    converse(&mut first).await;
    converse(&mut second).await;
    first.end().await;
    assert_eq!(first.next().await, None);
    assert!(second.call(&list(3)).await["result"].is_object());
}

#[tokio::test]
async fn frames_of_every_kind_are_met() {
    let mut process = websocket_server();
    let mut socket = connect(&process.url().await).await;
    socket
        .send(Message::Ping(Bytes::from_static(b"still there?")))
        .await
        .unwrap();
    assert_eq!(
        next(&mut socket).await,
        Message::Pong(Bytes::from_static(b"still there?"))
    );
    socket.send(Message::Pong(Bytes::new())).await.unwrap();
    socket
        .send(Message::Binary(Bytes::from_static(b"\x00{}")))
        .await
        .unwrap();
    socket.send(Message::text("noise")).await.unwrap();
    let refusal = next(&mut socket).await.into_text().unwrap();
    assert!(
        refusal.ends_with(r#","id":null}"#) && refusal.contains("-32700"),
        "{refusal}"
    );
    // A message may hold line breaks, which would end it on other transports.
    let pretty = serde_json::to_string_pretty(&initialize(1)).unwrap();
    socket.send(Message::text(pretty)).await.unwrap();
    let Message::Text(answer) = next(&mut socket).await else {
        panic!("not a text frame")
    };
    assert!(
        answer.starts_with(r#"{"id":1,"result":"#) && !answer.contains('\n'),
        "{answer}"
    );
    socket.close(None).await.unwrap();
    assert_eq!(close_code(&mut socket).await, None);
}

#[tokio::test]
async fn broken_frames_end_the_connection_with_a_reason() {
    let mut process = websocket_server();
    let url = process.url().await;
    let mut socket = connect(&url).await;
    // A server must refuse a frame without a mask.
    let MaybeTlsStream::Plain(stream) = socket.get_mut() else {
        panic!("no TLS here")
    };
    tokio::io::AsyncWriteExt::write_all(stream, b"\x81\x02{}")
        .await
        .unwrap();
    assert_eq!(close_code(&mut socket).await, Some(CloseCode::Protocol));
    converse(&mut Raw::new(process.websocket(&[]).await)).await;
}

#[tokio::test]
async fn a_stopping_server_says_that_it_goes() {
    for signal in [Signal::TERM, Signal::INT] {
        let mut process = websocket_server();
        let mut socket = connect(&process.url().await).await;
        // An answer proves that the server has taken the connection on.
        socket
            .send(Message::text(list(1).to_string()))
            .await
            .unwrap();
        assert!(next(&mut socket).await.is_text());
        process.signal(signal);
        assert_eq!(close_code(&mut socket).await, Some(CloseCode::Away));
        assert_eq!(process.exit().await.code(), Some(0));
    }
}

/// The beginning of a text frame that says how long it will be, with an empty mask.
fn header_of(length: u64) -> Vec<u8> {
    let mut header = vec![0x81, 0xff];
    header.extend(length.to_be_bytes());
    header.extend([0; 4]);
    header
}

/// Writes the beginning of a message, as far as the server takes it.
async fn begin_message(socket: &mut Socket, announced: u64, sent: usize) {
    let MaybeTlsStream::Plain(stream) = socket.get_mut() else {
        panic!("no TLS here")
    };
    let mut bytes = header_of(announced);
    bytes.resize(sent, b'x');
    tokio::io::AsyncWriteExt::write_all(stream, &bytes)
        .await
        .ok();
}

#[tokio::test]
async fn strangers_cannot_fill_the_memory_with_unfinished_messages() {
    let mut process = websocket_server();
    let url = process.url().await;
    let mut client = Raw::new(process.websocket(&[]).await);
    converse(&mut client).await;
    let before = process.memory();
    // Each of these has an unfinished message of almost a megabyte, together more than the server grants.
    let mut sockets = Vec::new();
    for _ in 0..60 {
        let mut socket = connect(&url).await;
        begin_message(&mut socket, 200 << 20, 1_000_000).await;
        sockets.push(socket);
    }
    // These would have more.
    for _ in 0..5 {
        let mut socket = connect(&url).await;
        begin_message(&mut socket, 200 << 20, 4 << 20).await;
        assert!(matches!(
            close_code(&mut socket).await,
            None | Some(CloseCode::Size | CloseCode::Again)
        ));
    }
    let page = client.call(&list(3)).await;
    assert!(page["result"].is_object(), "{page}");
    let grown = process.memory().saturating_sub(before);
    assert!(grown < 64 * 1024, "grew by {grown} KiB");
    // What strangers hold does not keep a client from long messages.
    let long = serde_json::json!({ "id": 4, "method": "thread/loaded/list", "params": { "x": "y".repeat(20 << 20) } });
    let page = client.call(&long).await;
    assert!(page["result"].is_object(), "{page}");
}

#[tokio::test]
async fn a_message_that_is_too_long_is_answered_before_the_end() {
    let mut process = websocket_server();
    let mut socket = connect(&process.url().await).await;
    begin_message(&mut socket, 2 << 20, 1_100_000).await;
    let refusal = next(&mut socket).await.into_text().unwrap();
    let expected = r#"{"error":{"code":-32600,"message":"Message too long: the limit for a message is 1048576 bytes"},"id":null}"#;
    assert_eq!(refusal.as_str(), expected);
    assert_eq!(close_code(&mut socket).await, Some(CloseCode::Size));
}
