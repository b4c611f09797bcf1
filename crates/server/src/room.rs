//! How much one client may ask before it is answered. Beyond it requests are refused, so that neither
//! their number nor their size can grow without end.

use std::sync::Arc;

use tokio::sync::watch;

/// Requests that may wait for their answers at once.
const REQUESTS: usize = 512;
/// Bytes of params that may wait with them; a larger request is taken when it is alone.
const BYTES: usize = 64 * 1024 * 1024;

/// The room of one client.
pub(crate) struct Room(watch::Sender<Taken>);

#[derive(Clone, Copy, Default)]
struct Taken {
    requests: usize,
    bytes: usize,
}

impl Default for Room {
    fn default() -> Room {
        Room(watch::Sender::new(Taken::default()))
    }
}

impl Room {
    /// Takes a place for a request of this size, if there is one.
    pub fn take(self: &Arc<Room>, bytes: usize) -> Option<Place> {
        let taken = self.0.send_if_modified(|taken| {
            let fits = taken.requests == 0
                || (taken.requests < REQUESTS && taken.bytes.saturating_add(bytes) <= BYTES);
            if fits {
                taken.requests += 1;
                taken.bytes = taken.bytes.saturating_add(bytes);
            }
            fits
        });
        taken.then(|| Place {
            room: Arc::clone(self),
            bytes,
        })
    }

    /// Waits for a moment at which every request is answered.
    pub async fn emptied(&self) {
        // The sender lives as long as `self`, so waiting cannot fail.
        self.0
            .subscribe()
            .wait_for(|taken| taken.requests == 0)
            .await
            .ok();
    }
}

/// The place of one request until it is answered.
pub(crate) struct Place {
    room: Arc<Room>,
    bytes: usize,
}

impl Drop for Place {
    fn drop(&mut self) {
        self.room.0.send_modify(|taken| {
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
        let room = Arc::new(Room::default());
        let places: Vec<_> = std::iter::from_fn(|| room.take(1)).collect();
        assert_eq!(places.len(), REQUESTS);
        drop(places);
        assert!(room.take(1).is_some());
    }

    #[test]
    fn sizes_are_bounded_but_a_large_request_passes_alone() {
        let room = Arc::new(Room::default());
        let large = room.take(2 * BYTES).unwrap();
        assert!(room.take(1).is_none());
        drop(large);
        let half = room.take(BYTES / 2).unwrap();
        assert!(room.take(BYTES).is_none());
        assert!(room.take(BYTES / 2).is_some());
        drop(half);
    }

    #[tokio::test]
    async fn the_last_answer_is_waited_for() {
        let room = Arc::new(Room::default());
        room.emptied().await;
        let place = room.take(1).unwrap();
        let emptied = room.emptied();
        tokio::pin!(emptied);
        assert!((&mut emptied).now_or_never().is_none());
        drop(place);
        emptied.await;
    }
}
