//! Work that waits for the disk, kept off the threads that serve connections.

use std::sync::Arc;

use crate::Refusal;
use crate::Server;

/// Runs `work` where waiting harms nobody.
pub(crate) async fn blocking<T: Send + 'static>(
    server: &Arc<Server>,
    work: impl FnOnce(&Arc<Server>) -> T + Send + 'static,
) -> Result<T, Refusal> {
    let server = Arc::clone(server);
    let done = tokio::task::spawn_blocking(move || work(&server)).await;
    done.map_err(|error| Refusal::internal(format!("the request failed: {error}")))
}
