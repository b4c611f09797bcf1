//! Requests whose answers the engine decides.

use std::collections::HashMap;

use quipu_engine::{Answer, ReplyToken, ThreadId};
use quipu_wire::method::request;
use quipu_wire::{
    ReviewStartResponse, ThreadQueueStartResponse, TurnInterruptResponse, TurnStartResponse,
    TurnSteerResponse,
};

use tokio::sync::oneshot;

use crate::Refusal;
use crate::Reply;

/// A request that waits for the engine.
pub(super) enum Pending {
    Start(Reply<request::TurnStart>),
    Steer(Reply<request::TurnSteer>),
    Interrupt(Reply<request::TurnInterrupt>),
    QueueStart(Reply<request::ThreadQueueStart>),
    /// Input from the thread that started this one.
    AgentInput(oneshot::Sender<Result<(), String>>),
    Review {
        reply: Reply<request::ReviewStart>,
        thread_id: ThreadId,
    },
}

/// Those that wait for the thread.
#[derive(Default)]
pub(super) struct Replies {
    next: u64,
    /// By the token the engine knows them by.
    pending: HashMap<ReplyToken, Pending>,
    /// Notified when no turn runs.
    until_idle: Vec<oneshot::Sender<()>>,
}

impl Replies {
    pub fn add(&mut self, pending: Pending) -> ReplyToken {
        self.next += 1;
        let token = ReplyToken::new(self.next);
        self.pending.insert(token, pending);
        token
    }

    /// The token of an interrupt. One that names another turn than the active one ends nothing: it is answered here.
    /// One without a name is for whatever runs.
    pub async fn interrupt(
        &mut self,
        turn_id: &str,
        active: Option<&str>,
        reply: Reply<request::TurnInterrupt>,
    ) -> Option<ReplyToken> {
        match active {
            Some(active) if !turn_id.is_empty() && turn_id != active => {
                let refusal = Refusal::InterruptsAnother {
                    expected: turn_id.to_owned(),
                    actual: active.to_owned(),
                };
                reply.send(Err(refusal)).await;
                None
            }
            _ => Some(self.add(Pending::Interrupt(reply))),
        }
    }

    /// Notifies `done` when no turn runs.
    pub fn when_idle(&mut self, done: oneshot::Sender<()>) {
        self.until_idle.push(done);
    }

    /// No turn runs.
    pub fn notify_idle(&mut self) {
        for done in self.until_idle.drain(..) {
            // The receiver may have stopped waiting.
            done.send(()).ok();
        }
    }

    /// Answers all requests that wait, after a defect that kept the engine from doing so.
    pub async fn fail(&mut self) {
        for (_, pending) in self.pending.drain() {
            let text = "the request failed by a defect of the server";
            refuse(pending, Refusal::internal(text)).await;
        }
    }

    /// Answers a request as the engine says.
    pub async fn answer(&mut self, token: ReplyToken, answer: Answer) {
        let Some(pending) = self.pending.remove(&token) else {
            return;
        };
        match (pending, answer) {
            (Pending::Start(reply), Answer::Turn(turn)) => {
                reply.send(Ok(TurnStartResponse { turn })).await
            }
            (Pending::QueueStart(reply), Answer::Turn(turn)) => {
                reply.send(Ok(ThreadQueueStartResponse { turn })).await;
            }
            (Pending::Review { reply, thread_id }, Answer::Turn(turn)) => {
                reply
                    .send(Ok(ReviewStartResponse {
                        turn,
                        review_thread_id: thread_id.into(),
                    }))
                    .await;
            }
            (Pending::Steer(reply), Answer::Steered(turn_id)) => {
                reply
                    .send(Ok(TurnSteerResponse {
                        turn_id: turn_id.into(),
                    }))
                    .await;
            }
            (Pending::Interrupt(reply), Answer::Done) => {
                reply.send(Ok(TurnInterruptResponse {})).await
            }
            (Pending::AgentInput(done), Answer::Turn(_)) => {
                // The thread that sent it may have stopped waiting.
                done.send(Ok(())).ok();
            }
            (pending, Answer::Refused(refusal)) => refuse(pending, refusal.into()).await,
            (pending, _) => {
                refuse(
                    pending,
                    Refusal::internal("the thread answered another request"),
                )
                .await
            }
        }
    }
}

/// Answers a request that cannot be dealt with.
pub(super) async fn refuse(pending: Pending, error: Refusal) {
    match pending {
        Pending::Start(reply) => reply.send(Err(error)).await,
        Pending::Steer(reply) => reply.send(Err(error)).await,
        Pending::AgentInput(done) => {
            // The thread that sent it may have stopped waiting.
            done.send(Err(error.to_string())).ok();
        }
        Pending::Interrupt(reply) => reply.send(Err(error)).await,
        Pending::QueueStart(reply) => reply.send(Err(error)).await,
        Pending::Review { reply, .. } => reply.send(Err(error)).await,
    }
}
