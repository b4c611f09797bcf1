//! Issue trackers: what the scheduler reads of them, in one shape for all, and the tools that they offer to agents.

pub mod directory;
pub mod github;
pub mod gitlab;
mod http;
pub mod jira;
pub mod linear;
mod provider;
mod remote;
mod rest;

use std::sync::Arc;

use futures_util::future::BoxFuture;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::config::TrackerConfig;
use crate::env::Env;
use crate::session::Tool;
use crate::time::{self, Millis};
use remote::{Remote, RemoteTracker};

/// One piece of work, whatever its tracker calls it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Issue {
    /// Identity for dispatch; opaque.
    pub id: String,
    /// Identifiers that the tracker's tools need; never a secret.
    pub native_ref: Option<Map<String, Value>>,
    /// The key that people use, such as `ABC-123`. Names the workspace.
    pub identifier: String,
    pub title: String,
    pub description: Option<String>,
    /// 1 is the most urgent, 4 the least; others sort last.
    pub priority: Option<i64>,
    /// The state as the tracker spells it.
    pub state: String,
    pub branch_name: Option<String>,
    pub url: Option<String>,
    pub assignee_id: Option<String>,
    /// In lower case, without duplicates.
    pub labels: Vec<String>,
    pub blocked_by: Vec<Blocker>,
    /// Whether the tracker's own rules (assignment, blockers, …) let an agent work on it.
    pub dispatchable: bool,
    #[serde(with = "instant")]
    pub created_at: Option<Millis>,
    #[serde(with = "instant")]
    pub updated_at: Option<Millis>,
}

/// What an issue waits for, as far as the tracker says.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Blocker {
    pub id: Option<String>,
    pub identifier: Option<String>,
    pub state: Option<String>,
}

impl Issue {
    /// An issue with what every issue has.
    #[must_use]
    pub fn new(id: &str, identifier: &str, title: &str, state: &str) -> Issue {
        Issue {
            id: id.to_owned(),
            native_ref: None,
            identifier: identifier.to_owned(),
            title: title.to_owned(),
            description: None,
            priority: None,
            state: state.to_owned(),
            branch_name: None,
            url: None,
            assignee_id: None,
            labels: Vec::new(),
            blocked_by: Vec::new(),
            dispatchable: true,
            created_at: None,
            updated_at: None,
        }
    }

    /// Which required member is empty, if one is.
    #[must_use]
    pub fn missing(&self) -> Option<&'static str> {
        let members = [
            ("id", &self.id),
            ("identifier", &self.identifier),
            ("title", &self.title),
            ("state", &self.state),
        ];
        let empty = members.iter().find(|(_, text)| text.trim().is_empty());
        empty.map(|(name, _)| *name)
    }
}

/// Labels as they are compared: trimmed, in lower case, none blank, none twice.
pub fn labels<S: AsRef<str>>(given: impl IntoIterator<Item = S>) -> Vec<String> {
    let mut labels: Vec<String> = Vec::new();
    for label in given {
        let label = label.as_ref().trim().to_lowercase();
        if !label.is_empty() && !labels.contains(&label) {
            labels.push(label);
        }
    }
    labels
}

/// A state as it is compared.
#[must_use]
pub fn normalized(state: &str) -> String {
    state.trim().to_lowercase()
}

/// Where issues come from. Reads are atomic: after an error nothing of the answer counts.
pub trait Tracker: Send + Sync {
    /// The issues in these states, also those that are not dispatchable. A record without what every issue has is
    /// left out and logged. No states, no request.
    fn issues_in_states<'a>(
        &'a self,
        states: &'a [String],
    ) -> BoxFuture<'a, Result<Vec<Issue>, TrackerError>>;

    /// The issues with these ids. Those that are no longer visible are left out; a malformed one is an error, since
    /// leaving it out would mean that it is gone. No ids, no request.
    fn issues_by_id<'a>(
        &'a self,
        ids: &'a [String],
    ) -> BoxFuture<'a, Result<Vec<Issue>, TrackerError>>;

    /// The tools that it offers to the agent that works on an issue. They run in this process, with the tracker's
    /// secret, and are bound to this tracker for as long as the session lives.
    fn tools(&self, _issue: &Issue) -> Vec<Arc<dyn Tool>> {
        Vec::new()
    }

    /// Variables that hold its secrets, which agents must not inherit.
    fn secret_variables(&self) -> Vec<String> {
        Vec::new()
    }
}

