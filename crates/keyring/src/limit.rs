//! Calls that may hang: each runs on a thread of its own and is given up after a while.

use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

/// How long nothing is tried after a call was given up: its thread is still there.
const PAUSE: Duration = Duration::from_secs(60);

/// When a call was given up last.
static GIVEN_UP: Mutex<Option<Instant>> = Mutex::new(None);

/// What comes of a call; `None` if it takes too long, or one shortly before did.
pub(crate) fn within<T: Send + 'static>(
    limit: Duration,
    work: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    let given_up = *lock();
    if given_up.is_some_and(|since| since.elapsed() < PAUSE) {
        return None;
    }
    let (sender, receiver) = mpsc::channel();
    let call = move || {
        // Nobody may listen any more.
        sender.send(work()).ok();
    };
    let thread = thread::Builder::new().name("keyring".to_owned());
    thread.spawn(call).ok()?;
    let done = receiver.recv_timeout(limit).ok();
    if done.is_none() {
        tracing::warn!(seconds = limit.as_secs(), "keyring does not answer");
        *lock() = Some(Instant::now());
    }
    done
}

fn lock() -> parking_lot::MutexGuard<'static, Option<Instant>> {
    GIVEN_UP.lock()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_that_hangs_is_given_up_and_nothing_is_tried_for_a_while() {
        assert_eq!(within(Duration::from_secs(60), || 1), Some(1));
        let (sender, receiver) = mpsc::channel::<()>();
        assert_eq!(
            within(Duration::from_millis(1), move || receiver.recv()),
            None
        );
        assert_eq!(within(Duration::from_secs(60), || 2), None);
        drop(sender);
    }
}
