//! What both ends of a connection know of each other: the requests under way, and what to do with every
//! message of the server, however it arrived.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;
use tokio::sync::{Notify, mpsc, oneshot, watch};
use tokio::time::Instant;

use crate::error::Error;
use crate::link::BackLink;
use crate::message::{self, Incoming};
use crate::types::{Elicitation, Reaction};

/// Questions of one server that may be open at once; more are refused.
const MAX_QUESTIONS: usize = 8;

const METHOD_NOT_FOUND: i64 = -32601;
const INVALID_PARAMS: i64 = -32602;
const OVERLOADED: i64 = -32000;

/// What happens while a tool runs.
#[derive(Debug)]
pub enum CallEvent {
    /// The server tells how far it is.
    Progress(String),
    /// The server asks the user.
    Elicit(Question),
}

/// A question of a server, and where its answer goes. Dropping it without an answer cancels the question.
#[derive(Debug)]
pub struct Question {
    /// What is asked.
    pub elicitation: Elicitation,
    /// Takes what came of it.
    pub reaction: oneshot::Sender<Reaction>,
}

/// The requests under way of one connection.
pub(crate) struct Session {
    pub server: String,
    next: AtomicU64,
    state: Mutex<State>,
    closed: watch::Sender<bool>,
    /// How many questions to the user are open; no time passes for calls meanwhile.
    asking: watch::Sender<usize>,
    pub tools_changed: Notify,
    /// Takes the questions that belong to no call.
    questions: mpsc::Sender<Question>,
}

#[derive(Default)]
struct State {
    pending: HashMap<u64, Pending>,
    closed: Option<Option<&'static str>>,
}

struct Pending {
    answer: oneshot::Sender<Result<Box<RawValue>, Error>>,
    /// Hears what happens until the answer.
    events: Option<mpsc::Sender<CallEvent>>,
}

/// A request that waits; dropping it forgets the request.
pub(crate) struct Waiting<'a> {
    session: &'a Session,
    pub id: u64,
    answer: oneshot::Receiver<Result<Box<RawValue>, Error>>,
}

impl Session {
    pub fn new(server: String, questions: mpsc::Sender<Question>) -> Session {
        Session {
            server,
            next: AtomicU64::new(0),
            state: Mutex::default(),
            closed: watch::Sender::new(false),
            asking: watch::Sender::new(0),
            tools_changed: Notify::new(),
            questions,
        }
    }

