//! The connections that a listener holds. One that does not introduce itself loses its place after a while, and at
//! once when somebody else needs it, so that silent connections cannot keep clients out.

use std::collections::BTreeMap;
use std::future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::watch;

use crate::platform;

/// Connections held at once, at least and at most. Each costs a file descriptor; half of those that the process may have
/// are for connections, the others for threads and their commands.
const FEWEST: usize = 1_000;
const MOST: usize = 10_000;

/// The places of a listener.
#[derive(Clone)]
pub(crate) struct Places(Arc<Shared>);

struct Shared {
    /// How long a connection may take to introduce itself.
    patience: Duration,
    /// How many there are.
    count: usize,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    next: u64,
    taken: usize,
    /// Those that have not introduced themselves, the oldest first. Each is set to `true` when it is evicted.
    strangers: BTreeMap<u64, Arc<watch::Sender<bool>>>,
}

impl Places {
    pub fn new(patience: Duration) -> Places {
        let files = platform::max_open_files().unwrap_or_default();
        Places(Arc::new(Shared {
            patience,
            count: (files / 2).clamp(FEWEST, MOST),
            state: Mutex::default(),
        }))
    }

    /// A place for a new connection: a free one, or that of the oldest connection that has not introduced itself.
    pub fn take(&self) -> Option<Place> {
        let mut state = self.lock();
        if state.taken < self.0.count {
            state.taken += 1;
        } else {
            let (_, oldest) = state.strangers.pop_first()?;
            oldest.send_replace(true);
        }
        state.next += 1;
        let number = state.next;
        let evicted = Arc::new(watch::Sender::new(false));
        state.strangers.insert(number, Arc::clone(&evicted));
        Some(Place {
            places: self.clone(),
            number,
            evicted,
        })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The place of one connection, until it is dropped.
pub(crate) struct Place {
    places: Places,
    number: u64,
    evicted: Arc<watch::Sender<bool>>,
}

/// Why a connection lost its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Lost {
    #[error("no `initialize` came within {0:?}")]
    Late(Duration),
    #[error("no `initialize` came before the server needed the connection for another client")]
    Evicted,
}

impl Place {
    /// The connection introduced itself, so its place stays its own.
    pub fn introduce(&self) {
        self.places.lock().strangers.remove(&self.number);
    }

    /// Waits until the place is lost.
    pub async fn lost(&self) -> Lost {
        let mut evicted = self.evicted.subscribe();
        let patience = self.places.0.patience;
        let late = async {
            tokio::time::sleep(patience).await;
            if !self.places.lock().strangers.contains_key(&self.number) {
                future::pending::<()>().await;
            }
        };
        tokio::select! {
            // The sender lives as long as `self`, so waiting cannot fail.
            _ = evicted.wait_for(|it| *it) => Lost::Evicted,
            () = late => Lost::Late(patience),
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut state = self.places.lock();
        state.strangers.remove(&self.number);
        // One that was evicted has handed its place on.
        if !*self.evicted.borrow() {
            state.taken -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    const PATIENCE: Duration = Duration::from_secs(30);

    #[tokio::test]
    async fn the_oldest_stranger_makes_room_and_clients_do_not() {
        let places = Places::new(PATIENCE);
        let mut taken: Vec<Place> = std::iter::from_fn(|| places.take())
            .take(places.0.count)
            .collect();
        taken[0].introduce();
        taken.push(places.take().unwrap());
        assert_eq!(taken[1].lost().await, Lost::Evicted);
        assert!(taken[0].lost().now_or_never().is_none());
        assert!(taken[2].lost().now_or_never().is_none());
        for place in &taken {
            place.introduce();
        }
        assert!(places.take().is_none());
        // The one that was evicted has no place to give back.
        drop(taken.remove(1));
        assert!(places.take().is_none());
        drop(taken.remove(0));
        assert!(places.take().is_some());
    }

    #[tokio::test(start_paused = true)]
    async fn a_stranger_has_only_so_long() {
        let places = Places::new(PATIENCE);
        let (stranger, client) = (places.take().unwrap(), places.take().unwrap());
        let lost = client.lost();
        tokio::pin!(lost);
        assert!((&mut lost).now_or_never().is_none());
        client.introduce();
        assert_eq!(stranger.lost().await, Lost::Late(PATIENCE));
        assert!((&mut lost).now_or_never().is_none());
    }
}
