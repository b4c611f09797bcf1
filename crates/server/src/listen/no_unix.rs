//! A unix socket, where the system has none that programs like this one can use.

use std::io;
use std::path::Path;
use std::sync::Arc;

use super::{ListenError, Listening};
use crate::Server;

/// Refuses.
pub(super) async fn run(
    _: Arc<Server>,
    path: &Path,
    _: impl FnOnce(&Listening),
) -> Result<(), ListenError> {
    Err(ListenError::Bind {
        place: format!("unix://{}", path.display()),
        source: io::Error::new(io::ErrorKind::Unsupported, super::NO_UNIX),
    })
}
