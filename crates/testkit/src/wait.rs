//! Waiting for what announces itself to nobody: a file, another process, a socket. Everything else has an event to
//! wait for.

use std::time::Duration;

use crate::client::within;

/// The pause between two looks: what is waited for needs the processor too.
const PAUSE: Duration = Duration::from_millis(2);

/// Waits until something holds.
pub async fn until(what: &str, mut holds: impl FnMut() -> bool) {
    found(what, async || holds().then_some(())).await;
}

/// Waits until something is found.
pub async fn found<T>(what: &str, mut look: impl AsyncFnMut() -> Option<T>) -> T {
    let looking = async {
        loop {
            match look().await {
                Some(found) => return found,
                None => tokio::time::sleep(PAUSE).await,
            }
        }
    };
    within(what, looking).await
}

/// Waits until a process is gone.
pub async fn gone(pid: &str) {
    let process = std::path::PathBuf::from(format!("/proc/{pid}"));
    until(&format!("the end of process {pid}"), || !process.exists()).await;
}
