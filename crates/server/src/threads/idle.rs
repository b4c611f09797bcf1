//! A thread at which nothing happens takes little memory: without followers it is unloaded, with them it
//! gives its history back. The rollout has it, and the next turn reads it again. A thread that was just
//! resumed begins like that, so that looking at an old thread does not cost what going on with it does.

use std::time::Duration;

use quipu_wire::ThreadClosedNotification;
use quipu_wire::method::event;
use tokio::sync::mpsc;

use super::actor::{Actor, Flow};
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

/// Nothing has happened for a while; whether the thread was unloaded.
pub(super) async fn idle(actor: &mut Actor, mailbox: &mut mpsc::Receiver<Box<Message>>) -> bool {
    let is_stored = actor.recorder.rollout().is_some();
    // A thread that was never used has nothing to lose.
    let is_safe = is_stored || actor.engine.own_history().is_empty();
    if !is_safe || actor.engine.active_turn().is_some() || actor.tools.has_processes() {
        return false;
    }
    // An agent stays as long as the thread that started it, and that one while it has any at work.
    let is_needed = actor.agent.is_agent() || actor.server.agents.any_running(&actor.handle.id);
    if is_needed || !actor.audience.is_empty() {
        actor.sampler.disconnect();
        actor.audience.rest();
        if is_stored && actor.recorder.release() {
            actor.engine.unload_history();
            actor.sampler.forget_sent();
        }
        return false;
    }
    // From here on the thread cannot be found. Messages of those that found it before still count.
    actor.server.threads.remove(&actor.handle);
    if let Ok(message) = mailbox.try_recv() {
        actor.server.threads.insert(actor.handle.clone());
        return matches!(actor.receive(*message).await, Flow::Close);
    }
    actor.close().await;
    let params = ThreadClosedNotification {
        thread_id: actor.handle.id.to_string(),
    };
    let hub = &actor.server.hub;
    hub.broadcast::<event::ThreadClosed>(&params).await;
    true
}

impl Actor {
    /// Reads the history again before it is needed.
    pub fn load_history(&mut self) -> Result<(), Refusal> {
        if let Some(history) = self.recorder.read_history(&self.server)? {
            self.engine.restore_history(history);
        }
        Ok(())
    }
}
