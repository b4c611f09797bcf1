//! Websocket frames against a plain websocket library on the other side.

use std::sync::Arc;

use bytes::Bytes;
use futures_util::{SinkExt, StreamExt};
use quipu_rpc::http::Response;
use quipu_rpc::websocket::{ConnectError, connect};
use quipu_rpc::{Budget, CloseCode, Connection, Excess, Intake, ReadError};
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::CloseFrame;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode as WireCode;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};

use crate::support::{
    BIG, PATIENCE, accept_http, accept_websocket, listen, text, websocket_pair, within,
};

type PlainClient = WebSocketStream<MaybeTlsStream<TcpStream>>;

async fn plain_client(message_limit: usize) -> (PlainClient, Connection) {
    let (listener, url) = listen().await;
    let (client, server) = tokio::join!(
        connect_async(&url),
        accept_websocket(&listener, message_limit)
    );
    (client.unwrap().0, server)
}

#[tokio::test]
async fn pings_are_answered_and_binary_frames_ignored() {
    let (mut client, mut server) = plain_client(BIG).await;
    let frames = [
        Message::Ping("are you there".into()),
        Message::Binary(vec![0, 159].into()),
        Message::Pong("unasked".into()),
        Message::Text("{}".into()),
    ];
    for frame in frames {
        client.send(frame).await.unwrap();
    }
    assert_eq!(text(&mut server.reader).await, "{}");
    let pong = within(client.next()).await.unwrap().unwrap();
    assert_eq!(pong, Message::Pong("are you there".into()));
}

#[tokio::test]
async fn a_close_of_the_client_is_answered() {
    let (mut client, mut server) = plain_client(BIG).await;
    client.close(None).await.unwrap();
    assert_eq!(within(server.reader.next()).await.unwrap(), None);
    drop(server);
    let answer = within(client.next()).await.unwrap().unwrap();
    assert!(matches!(answer, Message::Close(_)), "{answer:?}");
    assert!(within(client.next()).await.is_none());
}

#[tokio::test]
async fn a_close_of_the_server_carries_its_code() {
    let (mut client, mut server) = plain_client(BIG).await;
    server.writer.close(CloseCode::GOING_AWAY).await.unwrap();
    let close = within(client.next()).await.unwrap().unwrap();
    let expected = CloseFrame {
        code: WireCode::Away,
        reason: "".into(),
    };
    assert_eq!(close, Message::Close(Some(expected)));
    assert!(server.writer.write([Bytes::from("{}")]).await.is_err());
}

#[tokio::test]
async fn a_message_over_the_limit_ends_reading_but_can_be_reported() {
    let (mut client, mut server) = plain_client(1000).await;
    client
        .send(Message::Text("a".repeat(1000).into()))
        .await
        .unwrap();
    client
        .send(Message::Text("b".repeat(1001).into()))
        .await
        .unwrap();
    assert_eq!(text(&mut server.reader).await.len(), 1000);
    let error = within(server.reader.next()).await.unwrap_err();
    assert!(
        matches!(error, ReadError::Excess(Excess::TooLong { limit: 1000 })),
        "{error:?}"
    );
    server.writer.close(CloseCode::TOO_BIG).await.unwrap();
    let close = within(client.next()).await.unwrap().unwrap();
    let Message::Close(Some(frame)) = close else {
        panic!("{close:?}");
    };
    assert_eq!(frame.code, WireCode::Size);
}

/// The beginning of a masked text frame that says how long it will be.
fn header_of(length: u64) -> Vec<u8> {
    let mut header = vec![0x81, 0xff];
    header.extend(length.to_be_bytes());
    header.extend([0; 4]);
    header
}

async fn write(client: &mut PlainClient, bytes: &[u8]) {
    let MaybeTlsStream::Plain(stream) = client.get_mut() else {
        panic!("no TLS here");
    };
    // The server may hang up meanwhile.
    stream.write_all(bytes).await.ok();
}

#[tokio::test]
async fn an_unfinished_message_is_cut_at_the_limit_of_the_moment() {
    let (mut client, mut server) = plain_client(BIG).await;
    let budget = Budget::new(BIG);
    let mut intake = Intake {
        limit: 100_000,
        budget: Arc::clone(&budget),
    };
    server.reader.set_intake(&intake);
    client
        .send(Message::text("a".repeat(90_000)))
        .await
        .unwrap();
    assert_eq!(text(&mut server.reader).await.len(), 90_000);
    // Pings are no part of a message, however many come.
    for _ in 0..2000 {
        client
            .send(Message::Ping("still here".repeat(10).into()))
            .await
            .unwrap();
    }
    client
        .send(Message::text("b".repeat(90_000)))
        .await
        .unwrap();
    assert_eq!(text(&mut server.reader).await.len(), 90_000);
    intake.limit = BIG;
    server.reader.set_intake(&intake);
    client
        .send(Message::text("c".repeat(200_000)))
        .await
        .unwrap();
    assert_eq!(text(&mut server.reader).await.len(), 200_000);
    intake.limit = 100_000;
    server.reader.set_intake(&intake);
    write(&mut client, &header_of(1 << 20)).await;
    write(&mut client, &[0; 110_000]).await;
    let error = within(server.reader.next()).await.unwrap_err();
    let expected = Excess::TooLong { limit: 100_000 };
    assert!(
        matches!(error, ReadError::Excess(it) if it == expected),
        "{error:?}"
    );
    server.writer.close(CloseCode::TOO_BIG).await.unwrap();
    drop(server);
    assert_eq!(budget.free(), BIG);
}

