//! What reaches a client without being asked for.

use std::collections::BTreeMap;

use quipu_rpc::{ErrorObject, Notification, RawJson};
use quipu_wire::method::SERVER_NOTIFICATIONS;
use quipu_wire::{Json, ServerNotification};

use crate::{Cause, lenient};

/// What streams of events yield.
#[derive(Clone, Debug)]
#[allow(
    clippy::large_enum_variant,
    reason = "events are shared behind a pointer until they are taken"
)]
#[non_exhaustive]
pub enum Event {
    /// The server notified of something. A method that this version does not know is
    /// [`ServerNotification::Unrecognized`], with its params; an item of an unknown type is
    /// `ThreadItem::Unrecognized`.
    Notification(ServerNotification),
    /// A notification of a known method whose params do not have the shape that this version expects.
    Unreadable {
        /// The method.
        method: String,
        /// The params as they came.
        params: Json,
        /// What does not fit.
        error: String,
    },
    /// The stream was not read fast enough and lost events, which would stand here.
    Lagged(Lagged),
    /// An answer came to a call that nobody waits for any more. Only in the client's own stream.
    LateAnswer(LateAnswer),
    /// Something came that is not a message of the protocol, or the server says that it could not read or understand
    /// one of this client's. Only in the client's own stream.
    Malformed {
        /// What is wrong with it.
        error: String,
        /// The beginning of what came, at most 64 KiB.
        text: String,
    },
    /// The connection ended; nothing follows.
    Closed(Cause),
}

/// What a stream lost.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lagged {
    /// How many events.
    pub missed: u64,
    /// How many by method. Methods beyond a number that no server reaches are summed as `…`.
    pub by_method: BTreeMap<String, u64>,
}

/// The answer to a call that timed out or whose future was dropped.
#[derive(Clone, Debug)]
pub struct LateAnswer {
    /// What was asked.
    pub method: &'static str,
    /// The id that the request was sent with.
    pub id: i64,
    /// What the server answered.
    pub outcome: Result<Json, ErrorObject>,
}

impl Lagged {
    /// Different methods that are counted apart.
    const METHODS: usize = 128;

    pub(crate) fn add(&mut self, event: &Event) {
        self.missed += 1;
        let method = event.method();
        if let Some(count) = self.by_method.get_mut(method) {
            *count += 1;
        } else if self.by_method.len() < Lagged::METHODS {
            self.by_method.insert(method.to_owned(), 1);
        } else {
            *self.by_method.entry("…".to_owned()).or_default() += 1;
        }
    }
}

impl Event {
    /// The method of the message behind the event; empty if there is none.
    #[must_use]
    pub fn method(&self) -> &str {
        match self {
            Event::Notification(notification) => notification.method(),
            Event::Unreadable { method, .. } => method,
            Event::LateAnswer(answer) => answer.method,
            Event::Lagged(_) | Event::Malformed { .. } | Event::Closed(_) => "",
        }
    }

    pub(crate) fn read(notification: &Notification) -> Event {
        let method = &notification.method;
        let params = text(notification.params.as_ref());
        let lenient = |_| {
            let ty = lenient::params_of(SERVER_NOTIFICATIONS, method);
            let filled = lenient::filled(params, ty).unwrap_or_default();
            ServerNotification::decode(method, &filled.to_string())
        };
        match ServerNotification::decode(method, params).or_else(lenient) {
            Ok(notification) => Event::Notification(notification),
            Err(error) => Event::Unreadable {
                method: method.clone(),
                params: json(notification.params.as_ref()),
                error: error.to_string(),
            },
        }
    }
}

/// The text of params; absent ones are `null`.
pub(crate) fn text(params: Option<&RawJson>) -> &str {
    let bytes = params.map_or(&b"null"[..], RawJson::as_bytes);
    std::str::from_utf8(bytes).unwrap_or("null")
}

/// The same as a value of the protocol.
pub(crate) fn json(raw: Option<&RawJson>) -> Json {
    serde_json::from_str(text(raw)).unwrap_or_default()
}
