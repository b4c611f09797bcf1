//! What a running command is made of on unix systems; `windows.rs` has the same under the same names.

use std::{
    io::{self, Write},
    os::fd::AsFd,
};

use crate::{Exit, WindowSize, output::AsyncFile, pty};

pub(crate) use crate::lifeline::Killer;
pub use crate::{helper::maybe_run_helper, output::Output, rules::Rules, spawn::spawn};

/// How a command ends that was killed.
pub(crate) const KILLED: Exit = Exit::Signal(libc::SIGKILL);

/// Our end of a command's standard input.
pub(crate) type Stdin = AsyncFile;

/// Our end of a command's terminal.
pub(crate) type Terminal = AsyncFile;

/// How a process ended, from what `waitpid` tells.
pub(crate) fn exit_of(status: libc::c_int) -> Exit {
    if libc::WIFSIGNALED(status) {
        Exit::Signal(libc::WTERMSIG(status))
    } else {
        Exit::Code(libc::WEXITSTATUS(status))
    }
}

/// Writes all bytes, waiting as long as nobody reads; `bytes` is what is not written yet.
pub(crate) async fn write_all(stdin: &mut Stdin, bytes: &mut &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        let mut ready = stdin.writable().await?;
        if let Ok(written) = ready.try_io(|file| file.get_ref().write(bytes)) {
            *bytes = &bytes[written?..];
        }
    }
    Ok(())
}

/// Sets the size of a terminal.
pub(crate) fn resize(terminal: &Terminal, size: WindowSize) -> io::Result<()> {
    pty::resize(terminal.get_ref().as_fd(), size)
}
