//! Standard input and output without a thread. Tokio hands each read and each write of them to another
//! thread, and clients make them pipes or sockets, which need none. Others may hold the same ends: a pipe is
//! opened again, and a socket is asked not to wait by each call, so that nothing changes for them.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use rustix::net::{RecvFlags, SendFlags, SocketType, recv, send, sockopt};
use tokio::io::unix::AsyncFd;
use tokio::io::{AsyncRead, AsyncWrite, Interest, ReadBuf};
use tokio::net::unix::pipe::OpenOptions;

pub(crate) fn input() -> Box<dyn AsyncRead + Send + Unpin> {
    if let Ok(pipe) = OpenOptions::new().open_receiver("/proc/self/fd/0") {
        Box::new(pipe)
    } else if let Ok(socket) = Socket::open(io::stdin(), Interest::READABLE) {
        Box::new(socket)
    } else {
        Box::new(tokio::io::stdin())
    }
}

pub(crate) fn output() -> Box<dyn AsyncWrite + Send + Unpin> {
    if let Ok(pipe) = OpenOptions::new().open_sender("/proc/self/fd/1") {
        Box::new(pipe)
    } else if let Ok(socket) = Socket::open(io::stdout(), Interest::WRITABLE) {
        Box::new(socket)
    } else {
        Box::new(tokio::io::stdout())
    }
}

/// One direction of a socket, such as Node.js gives its children.
struct Socket(AsyncFd<OwnedFd>);

impl Socket {
    fn open(end: impl AsFd, interest: Interest) -> io::Result<Self> {
        if sockopt::socket_type(&end)? != SocketType::STREAM {
            return Err(io::ErrorKind::Unsupported.into());
        }
        let own = end.as_fd().try_clone_to_owned()?;
        // SAFETY: the descriptor is owned, so it stays open, and the same one, until the `AsyncFd` is dropped.
        let registered = unsafe { AsyncFd::register_with_interest(own, interest) };
        Ok(Self(registered?))
    }
}

impl AsyncRead for Socket {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        loop {
            let mut guard = ready!(self.0.poll_read_ready(context))?;
            let read = guard.try_io(|socket| {
                let (read, _) = recv(socket, buffer.initialize_unfilled(), RecvFlags::DONTWAIT)?;
                Ok(read)
            });
            if let Ok(read) = read {
                buffer.advance(read?);
                return Poll::Ready(Ok(()));
            }
        }
    }
}

impl AsyncWrite for Socket {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        loop {
            let mut guard = ready!(self.0.poll_write_ready(context))?;
            let write = |socket: &AsyncFd<OwnedFd>| Ok(send(socket, bytes, SendFlags::DONTWAIT)?);
            if let Ok(written) = guard.try_io(write) {
                return Poll::Ready(written);
            }
        }
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    /// The end of the process closes it, since other holders may go on.
    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
