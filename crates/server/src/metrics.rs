//! What a listener says of the server to those who watch it: `/metrics`, and whether it works at all.

use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::Server;
use crate::blocking::blocking;

/// How long a server that works may take to do next to nothing.
const PATIENCE: Duration = Duration::from_secs(5);

/// Sums and durations since the start, then what is true now, in the text format of Prometheus.
pub(crate) async fn text(server: &Arc<Server>) -> String {
    let counted = server.reporting().telemetry.prometheus().await;
    let mut text = counted.unwrap_or_default();
    let clients = server.hub.all();
    let now = [
        ("quipu_threads_loaded", server.threads.count()),
        ("quipu_connections", clients.len()),
        (
            "quipu_requests_pending",
            clients.iter().map(|it| it.room.requests()).sum(),
        ),
        (
            "quipu_messages_queued",
            clients.iter().map(|it| it.outbox.waiting()).sum(),
        ),
        (
            "quipu_processes",
            tokio::task::block_in_place(quipu_sandbox::descendants),
        ),
        ("quipu_resident_memory_bytes", resident()),
        ("quipu_open_files", open_files()),
    ];
    for (name, value) in now {
        // Writing to a string cannot fail.
        write!(text, "# TYPE {name} gauge\n{name} {value}\n").ok();
    }
    let version = env!("CARGO_PKG_VERSION");
    // Nor can this.
    write!(
        text,
        "# TYPE quipu_build_info gauge\nquipu_build_info{{version=\"{version}\"}} 1\n"
    )
    .ok();
    text
}

/// Whether requests would be answered: workers run, the blocking pool has room, and the store of threads opens.
pub(crate) async fn responds(server: &Arc<Server>) -> bool {
    if server.stopping.load(Ordering::Relaxed) {
        return false;
    }
    let work = blocking(server, |server| {
        let _opened = &*server.store;
    });
    let done = tokio::time::timeout(PATIENCE, tokio::spawn(std::future::ready(()))).await;
    let stored = tokio::time::timeout(PATIENCE, work).await;
    matches!(done, Ok(Ok(()))) && matches!(stored, Ok(Ok(())))
}

#[cfg(target_os = "linux")]
pub(crate) fn resident() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|it| it.strip_prefix("VmRSS:"));
    let kilobytes = line.and_then(|it| it.split_whitespace().next()?.parse::<usize>().ok());
    kilobytes.unwrap_or(0) * 1024
}

#[cfg(target_os = "linux")]
fn open_files() -> usize {
    std::fs::read_dir("/proc/self/fd").map_or(0, Iterator::count)
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn resident() -> usize {
    0
}

#[cfg(not(target_os = "linux"))]
fn open_files() -> usize {
    0
}
