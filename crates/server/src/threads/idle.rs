//! A thread at which nothing happens takes little memory: without followers it is unloaded, with them it
//! gives its history back. The rollout has it, and the next turn reads it again. A thread that was just
//! resumed begins like that, so that looking at an old thread does not cost what going on with it does.

use std::time::Duration;

use quipu_wire::ThreadClosedNotification;
use quipu_wire::method::event;
use tokio::sync::mpsc;

use super::actor::Actor;
use super::message::Message;
use crate::Refusal;

/// How long nothing may happen before a thread gives up what it has in memory. An agent stays as long as the thread that
/// started it.
pub(super) fn patience(actor: &Actor) -> Duration {
    let usual = actor.server.settings.idle;
    match actor.agent.is_agent() {
        true => usual,
        false => actor.audience.patience(usual),
    }
}

impl Actor {
    /// Nothing has happened for a while; whether the thread was unloaded.
    pub async fn idle(&mut self, mailbox: &mut mpsc::Receiver<Box<Message>>) -> bool {
        let is_stored = self.recorder.rollout().is_some();
        // A thread that was never used has nothing to lose.
        let is_safe = is_stored || self.engine.own_history().is_empty();
        if !is_safe || self.engine.active_turn().is_some() || self.tools.has_processes() {
            return false;
        }
        // An agent stays as long as the thread that started it, and that one while it has any at work.
        let is_needed = self.agent.is_agent() || self.server.agents.any_running(&self.handle.id);
        if is_needed || !self.audience.is_empty() {
            self.sampler.disconnect();
            if is_stored {
                self.release_history();
            }
            return false;
        }
        // From here on the thread cannot be found. Messages of those that found it before still count.
        self.server.threads.remove(&self.handle);
        if let Ok(message) = mailbox.try_recv() {
            self.server.threads.insert(self.handle.clone());
            self.receive(*message).await;
            return false;
        }
        self.close().await;
        let params = ThreadClosedNotification {
            thread_id: self.handle.id.to_string(),
        };
        let hub = &self.server.hub;
        hub.broadcast::<event::ThreadClosed>(&params).await;
        true
    }

    fn release_history(&mut self) {
        if self.recorder.release() {
            self.engine.unload_history();
            self.sampler.forget_sent();
        }
    }

    /// Reads the history again before it is needed.
    pub fn load_history(&mut self) -> Result<(), Refusal> {
        if let Some(history) = self.recorder.read_history(&self.server)? {
            self.engine.restore_history(history);
        }
        Ok(())
    }
}
