//! A queue between tasks that is bounded by messages *and* by bytes, whose receiver can take all
//! that is there at once. Channels of the runtime bound messages only, and one message may be tens
//! of megabytes.

use std::collections::VecDeque;
use std::fmt;
use std::mem;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::Notify;

/// How much a queue holds. It takes a message while it is below both limits, so it holds at most
/// `bytes` and one message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Number of messages.
    pub messages: usize,
    /// Sum of their lengths.
    pub bytes: usize,
}

/// Why a message was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    Full,
    Closed,
}

/// Makes a queue.
pub(crate) fn new<T>(limits: Limits) -> (Sender<T>, Receiver<T>) {
    let shared = Arc::new(Shared {
        limits,
        state: Mutex::new(State {
            items: VecDeque::new(),
            messages: 0,
            bytes: 0,
            released: 0,
            closed: false,
        }),
        arrived: Notify::new(),
        room: Notify::new(),
    });
    let sender = Sender(Arc::new(Alive(Arc::clone(&shared))));
    (sender, Receiver(shared))
}

struct Shared<T> {
    limits: Limits,
    state: Mutex<State<T>>,
    arrived: Notify,
    room: Notify,
}

struct State<T> {
    items: VecDeque<(T, usize)>,
    /// What counts against the limits: the items and those taken in a batch still alive.
    messages: usize,
    bytes: usize,
    /// How many messages were taken out and dealt with.
    released: u64,
    closed: bool,
}

impl<T> State<T> {
    fn is_full(&self, limits: Limits) -> bool {
        self.messages >= limits.messages || self.bytes >= limits.bytes
    }

    fn push(&mut self, item: T, bytes: usize) {
        self.messages += 1;
        self.bytes += bytes;
        self.items.push_back((item, bytes));
    }
}

impl<T> Shared<T> {
    fn close(&self) {
        self.state.lock().closed = true;
        self.arrived.notify_one();
        self.room.notify_waiters();
    }

    fn discard(&self) {
        self.close();
        let items = mem::take(&mut self.state.lock().items);
        drop(items);
    }

    fn release(&self, messages: usize, bytes: usize) {
        let mut state = self.state.lock();
        state.messages -= messages;
        state.bytes -= bytes;
        state.released += messages as u64;
        drop(state);
        self.room.notify_waiters();
    }
}

/// The end that puts messages in. The queue closes when its last clone is dropped.
pub(crate) struct Sender<T>(Arc<Alive<T>>);

struct Alive<T>(Arc<Shared<T>>);

impl<T> Drop for Alive<T> {
    fn drop(&mut self) {
        self.0.close();
    }
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Sender")
    }
}

impl<T> Sender<T> {
    /// Puts a message of `bytes` in, if there is room.
    pub fn try_send(&self, item: T, bytes: usize) -> Result<(), (T, Refused)> {
        self.push(item, bytes, false)
    }

    /// Puts a message in, room or not. For the few small ones that must not get lost.
    pub fn send_over_limit(&self, item: T, bytes: usize) -> Result<(), (T, Refused)> {
        self.push(item, bytes, true)
    }

    /// Puts a message in, waiting for room. Fails only when the queue is closed.
    pub async fn send(&self, mut item: T, bytes: usize) -> Result<(), T> {
        loop {
            match self.try_send(item, bytes) {
                Ok(()) => return Ok(()),
                Err((back, Refused::Closed)) => return Err(back),
                Err((back, Refused::Full)) => item = back,
            }
            self.room().await;
        }
    }

    /// Puts messages in, in order, as many as there is room for. The receiver is woken once.
    pub fn try_send_all(
        &self,
        items: &mut VecDeque<T>,
        length: impl Fn(&T) -> usize,
    ) -> Result<(), Refused> {
        let shared = self.queue();
        let mut state = shared.state.lock();
        if state.closed {
            return Err(Refused::Closed);
        }
        let before = state.messages;
        while !state.is_full(shared.limits)
            && let Some(item) = items.pop_front()
        {
            let bytes = length(&item);
            state.push(item, bytes);
        }
        let took_any = state.messages > before;
        drop(state);
        if took_any {
            shared.arrived.notify_one();
        }
        if items.is_empty() {
            Ok(())
        } else {
            Err(Refused::Full)
        }
    }

