//! Requests whose answers the engine decides.

use std::collections::HashMap;

use quipu_engine::{Answer, ReplyToken, ThreadId};
use quipu_wire::method::{Method, request};
use quipu_wire::{
    ReviewStartResponse, ThreadQueueStartResponse, TurnInterruptResponse, TurnStartResponse,
    TurnSteerResponse,
};

use tokio::sync::oneshot;

use crate::once::Once;
use crate::{Refusal, Reply};

/// A request that waits for the engine.
pub(super) enum Pending {
    Start(Keyed<request::TurnStart>),
    Steer(Keyed<request::TurnSteer>),
    Interrupt(Reply<request::TurnInterrupt>),
    QueueStart(Reply<request::ThreadQueueStart>),
    /// Input from the thread that started this one.
    AgentInput(oneshot::Sender<Result<(), String>>),
    Review {
        reply: Reply<request::ReviewStart>,
        thread_id: ThreadId,
    },
}

/// A reply to a request that may have a key, and to those that repeat it meanwhile.
pub(super) struct Keyed<M: Method> {
    pub reply: Reply<M>,
    pub once: Option<Once>,
    pub repeated: Vec<Reply<M>>,
}

impl<M: Method> Keyed<M>
where
    M::Result: Clone,
{
    pub fn new(reply: Reply<M>, once: Option<Once>) -> Keyed<M> {
        Keyed {
            reply,
            once,
            repeated: Vec::new(),
        }
    }

    fn has(&self, key: &str) -> bool {
        self.once.as_ref().is_some_and(|it| it.key() == key)
    }

    /// Answers all of them; `made` is what the request made.
    async fn send(self, answer: Result<M::Result, Refusal>, made: Option<&str>) {
        if let Some((once, made)) = self.once.zip(made) {
            once.done(made);
        }
        for reply in self.repeated {
            reply.send(answer.clone()).await;
        }
        self.reply.send(answer).await;
    }
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

    /// Lets a `turn/start` wait for the one with the same key that waits already; gives it back if there is none.
    pub fn repeat_start(
        &mut self,
        once: &Once,
        reply: Reply<request::TurnStart>,
    ) -> Option<Reply<request::TurnStart>> {
        let same = self.pending.values_mut().find_map(|it| match it {
            Pending::Start(it) if it.has(once.key()) => Some(it),
            _ => None,
        });
        match same {
            Some(same) => same.repeated.push(reply),
            None => return Some(reply),
        }
        None
    }

    /// The same for `turn/steer`.
    pub fn repeat_steer(
        &mut self,
        once: &Once,
        reply: Reply<request::TurnSteer>,
    ) -> Option<Reply<request::TurnSteer>> {
        let same = self.pending.values_mut().find_map(|it| match it {
            Pending::Steer(it) if it.has(once.key()) => Some(it),
            _ => None,
        });
        match same {
            Some(same) => same.repeated.push(reply),
            None => return Some(reply),
        }
        None
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
                let made = turn.id.clone();
                reply
                    .send(Ok(TurnStartResponse { turn }), Some(&made))
                    .await;
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
                let made = turn_id.to_string();
                let turn_id = made.clone();
                reply
                    .send(Ok(TurnSteerResponse { turn_id }), Some(&made))
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
        Pending::Start(reply) => reply.send(Err(error), None).await,
        Pending::Steer(reply) => reply.send(Err(error), None).await,
        Pending::AgentInput(done) => {
            // The thread that sent it may have stopped waiting.
            done.send(Err(error.to_string())).ok();
        }
        Pending::Interrupt(reply) => reply.send(Err(error)).await,
        Pending::QueueStart(reply) => reply.send(Err(error)).await,
        Pending::Review { reply, .. } => reply.send(Err(error)).await,
    }
}
