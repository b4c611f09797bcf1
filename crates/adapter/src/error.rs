//! Why an evaluation has no result, and in which phase that was found.

use std::fmt;
use std::time::Duration;

use quipu_client::wire::{CodexErrorInfo, TurnError};
use quipu_client::{Cause, ConnectError};

use crate::{Money, TemplateError, Usage};

/// The result of an evaluation.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The part of an evaluation that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Phase {
    /// Before the model answered: the configuration, the server's start, the login, the thread, the
    /// turn, or the model provider.
    Request,
    /// The answer: the turn failed, or its output is missing or not of its type.
    Response,
    /// A tool, in a way that the model cannot be told, or the sandbox.
    Tool,
    /// Tokens or money are used up.
    Budget,
    /// Time is up.
    Deadline,
}

impl Phase {
    /// The phase in one word.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Phase::Request => "request",
            Phase::Response => "response",
            Phase::Tool => "tool",
            Phase::Budget => "budget",
            Phase::Deadline => "deadline",
        }
    }
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Why an evaluation has no result.
#[derive(Clone, Debug, thiserror::Error)]
#[error("evaluation failed ({}): {}", .0.phase, .0.message)]
pub struct Error(Box<Failure>);

#[derive(Clone, Debug)]
struct Failure {
    phase: Phase,
    message: String,
    cause: Option<CodexErrorInfo>,
    details: Option<String>,
    stderr: Option<String>,
    usage: Usage,
    cost: Option<Money>,
    expansion: Option<Expansion>,
}

/// Sections of a prompt that the model wants to read in full.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expansion {
    /// The keys of the sections.
    pub sections: Vec<String>,
    /// Why, as the model says.
    pub reason: String,
}

impl Error {
    pub(crate) fn new(phase: Phase, message: impl Into<String>) -> Error {
        Error(Box::new(Failure {
            phase,
            message: message.into(),
            cause: None,
            details: None,
            stderr: None,
            usage: Usage::default(),
            cost: None,
            expansion: None,
        }))
    }

    pub(crate) fn request(message: impl Into<String>) -> Error {
        Error::new(Phase::Request, message)
    }

    pub(crate) fn response(message: impl Into<String>) -> Error {
        Error::new(Phase::Response, message)
    }

    pub(crate) fn expansion_required(expansion: Expansion) -> Error {
        let sections = expansion.sections.join("`, `");
        let mut error = Error::response(format!(
            "the model asks for the full text of `{sections}`; evaluate the prompt again with these sections expanded"
        ));
        error.0.expansion = Some(expansion);
        error
    }

    /// A turn that ended as failed.
    pub(crate) fn of_turn(error: &TurnError) -> Error {
        let phase = error
            .codex_error_info
            .as_ref()
            .map_or(Phase::Response, phase_of);
        let mut failure = Error::new(phase, error.message.clone());
        failure.0.cause = error.codex_error_info.clone();
        failure.0.details = error.additional_details.clone();
        failure
    }

    /// A step before the turn was accepted, or the end of the connection.
    pub(crate) fn of_client(phase: Phase, error: &quipu_client::Error) -> Error {
        let stderr = match error {
            quipu_client::Error::Closed(Cause::ServerExited(exit)) => Some(exit.stderr.clone()),
            _ => None,
        };
        let mut failure = Error::new(phase, error.to_string());
        failure.0.stderr = stderr;
        failure
    }

    pub(crate) fn of_connect(error: &ConnectError) -> Error {
        match error {
            ConnectError::Handshake {
                error: quipu_client::Error::TimedOut { limit, .. },
                stderr,
            } => Error::startup(*limit).with_stderr(stderr.clone()),
            ConnectError::Handshake { error, stderr } => {
                Error::of_client(Phase::Request, error).with_stderr(stderr.clone())
            }
            ConnectError::Spawn { program, source } => Error::request(format!(
                "cannot start `{}`: {source}; install it, or give the path of a server with `Server::spawn`",
                program.display()
            )),
            other => Error::request(other.to_string()),
        }
    }

    pub(crate) fn startup(limit: Duration) -> Error {
        Error::request(format!(
            "the server did not complete the handshake within {limit:?}"
        ))
    }

    /// The same failure for another reason, of which it is a consequence.
    pub(crate) fn with_reason(mut self, reason: Error) -> Error {
        self.0.phase = reason.0.phase;
        self.0.message = reason.0.message;
        self
    }

