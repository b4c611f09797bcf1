//! Websocket frames against a plain websocket library on the other side.

use bytes::Bytes;
use futures_util::{SinkExt, StreamExt};
use quipu_rpc::http::Response;
use quipu_rpc::websocket::{ConnectError, connect};
use quipu_rpc::{CloseCode, Connection, ReadError};
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
async fn a_message_over_the_limit_ends_reading_but_can_be_told() {
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
        matches!(
            error,
            ReadError::TooLong {
                size: 1001,
                limit: 1000
            }
        ),
        "{error:?}"
    );
    server.writer.close(CloseCode::TOO_BIG).await.unwrap();
    let close = within(client.next()).await.unwrap().unwrap();
    let Message::Close(Some(frame)) = close else {
        panic!("{close:?}");
    };
    assert_eq!(frame.code, WireCode::Size);
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
async fn bad_addresses_and_headers_are_told_without_secrets() {
    for url in [
        "http://127.0.0.1:1/",
        "wss://127.0.0.1:1/",
        "nonsense",
        "ws://",
    ] {
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