/// The tracker of a workflow that names none.
pub const DEFAULT_KIND: &str = directory::KIND;

/// The values of `tracker.kind`.
pub const KINDS: &[&str] = &[
    directory::KIND,
    github::KIND,
    gitlab::KIND,
    jira::KIND,
    linear::KIND,
];

/// The states in which issues are worked on, and those in which they are done, where a workflow does not say; nothing
/// for a kind that is not supported.
#[must_use]
pub fn default_states(kind: &str) -> Option<(&'static [&'static str], &'static [&'static str])> {
    match kind {
        directory::KIND => Some((directory::ACTIVE_STATES, directory::TERMINAL_STATES)),
        github::KIND => Some((github::ACTIVE_STATES, github::TERMINAL_STATES)),
        gitlab::KIND => Some((gitlab::ACTIVE_STATES, gitlab::TERMINAL_STATES)),
        jira::KIND => Some((jira::ACTIVE_STATES, jira::TERMINAL_STATES)),
        linear::KIND => Some((linear::ACTIVE_STATES, linear::TERMINAL_STATES)),
        _ => None,
    }
}

/// The tracker that a workflow names.
pub fn open(config: &TrackerConfig, env: &Env) -> Result<Arc<dyn Tracker>, TrackerError> {
    match config.kind.as_str() {
        directory::KIND => Ok(Arc::new(directory::DirectoryTracker::new(config, env)?)),
        github::KIND => remote(github::GitHubTracker::new(config, env)?),
        gitlab::KIND => remote(gitlab::GitLabTracker::new(config, env)?),
        jira::KIND => remote(jira::JiraTracker::new(config, env)?),
        linear::KIND => remote(linear::LinearTracker::new(config, env)?),
        other => Err(TrackerError::new(
            TrackerErrorKind::UnsupportedKind,
            format!("`{other}` is not one of {}", KINDS.join(", ")),
        )),
    }
}

fn remote(service: impl Remote) -> Result<Arc<dyn Tracker>, TrackerError> {
    Ok(Arc::new(RemoteTracker(service)))
}

/// Why a tracker gave no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}: {message}", category.name())]
pub struct TrackerError {
    pub category: TrackerErrorKind,
    /// For people; never holds a secret.
    pub message: String,
    /// How long the tracker asks to wait.
    pub retry_after_ms: Option<u64>,
}

/// The kinds of failure that all trackers share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrackerErrorKind {
    UnsupportedKind,
    InvalidConfig,
    MissingSecret,
    /// The request did not reach it, or no answer came.
    Request,
    /// It answered with an error status.
    Status,
    /// Its answer could not be understood.
    Response,
    /// Its pages do not fit together.
    Pagination,
    RateLimited,
}

impl TrackerErrorKind {
    /// The portable name of the category.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            TrackerErrorKind::UnsupportedKind => "unsupported_tracker_kind",
            TrackerErrorKind::InvalidConfig => "invalid_tracker_config",
            TrackerErrorKind::MissingSecret => "missing_tracker_secret",
            TrackerErrorKind::Request => "tracker_request",
            TrackerErrorKind::Status => "tracker_status",
            TrackerErrorKind::Response => "tracker_response",
            TrackerErrorKind::Pagination => "tracker_pagination",
            TrackerErrorKind::RateLimited => "tracker_rate_limited",
        }
    }
}

impl TrackerError {
    #[must_use]
    pub fn new(category: TrackerErrorKind, message: impl Into<String>) -> TrackerError {
        TrackerError {
            category,
            message: message.into(),
            retry_after_ms: None,
        }
    }
}

mod instant {
    //! Instants are RFC 3339 wherever issues are written.

    use serde::{Deserialize as _, Deserializer, Serialize as _, Serializer};

    use super::{Millis, time};

    pub fn serialize<S: Serializer>(at: &Option<Millis>, to: S) -> Result<S::Ok, S::Error> {
        at.map(time::rfc3339).serialize(to)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Millis>, D::Error> {
        let text = Option::<String>::deserialize(from)?;
        Ok(text.as_deref().and_then(time::parse))
    }
}
