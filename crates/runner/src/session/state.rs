//! What is known of the running turn, kept where messages arrive: whether it ended and how, what it said, and when
//! something was last heard of the server.

use parking_lot::Mutex;
use serde_json::Value;
use tokio::sync::Notify;
use tokio::time::Instant;

use super::{Event, Usage};

/// Ends that are kept until it is known which turn was started; a server that sends more says nothing useful.
const MOST_ENDS: usize = 64;

/// How a turn ended.
#[derive(Clone, Debug)]
pub(super) enum Ending {
    Completed(Value),
    Failed(Value),
    Cancelled(Value),
    InputRequired(Value),
    ApprovalRequired(Value),
}

#[derive(Default)]
pub(super) struct State {
    inner: Mutex<Inner>,
    ended: Notify,
}

#[derive(Default)]
struct Inner {
    thread: String,
    /// The turn that runs, or ran last.
    turn: Option<String>,
    ends: Vec<End>,
    heard: Option<Instant>,
    /// Local tools that run. The turn is not silent meanwhile.
    tools: usize,
    message: String,
    diff: Option<String>,
    usage: Option<Usage>,
}

/// The end of a turn, which may be another than the one that is awaited.
struct End {
    thread: Option<String>,
    turn: Option<String>,
    ending: Ending,
}

/// What a turn left behind.
pub(super) struct Remains {
    pub message: String,
    pub diff: Option<String>,
    pub usage: Option<Usage>,
}

impl State {
    pub fn set_thread(&self, id: &str) {
        self.inner.lock().thread = id.to_owned();
    }

    /// Forgets the last turn, before the next one is asked for.
    pub fn prepare(&self) {
        let mut inner = self.inner.lock();
        inner.ends.clear();
        inner.turn = None;
        inner.message.clear();
        inner.diff = None;
        inner.heard = Some(Instant::now());
    }

    pub fn set_turn(&self, id: &str) {
        let mut inner = self.inner.lock();
        inner.turn = Some(id.to_owned());
        inner.heard = Some(Instant::now());
        drop(inner);
        self.ended.notify_waiters();
    }

    /// `<thread>-<turn>`, once there is a turn.
    pub fn session_id(&self) -> Option<String> {
        let inner = self.inner.lock();
        let turn = inner.turn.as_ref()?;
        Some(format!("{}-{turn}", inner.thread))
    }

    /// The same for a message, which may name the turn before the answer that starts it was read.
    pub fn session_id_of(&self, params: &Value) -> Option<String> {
        self.session_id().or_else(|| {
            let inner = self.inner.lock();
            let thread = params.get("threadId")?.as_str()?;
            let turn = params
                .get("turnId")
                .or_else(|| params.pointer("/turn/id"))?
                .as_str()?;
            (thread == inner.thread).then(|| format!("{thread}-{turn}"))
        })
    }

    /// The server said something.
    pub fn touch(&self) {
        self.inner.lock().heard = Some(Instant::now());
    }

    /// Since when nothing was heard, as far as that counts.
    pub fn silent_since(&self) -> Instant {
        let inner = self.inner.lock();
        match inner.heard {
            Some(heard) if inner.tools == 0 => heard,
            _ => Instant::now(),
        }
    }

    /// A local tool runs until the guard is dropped.
    pub fn tool(&self) -> ToolGuard<'_> {
        self.inner.lock().tools += 1;
        ToolGuard(self)
    }

    /// Notes what a notification says of the turn.
    pub fn note(&self, event: &Event) {
        let params = &event.payload;
        let usage = event.usage();
        let mut inner = self.inner.lock();
        let concerned = match params.get("threadId").and_then(Value::as_str) {
            Some(thread) => thread == inner.thread,
            None => true,
        };
        if !concerned {
            return;
        }
        if usage.is_some() {
            inner.usage = usage;
        }
        match event.method.as_str() {
            "item/completed" if params.pointer("/item/type") == Some(&"agentMessage".into()) => {
                let text = params.pointer("/item/text").and_then(Value::as_str);
                inner.message = text.unwrap_or_default().to_owned();
            }
            "turn/diff/updated" => {
                inner.diff = params
                    .get("diff")
                    .and_then(Value::as_str)
                    .map(str::to_owned);
            }
            _ => {}
        }
    }

    /// Notes that the turn that is awaited cannot go on, whichever of its agents asked for what it cannot have.
    pub fn give_up(&self, ending: Ending) {
        self.end(&Value::Null, ending);
    }

    /// Notes an end of a turn; the params say which, or else it is the one that is awaited.
    pub fn end(&self, params: &Value, ending: Ending) {
        let text = |place: &str| {
            params
                .pointer(place)
                .and_then(Value::as_str)
                .map(str::to_owned)
        };
        let end = End {
            thread: text("/threadId").or_else(|| text("/conversationId")),
            turn: text("/turn/id").or_else(|| text("/turnId")),
            ending,
        };
        let mut inner = self.inner.lock();
        if inner.ends.len() < MOST_ENDS {
            inner.ends.push(end);
        }
        drop(inner);
        self.ended.notify_waiters();
    }

    /// Waits for the end of the turn that was set.
    pub async fn ending(&self) -> Ending {
        loop {
            let ended = self.ended.notified();
            tokio::pin!(ended);
            ended.as_mut().enable();
            if let Some(ending) = self.inner.lock().ending() {
                return ending;
            }
            ended.await;
        }
    }

    /// Takes what the turn left behind.
    pub fn remains(&self) -> Remains {
        let mut inner = self.inner.lock();
        Remains {
            message: std::mem::take(&mut inner.message),
            diff: inner.diff.take(),
            usage: inner.usage,
        }
    }
}

impl Inner {
    /// The first end that is about the turn; agents that a turn starts have threads and turns of their own.
    fn ending(&self) -> Option<Ending> {
        let turn = self.turn.as_ref()?;
        let is_ours = |end: &&End| {
            end.thread.as_ref().is_none_or(|it| *it == self.thread)
                && end.turn.as_ref().is_none_or(|it| it == turn)
        };
        self.ends.iter().find(is_ours).map(|end| end.ending.clone())
    }
}

/// A local tool that runs.
pub(super) struct ToolGuard<'a>(&'a State);

impl Drop for ToolGuard<'_> {
    fn drop(&mut self) {
        let mut inner = self.0.inner.lock();
        inner.tools -= 1;
        inner.heard = Some(Instant::now());
    }
}
