//! One JSON text per websocket text message, as server (after [`http`](crate::http) has read the
//! request) and as client. Pings are answered beneath; binary frames are not part of the protocol.

use std::fmt;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt, StreamExt};
use parking_lot::Mutex;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::error::{CapacityError, Error, ProtocolError};
use tokio_tungstenite::tungstenite::http::{HeaderName, HeaderValue};
use tokio_tungstenite::tungstenite::protocol::frame::Frame;
use tokio_tungstenite::tungstenite::protocol::frame::coding::{Data, OpCode};
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, Role, WebSocketConfig};
use tokio_tungstenite::tungstenite::{Message, Utf8Bytes};

use crate::close::CloseCode;
use crate::connection::{Connection, Incoming, ReadError};
use crate::intake::{Excess, Intake, Meter};
use crate::tls;

/// Allocated per connection from the start, so kept small for servers with many of them.
const READ_BUFFER: usize = 16 * 1024;
/// Frames are gathered up to this size before they are written.
const WRITE_BUFFER: usize = 64 * 1024;
/// A longer message is sent in fragments, so that a connection does not keep a buffer of the size of
/// its longest message, and clients which limit frames but not messages can read it.
const FRAGMENT: usize = 1024 * 1024;
/// How long to wait for the last frames of a closing handshake.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);

/// Any byte stream in both directions.
pub trait ByteStream: AsyncRead + AsyncWrite + Send + Unpin + 'static {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin + 'static> ByteStream for T {}

type Socket = WebSocketStream<Metered>;

/// What the header and the mask of a control frame take.
const CONTROL_FRAME: usize = 6;

/// A stream that counts what is read of a message, for the library keeps it until the message is complete.
struct Metered {
    stream: Box<dyn ByteStream>,
    meter: SharedMeter,
}

#[derive(Clone)]
struct SharedMeter(Arc<Mutex<Meter>>);

impl Metered {
    /// The library bounds the length of a message by itself.
    fn new(stream: Box<dyn ByteStream>) -> Self {
        let meter = SharedMeter(Arc::new(Mutex::new(Meter::new(usize::MAX))));
        Self { stream, meter }
    }
}

impl AsyncRead for Metered {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(context, buffer))?;
        let counted = self.meter.0.lock().add(buffer.filled().len() - before);
        Poll::Ready(counted.map_err(io::Error::other))
    }
}

impl AsyncWrite for Metered {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

/// Why a websocket client could not connect.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// The address is not `ws://HOST:PORT/…` or `wss://…`.
    #[error("`{url}` is not a ws:// or wss:// address")]
    Address {
        /// The address as given.
        url: String,
    },
    /// A header has characters that HTTP does not allow. The value may be secret and is not shown.
    #[error("header `{name}` cannot be sent: its name or value has characters HTTP does not allow")]
    Header {
        /// The header's name.
        name: String,
    },
    /// No connection.
    #[error("cannot connect: {0}")]
    Io(#[from] io::Error),
    /// The server answered, but not with an upgrade.
    #[error("the server refused the websocket with HTTP status {status}: {body}")]
    Refused {
        /// The HTTP status.
        status: u16,
        /// The beginning of the body.
        body: String,
    },
    /// The server's answer is not a websocket handshake.
    #[error("websocket handshake failed: {0}")]
    Handshake(String),
    /// It took too long.
    #[error("not connected within {0:?}")]
    TimedOut(Duration),
}

/// Connects to `ws://HOST:PORT/…`, or `wss://…` for TLS, with additional headers, such as `authorization`.
pub async fn connect(
    url: &str,
    headers: &[(&str, &str)],
    message_limit: usize,
    timeout: Duration,
) -> Result<Connection, ConnectError> {
    let connecting = async {
        let address = || ConnectError::Address {
            url: url.to_owned(),
        };
        let mut request = url.into_client_request().map_err(|_| address())?;
        let is_secure = match request.uri().scheme_str() {
            Some("ws") => false,
            Some("wss") => true,
            _ => return Err(address()),
        };
        let host = request
            .uri()
            .host()
            .ok_or_else(address)?
            .trim_matches(['[', ']']);
        let usual = if is_secure { 443 } else { 80 };
        let port = request.uri().port_u16().unwrap_or(usual);
        let stream = TcpStream::connect((host, port)).await?;
        stream.set_nodelay(true)?;
        let stream: Box<dyn ByteStream> = match is_secure {
            true => Box::new(tls::connect(host, stream).await?),
            false => Box::new(stream),
        };
        for (name, value) in headers {
            let bad = || ConnectError::Header {
                name: (*name).to_owned(),
            };
            let header = HeaderName::from_bytes(name.as_bytes()).map_err(|_| bad())?;
            let mut value = HeaderValue::from_str(value).map_err(|_| bad())?;
            value.set_sensitive(true);
            request.headers_mut().insert(header, value);
        }
        let stream = Metered::new(stream);
        let config = Some(config(message_limit));
        match tokio_tungstenite::client_async_with_config(request, stream, config).await {
            Ok((socket, _)) => Ok(split(socket, message_limit)),
            Err(error) => Err(refused(error)),
        }
    };
    match tokio::time::timeout(timeout, connecting).await {
        Ok(connected) => connected,
        Err(_) => Err(ConnectError::TimedOut(timeout)),
    }
}

fn refused(error: Error) -> ConnectError {
    const SHOWN: usize = 200;
    match error {
        Error::Http(response) => {
            let status = response.status().as_u16();
            let body = response.into_body().unwrap_or_default();
            let body = String::from_utf8_lossy(&body[..body.len().min(SHOWN)]).into_owned();
            ConnectError::Refused { status, body }
        }
        Error::Io(error) => ConnectError::Io(error),
        error => ConnectError::Handshake(error.to_string()),
    }
}

/// The server's side of a stream whose upgrade has been answered; `read` are bytes that came after
/// the request.
pub(crate) async fn accepted(
    stream: Box<dyn ByteStream>,
    read: Vec<u8>,
    message_limit: usize,
) -> Connection {
    let config = Some(config(message_limit));
    let stream = Metered::new(stream);
    let socket = WebSocketStream::from_partially_read(stream, read, Role::Server, config).await;
    split(socket, message_limit)
}

fn config(message_limit: usize) -> WebSocketConfig {
    WebSocketConfig::default()
        .read_buffer_size(READ_BUFFER)
        .write_buffer_size(WRITE_BUFFER)
        .max_message_size(Some(message_limit))
        .max_frame_size(Some(message_limit))
}

fn split(socket: Socket, message_limit: usize) -> Connection {
    let meter = socket.get_ref().meter.clone();
    let (sink, stream) = socket.split();
    let reader = WebSocketReader {
        stream,
        meter,
        most: message_limit,
    };
    Connection::websocket(reader, WebSocketWriter(sink))
}

pub(crate) struct WebSocketReader {
    stream: SplitStream<Socket>,
    meter: SharedMeter,
    /// The longest message, as given to the library when the connection was made.
    most: usize,
}

impl WebSocketReader {
    /// A limit below that of the library holds for what is read of a message, headers of frames included.
    pub fn set_intake(&mut self, intake: &Intake) {
        let limit = match intake.limit < self.most {
            true => intake.limit,
            false => usize::MAX,
        };
        self.meter.0.lock().set(limit, &intake.budget);
    }

