//! One message per line over byte streams: standard input and output, pipes, unix sockets.

use std::fmt;
use std::io;

use bytes::Bytes;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader, BufWriter};

use crate::connection::Incoming;
use crate::intake::{Excess, Intake, Meter};
use crate::lines::{Line, Lines};

/// As much as a Linux pipe holds, so that one read can empty it.
const READ_BUFFER: usize = 64 * 1024;
/// Messages below this size are gathered into one write; larger ones are written as they are.
const WRITE_BUFFER: usize = 64 * 1024;

pub(crate) struct LineReader {
    input: BufReader<Box<dyn AsyncRead + Send + Unpin>>,
    lines: Lines,
    meter: Meter,
    /// The longest line that this connection can have.
    most: usize,
    /// Why a line was discarded, if not for its length.
    refused: Option<Excess>,
}

impl LineReader {
    pub fn new(input: Box<dyn AsyncRead + Send + Unpin>, limit: usize) -> Self {
        Self {
            input: BufReader::with_capacity(READ_BUFFER, input),
            lines: Lines::new(limit),
            meter: Meter::new(limit),
            most: limit,
            refused: None,
        }
    }

    pub fn set_intake(&mut self, intake: &Intake) {
        let limit = intake.limit.min(self.most);
        self.lines.set_limit(limit);
        self.meter.set(limit, &intake.budget);
    }

    /// Waits only for bytes, never between taking bytes and keeping them, so it may be cancelled.
    pub async fn next(&mut self) -> io::Result<Option<Incoming>> {
        self.meter.next();
        loop {
            let chunk = self.input.fill_buf().await?;
            let line = if chunk.is_empty() {
                match self.lines.finish() {
                    None => return Ok(None),
                    line => line,
                }
            } else {
                let mut rest = chunk;
                let line = self.lines.next(&mut rest);
                let taken = chunk.len() - rest.len();
                self.input.consume(taken);
                line
            };
            match line {
                Some(Line::Text(message)) => {
                    self.meter.complete();
                    return Ok(Some(Incoming::Message(message)));
                }
                Some(Line::Oversized { length }) => {
                    self.meter.complete();
                    let limit = self.lines.limit();
                    let excess = self.refused.take().unwrap_or(Excess::TooLong { limit });
                    return Ok(Some(Incoming::Oversized { length, excess }));
                }
                None => {
                    if let Err(excess) = self.meter.hold(self.lines.held()) {
                        self.refused = Some(excess);
                        self.lines.discard();
                    }
                }
            }
        }
    }
}

impl fmt::Debug for LineReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LineReader")
    }
}

pub(crate) struct LineWriter {
    output: BufWriter<Box<dyn AsyncWrite + Send + Unpin>>,
    /// Whether messages get the member that JSON-RPC 2.0 requires.
    names_version: bool,
}

impl LineWriter {
    pub fn new(output: Box<dyn AsyncWrite + Send + Unpin>) -> Self {
        Self {
            output: BufWriter::with_capacity(WRITE_BUFFER, output),
            names_version: false,
        }
    }

    /// Adds the member that JSON-RPC 2.0 requires to every message.
    pub fn name_version(&mut self) {
        self.names_version = true;
    }

    pub async fn write(&mut self, batch: impl IntoIterator<Item = Bytes>) -> io::Result<()> {
        for message in batch {
            match message.strip_prefix(b"{") {
                Some(members) if self.names_version => {
                    self.output.write_all(br#"{"jsonrpc":"2.0","#).await?;
                    self.output.write_all(members).await?;
                }
                _ => self.output.write_all(&message).await?,
            }
            self.output.write_all(b"\n").await?;
        }
        self.output.flush().await
    }

    pub async fn close(&mut self) -> io::Result<()> {
        self.output.shutdown().await
    }
}

impl fmt::Debug for LineWriter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LineWriter")
    }
}