    /// Takes an id for a request, whose answer can come from now on.
    pub fn register(&self, events: Option<mpsc::Sender<CallEvent>>) -> Result<Waiting<'_>, Error> {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let (sender, answer) = oneshot::channel();
        let mut state = self.state.lock();
        if let Some(why) = state.closed {
            return Err(Error::Closed(why));
        }
        let pending = Pending {
            answer: sender,
            events,
        };
        state.pending.insert(id, pending);
        drop(state);
        Ok(Waiting {
            session: self,
            id,
            answer,
        })
    }

    /// Ends the connection for everyone who waits.
    pub fn close(&self, why: Option<&'static str>) {
        let mut state = self.state.lock();
        if state.closed.is_none() {
            state.closed = Some(why);
        }
        for (_, pending) in state.pending.drain() {
            // The caller may have stopped waiting.
            pending.answer.send(Err(Error::Closed(why))).ok();
        }
        drop(state);
        self.closed.send_replace(true);
    }

    /// Whether it has ended, from the moment that anybody can hear of it.
    pub fn is_closed(&self) -> bool {
        self.state.lock().closed.is_some()
    }

    pub async fn closed(&self) {
        // The sender is `self`, so waiting cannot fail.
        self.closed.subscribe().wait_for(|it| *it).await.ok();
    }

    pub fn is_pending(&self, id: u64) -> bool {
        self.state.lock().pending.contains_key(&id)
    }

    /// Deals with a message of the server; `via` is the request whose answer stream brought it.
    pub fn receive(self: &Arc<Session>, text: &[u8], via: Option<u64>, back: &BackLink) {
        match Incoming::read(text) {
            Some(Incoming::Answer { id, outcome }) => {
                if let Some(pending) = self.state.lock().pending.remove(&id) {
                    // The caller may have stopped waiting.
                    pending.answer.send(outcome).ok();
                }
            }
            Some(Incoming::Notification { method, params }) => self.notified(&method, params),
            Some(Incoming::Request { id, method, params }) => match method.as_ref() {
                "ping" => back.answer(message::answer(id, json!({}))),
                "elicitation/create" => self.elicit(id, params, via, back),
                method => back.answer(message::refusal(id, METHOD_NOT_FOUND, method)),
            },
            None => {
                // What it says instead may hold a secret.
                tracing::warn!(
                    server = self.server,
                    bytes = text.len(),
                    "not a message of MCP"
                );
            }
        }
    }

    fn notified(&self, method: &str, params: Option<&RawValue>) {
        match method {
            "notifications/progress" => self.progressed(params),
            "notifications/tools/list_changed" => self.tools_changed.notify_one(),
            "notifications/message" => {
                let params = params.map_or("", RawValue::get);
                tracing::debug!(server = self.server, params, "a message of an MCP server");
            }
            _ => {}
        }
    }

    fn progressed(&self, params: Option<&RawValue>) {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Progress {
            progress_token: u64,
            message: Option<String>,
        }
        let progress = params.and_then(|it| serde_json::from_str::<Progress>(it.get()).ok());
        let Some(Progress {
            progress_token,
            message: Some(message),
        }) = progress
        else {
            return;
        };
        let state = self.state.lock();
        let pending = state.pending.get(&progress_token);
        if let Some(events) = pending.and_then(|it| it.events.as_ref()) {
            // News that nobody had time for are no news.
            events.try_send(CallEvent::Progress(message)).ok();
        }
    }

    /// Passes a question on: to the call it came with, else to the latest call, else to the owner.
    fn elicit(
        self: &Arc<Session>,
        id: &RawValue,
        params: Option<&RawValue>,
        via: Option<u64>,
        back: &BackLink,
    ) {
        let elicitation = match Elicitation::read(params) {
            Ok(elicitation) => elicitation,
            Err(why) => return back.answer(message::refusal(id, INVALID_PARAMS, &why)),
        };
        if *self.asking.borrow() >= MAX_QUESTIONS {
            let text = "too many questions are open";
            return back.answer(message::refusal(id, OVERLOADED, text));
        }
        let (reaction, reacted) = oneshot::channel();
        let question = Question {
            elicitation,
            reaction,
        };
        let asked = match self.listener(via) {
            Some(events) => events.try_send(CallEvent::Elicit(question)).is_ok(),
            None => self.questions.try_send(question).is_ok(),
        };
        if !asked {
            let text = "nobody can be asked now";
            return back.answer(message::refusal(id, OVERLOADED, text));
        }
        self.asking.send_modify(|open| *open += 1);
        let (session, id, back) = (Arc::clone(self), id.to_owned(), back.clone());
        tokio::spawn(async move {
            let reaction = tokio::select! {
                reaction = reacted => reaction.unwrap_or(Reaction::Cancel),
                () = session.closed() => Reaction::Cancel,
            };
            session.asking.send_modify(|open| *open -= 1);
            back.answer(match reaction {
                Reaction::Accept(content) => {
                    let content = content.unwrap_or_else(empty);
                    message::answer(&id, json!({ "action": "accept", "content": content }))
                }
                Reaction::Decline => message::answer(&id, json!({ "action": "decline" })),
                Reaction::Cancel => message::answer(&id, json!({ "action": "cancel" })),
                Reaction::Unsupported(why) => message::refusal(&id, INVALID_PARAMS, &why),
            });
        });
    }

    fn listener(&self, via: Option<u64>) -> Option<mpsc::Sender<CallEvent>> {
        let state = self.state.lock();
        let of = |id: u64| state.pending.get(&id)?.events.clone();
        via.and_then(of).or_else(|| {
            let calls = state.pending.iter().filter(|(_, it)| it.events.is_some());
            calls
                .max_by_key(|(id, _)| **id)
                .and_then(|(_, pending)| pending.events.clone())
        })
    }
}

fn empty() -> Box<RawValue> {
    serde_json::value::to_raw_value(&json!({})).unwrap_or_else(|_| RawValue::NULL.to_owned())
}

impl Waiting<'_> {
    /// Waits for the answer, but not longer than `limit`, not counting the time the user takes to answer
    /// questions of the server.
    pub async fn answer(
        &mut self,
        method: &'static str,
        limit: Duration,
    ) -> Result<Box<RawValue>, Error> {
        let mut asking = self.session.asking.subscribe();
        let mut left = limit;
        loop {
            let paused = *asking.borrow_and_update() > 0;
            let begun = Instant::now();
            tokio::select! {
                answer = &mut self.answer => return answer.unwrap_or(Err(Error::Closed(None))),
                () = tokio::time::sleep(left), if !paused => {
                    return Err(Error::TimedOut { method, limit });
                }
                // The sender is the session, which outlives its requests.
                _ = asking.changed() => {}
            }
            if !paused {
                left = left.saturating_sub(begun.elapsed());
            }
        }
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.session.state.lock().pending.remove(&self.id);
    }
}