    pub async fn next(&mut self) -> Result<Option<Incoming>, ReadError> {
        self.meter.0.lock().next();
        loop {
            match self.stream.next().await {
                Some(Ok(Message::Text(text))) => {
                    self.meter.0.lock().complete();
                    return Ok(Some(Incoming::Message(Bytes::from(text))));
                }
                Some(Ok(Message::Binary(bytes))) => {
                    tracing::warn!(length = bytes.len(), "binary websocket frame ignored");
                    drop(bytes);
                    let mut meter = self.meter.0.lock();
                    meter.complete();
                    meter.next();
                }
                Some(Ok(Message::Close(_))) => {
                    self.finish().await;
                    return Ok(None);
                }
                // They may come between the frames of a message.
                Some(Ok(Message::Ping(bytes) | Message::Pong(bytes))) => {
                    self.meter.0.lock().subtract(CONTROL_FRAME + bytes.len());
                }
                Some(Ok(Message::Frame(_))) => {}
                None => return Ok(None),
                Some(Err(error)) => return ended(error),
            }
        }
    }

    /// Reads on until the other side has our answer to its close frame.
    async fn finish(&mut self) {
        let rest = async { while let Some(Ok(_)) = self.stream.next().await {} };
        if tokio::time::timeout(CLOSE_TIMEOUT, rest).await.is_err() {
            tracing::debug!("the other side did not complete the closing handshake");
        }
    }
}

fn ended(error: Error) -> Result<Option<Incoming>, ReadError> {
    match error {
        Error::ConnectionClosed
        | Error::AlreadyClosed
        | Error::Protocol(ProtocolError::ResetWithoutClosingHandshake) => Ok(None),
        Error::Capacity(CapacityError::MessageTooLong { max_size, .. }) => {
            Err(ReadError::Excess(Excess::TooLong { limit: max_size }))
        }
        Error::Io(error) => Err(match error.downcast::<Excess>() {
            Ok(excess) => ReadError::Excess(excess),
            Err(error) => ReadError::Io(error),
        }),
        error => Err(ReadError::Protocol(error.to_string())),
    }
}

impl fmt::Debug for WebSocketReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WebSocketReader")
    }
}

pub(crate) struct WebSocketWriter(SplitSink<Socket, Message>);

impl WebSocketWriter {
    pub async fn write(&mut self, batch: impl IntoIterator<Item = Bytes>) -> io::Result<()> {
        for message in batch {
            self.feed(message).await.map_err(into_io)?;
        }
        self.0.flush().await.map_err(into_io)
    }

    async fn feed(&mut self, mut message: Bytes) -> Result<(), Error> {
        let mut kind = Data::Text;
        loop {
            let fragment = message.split_to(message.len().min(FRAGMENT));
            let frame = Frame::message(fragment, OpCode::Data(kind), message.is_empty());
            self.0.feed(Message::Frame(frame)).await?;
            if message.is_empty() {
                return Ok(());
            }
            kind = Data::Continue;
        }
    }

    pub async fn close(&mut self, code: CloseCode) -> io::Result<()> {
        let frame = CloseFrame {
            code: code.0.into(),
            reason: Utf8Bytes::default(),
        };
        match self.0.send(Message::Close(Some(frame))).await {
            Ok(()) | Err(Error::ConnectionClosed | Error::AlreadyClosed) => Ok(()),
            Err(error) => Err(into_io(error)),
        }
    }
}

fn into_io(error: Error) -> io::Error {
    match error {
        Error::Io(error) => error,
        Error::ConnectionClosed | Error::AlreadyClosed => io::ErrorKind::NotConnected.into(),
        error => io::Error::other(error),
    }
}

impl fmt::Debug for WebSocketWriter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WebSocketWriter")
    }
}
