//! Loaded threads that no client follows. Clients that come and go leave them behind; each holds memory and two files
//! for as long as it is idle, so there are only some of which that is long.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// How many are kept until they are idle for the usual time.
const KEPT: usize = 100;

/// How long others are kept: a client that lost its connection may be back in a moment.
const SHORT: Duration = Duration::from_secs(2);

/// The number of loaded threads that no client follows.
#[derive(Clone, Default)]
pub(crate) struct Unfollowed(Arc<AtomicUsize>);

/// Counts a thread as unfollowed until it is dropped.
pub(super) struct Counted(Unfollowed);

impl Unfollowed {
    pub fn count(&self) -> Counted {
        self.0.fetch_add(1, Ordering::Relaxed);
        Counted(self.clone())
    }
}

impl Counted {
    /// How long the thread may be idle, if that is usually so long.
    pub fn patience(&self, usual: Duration) -> Duration {
        match self.0.0.load(Ordering::Relaxed) > KEPT {
            true => usual.min(SHORT),
            false => usual,
        }
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_some_are_kept_for_long() {
        let unfollowed = Unfollowed::default();
        let usual = Duration::from_secs(300);
        let mut counted: Vec<Counted> = (0..KEPT).map(|_| unfollowed.count()).collect();
        assert_eq!(counted[0].patience(usual), usual);
        counted.push(unfollowed.count());
        assert_eq!(counted[0].patience(usual), SHORT);
        assert_eq!(counted[0].patience(Duration::ZERO), Duration::ZERO);
        counted.pop();
        assert_eq!(counted[0].patience(usual), usual);
    }
}
