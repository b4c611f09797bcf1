//! The output of a command, read only as fast as somebody takes it.
//!
//! A pipe ends when no process of the command is left: whatever they start is in their job too.

use std::{
    fmt,
    future::poll_fn,
    io,
    pin::Pin,
    task::{Context, Poll, ready},
};

use tokio::io::{AsyncRead, ReadBuf};

use crate::chunk::{CHUNK, Chunk, Stream};

pub(super) type Pipe = Box<dyn AsyncRead + Send + Sync + Unpin>;

/// The output of one command, in order of arrival.
pub struct Output {
    open: Vec<(Stream, Pipe)>,
    buffer: Box<[u8]>,
}

impl fmt::Debug for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let open: Vec<Stream> = self.open.iter().map(|(stream, _)| *stream).collect();
        f.debug_struct("Output")
            .field("open", &open)
            .finish_non_exhaustive()
    }
}

impl Output {
    pub(super) fn new(open: Vec<(Stream, Pipe)>) -> Self {
        Self {
            open,
            buffer: vec![0; CHUNK].into(),
        }
    }

    /// The next bytes; `None` once no process of the command can write any more.
    ///
    /// May be dropped before it is ready without losing output.
    pub async fn next(&mut self) -> Option<Chunk> {
        poll_fn(|cx| self.poll_next(cx)).await
    }

    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Chunk>> {
        let mut index = 0;
        while index < self.open.len() {
            let (stream, pipe) = &mut self.open[index];
            match poll_one(pipe, &mut self.buffer, cx) {
                Poll::Pending => index += 1,
                Poll::Ready(Ok(count)) if count > 0 => {
                    let chunk = Chunk {
                        stream: *stream,
                        bytes: self.buffer[..count].to_vec(),
                    };
                    // The other stream is asked first next time, so that neither starves.
                    self.open.rotate_left(index + 1);
                    return Poll::Ready(Some(chunk));
                }
                Poll::Ready(_) => drop(self.open.remove(index)),
            }
        }
        if self.open.is_empty() {
            Poll::Ready(None)
        } else {
            Poll::Pending
        }
    }
}

fn poll_one(pipe: &mut Pipe, buffer: &mut [u8], cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
    let mut buffer = ReadBuf::new(buffer);
    ready!(Pin::new(pipe).poll_read(cx, &mut buffer))?;
    Poll::Ready(Ok(buffer.filled().len()))
}
