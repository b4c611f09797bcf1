//! A connection of any kind: one end that yields messages, one end that takes batches of them.
//! What lies beneath (lines, websocket frames, memory) is decided once, where it is made.

use std::io;

use bytes::Bytes;
use tokio::io::{AsyncRead, AsyncWrite};

use crate::close::CloseCode;
use crate::intake::{Excess, Intake};
use crate::queue::{self, Limits};
use crate::stdio;
use crate::text_stream::{LineReader, LineWriter};
use crate::websocket::{WebSocketReader, WebSocketWriter};

/// Both ends of this side. They may live in different tasks.
#[derive(Debug)]
pub struct Connection {
    /// Yields incoming messages.
    pub reader: Reader,
    /// Takes outgoing messages.
    pub writer: Writer,
}

/// What a reader yields.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Incoming {
    /// One message, not yet looked at.
    Message(Bytes),
    /// A message that could not be taken in was discarded; the connection goes on.
    Oversized {
        /// Its length in bytes.
        length: u64,
        /// Why it was not taken in.
        excess: Excess,
    },
}

/// Why reading cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The transport failed.
    #[error("reading from the connection failed: {0}")]
    Io(#[from] io::Error),
    /// A websocket message was not taken in. Unlike a line it cannot be skipped.
    #[error("a websocket message was not taken in: {0}")]
    Excess(Excess),
    /// The other side broke the websocket protocol.
    #[error("websocket protocol error: {0}")]
    Protocol(String),
}

impl Connection {
    /// Standard input and output of this process, one message per line.
    ///
    /// What is neither pipe nor socket is read on a thread that cannot be interrupted: end the process, or shut the
    /// runtime down in the background, rather than waiting for it.
    pub fn stdio(line_limit: usize) -> Self {
        Self::boxed_lines(stdio::input(), stdio::output(), line_limit)
    }

    /// A unix socket, one message per line.
    #[cfg(unix)]
    pub fn unix(stream: tokio::net::UnixStream, line_limit: usize) -> Self {
        let (reader, writer) = stream.into_split();
        Self::lines(reader, writer, line_limit)
    }

    /// Any pair of byte streams, such as a child's pipes, one message per line.
    pub fn lines(
        reader: impl AsyncRead + Send + Unpin + 'static,
        writer: impl AsyncWrite + Send + Unpin + 'static,
        line_limit: usize,
    ) -> Self {
        Self::boxed_lines(Box::new(reader), Box::new(writer), line_limit)
    }

    fn boxed_lines(
        reader: Box<dyn AsyncRead + Send + Unpin>,
        writer: Box<dyn AsyncWrite + Send + Unpin>,
        line_limit: usize,
    ) -> Self {
        Self {
            reader: Reader(ReaderKind::Lines(LineReader::new(reader, line_limit))),
            writer: Writer(WriterKind::Lines(LineWriter::new(writer))),
        }
    }

    /// Writes `"jsonrpc":"2.0"` in every message, for peers that insist on it. Only lines can: the other transports
    /// are this protocol's own.
    pub fn with_version(mut self) -> Self {
        if let WriterKind::Lines(writer) = &mut self.writer.0 {
            writer.name_version();
        }
        self
    }

    /// Two connected ends in memory. Messages pass as they are; `limits` hold per direction, and a
    /// writer waits when they are reached.
    pub fn pair(limits: Limits) -> (Self, Self) {
        let (left_sender, right_receiver) = queue::new(limits);
        let (right_sender, left_receiver) = queue::new(limits);
        let end = |sender, receiver| Self {
            reader: Reader(ReaderKind::Memory(receiver)),
            writer: Writer(WriterKind::Memory(sender)),
        };
        (
            end(left_sender, left_receiver),
            end(right_sender, right_receiver),
        )
    }

    pub(crate) fn websocket(reader: WebSocketReader, writer: WebSocketWriter) -> Self {
        Self {
            reader: Reader(ReaderKind::WebSocket(reader)),
            writer: Writer(WriterKind::WebSocket(writer)),
        }
    }
}

/// Yields the messages of a connection in order.
#[derive(Debug)]
pub struct Reader(ReaderKind);

#[derive(Debug)]
enum ReaderKind {
    Lines(LineReader),
    WebSocket(WebSocketReader),
    Memory(queue::Receiver<Bytes>),
}

impl Reader {
    /// The next message, or nothing when the other side is done. May be cancelled without loss.
    pub async fn next(&mut self) -> Result<Option<Incoming>, ReadError> {
        match &mut self.0 {
            ReaderKind::Lines(reader) => Ok(reader.next().await?),
            ReaderKind::WebSocket(reader) => reader.next().await,
            ReaderKind::Memory(reader) => Ok(reader.recv().await.map(Incoming::Message)),
        }
    }

    /// Takes in unfinished messages by these rules from now on, instead of those that the connection was made
    /// with. To be called between two messages. What a connection in memory holds is bounded by its own limits,
    /// and no limit is above the one that a connection was made with.
    pub fn set_intake(&mut self, intake: &Intake) {
        match &mut self.0 {
            ReaderKind::Lines(reader) => reader.set_intake(intake),
            ReaderKind::WebSocket(reader) => reader.set_intake(intake),
            ReaderKind::Memory(_) => {}
        }
    }

    /// Whether the other side may still read after it has sent its last message. A websocket ends in
    /// both directions at once.
    pub fn may_half_close(&self) -> bool {
        !matches!(self.0, ReaderKind::WebSocket(_))
    }
}

/// Takes the messages of a connection.
#[derive(Debug)]
pub struct Writer(WriterKind);

#[derive(Debug)]
enum WriterKind {
    Lines(LineWriter),
    WebSocket(WebSocketWriter),
    Memory(queue::Sender<Bytes>),
}

impl Writer {
    /// Writes messages and flushes once, so that many small ones leave in few system calls. A
    /// message must be one JSON text without line breaks, as [`write`](crate::write) makes them.
    /// After cancellation or failure the writer may have sent part of a message: drop it.
    pub async fn write(&mut self, batch: impl IntoIterator<Item = Bytes>) -> io::Result<()> {
        match &mut self.0 {
            WriterKind::Lines(writer) => writer.write(batch).await,
            WriterKind::WebSocket(writer) => writer.write(batch).await,
            WriterKind::Memory(writer) => {
                for message in batch {
                    let length = message.len();
                    if writer.send(message, length).await.is_err() {
                        return Err(io::ErrorKind::BrokenPipe.into());
                    }
                }
                Ok(())
            }
        }
    }

    /// Signals the other side that no more comes.
    pub async fn close(&mut self, code: CloseCode) -> io::Result<()> {
        match &mut self.0 {
            WriterKind::Lines(writer) => writer.close().await,
            WriterKind::WebSocket(writer) => writer.close(code).await,
            WriterKind::Memory(writer) => {
                writer.close();
                Ok(())
            }
        }
    }
}
