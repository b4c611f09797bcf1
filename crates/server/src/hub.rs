//! The connected clients, and what is sent to all of them.

use std::collections::{BTreeMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use bytes::Bytes;
use quipu_rpc::{Outbox, write};
use quipu_wire::method::Notification;
use tokio::sync::Semaphore;

/// Requests of one connection that may wait for their answers at once.
pub(crate) const MAX_UNANSWERED: u32 = 512;

/// Names a connection for the life of the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct ClientId(u64);

/// What a client said of itself in `initialize`.
#[derive(Debug, Default)]
pub(crate) struct Introduction {
    pub name: String,
    pub experimental: bool,
    pub opted_out: HashSet<String>,
}

/// One connection.
pub(crate) struct Client {
    pub id: ClientId,
    pub outbox: Outbox,
    introduction: OnceLock<Introduction>,
    /// Room for unanswered requests.
    pub room: Arc<Semaphore>,
}

impl Client {
    /// What `initialize` said, once it was answered.
    pub fn introduction(&self) -> Option<&Introduction> {
        self.introduction.get()
    }

    /// Accepts an introduction; `false` if there was one before.
    pub fn introduce(&self, introduction: Introduction) -> bool {
        self.introduction.set(introduction).is_ok()
    }

    pub fn is_experimental(&self) -> bool {
        self.introduction().is_some_and(|it| it.experimental)
    }

    /// Sends a notification to this client alone, unless it opted out.
    pub async fn notify<N: Notification>(&self, params: &N::Params) {
        if let Some(message) = encode::<N>(params) {
            self.deliver(N::NAME, message).await;
        }
    }

    /// Sends an encoded notification, unless the client opted out of the method.
    pub async fn deliver(&self, method: &str, message: Bytes) {
        let wanted = self
            .introduction()
            .is_none_or(|it| !it.opted_out.contains(method));
        if wanted {
            self.send(message).await;
        }
    }

    /// Sends any message. Failure means the client is gone, which its own connection deals with.
    pub async fn send(&self, message: Bytes) {
        if let Err(reason) = self.outbox.send(message).await {
            tracing::debug!(client = self.id.0, %reason, "a message was not delivered");
        }
    }
}

/// Serialises a notification once, for any number of receivers.
pub(crate) fn encode<N: Notification>(params: &N::Params) -> Option<Bytes> {
    match write::notification(N::NAME, params) {
        Ok(message) => Some(message),
        Err(error) => {
            tracing::error!(method = N::NAME, %error, "a notification cannot be written as JSON");
            None
        }
    }
}

/// All connections.
#[derive(Default)]
pub(crate) struct Hub {
    next: AtomicU64,
    clients: Mutex<BTreeMap<ClientId, Arc<Client>>>,
}

impl Hub {
    pub fn connect(&self, outbox: Outbox) -> Arc<Client> {
        let id = ClientId(self.next.fetch_add(1, Ordering::Relaxed));
        let room = Arc::new(Semaphore::new(MAX_UNANSWERED as usize));
        let client = Arc::new(Client {
            id,
            outbox,
            introduction: OnceLock::new(),
            room,
        });
        self.lock().insert(id, Arc::clone(&client));
        client
    }

    pub fn disconnect(&self, id: ClientId) {
        self.lock().remove(&id);
    }

    /// The clients that have introduced themselves.
    pub fn introduced(&self) -> Vec<Arc<Client>> {
        let clients = self.lock();
        clients
            .values()
            .filter(|client| client.introduction().is_some())
            .cloned()
            .collect()
    }

    /// Every connection.
    pub fn all(&self) -> Vec<Arc<Client>> {
        self.lock().values().cloned().collect()
    }

    /// Sends a notification to every client that has introduced itself and did not opt out.
    pub async fn broadcast<N: Notification>(&self, params: &N::Params) {
        let Some(message) = encode::<N>(params) else {
            return;
        };
        for client in self.introduced() {
            client.deliver(N::NAME, message.clone()).await;
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<ClientId, Arc<Client>>> {
        self.clients.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
