//! The questions beside threads that a client waits for, so that it can cancel each by the id of its request.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use quipu_rpc::Id;
use tokio::sync::oneshot;

use crate::hub::Client;

/// The questions of one client that are not answered yet.
#[derive(Default)]
pub(crate) struct Samples(Mutex<HashMap<Id, oneshot::Sender<()>>>);

impl Samples {
    /// Cancels a question; one that is not there any more is answered already.
    pub fn cancel(&self, id: &Id) {
        let waiting = self.0.lock().remove(id);
        if let Some(cancel) = waiting {
            // If nobody waits for this, it is answered.
            cancel.send(()).ok();
        }
    }
}

/// A question that can be cancelled until this is dropped.
pub(crate) struct Cancellable {
    client: Arc<Client>,
    id: Id,
    cancel: oneshot::Receiver<()>,
}

impl Cancellable {
    /// A question that a client has asked in the request of this id.
    pub fn new(client: Arc<Client>, id: Id) -> Cancellable {
        let (sender, cancel) = oneshot::channel();
        client.samples.0.lock().insert(id.clone(), sender);
        Cancellable { client, id, cancel }
    }

    /// Waits until the client does not want the answer any more, or has left.
    pub async fn cancelled(&mut self) {
        let Cancellable { client, cancel, .. } = self;
        tokio::select! {
            // The sender is only dropped with `self`, or by a client that uses an id twice.
            _ = cancel => {}
            () = client.left() => {}
        }
    }
}

impl Drop for Cancellable {
    fn drop(&mut self) {
        self.client.samples.0.lock().remove(&self.id);
    }
}
