//! The connections that a listener holds. One that does not introduce itself loses its slot after a while, and at
//! once when somebody else needs it, so that silent connections cannot keep clients out.

use std::collections::BTreeMap;
use std::future;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::watch;

use crate::platform;

/// Connections held at once, at least and at most. Each costs a file descriptor; half of those that the process may have
/// are for connections, the others for threads and their commands.
const FEWEST: usize = 1_000;
const MOST: usize = 10_000;

/// The slots of a listener.
#[derive(Clone)]
pub(crate) struct Slots(Arc<Shared>);

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

impl Slots {
    pub fn new(patience: Duration) -> Slots {
        let files = platform::max_open_files().unwrap_or_default();
        Slots(Arc::new(Shared {
            patience,
            count: (files / 2).clamp(FEWEST, MOST),
            state: Mutex::default(),
        }))
    }

    /// A slot for a new connection: a free one, or that of the oldest connection that has not introduced itself.
    pub fn take(&self) -> Option<Slot> {
        let mut state = self.0.state.lock();
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
        Some(Slot {
            slots: self.clone(),
            number,
            evicted,
        })
    }
}

/// The slot of one connection, until it is dropped.
pub(crate) struct Slot {
    slots: Slots,
    number: u64,
    evicted: Arc<watch::Sender<bool>>,
}

/// Why a connection lost its slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Lost {
    #[error("no `initialize` came within {0:?}")]
    Late(Duration),
    #[error("no `initialize` came before the server needed the connection for another client")]
    Evicted,
}

impl Slot {
    /// The connection introduced itself, so its slot stays its own.
    pub fn introduce(&self) {
        self.slots.0.state.lock().strangers.remove(&self.number);
    }

    /// Waits until the slot is lost.
    pub async fn lost(&self) -> Lost {
        let mut evicted = self.evicted.subscribe();
        let patience = self.slots.0.patience;
        let late = async {
            tokio::time::sleep(patience).await;
            if !self
                .slots
                .0
                .state
                .lock()
                .strangers
                .contains_key(&self.number)
            {
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

impl Drop for Slot {
    fn drop(&mut self) {
        let mut state = self.slots.0.state.lock();
        state.strangers.remove(&self.number);
        // One that was evicted has handed its slot on.
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
        let slots = Slots::new(PATIENCE);
        let mut taken: Vec<Slot> = std::iter::from_fn(|| slots.take())
            .take(slots.0.count)
            .collect();
        taken[0].introduce();
        taken.push(slots.take().unwrap());
        assert_eq!(taken[1].lost().await, Lost::Evicted);
        assert!(taken[0].lost().now_or_never().is_none());
        assert!(taken[2].lost().now_or_never().is_none());
        for slot in &taken {
            slot.introduce();
        }
        assert!(slots.take().is_none());
        // The one that was evicted has no slot to give back.
        drop(taken.remove(1));
        assert!(slots.take().is_none());
        drop(taken.remove(0));
        assert!(slots.take().is_some());
    }

    #[tokio::test(start_paused = true)]
    async fn a_stranger_has_only_so_long() {
        let slots = Slots::new(PATIENCE);
        let (stranger, client) = (slots.take().unwrap(), slots.take().unwrap());
        let lost = client.lost();
        tokio::pin!(lost);
        assert!((&mut lost).now_or_never().is_none());
        client.introduce();
        assert_eq!(stranger.lost().await, Lost::Late(PATIENCE));
        assert!((&mut lost).now_or_never().is_none());
    }
}
