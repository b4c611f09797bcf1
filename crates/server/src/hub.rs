//! The connected clients, and what is sent to all of them.

use std::collections::{BTreeMap, HashSet, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use parking_lot::{Mutex, MutexGuard};
use quipu_rpc::{Id, Outbox, RawJson};
use quipu_wire::ConfigWarningNotification;
use quipu_wire::method::Notification;
use quipu_wire::method::event::{ConfigWarning, ThreadReadStateChanged};
use tokio::sync::watch;

use crate::emit;
use crate::questions::{Asked, Question};
use crate::room::Room;
use crate::samples::Samples;
use crate::telemetry::ConnectionSpan;
use crate::words::Words;

/// Problems per client that are remembered as sent; a client is not notified of more.
const MAX_WARNED: usize = 256;

/// Notifications that only clients with the experimental capability get.
const EXPERIMENTAL: &[&str] = &[ThreadReadStateChanged::NAME];

/// Names a connection for the life of the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct ClientId(pub(crate) u64);

/// What a client said of itself in `initialize`.
#[derive(Debug, Default)]
pub(crate) struct Introduction {
    pub name: String,
    pub experimental: bool,
    pub opted_out: HashSet<String>,
    /// It wants the notifications of threads numbered.
    pub numbers: bool,
    /// The params of `initialize`, which other nodes get as well.
    pub hello: Option<RawJson>,
}

impl Introduction {
    fn wants(&self, method: &str) -> bool {
        let is_known = self.experimental || !EXPERIMENTAL.contains(&method);
        is_known && !self.opted_out.contains(method)
    }

    /// Sends a notification to a client whose introduction is not in force yet, unless it opted out.
    pub async fn notify<N: Notification>(&self, client: &Client, params: &N::Params) {
        if self.wants(N::NAME)
            && let Some(message) = encode::<N>(params)
        {
            client.send(message).await;
        }
    }
}

/// One connection.
pub(crate) struct Client {
    pub id: ClientId,
    pub outbox: Outbox,
    introduction: OnceLock<Introduction>,
    /// What it asked and was not answered yet.
    pub room: Arc<Room>,
    asked: Mutex<Asked>,
    /// The words of the protocol that it has used.
    pub words: Words,
    /// What it asked beside threads.
    pub samples: Samples,
    /// The problems of the configuration that it was notified of.
    warned: Mutex<HashSet<String>>,
    left: watch::Sender<bool>,
    /// What its requests are part of, where something is reported.
    span: OnceLock<ConnectionSpan>,
}

impl Client {
    /// The span of the connection, which begins with the first request that is reported.
    pub fn span(&self) -> &ConnectionSpan {
        self.span.get_or_init(ConnectionSpan::begin)
    }

    /// The same, if a request was reported.
    pub fn known_span(&self) -> Option<&ConnectionSpan> {
        self.span.get()
    }

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

    /// Whether the client wants the notifications of threads numbered.
    pub fn wants_numbers(&self) -> bool {
        self.introduction().is_some_and(|it| it.numbers)
    }

    /// Ends what only makes sense while the client is there; see [`left`](Self::left).
    pub fn leave(&self) {
        self.left.send_replace(true);
    }

    /// Waits until the client has left, or is about to and cannot be answered much longer. Requests
    /// that may take long stop waiting then, and answer.
    pub async fn left(&self) {
        // The sender lives as long as `self`, so waiting cannot fail.
        self.left.subscribe().wait_for(|left| *left).await.ok();
    }

    /// Sends a notification to this client alone, unless it opted out.
    pub async fn notify<N: Notification>(&self, params: &N::Params) {
        if let Some(message) = encode::<N>(params) {
            self.deliver(N::NAME, message).await;
        }
    }

    /// Sends an encoded notification, unless the client opted out of the method.
    pub async fn deliver(&self, method: &str, message: Bytes) {
        if self.wants(method) {
            self.send(message).await;
        }
    }

    /// Whether the client did not opt out of a method.
    pub fn wants(&self, method: &str) -> bool {
        self.introduction().is_none_or(|it| it.wants(method))
    }

    /// Warns the client of a problem, unless it knows.
    pub async fn warn(&self, warning: &ConfigWarningNotification) {
        if self.is_new_problem(warning) {
            let details = warning.details.as_deref();
            tracing::warn!(details, "{}", warning.summary);
            self.notify::<ConfigWarning>(warning).await;
        }
    }

    /// Takes note that the client is notified of a problem; `false` if it was before.
    pub fn is_new_problem(&self, warning: &ConfigWarningNotification) -> bool {
        let mut warned = self.warned.lock();
        let text = warning.details.as_ref().unwrap_or(&warning.summary);
        warned.len() < MAX_WARNED && warned.insert(text.clone())
    }

    /// Sends a question, which the client may answer once from now on.
    pub async fn ask(&self, question: Question, message: Bytes) {
        self.asked().add(question);
        self.send(message).await;
    }

    /// The question that an answer of the client is for, unless it was not asked it or has answered it.
    pub fn answers(&self, id: &Id) -> Option<Question> {
        self.asked().remove(id)
    }

    fn asked(&self) -> MutexGuard<'_, Asked> {
        self.asked.lock()
    }

    /// Sends any message. Failure means the client is gone, which its own connection deals with.
    pub async fn send(&self, message: Bytes) {
        if let Err(reason) = self.outbox.send(message).await {
            tracing::debug!(client = self.id.0, %reason, "a message was not delivered");
        }
    }

    /// Sends messages together; none is left.
    pub async fn send_all(&self, messages: &mut VecDeque<Bytes>) {
        if let Err(reason) = self.outbox.send_all(messages).await {
            tracing::debug!(client = self.id.0, %reason, "messages were not delivered");
            messages.clear();
        }
    }
}

