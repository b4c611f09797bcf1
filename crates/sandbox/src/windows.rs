//! What a running command is made of on Windows; `unix.rs` has the same under the same names.
//!
//! There is no supervisor here: the processes of a command are a job, which the system ends when the
//! last handle to it is closed, however this program ends. No policy can be enforced yet, and there
//! are no terminals.

mod job;
mod output;
mod program;
mod rules;
mod spawn;

use std::{convert::Infallible, io, sync::Arc};

use tokio::{io::AsyncWriteExt, process::ChildStdin};

use crate::{Exit, WindowSize};

pub use output::Output;
pub use rules::Rules;
pub use spawn::spawn;

use job::Job;

/// How a command ends that was killed.
pub(crate) const KILLED: Exit = Exit::Code(job::KILLED);

/// Our end of a command's standard input.
pub(crate) type Stdin = ChildStdin;

/// Our end of a command's terminal: there is none.
pub(crate) type Terminal = Infallible;

/// The power to end a command.
#[derive(Clone, Debug)]
pub(crate) struct Killer {
    job: Arc<Job>,
    /// The process that the command was started as.
    pub(crate) supervisor: u32,
}

impl Killer {
    /// Ends every process of the command.
    pub(crate) fn kill(&self) {
        self.job.kill();
    }
}

/// Nothing to do here: there are no helpers on this system.
pub fn maybe_run_helper() {}

/// Writes all bytes, waiting as long as nobody reads; `bytes` is what was not taken yet.
pub(crate) async fn write_all(stdin: &mut Stdin, bytes: &mut &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        let written = stdin.write(bytes).await?;
        *bytes = &bytes[written..];
    }
    stdin.flush().await
}

/// Sets the size of a terminal.
pub(crate) fn resize(terminal: &Terminal, _size: WindowSize) -> io::Result<()> {
    match *terminal {}
}
