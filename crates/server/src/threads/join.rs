//! What clients see of a loaded thread, how they join it and leave it.

use std::collections::VecDeque;
use std::sync::Arc;

use quipu_wire::method::request;
use quipu_wire::{
    Thread, ThreadForkResponse, ThreadResumeResponse, ThreadStartResponse, ThreadUnsubscribeStatus,
};
use tokio::sync::oneshot;

use super::actor::Actor;
use super::agent;
use super::events::CatchUp;
use super::load;
use super::message::ThreadSnapshot;
use super::session::Session;
use super::settings_update::active_profile;
use crate::hub::{Client, ClientId};
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

/// A client joins: it is answered, gets the events that it missed and the questions that still wait, then everything
/// that happens.
pub(super) async fn join(actor: &mut Actor, client: Arc<Client>, joining: Joining) {
    let snapshot = actor.snapshot();
    // A new thread has no turns, and may not be stored yet. Who knows its events has them to go on from.
    let is_new = matches!(joining.reply, JoinReply::Start(_))
        || (joining.after.is_some() && snapshot.rollout.is_none());
    let thread = match is_new {
        true => Ok(snapshot.thread),
        false => snapshot.with_turns(&actor.server),
    };
    let mut thread = match thread {
        Ok(thread) => thread,
        Err(error) => return joining.reply.refuse(error).await,
    };
    if joining.exclude_turns {
        thread.turns.clear();
    }
    let catch_up = actor.audience.catch_up(&client, joining.after);
    let joined = Joined::new(thread, actor.session.clone(), catch_up);
    joined.send(&client, joining.reply).await;
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

/// How a client joins a loaded thread.
pub(crate) struct Joining {
    /// The last event that it saw.
    pub after: Option<i64>,
    pub exclude_turns: bool,
    pub reply: JoinReply,
}

/// The request by which a client comes to a thread.
pub(crate) enum JoinReply {
    Start(Reply<request::ThreadStart>),
    Resume(Reply<request::ThreadResume>),
    Fork(Reply<request::ThreadFork>),
}

impl JoinReply {
    pub async fn refuse(self, error: Refusal) {
        match self {
            JoinReply::Start(reply) => reply.send(Err(error)).await,
            JoinReply::Resume(reply) => reply.send(Err(error)).await,
            JoinReply::Fork(reply) => reply.send(Err(error)).await,
        }
    }
}

/// The answer to a request by which a client comes to a thread. The three have the same members.
macro_rules! answer {
    ($type:ident, $thread:ident, $session:ident, $events:ident, $words:ident) => {
        $type {
            thread: $thread,
            model_provider: $session.provider.id.clone(),
            service_tier: $words.tier($session.service_tier),
            cwd: $session.cwd_text(),
            runtime_workspace_roots: $session.workspace_roots(),
            active_permission_profile: active_profile(&$session),
            approval_policy: $words.policy($session.approval_policy),
            approvals_reviewer: $session.approvals_reviewer,
            sandbox: $session.sandbox,
            reasoning_effort: $session.effort.map(|it| $words.effort(it)),
            model: $session.model,
            quipu: $events,
        }
    };
}

/// What a client gets that comes to a thread.
pub(crate) struct Joined {
    thread: Thread,
    session: Session,
    catch_up: Option<CatchUp>,
}

impl Joined {
    pub fn new(thread: Thread, session: Session, catch_up: Option<CatchUp>) -> Joined {
        Joined {
            thread,
            session,
            catch_up,
        }
    }

    /// Answers the client, and sends it the events that it missed.
    pub async fn send(self, client: &Client, reply: JoinReply) {
        let (position, mut missed) = match self.catch_up {
            Some(CatchUp { position, missed }) => (Some(position), missed),
            None => (None, VecDeque::new()),
        };
        let Joined {
            thread, session, ..
        } = self;
        let words = &client.words;
        match reply {
            JoinReply::Start(reply) => {
                let answer = answer!(ThreadStartResponse, thread, session, position, words);
                reply.send(Ok(answer)).await;
            }
            JoinReply::Resume(reply) => {
                let answer = answer!(ThreadResumeResponse, thread, session, position, words);
                reply.send(Ok(answer)).await;
            }
            JoinReply::Fork(reply) => {
                let answer = answer!(ThreadForkResponse, thread, session, position, words);
                reply.send(Ok(answer)).await;
            }
        }
        if !missed.is_empty() {
            client.send_all(&mut missed).await;
        }
    }
}
