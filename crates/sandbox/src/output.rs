//! The output of a command, read only as fast as somebody takes it.
//!
//! There is no queue: the kernel's pipe is the queue, and a command whose output nobody takes waits.

use std::{
    fs::File,
    io::{self, Read},
    os::fd::{AsFd, OwnedFd},
    sync::Arc,
    task::{Context, Poll, ready},
};

use tokio::{io::unix::AsyncFd, sync::watch};

use crate::{
    chunk::{CHUNK, Chunk, Stream},
    fd,
    process::State,
};

/// A descriptor in non-blocking mode, known to the runtime.
pub(crate) type AsyncFile = Arc<AsyncFd<File>>;

pub(crate) fn async_file(fd: OwnedFd) -> io::Result<AsyncFile> {
    fd::set_nonblocking(fd.as_fd())?;
    // SAFETY: the file owns its descriptor and keeps it as long as the `AsyncFd` owns the file.
    Ok(Arc::new(unsafe { AsyncFd::register(File::from(fd)) }?))
}

/// The output of one command, in order of arrival.
#[derive(Debug)]
pub struct Output {
    open: Vec<(Stream, AsyncFile)>,
    buffer: Box<[u8]>,
    state: watch::Receiver<State>,
}

impl Output {
    pub(crate) fn new(open: Vec<(Stream, AsyncFile)>, state: watch::Receiver<State>) -> Self {
        Self {
            open,
            buffer: vec![0; CHUNK].into(),
            state,
        }
    }

    /// The next bytes; `None` once no process of the command can write any more.
    ///
    /// May be dropped before it is ready without losing output.
    pub async fn next(&mut self) -> Option<Chunk> {
        let mut state = self.state.clone();
        let (open, buffer) = (&mut self.open, &mut self.buffer);
        tokio::select! {
            biased;
            chunk = std::future::poll_fn(|cx| poll_read(open, buffer, cx)) => return chunk,
            _ = state.wait_for(|state| state.gone) => {}
        }
        // What is still open now was handed to a process of somebody else.
        self.read_rest()
    }

    /// What a pipe still holds after the last process that we know of is gone.
    fn read_rest(&mut self) -> Option<Chunk> {
        while let Some((stream, file)) = self.open.last() {
            match file.get_ref().read(&mut self.buffer) {
                Ok(count) if count > 0 => {
                    return Some(Chunk {
                        stream: *stream,
                        bytes: self.buffer[..count].to_vec(),
                    });
                }
                _ => drop(self.open.pop()),
            }
        }
        None
    }
}

fn poll_read(
    open: &mut Vec<(Stream, AsyncFile)>,
    buffer: &mut [u8],
    cx: &mut Context<'_>,
) -> Poll<Option<Chunk>> {
    let mut index = 0;
    while index < open.len() {
        let (stream, file) = (open[index].0, &open[index].1);
        match poll_one(file, buffer, cx) {
            Poll::Pending => index += 1,
            Poll::Ready(Ok(count)) if count > 0 => {
                // The other stream is asked first next time, so that neither starves.
                open.rotate_left(index + 1);
                return Poll::Ready(Some(Chunk {
                    stream,
                    bytes: buffer[..count].to_vec(),
                }));
            }
            // A terminal whose other end is closed says so with an error.
            Poll::Ready(_) => drop(open.remove(index)),
        }
    }
    if open.is_empty() {
        Poll::Ready(None)
    } else {
        Poll::Pending
    }
}

fn poll_one(file: &AsyncFile, buffer: &mut [u8], cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
    loop {
        let mut guard = ready!(file.poll_read_ready(cx))?;
        if let Ok(result) = guard.try_io(|file| file.get_ref().read(buffer)) {
            return Poll::Ready(result);
        }
    }
}
