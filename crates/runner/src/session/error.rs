//! What can end a session: a closed set, each with a name that logs, retries and tests go by.

use std::path::PathBuf;
use std::time::Duration;

use quipu_client::{Cause, ConnectError, Error, ErrorObject, TurnLimit};
use serde_json::Value;

use super::{Launch, SessionOptions};
use crate::ssh;

/// Why a session could not start, or why it ended. After any of these the server is gone with everything that it
/// started; the next prompt needs a new session.
#[derive(Clone, Debug, thiserror::Error)]
pub enum SessionError {
    /// The workspace is not an absolute path of a directory.
    #[error("the workspace {} cannot be used: {reason}", workspace.display())]
    InvalidWorkspace {
        /// The path.
        workspace: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The machine on which the server was to run cannot be reached.
    #[error("{host} cannot be reached: {reason}")]
    HostUnavailable {
        /// The machine.
        host: String,
        /// What `ssh` says.
        reason: String,
    },
    /// The server's program could not be started.
    #[error("cannot start `{command}`: {reason}")]
    NotStarted {
        /// The program or command line.
        command: String,
        /// What the system or the shell says.
        reason: String,
    },
    /// A request was not answered in time.
    #[error("`{method}` was not answered within {limit:?}")]
    ResponseTimeout {
        /// What was asked.
        method: &'static str,
        /// How long the session waited.
        limit: Duration,
    },
    /// A request was answered with an error.
    #[error("`{method}` was refused: {error}")]
    ResponseError {
        /// What was asked.
        method: &'static str,
        /// The server's answer.
        error: ErrorObject,
    },
    /// The server exited or closed the connection while something was awaited.
    #[error("the server is gone: {reason}")]
    PortExit {
        /// The exit code; nothing if a signal ended it or if it is not a child process.
        status: Option<i32>,
        /// The status in words, and the end of its standard error.
        reason: String,
    },
    /// The answer to `thread/start` or `thread/resume` has no id of a thread.
    #[error("the answer to `{method}` has no `thread.id`: {payload}")]
    InvalidThreadPayload {
        /// What was asked.
        method: &'static str,
        /// The answer.
        payload: Value,
    },
    /// The answer to `turn/start` has no id of a turn.
    #[error("the answer to `turn/start` has no `turn.id`: {payload}")]
    InvalidTurnPayload {
        /// The answer.
        payload: Value,
    },
    /// The turn was silent for too long, or took too long in all.
    #[error("the turn was ended: {limit}")]
    TurnTimeout {
        /// The limit that it exceeded.
        limit: TurnLimit,
    },
    /// The turn failed.
    #[error("the turn failed: {}", reason(params))]
    TurnFailed {
        /// What the server said.
        params: Value,
    },
    /// The turn was interrupted or cancelled.
    #[error("the turn was cancelled: {}", reason(params))]
    TurnCancelled {
        /// What the server said.
        params: Value,
    },
    /// The turn needs the answer of a person.
    #[error("the turn needs the answer of a person: {payload}")]
    TurnInputRequired {
        /// What was asked.
        payload: Value,
    },
    /// The turn needs an approval, which only the policy `never` lets the session give.
    #[error("the turn needs an approval: {payload}")]
    ApprovalRequired {
        /// What was asked.
        payload: Value,
    },
    /// An earlier error ended the session.
    #[error("the session has ended before ({code}); start a new one")]
    Ended {
        /// The name of that error.
        code: &'static str,
    },
}

impl SessionError {
    /// The name of the error, which does not change between versions.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            SessionError::InvalidWorkspace { .. } => "invalid_workspace_cwd",
            SessionError::HostUnavailable { .. } => ssh::HOST_UNAVAILABLE,
            SessionError::NotStarted { .. } => "codex_not_found",
            SessionError::ResponseTimeout { .. } => "response_timeout",
            SessionError::ResponseError { .. } => "response_error",
            SessionError::PortExit { .. } => "port_exit",
            SessionError::InvalidThreadPayload { .. } => "invalid_thread_payload",
            SessionError::InvalidTurnPayload { .. } => "invalid_turn_payload",
            SessionError::TurnTimeout { .. } => "turn_timeout",
            SessionError::TurnFailed { .. } => "turn_failed",
            SessionError::TurnCancelled { .. } => "turn_cancelled",
            SessionError::TurnInputRequired { .. } => "turn_input_required",
            SessionError::ApprovalRequired { .. } => "approval_required",
            SessionError::Ended { .. } => "session_ended",
        }
    }
}

/// The sentence in what a server says of the end of a turn, wherever it stands.
fn reason(params: &Value) -> String {
    let places = [
        "/turn/error/message",
        "/error/message",
        "/message",
        "/reason",
    ];
    let text = places
        .iter()
        .find_map(|place| params.pointer(place)?.as_str());
    text.unwrap_or("the server gave no reason").to_owned()
}

/// Exit codes by which a shell says that it could not run a command.
const NOT_RUN: [i32; 2] = [126, 127];

/// Why no client could be connected.
pub(super) fn of_connect(options: &SessionOptions, error: &ConnectError) -> SessionError {
    let command = options.launch.to_string();
    match error {
        ConnectError::Handshake {
            error: Error::Closed(Cause::ServerExited(exit)),
            ..
        } => {
            let reason = exit.stderr.trim().to_owned();
            match (&options.launch, exit.status.code()) {
                (Launch::Ssh { host, .. }, Some(ssh::UNREACHABLE)) => {
                    SessionError::HostUnavailable {
                        host: host.to_string(),
                        reason,
                    }
                }
                (Launch::Ssh { .. }, Some(ssh::NO_WORKSPACE)) => SessionError::InvalidWorkspace {
                    workspace: options.workspace.clone(),
                    reason,
                },
                (_, Some(code)) if NOT_RUN.contains(&code) => {
                    SessionError::NotStarted { command, reason }
                }
                _ => gone(&Cause::ServerExited(exit.clone())),
            }
        }
        ConnectError::Handshake { error, .. } => of_call("initialize", error),
        other => SessionError::NotStarted {
            command,
            reason: other.to_string(),
        },
    }
}

/// Why a call has no answer.
pub(super) fn of_call(method: &'static str, error: &Error) -> SessionError {
    match error {
        Error::TimedOut { limit, .. } => SessionError::ResponseTimeout {
            method,
            limit: *limit,
        },
        Error::Refused { error, .. } => SessionError::ResponseError {
            method,
            error: error.clone(),
        },
        Error::Closed(cause) => gone(cause),
        other => SessionError::ResponseError {
            method,
            error: ErrorObject::internal(other.to_string()),
        },
    }
}

/// The end of a server that was not asked for.
pub(super) fn gone(cause: &Cause) -> SessionError {
    SessionError::PortExit {
        status: match cause {
            Cause::ServerExited(exit) => exit.status.code(),
            _ => None,
        },
        reason: cause.to_string(),
    }
}
