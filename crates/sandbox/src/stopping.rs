//! The end of all commands of this process, for a process that is about to end.

use std::sync::LazyLock;

use tokio::sync::watch;

/// Whether all commands of this process are to end.
static STOPPING: LazyLock<watch::Sender<bool>> = LazyLock::new(|| watch::Sender::new(false));

/// Ends all commands of this process and lets it start no more, for a process that is about to end.
pub fn end_all() {
    STOPPING.send_replace(true);
}

/// Whether it was said that all commands are to end.
pub(crate) fn is_stopping() -> bool {
    *STOPPING.borrow()
}

/// Waits until that is said.
pub(crate) async fn stopping() {
    // The sender is never dropped, so waiting cannot fail.
    STOPPING
        .subscribe()
        .wait_for(|stopping| *stopping)
        .await
        .ok();
}
