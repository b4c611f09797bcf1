//! A unix socket, where the system has none that programs like this one can use.

use std::io;
use std::path::Path;
use std::sync::Arc;

use super::ListenError;
use crate::Server;

/// Refuses.
pub(super) async fn run(_: Arc<Server>, path: &Path) -> Result<(), ListenError> {
    Err(ListenError::Bind {
        place: format!("unix://{}", path.display()),
        source: io::Error::new(io::ErrorKind::Unsupported, super::NO_UNIX),
    })
}
