//! What clients see of a loaded thread, how they join it and leave it.

use std::sync::Arc;

use quipu_wire::method::request;
use quipu_wire::{Thread, ThreadResumeResponse, ThreadUnsubscribeStatus};
use tokio::sync::oneshot;

use super::actor::Actor;
use super::agent;
use super::load;
use super::message::ThreadSnapshot;
use crate::hub::{Client, ClientId};
use crate::words::Words;
use crate::{Refusal, Reply, Server};

impl Actor {
    /// The thread as it is now.
    pub fn snapshot(&mut self) -> ThreadSnapshot {
        self.recorder.flush_rollout();
        ThreadSnapshot {
            thread: self.audience.thread(self.engine.status()),
            cwd: self.session.cwd.clone(),
            ephemeral: self.recorder.is_ephemeral(),
            settings: Arc::clone(&self.session.snapshot),
            rollout: self.recorder.rollout(),
            live: self
                .engine
                .active_turn()
                .map(|id| self.audience.live_turn(id)),
        }
    }
}

/// A client joins: it is answered, gets the questions that still wait, then everything that happens.
pub(super) async fn join(
    actor: &mut Actor,
    client: Arc<Client>,
    exclude_turns: bool,
    reply: Reply<request::ThreadResume>,
) {
    let mut thread = match actor.snapshot().with_turns(&actor.server) {
        Ok(thread) => thread,
        Err(error) => return reply.send(Err(error)).await,
    };
    if exclude_turns {
        thread.turns.clear();
    }
    let answer = resumed(thread, &actor.session, &client.words);
    reply.send(Ok(answer)).await;
    agent::introduce(&actor.server, &actor.handle, &client);
    // A client that follows the thread already may have lost them: that is why it asks again.
    actor.questions.ask_again(&client).await;
    actor.audience.add(client);
}

/// A client that is new here gets the questions that still wait, then everything that happens.
pub(super) async fn add_follower(actor: &mut Actor, client: Arc<Client>) {
    if !actor.audience.has(client.id) {
        actor.questions.ask_again(&client).await;
        actor.audience.add(client);
    }
}

/// Removes a client; the answer says whether it was the last one.
pub(super) fn unsubscribe(
    actor: &mut Actor,
    client: ClientId,
    done: oneshot::Sender<(ThreadUnsubscribeStatus, bool)>,
) {
    let was = leave(actor, client);
    let status = match was {
        true => ThreadUnsubscribeStatus::Unsubscribed,
        false => ThreadUnsubscribeStatus::NotSubscribed,
    };
    // The requester may have stopped waiting.
    done.send((status, was && actor.audience.is_empty())).ok();
}

/// Removes a client; `false` if it did not follow the thread.
pub(super) fn leave(actor: &mut Actor, client: ClientId) -> bool {
    let was = actor.audience.remove(client);
    if actor.audience.is_empty() {
        actor.questions.forget_elicitations();
        actor.realtime.stop();
    }
    was
}

impl ThreadSnapshot {
    /// The thread with its turns, the running one as it is.
    pub fn with_turns(self, server: &Server) -> Result<Thread, Refusal> {
        let id = super::parse_id(&self.thread.id)?;
        let path = self.rollout.ok_or(Refusal::NoRollout(id))?;
        let (stored, turns) = tokio::task::block_in_place(|| {
            let stored = load::stored_thread(server, id, &path);
            let turns = load::turns(server, &path, self.live.is_some())?;
            Ok::<_, Refusal>((stored, turns))
        })?;
        let status = self.thread.status.clone();
        let mut thread = Thread {
            status,
            turns,
            ..stored.unwrap_or(self.thread)
        };
        if let Some(live) = self.live {
            thread.turns.retain(|turn| turn.id != live.id);
            thread.turns.push(live);
        }
        Ok(thread)
    }
}

/// The answer to `thread/resume`.
pub(crate) fn resumed(
    thread: Thread,
    session: &super::Session,
    words: &Words,
) -> ThreadResumeResponse {
    ThreadResumeResponse {
        thread,
        model: session.model.clone(),
        model_provider: session.provider.id.clone(),
        service_tier: session.service_tier,
        cwd: session.cwd_text(),
        runtime_workspace_roots: session.workspace_roots(),
        approval_policy: words.policy(session.approval_policy.clone()),
        approvals_reviewer: session.approvals_reviewer,
        sandbox: session.sandbox.clone(),
        reasoning_effort: session.effort.map(|it| words.effort(it)),
    }
}
