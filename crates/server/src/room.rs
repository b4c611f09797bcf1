//! How much one client, and all clients together, may ask before they are answered. Beyond it requests are
//! refused, so that neither their number nor their size can grow without end.

use std::sync::Arc;

use quipu_rpc::{Budget, Share};
use tokio::sync::watch;

/// Requests that may wait for their answers at once.
const REQUESTS: usize = 512;
/// Bytes of params that may wait with them; a larger request is taken when it is alone.
const BYTES: usize = 64 * 1024 * 1024;

/// The room of one client.
pub(crate) struct Room {
    taken: watch::Sender<Taken>,
    /// What the requests of all clients share.
    budget: Arc<Budget>,
}

#[derive(Clone, Copy, Default)]
struct Taken {
    requests: usize,
    bytes: usize,
}

impl Room {
    pub fn new(budget: Arc<Budget>) -> Arc<Room> {
        let taken = watch::Sender::new(Taken::default());
        Arc::new(Room { taken, budget })
    }

    /// Takes a permit for a request of this size, if there is room.
    pub fn take(self: &Arc<Room>, bytes: usize) -> Option<Permit> {
        let share = self.budget.share(bytes)?;
        let taken = self.taken.send_if_modified(|taken| {
            let fits = taken.requests == 0
                || (taken.requests < REQUESTS && taken.bytes.saturating_add(bytes) <= BYTES);
            if fits {
                taken.requests += 1;
                taken.bytes = taken.bytes.saturating_add(bytes);
            }
            fits
        });
        taken.then(|| Permit {
            room: Arc::clone(self),
            bytes,
            _share: share,
        })
    }

    /// How many requests wait for their answers.
    pub fn requests(&self) -> usize {
        self.taken.borrow().requests
    }

    /// Waits for a moment at which every request is answered.
    pub async fn emptied(&self) {
        // The sender lives as long as `self`, so waiting cannot fail.
        self.taken
            .subscribe()
            .wait_for(|taken| taken.requests == 0)
            .await
            .ok();
    }
}

/// Permits one request until it is answered.
pub(crate) struct Permit {
    room: Arc<Room>,
    bytes: usize,
    _share: Share,
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.room.taken.send_modify(|taken| {
            taken.requests -= 1;
            taken.bytes -= self.bytes;
        });
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    #[test]
    fn numbers_are_bounded() {
        let room = Room::new(Budget::new(usize::MAX));
        let permits: Vec<_> = std::iter::from_fn(|| room.take(1)).collect();
        assert_eq!(permits.len(), REQUESTS);
        drop(permits);
        assert!(room.take(1).is_some());
    }

    #[test]
    fn sizes_are_bounded_but_a_large_request_passes_alone() {
        let room = Room::new(Budget::new(usize::MAX));
        let large = room.take(2 * BYTES).unwrap();
        assert!(room.take(1).is_none());
        drop(large);
        let half = room.take(BYTES / 2).unwrap();
        assert!(room.take(BYTES).is_none());
        assert!(room.take(BYTES / 2).is_some());
        drop(half);
    }

    #[test]
    fn sizes_of_all_clients_are_bounded() {
        let budget = Budget::new(100);
        let rooms = [(); 2].map(|()| Room::new(Arc::clone(&budget)));
        let permit = rooms[0].take(60).unwrap();
        assert!(rooms[1].take(60).is_none());
        assert!(rooms[1].take(40).is_some());
        drop(permit);
        assert!(rooms[1].take(60).is_some());
    }

    #[tokio::test]
    async fn the_last_answer_is_waited_for() {
        let room = Room::new(Budget::new(usize::MAX));
        room.emptied().await;
        let permit = room.take(1).unwrap();
        let emptied = room.emptied();
        tokio::pin!(emptied);
        assert!((&mut emptied).now_or_never().is_none());
        drop(permit);
        emptied.await;
    }
}
