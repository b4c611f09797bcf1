//! Files of the server's machine, for the `fs/*` methods: what is more than one system call.
//! Nothing here is sandboxed; the client is trusted with what the server's user may do.

mod content;
mod copy;
mod replace;
mod watch;

use crate::Refusal;
use std::io;

pub(crate) use content::Content;
pub(crate) use copy::copy;
pub(crate) use replace::{Source, replace};
pub(crate) use watch::Watches;

/// Why file work was not done.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FileError {
    /// The client asked for something that is not offered.
    #[error("{0}")]
    Refused(String),
    /// The operating system said no.
    #[error("{0}")]
    Io(#[from] io::Error),
}

impl From<FileError> for Refusal {
    fn from(error: FileError) -> Refusal {
        match error {
            FileError::Refused(text) => Refusal::invalid_request(text),
            FileError::Io(error) if error.kind() == io::ErrorKind::InvalidInput => {
                Refusal::invalid_request(error.to_string())
            }
            FileError::Io(error) => Refusal::internal(error.to_string()),
        }
    }
}

/// Does file work on a thread that may wait for the disk.
pub(crate) async fn run<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, FileError> + Send + 'static,
) -> Result<T, Refusal> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done.map_err(Refusal::from),
        Err(error) => Err(Refusal::internal(format!("file work failed: {error}"))),
    }
}
