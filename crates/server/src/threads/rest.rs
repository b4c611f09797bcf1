//! A thread at which nothing happens takes little memory: without followers it is unloaded, with them it
//! gives its history back. The rollout has it, and the next turn reads it again. A thread that was just
//! resumed begins like that, so that looking at an old thread does not cost what going on with it does.

use quipu_journal::History;
use quipu_rpc::ErrorObject;
use quipu_wire::ThreadClosedNotification;
use quipu_wire::method::event;
use tokio::sync::mpsc;

use super::actor::Actor;
use super::load;
use super::message::Message;

/// Where the history of a loaded thread is.
pub(crate) enum Rest {
    /// In memory.
    Awake,
    /// In the rollout, at places that are known since it was read.
    Places(History),
    /// Somewhere in the rollout.
    Unread,
}

impl Actor {
    /// Nothing has happened for a while; whether the thread was unloaded.
    pub async fn idle(&mut self, mailbox: &mut mpsc::Receiver<Box<Message>>) -> bool {
        let is_stored = self.log.as_ref().is_some_and(|log| log.is_materialized());
        // A thread that was never used has nothing to lose.
        let is_safe = is_stored || self.engine.own_history().is_empty();
        if !is_safe || self.engine.active_turn().is_some() || self.tooling.has_processes() {
            return false;
        }
        // An agent stays as long as the thread that started it, and that one while it has any at work.
        let is_needed = self.agent.is_some() || self.server.agents.any_at_work(&self.handle.id);
        if is_needed || !self.subscribers.is_empty() {
            if is_stored {
                self.rest();
            }
            return false;
        }
        // From here on nobody finds the thread. Whoever found it before is heard.
        self.server.threads.remove(&self.handle);
        if let Ok(message) = mailbox.try_recv() {
            self.server.threads.insert(self.handle.clone());
            self.receive(*message).await;
            return false;
        }
        self.close().await;
        let params = ThreadClosedNotification {
            thread_id: self.handle.id.clone(),
        };
        let hub = &self.server.hub;
        hub.broadcast::<event::ThreadClosed>(&params).await;
        true
    }

    fn rest(&mut self) {
        let is_awake = matches!(self.rest, Rest::Awake);
        let Some(log) = self.log.as_mut().filter(|_| is_awake) else {
            return;
        };
        if let Err(error) = tokio::task::block_in_place(|| log.rest()) {
            tracing::error!(thread = self.handle.id, %error, "an idle thread keeps what it could not store");
            return;
        }
        self.engine.forget_history();
        self.sent = Vec::new();
        self.rest = Rest::Unread;
    }

    /// Reads the history again before it is needed.
    pub fn wake(&mut self) -> Result<(), ErrorObject> {
        let Some(log) = &self.log else {
            return Ok(());
        };
        let (server, path) = (&self.server, log.path());
        let history = tokio::task::block_in_place(|| match &self.rest {
            Rest::Awake => Ok(None),
            Rest::Places(history) => load::history(server, history, path).map(Some),
            Rest::Unread => {
                let replay = load::read(server, path)?;
                load::history(server, &replay.history, path).map(Some)
            }
        })?;
        if let Some(history) = history {
            self.engine.recall_history(history);
            self.rest = Rest::Awake;
        }
        Ok(())
    }
}
