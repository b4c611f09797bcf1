//! A terminal pair: the command gets one end as its standard streams, the server reads and writes
//! the other.

use std::{
    io,
    os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd},
    ptr,
};

use crate::{WindowSize, fd::check};

/// Both ends of a new terminal.
pub(crate) struct Pty {
    pub master: OwnedFd,
    pub terminal: OwnedFd,
}

impl Pty {
    pub(crate) fn open(size: WindowSize) -> io::Result<Self> {
        let (mut master, mut terminal) = (-1, -1);
        let mut size = winsize(size);
        // SAFETY: writes two descriptors and reads a size; a name and settings are not wanted.
        check(unsafe {
            libc::openpty(
                &mut master,
                &mut terminal,
                ptr::null_mut(),
                ptr::null_mut(),
                &raw mut size,
            )
        })?;
        // SAFETY: both descriptors are new, so nobody else owns them.
        let [master, terminal] = [master, terminal].map(|fd| unsafe { OwnedFd::from_raw_fd(fd) });
        for fd in [&master, &terminal] {
            // SAFETY: sets a flag of an open descriptor.
            check(unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_SETFD, libc::FD_CLOEXEC) })?;
        }
        Ok(Self { master, terminal })
    }
}

/// Sets the size; the programs in the foreground are notified by a signal.
pub(crate) fn resize(master: BorrowedFd<'_>, size: WindowSize) -> io::Result<()> {
    let size = winsize(size);
    // SAFETY: the kernel only reads `size`.
    check(unsafe { libc::ioctl(master.as_raw_fd(), libc::TIOCSWINSZ as _, &size) })?;
    Ok(())
}

fn winsize(size: WindowSize) -> libc::winsize {
    libc::winsize {
        ws_row: size.rows,
        ws_col: size.cols,
        ws_xpixel: 0,
        ws_ypixel: 0,
    }
}
