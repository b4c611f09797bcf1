//! What is made of everything that a session says: a line of the attempt's log, an event for the orchestrator, and the
//! changes that the agent reports.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use serde_json::Value;

use super::Hearing;
use super::log::{self, Log, Message};
use crate::orchestrator::{AgentEvent, Job, Reported};
use crate::record::Tokens;
use crate::session::{Event, EventKind, Observer};
use crate::store::Store;

/// Notifications that say no more than that the agent lives are passed on this often.
const EVERY: Duration = Duration::from_millis(500);
/// Characters of a message.
const MESSAGE: usize = 200;

/// The watcher of one session.
pub struct Watch {
    log: Log,
    hearing: Hearing,
    diffs: Diffs,
}

/// The changes of each turn as last reported, in the order of turns.
type Diffs = Arc<Mutex<BTreeMap<u32, (String, String)>>>;

impl Watch {
    pub fn new(job: &Job, store: &Store, hearing: Hearing) -> Watch {
        let path = store.places().log(&job.record.identifier, job.number());
        Watch {
            log: Log::open(path, job.config.observability.attempt_log_bytes),
            hearing,
            diffs: Diffs::default(),
        }
    }

    /// Who is notified by the session.
    pub fn observer(&self) -> Observer {
        let lines = self.log.sender();
        let hearing = Arc::clone(&self.hearing);
        let diffs = Arc::clone(&self.diffs);
        let last = Mutex::new(None::<Instant>);
        Arc::new(move |event: Event| {
            if let Some(line) = log::line(&event) {
                // A full queue costs lines, never the session.
                lines.try_send(Message::Line(line)).ok();
            }
            keep_diff(&diffs, &event);
            let counts = event.usage().is_some() || event.rate_limits().is_some();
            let matters = counts || !is_frequent(event.kind);
            let mut last = last.lock();
            if matters || last.is_none_or(|it| it.elapsed() >= EVERY) {
                *last = Some(Instant::now());
                hearing(translate(&event));
            }
        })
    }

    /// All changes that the agent reported, turn by turn.
    pub fn diff(&self) -> String {
        let diffs = self.diffs.lock();
        diffs.values().map(|(_, diff)| diff.as_str()).collect()
    }

    /// Waits until the log is written.
    pub async fn finish(&self) {
        self.log.flush().await;
    }
}

/// Whether a session may say this very often.
fn is_frequent(kind: EventKind) -> bool {
    matches!(
        kind,
        EventKind::Notification
            | EventKind::OtherMessage
            | EventKind::Malformed
            | EventKind::Stderr
    )
}

fn keep_diff(diffs: &Diffs, event: &Event) {
    if event.method != "turn/diff/updated" {
        return;
    }
    let text = |key: &str| event.payload.get(key).and_then(Value::as_str);
    let (Some(turn), Some(diff)) = (text("turnId"), text("diff")) else {
        return;
    };
    let mut diffs = diffs.lock();
    let known = diffs.iter().find(|(_, it)| it.0 == turn).map(|it| *it.0);
    let next = u32::try_from(diffs.len()).unwrap_or(u32::MAX);
    diffs.insert(known.unwrap_or(next), (turn.to_owned(), diff.to_owned()));
}

fn translate(event: &Event) -> AgentEvent {
    let started = event.kind == EventKind::SessionStarted;
    let thread = event.payload.get("threadId").and_then(Value::as_str);
    AgentEvent {
        name: event.kind.name(),
        message: message(event),
        session_id: event.session_id.clone(),
        thread_id: thread.filter(|_| started).map(str::to_owned),
        turn_started: started,
        pid: event.pid,
        tokens: event.usage().map(|usage| Reported {
            thread_id: thread.unwrap_or_default().to_owned(),
            total: Tokens::from(usage),
        }),
        rate_limits: event.rate_limits().cloned(),
    }
}

/// A few words about an event, for people.
fn message(event: &Event) -> String {
    let payload = &event.payload;
    let at = |place: &str| payload.pointer(place).and_then(Value::as_str);
    let text = at("/item/text")
        .or_else(|| at("/item/command"))
        .or_else(|| at("/turn/error/message"))
        .or_else(|| at("/message"))
        .or_else(|| at("/tool"))
        .or_else(|| payload.as_str());
    let text = match text {
        Some(text) => format!("{} {text}", event.method),
        None => event.method.clone(),
    };
    text.trim().chars().take(MESSAGE).collect()
}
