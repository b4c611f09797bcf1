//! Who is told what happens in a thread.

use std::collections::VecDeque;
use std::sync::Arc;

use bytes::Bytes;
use quipu_rpc::{Id, write};
use quipu_wire::{ServerNotification, ServerRequest};

use crate::hub::{Client, ClientId};

/// The room that stays reserved for writing messages.
const SCRATCH: usize = 64 << 10;

/// The clients that follow a thread.
#[derive(Default)]
pub(super) struct Subscribers {
    list: Vec<Subscriber>,
    /// Where messages are written, to be copied at their length.
    scratch: Vec<u8>,
}

struct Subscriber {
    client: Arc<Client>,
    /// What it is told next.
    held: VecDeque<Bytes>,
}

impl Subscribers {
    pub fn new(clients: &[Arc<Client>]) -> Subscribers {
        let mut subscribers = Subscribers::default();
        for client in clients {
            subscribers.add(Arc::clone(client));
        }
        subscribers
    }

    /// Adds a client; adding it again changes nothing.
    pub fn add(&mut self, client: Arc<Client>) {
        if !self.has(client.id) {
            let held = VecDeque::new();
            self.list.push(Subscriber { client, held });
        }
    }

    /// Removes a client; `false` if it was none.
    pub fn remove(&mut self, id: ClientId) -> bool {
        let before = self.list.len();
        self.list.retain(|it| it.client.id != id);
        self.list.len() < before
    }

    pub fn has(&self, id: ClientId) -> bool {
        self.list.iter().any(|it| it.client.id == id)
    }

    pub fn all(&self) -> Vec<Arc<Client>> {
        self.list.iter().map(|it| Arc::clone(&it.client)).collect()
    }

    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Tells all of them.
    pub async fn notify(&mut self, notification: &ServerNotification) {
        self.hold(notification);
        self.release().await;
    }

    /// Tells all of them when the next [`release`](Self::release) comes; the message is serialised once.
    /// What leaves together wakes a connection once, which counts at thousands of deltas.
    pub fn hold(&mut self, notification: &ServerNotification) {
        let method = notification.method();
        let mut wanting = self.list.iter_mut().filter(|it| it.client.wants(method));
        let Some(first) = wanting.next() else { return };
        self.scratch.clear();
        if let Err(error) = serde_json::to_writer(&mut self.scratch, notification) {
            tracing::error!(%error, "a notification cannot be written as JSON");
            return;
        }
        let message = Bytes::copy_from_slice(&self.scratch);
        self.scratch.shrink_to(SCRATCH);
        for subscriber in wanting {
            subscriber.held.push_back(message.clone());
        }
        first.held.push_back(message);
    }

    /// Lets go of what was held.
    pub async fn release(&mut self) {
        for Subscriber { client, held } in &mut self.list {
            if !held.is_empty() {
                client.send_all(held).await;
            }
        }
    }

    /// Asks all of them; the first answer wins.
    pub async fn ask(&self, question: u64, request: &ServerRequest) {
        for subscriber in &self.list {
            ask(&subscriber.client, question, request).await;
        }
    }
}

/// Sends a question to one client, without what it must not see.
pub(super) async fn ask(client: &Client, question: u64, request: &ServerRequest) {
    let stripped;
    let request = if client.is_experimental() {
        request
    } else {
        let mut stable = request.clone();
        stable.strip_experimental();
        stripped = stable;
        &stripped
    };
    let id = i64::try_from(question).unwrap_or(i64::MAX);
    let message = request
        .params()
        .and_then(|params| write::request(&Id::Integer(id), request.method(), &params));
    match message {
        Ok(message) => client.ask(id, request.method(), message).await,
        Err(error) => tracing::error!(%error, "a question cannot be written as JSON"),
    }
}

/// A notification as it leaves.
pub(super) fn encode(notification: &ServerNotification) -> Option<Bytes> {
    match serde_json::to_vec(notification) {
        Ok(message) => Some(message.into()),
        Err(error) => {
            tracing::error!(%error, "a notification cannot be written as JSON");
            None
        }
    }
}
