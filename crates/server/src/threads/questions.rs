//! Questions of a thread to its clients: approvals, input that a tool wants, elicitations of MCP servers. They wait
//! for the first answer, and clients that join are asked, too. While no client follows the thread they wait for a
//! limited time: the turn of a user who is gone goes on without the permission, and ends.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use quipu_engine::{Input, ThreadId};
use quipu_tools::Clock;
use quipu_wire::{ServerNotification, ServerRequest, ServerRequestResolvedNotification};
use tokio::sync::{oneshot, watch};

use super::actor::Actor;
use super::audience::{self, Audience};
use super::message::{Message, ThreadHandle};
use super::session::Session;
use crate::Server;
use crate::hub::Client;
use crate::questions::{Asker, Outcome, QuestionId};

/// Where the answer goes; `None` says that there will be none.
pub(crate) type AnswerSender = oneshot::Sender<Option<Outcome>>;

/// The questions that wait for an answer.
pub(super) struct Questions {
    /// Gives the answers of clients to the thread.
    asker: Asker,
    pending: BTreeMap<QuestionId, Question>,
    /// Since when questions wait, or were declined, while no client follows the thread.
    unattended_since: Option<Instant>,
    /// How many questions clients show on their own; meanwhile the time limits of commands stand still.
    elicitations: watch::Sender<u64>,
}

struct Question {
    /// What clients are asked, once they were.
    request: Option<Box<ServerRequest>>,
    answer: AnswerSender,
    outcome: Option<Outcome>,
    /// It belongs to a call, so the engine knows it.
    is_of_call: bool,
}

impl Questions {
    pub fn new(thread: ThreadHandle) -> Questions {
        let asker = move |question, outcome| {
            thread.send_soon(Message::Answered { question, outcome });
        };
        Questions {
            asker: Arc::new(asker),
            pending: BTreeMap::new(),
            unattended_since: None,
            elicitations: watch::Sender::new(0),
        }
    }

    fn add(&mut self, id: QuestionId, answer: AnswerSender, is_of_call: bool) {
        let question = Question {
            request: None,
            answer,
            outcome: None,
            is_of_call,
        };
        self.pending.insert(id, question);
    }

    /// A question of a call or of hooks; the engine decides whether clients are asked.
    pub fn add_for_call(&mut self, server: &Server, answer: AnswerSender) -> QuestionId {
        let question = server.question_ids.next();
        self.add(question, answer, true);
        question
    }

    /// Keeps the first answer to a question until it is delivered.
    fn answer(&mut self, id: QuestionId, outcome: Outcome) {
        if let Some(question) = self.pending.get_mut(&id) {
            question.outcome.get_or_insert(outcome);
        }
    }

    /// Gives the answer, or `None` if there will be none, to the tool or server that asked.
    pub fn deliver(&mut self, id: QuestionId) {
        if let Some(question) = self.pending.remove(&id) {
            // A tool that was cancelled no longer listens.
            question.answer.send(question.outcome).ok();
        }
    }

    /// Asks on behalf of no call.
    pub async fn ask_beside_calls(
        &mut self,
        server: &Server,
        audience: &Audience,
        request: Box<ServerRequest>,
        answer: AnswerSender,
    ) -> QuestionId {
        let question = server.question_ids.next();
        self.add(question, answer, false);
        self.ask(audience, question, request).await;
        question
    }

    /// Asks the subscribers, and those that join before there is an answer.
    pub async fn ask(&mut self, audience: &Audience, id: QuestionId, request: Box<ServerRequest>) {
        audience.ask(id, &request, &self.asker).await;
        if let Some(question) = self.pending.get_mut(&id) {
            question.request = Some(request);
        }
    }

    /// Asks a client that joins what still waits for an answer.
    pub async fn ask_again(&self, client: &Client) {
        for (id, question) in &self.pending {
            if let Some(request) = &question.request {
                audience::ask(client, *id, request, &self.asker).await;
            }
        }
    }

    /// Settles a question that belongs to no call, answered or not.
    pub async fn settle_beside_calls(
        &mut self,
        audience: &mut Audience,
        thread_id: &ThreadId,
        question: QuestionId,
    ) {
        let pending = self.pending.get(&question);
        if pending.is_none_or(|it| it.is_of_call) {
            return;
        }
        self.deliver(question);
        let params = ServerRequestResolvedNotification {
            thread_id: thread_id.to_string(),
            request_id: question.into(),
        };
        let resolved = ServerNotification::ServerRequestResolved(params);
        audience.notify(&resolved).await;
    }

    /// How much longer questions wait for a client to follow the thread; `None` if none waits, or a client is there
    /// to answer.
    pub fn time_left(&mut self, audience: &Audience, session: &Session) -> Option<Duration> {
        let is_attended = !audience.is_empty();
        if is_attended {
            self.unattended_since = None;
        }
        if is_attended || self.pending.is_empty() {
            return None;
        }
        let limit = session.snapshot.session().question_timeout;
        let since = *self.unattended_since.get_or_insert_with(Instant::now);
        Some(limit.saturating_sub(since.elapsed()))
    }

    /// Counts the questions that clients show on their own; `None` if there would be fewer than none.
    pub fn count_elicitation(&mut self, delta: i64) -> Option<u64> {
        let count = self.elicitations.borrow().checked_add_signed(delta)?;
        self.elicitations.send_replace(count);
        Some(count)
    }

    /// Forgets those questions when no client is left to answer them, so that time goes on.
    pub fn forget_elicitations(&mut self) {
        self.elicitations.send_replace(0);
    }

    /// The clock that they stop.
    pub fn clock(&self) -> Clock {
        Clock::new(self.elicitations.subscribe())
    }
}

impl Actor {
    /// A client has answered.
    pub async fn answered(&mut self, question: QuestionId, outcome: Outcome) {
        self.questions.answer(question, outcome);
        self.settle(question).await;
    }

    /// Declines the questions that have waited long enough. Later ones are declined at once, until a client
    /// joins.
    pub async fn decline_unattended(&mut self) {
        let left = self.questions.time_left(&self.audience, &self.session);
        if left.is_none_or(|left| !left.is_zero()) {
            return;
        }
        let questions: Vec<QuestionId> = self.questions.pending.keys().copied().collect();
        tracing::warn!(
            thread = %self.handle.id,
            questions = questions.len(),
            "questions declined: no client follows the thread"
        );
        for question in questions {
            // Tools take no answer for a refusal.
            self.settle(question).await;
        }
    }

    /// Settles a question with its answer, or without one.
    async fn settle(&mut self, question: QuestionId) {
        self.step(Input::Answered { question }).await;
        self.questions
            .settle_beside_calls(&mut self.audience, &self.handle.id, question)
            .await;
    }
}