/// Serialises a notification once, for any number of receivers.
pub(crate) fn encode<N: Notification>(params: &N::Params) -> Option<Bytes> {
    let message = emit::Message {
        method: N::NAME,
        params,
    };
    let mut bytes = Vec::with_capacity(256);
    match emit::write(&message, &mut bytes) {
        Ok(()) => Some(bytes.into()),
        Err(error) => {
            tracing::error!(method = N::NAME, %error, "failed to serialize notification");
            None
        }
    }
}

/// All connections.
#[derive(Default)]
pub(crate) struct Hub {
    next: AtomicU64,
    clients: Mutex<BTreeMap<ClientId, Arc<Client>>>,
    open: Arc<Open>,
}

/// The number of connections whose last byte is not written yet.
struct Open(watch::Sender<usize>);

impl Default for Open {
    fn default() -> Open {
        Open(watch::Sender::new(0))
    }
}

/// Counts as an open connection until it is dropped.
pub(crate) struct OpenGuard(Arc<Open>);

impl Drop for OpenGuard {
    fn drop(&mut self) {
        self.0.0.send_modify(|open| *open -= 1);
    }
}

impl Hub {
    pub fn connect(&self, outbox: Outbox, room: Arc<Room>) -> Arc<Client> {
        let id = ClientId(self.next.fetch_add(1, Ordering::Relaxed));
        let client = Arc::new(Client {
            id,
            outbox,
            introduction: OnceLock::new(),
            room,
            asked: Mutex::default(),
            words: Words::default(),
            samples: Samples::default(),
            warned: Mutex::default(),
            left: watch::Sender::new(false),
            span: OnceLock::new(),
        });
        self.clients.lock().insert(id, Arc::clone(&client));
        client
    }

    /// Counts a connection as open.
    pub fn open(&self) -> OpenGuard {
        self.open.0.send_modify(|open| *open += 1);
        OpenGuard(Arc::clone(&self.open))
    }

    /// Waits until the last byte of every connection is written.
    pub async fn all_closed(&self) {
        // The sender lives as long as `self`, so waiting cannot fail.
        self.open
            .0
            .subscribe()
            .wait_for(|open| *open == 0)
            .await
            .ok();
    }

    pub fn disconnect(&self, id: ClientId) {
        self.clients.lock().remove(&id);
    }

    /// The clients that have introduced themselves.
    pub fn introduced(&self) -> Vec<Arc<Client>> {
        let clients = self.clients.lock();
        clients
            .values()
            .filter(|client| client.introduction().is_some())
            .cloned()
            .collect()
    }

    /// How many connections there are.
    pub fn count(&self) -> usize {
        self.clients.lock().len()
    }

    /// Every connection.
    pub fn all(&self) -> Vec<Arc<Client>> {
        self.clients.lock().values().cloned().collect()
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
}
