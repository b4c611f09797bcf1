//! What the server sends of its own accord: reported to the observer, and understood as far as a turn's end goes.

use std::sync::{Arc, OnceLock};
use std::time::SystemTime;

use quipu_client::Received;
use serde_json::Value;

use super::state::{Ending, State};
use super::{Event, EventKind, Observer};

/// One session's monitor, shared by the connection and the questions.
pub(super) struct Monitor {
    pub state: State,
    observer: Observer,
    pid: OnceLock<u32>,
}

impl Monitor {
    pub fn new(observer: Observer) -> Arc<Monitor> {
        Arc::new(Monitor {
            state: State::default(),
            observer,
            pid: OnceLock::new(),
        })
    }

    /// Notes the process of the server, which is known once it has started.
    pub fn set_pid(&self, pid: Option<u32>) {
        if let Some(pid) = pid {
            // It is set once.
            self.pid.set(pid).ok();
        }
    }

    pub fn received(&self, received: Received<'_>) {
        match received {
            Received::Notification { method, params } => {
                self.state.touch();
                self.notified(method, parse(params));
            }
            // Reported when it is answered.
            Received::Question { .. } => self.state.touch(),
            Received::Malformed { error, text } => {
                self.state.touch();
                let session_id = self.state.session_id();
                tracing::warn!(session_id, %error, line = text, "malformed line");
                self.report(EventKind::Malformed, "", Value::from(text));
            }
            Received::Stderr(line) => {
                let session_id = self.state.session_id();
                tracing::debug!(session_id, line, "server stderr");
                self.report(EventKind::Stderr, "", Value::from(line));
            }
            _ => {}
        }
    }

    fn notified(&self, method: &str, params: Value) {
        let ending = ending(method, &params);
        let event = self.event(EventKind::Notification, method, params);
        self.state.note(&event);
        let params = ending.is_some().then(|| event.payload.clone());
        (self.observer)(event);
        if let (Some(ending), Some(params)) = (ending, params) {
            self.state.end(&params, ending);
        }
    }

    /// Tells the observer.
    pub fn report(&self, kind: EventKind, method: &str, payload: Value) {
        (self.observer)(self.event(kind, method, payload));
    }

    fn event(&self, kind: EventKind, method: &str, payload: Value) -> Event {
        Event {
            at: SystemTime::now(),
            session_id: self.state.session_id_of(&payload),
            pid: self.pid.get().copied(),
            kind,
            method: method.to_owned(),
            payload,
        }
    }
}

fn parse(json: &str) -> Value {
    serde_json::from_str(json).unwrap_or_else(|_| Value::from(json))
}

/// How a notification ends a turn, if it does. Today's servers report every end by `turn/completed`, whose status says
/// how it went; others have a method for each.
fn ending(method: &str, params: &Value) -> Option<Ending> {
    let params = params.clone();
    Some(match method {
        "turn/completed" => match params.pointer("/turn/status").and_then(Value::as_str) {
            None | Some("completed") => Ending::Completed(params),
            Some("interrupted") => Ending::Cancelled(params),
            // `failed`, or a word of a later server: only what is known to be success is.
            Some(_) => Ending::Failed(params),
        },
        "turn/failed" => Ending::Failed(params),
        "turn/cancelled" => Ending::Cancelled(params),
        _ if needs_input(method, &params) => Ending::InputRequired(params),
        _ => return None,
    })
}

/// Whether a message says that only a person can go on.
pub(super) fn needs_input(method: &str, params: &Value) -> bool {
    let name = method.rsplit('/').next().unwrap_or_default();
    let plain: String = name.chars().filter(char::is_ascii_alphabetic).collect();
    let plain = plain.to_ascii_lowercase();
    let is_named = method.starts_with("turn/")
        && ["inputrequired", "needsinput", "requestinput"].contains(&plain.as_str());
    let is_marked = ["requiresInput", "inputRequired", "needsInput"]
        .iter()
        .any(|member| params.get(member) == Some(&Value::Bool(true)));
    is_named || is_marked
}
