//! The HTTP side of the listener, byte by byte.

use std::time::Duration;

use quipu_rpc::http::{
    Head, HeadError, HeadLimits, HttpRequest, NoUpgrade, Response, UpgradeError,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};

use crate::support::{BIG, accept_http, listen, text, within};

const UPGRADE: &str = "GET /any?x=1 HTTP/1.1\r\nHost: h\r\nConnection: keep-alive, Upgrade\r\n\
    Upgrade: WebSocket\r\nSec-WebSocket-Version: 13\r\n\
    Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";

/// Sends bytes to a fresh request reader; returns what it made of them, and the client's end.
async fn send(bytes: &[u8], limits: HeadLimits) -> (Result<HttpRequest, HeadError>, DuplexStream) {
    let (mut client, server) = tokio::io::duplex(BIG);
    client.write_all(bytes).await.unwrap();
    client.shutdown().await.unwrap();
    (within(HttpRequest::read(server, limits)).await, client)
}

async fn request(text: &str) -> (HttpRequest, DuplexStream) {
    let (request, client) = send(text.as_bytes(), HeadLimits::default()).await;
    (request.unwrap(), client)
}

async fn rest(mut client: DuplexStream) -> String {
    let mut text = String::new();
    within(client.read_to_string(&mut text)).await.unwrap();
    text
}

#[tokio::test]
async fn a_head_is_read_and_answered() {
    let (request, client) =
        request("POST /readyz?q HTTP/1.1\r\nHOST: a\r\nX: \u{e9}\r\n\r\nbody").await;
    let head = request.head();
    assert_eq!(
        (head.method.as_str(), head.path.as_str()),
        ("POST", "/readyz")
    );
    assert_eq!(head.header("host"), Some(&b"a"[..]));
    assert_eq!(head.header("origin"), None);
    let response = Response {
        status: 405,
        headers: &[("allow", "GET,HEAD")],
        body: "",
    };
    request.respond(response).await.unwrap();
    assert_eq!(
        rest(client).await,
        "HTTP/1.1 405 Method Not Allowed\r\nconnection: close\r\nallow: GET,HEAD\r\n\
         content-length: 0\r\n\r\n"
    );
}

#[tokio::test]
async fn a_body_is_sent_but_not_to_head() {
    for (method, body) in [("GET", "no"), ("HEAD", "")] {
        let (request, client) = request(&format!("{method} / HTTP/1.1\r\n\r\n")).await;
        let response = Response {
            status: 400,
            headers: &[],
            body: "no",
        };
        request.respond(response).await.unwrap();
        assert_eq!(
            rest(client).await,
            format!(
                "HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\
                 content-type: text/plain; charset=utf-8\r\ncontent-length: 2\r\n\r\n{body}"
            )
        );
    }
}

#[tokio::test]
async fn unreadable_heads_are_answered() {
    let many = format!("GET / HTTP/1.1\r\n{}\r\n", "a: b\r\n".repeat(65));
    let long = format!("GET / HTTP/1.1\r\nx: {}", "y".repeat(20_000));
    for (bytes, status) in [("garbage\r\n\r\n", 400), (&many, 400), (&long, 431)] {
        let (read, client) = send(bytes.as_bytes(), HeadLimits::default()).await;
        let error = read.unwrap_err();
        assert!(
            matches!(error, HeadError::Malformed(_) | HeadError::TooLong(_)),
            "{error:?}"
        );
        assert!(
            rest(client)
                .await
                .starts_with(&format!("HTTP/1.1 {status} "))
        );
    }
    let (read, _client) = send(b"GET / HTTP/1.1\r\nHo", HeadLimits::default()).await;
    assert!(matches!(read.unwrap_err(), HeadError::Io(_)));
}

#[tokio::test(start_paused = true)]
async fn a_head_that_does_not_come_times_out() {
    let (mut client, server) = tokio::io::duplex(100);
    client.write_all(b"GET /").await.unwrap();
    let error = HttpRequest::read(server, HeadLimits::default())
        .await
        .unwrap_err();
    assert!(
        matches!(error, HeadError::TimedOut(limit) if limit == Duration::from_secs(10)),
        "{error:?}"
    );
}

#[tokio::test]
async fn an_upgrade_is_answered_with_the_key_of_the_standard() {
    // A text frame with "{}" follows at once, masked with zeros.
    let eager = [UPGRADE.as_bytes(), &[0x81, 0x82, 0, 0, 0, 0, b'{', b'}']].concat();
    let (request, mut client) = send(&eager, HeadLimits::default()).await;
    let mut connection = request.unwrap().upgrade(BIG, &[]).await.unwrap();
    assert_eq!(text(&mut connection.reader).await, "{}");
    let mut answer = [0; 129];
    within(client.read_exact(&mut answer)).await.unwrap();
    assert_eq!(
        String::from_utf8_lossy(&answer),
        "HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\
         sec-websocket-accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n"
    );
}

#[tokio::test]
async fn an_unsuitable_upgrade_is_handed_back() {
    let without = |part: &str| UPGRADE.replace(part, "");
    for (text, why, status) in [
        (UPGRADE.replace("GET", "POST"), NoUpgrade::Method, 405),
        (
            without("Connection: keep-alive, Upgrade\r\n"),
            NoUpgrade::Connection,
            400,
        ),
        (without("Upgrade: WebSocket\r\n"), NoUpgrade::Upgrade, 400),
        (
            without("Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"),
            NoUpgrade::Key,
            400,
        ),
        (UPGRADE.replace("13", "12"), NoUpgrade::Version, 400),
    ] {
        let (request, client) = request(&text).await;
        let error = request.upgrade(BIG, &[]).await.unwrap_err();
        let UpgradeError::Unsuitable {
            request,
            why: found,
        } = error
        else {
            panic!("{error:?}");
        };
        assert_eq!((found, found.status()), (why, status));
        let body = found.to_string();
        let response = Response {
            status,
            headers: &[],
            body: &body,
        };
        request.respond(response).await.unwrap();
        assert!(rest(client).await.ends_with(&body));
    }
}

#[tokio::test]
async fn an_answer_survives_an_unread_body() {
    let (listener, _) = listen().await;
    let address = listener.local_addr().unwrap();
    let client = tokio::spawn(async move {
        let mut client = tokio::net::TcpStream::connect(address).await.unwrap();
        client.write_all(b"POST / HTTP/1.1\r\n\r\n").await.unwrap();
        client.write_all(&[b'x'; 50_000]).await.unwrap();
        let mut answer = String::new();
        client.read_to_string(&mut answer).await.unwrap();
        answer
    });
    let request = accept_http(&listener).await;
    request.respond(Response::status(403)).await.unwrap();
    assert!(
        client
            .await
            .unwrap()
            .starts_with("HTTP/1.1 403 Forbidden\r\n")
    );
}

#[test]
fn debug_shows_no_header_values() {
    let head = Head {
        method: "GET".into(),
        path: "/".into(),
        query: "code=s3cret".into(),
        headers: vec![("authorization".into(), b"s3cret".to_vec())],
    };
    let shown = format!("{head:?}");
    assert!(shown.contains("authorization") && !shown.contains("s3cret"));
}
