//! The queue of a loaded thread: input that runs one entry at a time, whenever the thread is idle. An entry is stored with
//! the id of its turn before that starts, so a crash in between neither loses it nor runs it twice.

use quipu_engine::{Input, Start};
use quipu_journal::Kept;
use quipu_wire::method::{Method, request};
use quipu_wire::{
    QueuedSubmission, ServerNotification, ThreadQueueAddParams, ThreadQueueAddResponse,
    ThreadQueueChangedNotification, ThreadQueueDeleteParams, ThreadQueueDeleteResponse,
    ThreadQueueReorderParams, ThreadQueueReorderResponse, ThreadQueueStartParams,
    ThreadQueueUpdateParams, ThreadQueueUpdateResponse, Turn, UserInput,
};
use serde::{Deserialize, Serialize};
use tokio::sync::oneshot;

use super::actor::Actor;
use super::message::Message;
use super::replies::Pending;
use super::turn_start;
use super::user_message::check_size;
use crate::{Refusal, Reply};

/// Entries that may wait.
const MAX_ENTRIES: usize = 100;

/// About the queue of a thread.
pub(crate) enum QueueMessage {
    Add {
        params: ThreadQueueAddParams,
        reply: Reply<request::ThreadQueueAdd>,
    },
    List {
        done: oneshot::Sender<Vec<QueuedSubmission>>,
    },
    Update {
        params: ThreadQueueUpdateParams,
        reply: Reply<request::ThreadQueueUpdate>,
    },
    Delete {
        params: ThreadQueueDeleteParams,
        reply: Reply<request::ThreadQueueDelete>,
    },
    Reorder {
        params: ThreadQueueReorderParams,
        reply: Reply<request::ThreadQueueReorder>,
    },
    Start {
        params: ThreadQueueStartParams,
        reply: Reply<request::ThreadQueueStart>,
    },
    /// The next entry may run, if the thread is idle.
    Next,
}

/// An entry, and the turn that was about to start for it.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Entry {
    pub submission: QueuedSubmission,
    turn_id: Option<String>,
}

/// The entries of a thread.
pub(super) struct QueueKeeper {
    /// `None` for threads that live in memory only.
    file: Option<Kept>,
    entries: Vec<Entry>,
    /// Whether a message to run the next entry is under way.
    is_called: bool,
}

