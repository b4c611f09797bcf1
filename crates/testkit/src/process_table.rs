//! The processes of the machine, as far as tests look for what is left of their own.

use std::time::{Duration, Instant};

/// How long something of a command may be left after the event that ends it.
const LEFT: Duration = Duration::from_secs(5);
/// How long to look for an end when only the end matters, on however busy a machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// How often to look.
const EVERY: Duration = Duration::from_millis(5);

/// A number of seconds that no other process sleeps for, so that it can be found.
pub fn marker() -> String {
    use std::sync::atomic::{AtomicU64, Ordering};
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let next = NEXT.fetch_add(1, Ordering::Relaxed);
    format!("86399.{:07}{next:05}", std::process::id())
}

/// The processes whose arguments hold a text.
pub fn holding(mark: &str) -> Vec<String> {
    let arguments = quipu_proc::pids().map(|pid| {
        let arguments = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&arguments).replace('\0', " ")
    });
    arguments.filter(|it| it.contains(mark)).collect()
}

/// Waits until a process holds a text in its arguments.
pub async fn appeared(mark: &str) {
    let (mut looks, begun) = (tokio::time::interval(EVERY), Instant::now());
    while holding(mark).is_empty() {
        assert!(begun.elapsed() < PATIENCE, "no process has `{mark}`");
        looks.tick().await;
    }
}

/// Waits until no process holds a text in its arguments; what is left if some stay.
pub async fn left(mark: &str) -> Vec<String> {
    left_until(mark, Instant::now() + PATIENCE).await
}

/// Waits until no process holds a text in its arguments, which must be soon after the event that ends them.
pub async fn gone(mark: &str, since: Instant) {
    let left = left_until(mark, since + LEFT).await;
    assert!(left.is_empty(), "left behind: {left:?}");
}

/// The system tells nobody of the end of processes that are not their own, so it is looked for.
async fn left_until(mark: &str, end: Instant) -> Vec<String> {
    let mut looks = tokio::time::interval(EVERY);
    loop {
        let looked = Instant::now();
        let left = holding(mark);
        if left.is_empty() || looked > end {
            return left;
        }
        looks.tick().await;
    }
}

/// A process and all that descend from it.
pub fn family(root: i32) -> Vec<i32> {
    let tree = quipu_proc::tree(root, quipu_proc::all());
    tree.iter().map(|it| it.pid).collect()
}
