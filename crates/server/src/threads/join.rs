//! What clients see of a loaded thread, and how they join it.

use std::sync::Arc;

use quipu_wire::method::request;
use quipu_wire::{Thread, ThreadResumeResponse};

use super::actor::Actor;
use super::load;
use super::message::ThreadSnapshot;
use crate::Refusal;
use crate::Reply;
use crate::hub::Client;
use crate::words::Words;

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

    /// A client joins: it is answered, gets the questions that still wait, then everything that happens.
    pub async fn join(
        &mut self,
        client: Arc<Client>,
        exclude_turns: bool,
        reply: Reply<request::ThreadResume>,
    ) {
        let mut thread = match self.with_turns() {
            Ok(thread) => thread,
            Err(error) => return reply.send(Err(error)).await,
        };
        if exclude_turns {
            thread.turns.clear();
        }
        let session = self.session.clone();
        reply
            .send(Ok(resumed(thread, &session, &client.words)))
            .await;
        self.introduce_to_agents(&client);
        // A client that follows the thread already may have lost them: that is why it asks again.
        self.ask_again(&client).await;
        self.audience.add(client);
    }

    /// A client that is new here gets the questions that still wait, then everything that happens.
    pub async fn add_follower(&mut self, client: Arc<Client>) {
        if !self.audience.has(client.id) {
            self.ask_again(&client).await;
            self.audience.add(client);
        }
    }

    /// The thread with its turns, the running one as it is.
    pub fn with_turns(&mut self) -> Result<Thread, Refusal> {
        let snapshot = self.snapshot();
        let id = super::parse_id(&self.handle.id)?;
        let path = snapshot.rollout.ok_or(Refusal::NoRollout(id))?;
        let (mut thread, turns) = tokio::task::block_in_place(|| {
            let stored = load::stored_thread(&self.server, id, &path);
            let turns = load::turns(&self.server, &path, snapshot.live.is_some())?;
            let thread = stored.unwrap_or_else(|_| snapshot.thread.clone());
            Ok::<_, Refusal>((thread, turns))
        })?;
        thread.status = snapshot.thread.status;
        thread.turns = turns;
        if let Some(live) = snapshot.live {
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
        approval_policy: words.policy(session.approval_policy.clone()),
        approvals_reviewer: session.approvals_reviewer,
        sandbox: session.sandbox.clone(),
        reasoning_effort: session.effort.map(|it| words.effort(it)),
    }
}