impl QueueKeeper {
    /// The queue that a thread has kept, without entries whose turns are in the thread.
    pub fn new(file: Option<Kept>, turns: &[Turn]) -> QueueKeeper {
        let entries: Option<Vec<Entry>> = file.as_ref().and_then(Kept::read);
        let mut entries = entries.unwrap_or_default();
        entries.retain_mut(|entry| {
            let turn_id = entry.turn_id.take();
            !turn_id.is_some_and(|id| turns.iter().any(|turn| turn.id == id))
        });
        QueueKeeper {
            file,
            entries,
            is_called: false,
        }
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    fn store(&mut self, entries: Vec<Entry>) -> Result<(), Refusal> {
        if let Some(file) = &self.file {
            tokio::task::block_in_place(|| match entries.is_empty() {
                true => file.remove().map(drop),
                false => file.write(&entries),
            })
            .map_err(|error| {
                Refusal::internal(format!("failed to store the queue: {}", error.reason()))
            })?;
        }
        self.entries = entries;
        Ok(())
    }

    fn add(&mut self, params: ThreadQueueAddParams) -> Result<ThreadQueueAddResponse, Refusal> {
        check(&params.input)?;
        if self.entries.len() >= MAX_ENTRIES {
            let text = format!("the queue of the thread is full: at most {MAX_ENTRIES} entries");
            return Err(Refusal::invalid_request(text));
        }
        let submission = QueuedSubmission {
            id: uuid::Uuid::now_v7().to_string(),
            input: params.input,
            client_user_message_id: params.client_user_message_id,
        };
        let mut entries = self.entries.clone();
        entries.push(Entry {
            submission: submission.clone(),
            turn_id: None,
        });
        self.store(entries)?;
        Ok(ThreadQueueAddResponse {
            queued_submission: submission,
        })
    }

    fn update(
        &mut self,
        params: ThreadQueueUpdateParams,
    ) -> Result<ThreadQueueUpdateResponse, Refusal> {
        check(&params.input)?;
        let place = self.place(&params.queued_submission_id)?;
        let mut entries = self.entries.clone();
        entries[place].submission.input = params.input;
        let queued_submission = entries[place].submission.clone();
        self.store(entries)?;
        Ok(ThreadQueueUpdateResponse { queued_submission })
    }

    fn delete(&mut self, id: &str) -> Result<ThreadQueueDeleteResponse, Refusal> {
        let mut entries = self.entries.clone();
        entries.retain(|it| it.submission.id != id);
        let deleted = entries.len() < self.entries.len();
        if deleted {
            self.store(entries)?;
        }
        Ok(ThreadQueueDeleteResponse { deleted })
    }

    fn reorder(&mut self, ids: &[String]) -> Result<ThreadQueueReorderResponse, Refusal> {
        let mut entries = self.entries.clone();
        let place = |entry: &Entry| ids.iter().position(|id| *id == entry.submission.id);
        if ids.len() != entries.len() || entries.iter().any(|it| place(it).is_none()) {
            let text = "queue reorder must include every queued submission exactly once";
            return Err(Refusal::invalid_request(text));
        }
        entries.sort_by_key(place);
        self.store(entries)?;
        Ok(ThreadQueueReorderResponse {})
    }

    fn place(&self, id: &str) -> Result<usize, Refusal> {
        let found = self.entries.iter().position(|it| it.submission.id == id);
        found.ok_or_else(|| Refusal::invalid_request(format!("queued submission not found: {id}")))
    }
}

fn check(input: &[UserInput]) -> Result<(), Refusal> {
    match input.is_empty() {
        true => {
            let text = "only user input can be added to the user-message queue";
            Err(Refusal::invalid_request(text))
        }
        false => Ok(()),
    }
}

/// Calls for the next entry if there is one and nothing runs, now that a message was dealt with.
pub(super) fn call(actor: &mut Actor) {
    let is_idle = actor.engine.active_turn().is_none() && !actor.is_leaving();
    let is_due = is_idle && !actor.queue.is_empty();
    if is_due && !std::mem::replace(&mut actor.queue.is_called, true) {
        actor.handle.send_now(Message::Queue(QueueMessage::Next));
    }
}

pub(super) async fn receive(actor: &mut Actor, message: QueueMessage) {
    let queue = &mut actor.queue;
    let has_changed = match message {
        QueueMessage::Add { params, reply } => answer(reply, queue.add(params)).await,
        QueueMessage::Update { params, reply } => answer(reply, queue.update(params)).await,
        QueueMessage::Reorder { params, reply } => {
            answer(reply, queue.reorder(&params.queued_submission_ids)).await
        }
        QueueMessage::Delete { params, reply } => {
            let deleted = queue.delete(&params.queued_submission_id);
            let has_changed = deleted.as_ref().is_ok_and(|it| it.deleted);
            answer(reply, deleted).await && has_changed
        }
        QueueMessage::List { done } => {
            let submissions = queue.entries.iter().map(|it| it.submission.clone());
            // The requester may have stopped waiting.
            done.send(submissions.collect()).ok();
            false
        }
        QueueMessage::Start { params, reply } => return start(actor, params, reply).await,
        QueueMessage::Next => return next(actor).await,
    };
    if has_changed {
        notify_changed(actor).await;
    }
}

/// Answers a request, and returns whether it was done.
async fn answer<M: Method>(reply: Reply<M>, answer: Result<M::Result, Refusal>) -> bool {
    let is_done = answer.is_ok();
    reply.send(answer).await;
    is_done
}

async fn notify_changed(actor: &mut Actor) {
    let thread_id = actor.handle.id.to_string();
    let params = ThreadQueueChangedNotification { thread_id };
    let changed = ServerNotification::ThreadQueueChanged(params);
    actor.audience.notify(&changed).await;
}

/// Runs an entry on request.
async fn start(
    actor: &mut Actor,
    params: ThreadQueueStartParams,
    reply: Reply<request::ThreadQueueStart>,
) {
    let place = match params.queued_submission_id {
        _ if actor.engine.active_turn().is_some() => {
            let text = "thread already has an active or pending turn";
            Err(Refusal::invalid_request(text))
        }
        Some(id) => actor.queue.place(&id),
        None if actor.queue.is_empty() => Err(Refusal::invalid_request("queue is empty")),
        None => Ok(0),
    };
    match place {
        Ok(place) => run(actor, place, Pending::QueueStart(reply)).await,
        Err(error) => reply.send(Err(error)).await,
    }
}

/// Runs the next entry, if the thread is idle.
async fn next(actor: &mut Actor) {
    actor.queue.is_called = false;
    let is_idle = actor.engine.active_turn().is_none() && !actor.is_leaving();
    if is_idle && !actor.queue.is_empty() {
        // Nobody waits for the answer.
        let (done, _) = oneshot::channel();
        run(actor, 0, Pending::AgentInput(done)).await;
    }
}

/// Runs an entry while nothing else does. One that cannot run leaves the queue, so that it does not hold up the others.
async fn run(actor: &mut Actor, place: usize, pending: Pending) {
    let turn_id = uuid::Uuid::now_v7().to_string();
    let mut entries = actor.queue.entries.clone();
    entries[place].turn_id = Some(turn_id.clone());
    let input = entries[place].submission.input.clone();
    let ready = actor
        .load_history()
        .and_then(|()| actor.recorder.reserve())
        .and_then(|()| actor.queue.store(entries.clone()));
    if let Err(error) = ready {
        tracing::error!(thread = %actor.handle.id, %error, "queued input not started");
        return super::replies::refuse(pending, error).await;
    }
    actor.goal.user_acts();
    actor.reports.prompt(&actor.session, &input);
    let prompt = actor.sampler.prompt_mut();
    prompt.renew_skills_for(&actor.server, &actor.session, &input);
    let message = actor.sampler.user_message(&actor.handle.id, input);
    let accepted = check_size(&message);
    let is_refused = accepted.is_err();
    match accepted {
        Err(error) => super::replies::refuse(pending, error).await,
        Ok(()) => {
            turn_start::prepare(actor, None).await;
            let reply = actor.replies.add(pending);
            let start = Start {
                reply,
                turn_id: turn_id.into(),
                message,
            };
            actor.step(Input::Start(start)).await;
        }
    }
    entries.remove(place);
    if let Err(error) = actor.queue.store(entries) {
        tracing::error!(thread = %actor.handle.id, %error, is_refused, "queue not stored");
    }
    notify_changed(actor).await;
}