    /// Waits until there is room, or nothing is taken any more.
    pub async fn room(&self) {
        let shared = self.queue();
        let room = shared.room.notified();
        tokio::pin!(room);
        room.as_mut().enable();
        // What became free before this was not notified.
        let must_wait = {
            let state = shared.state.lock();
            !state.closed && state.is_full(shared.limits)
        };
        if must_wait {
            room.await;
        }
    }

    /// Whether nothing waits to be received and no batch is being worked on.
    pub fn is_idle(&self) -> bool {
        self.queue().state.lock().messages == 0
    }

    /// How many messages wait to be received or are being worked on.
    pub fn waiting(&self) -> usize {
        self.queue().state.lock().messages
    }

    /// How many messages were received and dealt with so far.
    pub fn released(&self) -> u64 {
        self.queue().state.lock().released
    }

    /// Takes nothing more; the receiver still gets what is there.
    pub fn close(&self) {
        self.queue().close();
    }

    /// Takes nothing more and forgets what is there.
    pub fn discard(&self) {
        self.queue().discard();
    }

    fn queue(&self) -> &Shared<T> {
        &self.0.0
    }

    fn push(&self, item: T, bytes: usize, over_limit: bool) -> Result<(), (T, Refused)> {
        let limits = self.queue().limits;
        let mut state = self.queue().state.lock();
        if state.closed {
            return Err((item, Refused::Closed));
        }
        if !over_limit && state.is_full(limits) {
            return Err((item, Refused::Full));
        }
        state.push(item, bytes);
        drop(state);
        self.queue().arrived.notify_one();
        Ok(())
    }
}

/// The end that takes messages out. Dropping it closes the queue and forgets what is in it.
pub(crate) struct Receiver<T>(Arc<Shared<T>>);

impl<T> Receiver<T> {
    /// Waits for the next message; nothing when the queue is closed and empty.
    pub async fn recv(&mut self) -> Option<T> {
        loop {
            if let Some(end) = self.pop() {
                return end;
            }
            self.0.arrived.notified().await;
        }
    }

    /// Waits for messages and takes all that are there; nothing when closed and empty. They count
    /// against the limits until the batch is dropped.
    pub async fn recv_all(&mut self) -> Option<Batch<T>> {
        loop {
            {
                let mut state = self.0.state.lock();
                if !state.items.is_empty() {
                    let items = mem::take(&mut state.items);
                    let bytes = items.iter().map(|(_, bytes)| bytes).sum();
                    let messages = items.len();
                    return Some(Batch {
                        items,
                        messages,
                        bytes,
                        shared: Arc::clone(&self.0),
                    });
                }
                if state.closed {
                    return None;
                }
            }
            self.0.arrived.notified().await;
        }
    }

    /// `Some(None)` at the end of the queue, nothing if it has to be waited for.
    fn pop(&self) -> Option<Option<T>> {
        let mut state = self.0.state.lock();
        let Some((item, bytes)) = state.items.pop_front() else {
            return state.closed.then_some(None);
        };
        drop(state);
        self.0.release(1, bytes);
        Some(Some(item))
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        self.0.discard();
    }
}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Receiver")
    }
}

/// Messages taken together.
pub(crate) struct Batch<T> {
    items: VecDeque<(T, usize)>,
    messages: usize,
    bytes: usize,
    shared: Arc<Shared<T>>,
}

impl<T> Batch<T> {
    /// Takes the messages out, in order.
    pub fn drain(&mut self) -> impl Iterator<Item = T> + '_ {
        self.items.drain(..).map(|(item, _)| item)
    }
}

impl<T> Drop for Batch<T> {
    fn drop(&mut self) {
        self.shared.release(self.messages, self.bytes);
    }
}