    pub(crate) fn with_stderr(mut self, tail: String) -> Error {
        self.0.stderr = self.0.stderr.or(Some(tail).filter(|it| !it.is_empty()));
        self
    }

    /// Adds to what was used all the same.
    pub(crate) fn with_usage(mut self, usage: Usage, cost: Option<Money>) -> Error {
        self.0.usage += usage;
        self.0.cost = Money::sum_known(self.0.cost, cost);
        self
    }

    /// Where it failed.
    #[must_use]
    pub fn phase(&self) -> Phase {
        self.0.phase
    }

    /// What went wrong, in words.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// The server's own cause, if a turn failed.
    #[must_use]
    pub fn cause(&self) -> Option<&CodexErrorInfo> {
        self.0.cause.as_ref()
    }

    /// What else the server said about it.
    #[must_use]
    pub fn details(&self) -> Option<&str> {
        self.0.details.as_deref()
    }

    /// The end of the server's standard error, at most 8 KiB, if it is a child process.
    #[must_use]
    pub fn stderr(&self) -> Option<&str> {
        self.0.stderr.as_deref()
    }

    /// What was used all the same.
    #[must_use]
    pub fn usage(&self) -> Usage {
        self.0.usage
    }

    /// What that cost, if the adapter knows the model's price.
    #[must_use]
    pub fn cost(&self) -> Option<Money> {
        self.0.cost
    }

    /// The sections that the model wants to read, if that is why there is no result.
    #[must_use]
    pub fn expansion(&self) -> Option<&Expansion> {
        self.0.expansion.as_ref()
    }
}

/// A prompt that cannot be made.
impl From<TemplateError> for Error {
    fn from(error: TemplateError) -> Error {
        Error::request(error.to_string())
    }
}

/// The phase to which a server's cause belongs.
fn phase_of(cause: &CodexErrorInfo) -> Phase {
    use CodexErrorInfo as Info;
    match cause {
        Info::UsageLimitExceeded => Phase::Budget,
        Info::SandboxError => Phase::Tool,
        Info::HttpConnectionFailed { .. }
        | Info::Unauthorized
        | Info::BadRequest
        | Info::ServerOverloaded
        | Info::ActiveTurnNotSteerable { .. }
        | Info::ResponseTooManyFailedAttempts { .. }
        | Info::ResponseStreamConnectionFailed { .. }
        | Info::ResponseStreamDisconnected { .. } => Phase::Request,
        // Servers up to 0.98 say that a model's capacity is used up.
        Info::Unrecognized(other) if other.to_value().get("modelCap").is_some() => Phase::Budget,
        _ => Phase::Response,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// The table of causes, in the form in which servers send them.
    #[test]
    fn every_cause_has_its_phase() {
        let status = json!({ "httpStatusCode": 500 });
        let table = [
            (json!("contextWindowExceeded"), Phase::Response),
            (json!("usageLimitExceeded"), Phase::Budget),
            (json!("serverOverloaded"), Phase::Request),
            (json!({ "httpConnectionFailed": status }), Phase::Request),
            (json!("unauthorized"), Phase::Request),
            (json!("badRequest"), Phase::Request),
            (json!("sandboxError"), Phase::Tool),
            (
                json!({ "responseTooManyFailedAttempts": status }),
                Phase::Request,
            ),
            (
                json!({ "responseStreamConnectionFailed": status }),
                Phase::Request,
            ),
            (
                json!({ "responseStreamDisconnected": status }),
                Phase::Request,
            ),
            (
                json!({ "activeTurnNotSteerable": { "turnKind": "review" } }),
                Phase::Request,
            ),
            (json!("threadRollbackFailed"), Phase::Response),
            (json!("internalServerError"), Phase::Response),
            (
                json!({ "modelCap": { "model": "m", "reset_after_seconds": 9 } }),
                Phase::Budget,
            ),
            (json!("other"), Phase::Response),
            (json!("somethingNew"), Phase::Response),
        ];
        for (cause, phase) in table {
            let told = json!({ "message": "m", "codexErrorInfo": cause, "additionalDetails": "d" });
            let error: TurnError = serde_json::from_value(told).unwrap();
            let error = Error::of_turn(&error);
            assert_eq!(error.phase(), phase, "{cause}");
            assert_eq!(serde_json::to_value(error.cause()).unwrap(), cause);
            assert_eq!((error.message(), error.details()), ("m", Some("d")));
        }
    }
}