#[tokio::test]
async fn unfinished_messages_of_all_connections_share_a_budget() {
    let budget = Budget::new(1 << 20);
    let intake = Intake {
        limit: BIG,
        budget: Arc::clone(&budget),
    };
    let (mut first, mut first_end) = plain_client(BIG).await;
    let (mut second, mut second_end) = plain_client(BIG).await;
    first_end.reader.set_intake(&intake);
    second_end.reader.set_intake(&intake);
    let most = 1_000_000;
    tokio::select! {
        read = first_end.reader.next() => panic!("{read:?}"),
        () = async {
            write(&mut first, &header_of(1 << 20)).await;
            write(&mut first, &vec![b'a'; most]).await;
            while budget.free() > 128 << 10 {
                tokio::task::yield_now().await;
            }
        } => {}
    }
    let (read, ()) = tokio::join!(within(second_end.reader.next()), async {
        write(&mut second, &header_of(1 << 20)).await;
        write(&mut second, &vec![b'b'; most]).await;
    });
    assert!(
        matches!(read, Err(ReadError::Excess(Excess::NoRoom))),
        "{read:?}"
    );
    drop(second_end);
    write(&mut first, &vec![b'a'; (1 << 20) - most]).await;
    assert_eq!(text(&mut first_end.reader).await.len(), 1 << 20);
}

#[tokio::test]
async fn a_message_longer_than_the_frame_limit_of_common_clients_arrives_whole() {
    let (mut client, mut server) = plain_client(BIG).await;
    let message = "é".repeat(9 << 20);
    let sent = Bytes::from(message.clone());
    let (written, received) = tokio::join!(
        server
            .writer
            .write([sent, Bytes::new(), Bytes::from("next")]),
        within(client.next())
    );
    written.unwrap();
    assert!(received.unwrap().unwrap() == Message::Text(message.into()));
    for expected in ["", "next"] {
        let received = within(client.next()).await.unwrap().unwrap();
        assert_eq!(received, Message::Text(expected.into()));
    }
}

#[tokio::test]
async fn a_multi_line_message_arrives_whole() {
    let (mut left, mut right) = websocket_pair(BIG).await;
    left.writer.write([Bytes::from("{\n}")]).await.unwrap();
    assert_eq!(text(&mut right.reader).await, "{\n}");
}

#[tokio::test]
async fn a_refused_client_learns_status_and_body() {
    let (listener, url) = listen().await;
    let headers = [("authorization", "Bearer s3cret")];
    let (refused, ()) = tokio::join!(connect(&url, &headers, BIG, PATIENCE), async {
        let request = accept_http(&listener).await;
        assert_eq!(
            request.head().header("authorization"),
            Some(&b"Bearer s3cret"[..])
        );
        assert!(!format!("{request:?}").contains("s3cret"));
        let response = Response {
            status: 401,
            headers: &[],
            body: "invalid websocket bearer token",
        };
        request.respond(response).await.unwrap();
    });
    let error = refused.unwrap_err();
    assert!(
        matches!(&error, ConnectError::Refused { status: 401, body } if body == "invalid websocket bearer token"),
        "{error:?}"
    );
}

#[tokio::test]
async fn bad_addresses_and_headers_are_reported_without_secrets() {
    for url in ["http://127.0.0.1:1/", "nonsense", "ws://"] {
        let error = connect(url, &[], BIG, PATIENCE).await.unwrap_err();
        assert!(matches!(error, ConnectError::Address { .. }), "{error:?}");
    }
    let (_listener, url) = listen().await;
    let error = connect(&url, &[("authorization", "s3cret\n")], BIG, PATIENCE)
        .await
        .unwrap_err();
    assert!(matches!(error, ConnectError::Header { .. }), "{error:?}");
    assert!(!format!("{error} {error:?}").contains("s3cret"));
}

#[tokio::test]
async fn a_server_that_does_not_answer_times_out() {
    let (listener, url) = listen().await;
    let error = connect(&url, &[], BIG, std::time::Duration::from_millis(20))
        .await
        .unwrap_err();
    assert!(matches!(error, ConnectError::TimedOut(_)), "{error:?}");
    drop(listener);
}
