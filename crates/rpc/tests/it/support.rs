//! Connected pairs of every transport, and what tests do with them.

use std::time::Duration;

use bytes::Bytes;
use quipu_rpc::http::{HeadLimits, HttpRequest};
use quipu_rpc::{Connection, Incoming, Limits, Reader, websocket};
use tokio::net::{TcpListener, TcpStream, UnixStream};

/// Larger than any message of these tests.
pub const BIG: usize = 64 << 20;
pub const LIMITS: Limits = Limits {
    messages: 1024,
    bytes: BIG,
};
/// Ends a test that hangs; never waited for otherwise.
pub const PATIENCE: Duration = Duration::from_secs(30);

#[derive(Clone, Copy, Debug)]
pub enum Transport {
    Pipe,
    Unix,
    WebSocket,
    Memory,
}

pub const TRANSPORTS: [Transport; 4] = [
    Transport::Pipe,
    Transport::Unix,
    Transport::WebSocket,
    Transport::Memory,
];

pub async fn connect(transport: Transport) -> (Connection, Connection) {
    match transport {
        Transport::Pipe => {
            let (left, right) = tokio::io::duplex(64 * 1024);
            let [left, right] = [left, right].map(|end| {
                let (reader, writer) = tokio::io::split(end);
                Connection::lines(reader, writer, BIG)
            });
            (left, right)
        }
        Transport::Unix => {
            let (left, right) = UnixStream::pair().unwrap();
            (Connection::unix(left, BIG), Connection::unix(right, BIG))
        }
        Transport::WebSocket => websocket_pair(BIG).await,
        Transport::Memory => Connection::pair(LIMITS),
    }
}

/// The client's end and the server's end.
pub async fn websocket_pair(message_limit: usize) -> (Connection, Connection) {
    let (listener, url) = listen().await;
    let (client, server) = tokio::join!(
        websocket::connect(&url, &[], message_limit, PATIENCE),
        accept_websocket(&listener, message_limit),
    );
    (client.unwrap(), server)
}

pub async fn listen() -> (TcpListener, String) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("ws://{}/", listener.local_addr().unwrap());
    (listener, url)
}

pub async fn accept_websocket(listener: &TcpListener, message_limit: usize) -> Connection {
    accept_http(listener)
        .await
        .upgrade(message_limit, &[])
        .await
        .unwrap()
}

pub async fn accept_http(listener: &TcpListener) -> HttpRequest {
    HttpRequest::read(accept(listener).await, HeadLimits::default())
        .await
        .unwrap()
}

pub async fn accept(listener: &TcpListener) -> TcpStream {
    let (stream, _) = listener.accept().await.unwrap();
    stream.set_nodelay(true).unwrap();
    stream
}

/// The next message, which must be one.
pub async fn message(reader: &mut Reader) -> Bytes {
    match within(reader.next()).await.unwrap() {
        Some(Incoming::Message(message)) => message,
        other => panic!("expected a message, got {other:?}"),
    }
}

/// The next message as text.
pub async fn text(reader: &mut Reader) -> String {
    String::from_utf8(message(reader).await.into()).unwrap()
}

/// Fails the test rather than hanging.
pub async fn within<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, future)
        .await
        .expect("the test hangs")
}
