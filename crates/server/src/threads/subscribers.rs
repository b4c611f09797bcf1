//! Who is told what happens in a thread.

use std::sync::Arc;

use bytes::Bytes;
use quipu_rpc::{Id, write};
use quipu_wire::{ServerNotification, ServerRequest};

use crate::hub::{Client, ClientId};

/// The clients that follow a thread.
#[derive(Default)]
pub(super) struct Subscribers(Vec<Arc<Client>>);

impl Subscribers {
    pub fn new(clients: &[Arc<Client>]) -> Subscribers {
        Subscribers(clients.to_vec())
    }

    /// Adds a client; adding it again changes nothing.
    pub fn add(&mut self, client: Arc<Client>) {
        if !self.has(client.id) {
            self.0.push(client);
        }
    }

    /// Removes a client; `false` if it was none.
    pub fn remove(&mut self, id: ClientId) -> bool {
        let before = self.0.len();
        self.0.retain(|client| client.id != id);
        self.0.len() < before
    }

    pub fn has(&self, id: ClientId) -> bool {
        self.0.iter().any(|client| client.id == id)
    }

    pub fn all(&self) -> Vec<Arc<Client>> {
        self.0.clone()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Tells all of them; the message is serialised once.
    pub async fn notify(&self, notification: &ServerNotification) {
        if self.0.is_empty() {
            return;
        }
        if let Some(message) = encode(notification) {
            for client in &self.0 {
                client.deliver(notification.method(), message.clone()).await;
            }
        }
    }

    /// Asks all of them; the first answer wins.
    pub async fn ask(&self, question: u64, request: &ServerRequest) {
        for client in &self.0 {
            ask(client, question, request).await;
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
        Ok(message) => client.ask(id, message).await,
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
