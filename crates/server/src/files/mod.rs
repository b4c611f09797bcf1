//! Files of the server's machine, for the `fs/*` methods: what is more than one system call.
//! Nothing here is sandboxed; the client is trusted with what the server's user may do.

mod content;
mod copy;
mod replace;
mod watch;

use std::io;

use quipu_rpc::ErrorObject;

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

impl From<FileError> for ErrorObject {
    fn from(error: FileError) -> ErrorObject {
        match error {
            FileError::Refused(text) => ErrorObject::invalid_request(text),
            FileError::Io(error) if error.kind() == io::ErrorKind::InvalidInput => {
                ErrorObject::invalid_request(error.to_string())
            }
            FileError::Io(error) => ErrorObject::internal(error.to_string()),
        }
    }
}

/// Does file work on a thread that may wait for the disk.
pub(crate) async fn run<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, FileError> + Send + 'static,
) -> Result<T, ErrorObject> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done.map_err(ErrorObject::from),
        Err(error) => Err(ErrorObject::internal(format!("file work failed: {error}"))),
    }
}
