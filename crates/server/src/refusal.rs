//! Why a request is refused: a closed set, with one conversion to the errors of the wire.
//!
//! Reasons that several methods share have a variant each. A reason that only one method can have is a text of its
//! handler: its kind is a variant here, so the codes and data of all errors are still in one place.

use quipu_config::{CloudError, CloudErrorKind};
use quipu_engine::{MAX_PENDING, MAX_PENDING_BYTES, MAX_RECORDED};
use quipu_rpc::{ErrorObject, codes};
use quipu_wire::{CodexErrorInfo, NonSteerableTurnKind, ThreadReadState, TurnError};
use serde_json::{Value, json};
use uuid::Uuid;

/// Why a request is refused. The text is what the client reads.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub(crate) enum Refusal {
    #[error("invalid thread id: {0}")]
    InvalidThreadId(String),
    #[error("thread not found: {0}")]
    ThreadNotFound(String),
    #[error("thread not loaded: {0}")]
    ThreadNotLoaded(Uuid),
    #[error("no rollout found for thread id {0}")]
    NoRollout(Uuid),
    /// The rollout of a thread that the index knows is gone.
    #[error("failed to locate rollout for thread {0}")]
    RolloutLost(Uuid),
    /// Another process writes to the thread.
    #[error("{0}")]
    ThreadInUse(String),
    #[error("the thread is being unloaded")]
    ThreadUnloading,
    #[error(
        "Too many threads are loaded: {opened} of this client (at most {per_client}), {all} of all clients (at most \
         {max}). Unsubscribe from threads that are not needed, and retry."
    )]
    TooManyThreads {
        opened: usize,
        per_client: usize,
        all: usize,
        max: usize,
    },
    #[error("input must not be empty")]
    EmptyInput,
    #[error("Input exceeds the maximum length of {max} characters.")]
    InputTooLong { actual: usize, max: usize },
    #[error("the input and its files take {0} bytes, which exceed the maximum of {MAX_RECORDED}")]
    InputTooLarge(usize),
    #[error(
        "too much input waits for the model: at most {MAX_PENDING} messages and {MAX_PENDING_BYTES} bytes; send \
         more when the turn has taken it"
    )]
    TooMuchPending,
    #[error("no active turn to steer")]
    NoActiveTurn,
    #[error("expected active turn id `{expected}` but found `{actual}`")]
    WrongTurn { expected: String, actual: String },
    #[error("expected active turn id {expected} but found {actual}")]
    InterruptsAnother { expected: String, actual: String },
    #[error("{method} is not supported: {reason}")]
    Unsupported {
        method: String,
        reason: &'static str,
    },
    /// What is read of a thread has changed since the client looked.
    #[error("read state changed")]
    ReadStateConflict(Box<ThreadReadState>),
    #[error("turn not found: {0}")]
    TurnNotFound(String),
    #[error("cannot steer a {0} turn")]
    NotSteerable(NonSteerableTurnKind),
    #[error("Cannot rollback while a turn is in progress.")]
    TurnRunning,
    #[error("command must not be empty")]
    EmptyCommand,
    #[error("invalid cursor: {0}")]
    InvalidCursor(String),
    /// The user's configuration cannot be read again.
    #[error("failed to reload config: {0}")]
    ConfigUnreadable(String),
    /// The settings that a request brings, with the user's, make no configuration.
    #[error("failed to load configuration: {0}")]
    InvalidConfig(String),
    #[error("Server overloaded; retry later.")]
    Overloaded,
    #[error("The server is about to be restarted and takes no new turns; retry later.")]
    Stopping,
    #[error("Not initialized")]
    NotInitialized,
    #[error("failed to load configuration: {0}")]
    CloudRequirements(CloudError),
    /// A setting was not changed, for a reason with a code of its own.
    #[error("{text}")]
    ConfigWrite { text: String, code: &'static str },
    /// A mistake of the caller.
    #[error("{0}")]
    InvalidRequest(String),
    /// A parameter with a value that is not acceptable.
    #[error("{0}")]
    InvalidParams(String),
    /// There is no room for what the request brings; it may be sent again.
    #[error("{0}")]
    NoRoom(String),
    /// A failure of the server.
    #[error("{0}")]
    Internal(String),
}

impl Refusal {
    /// The user's configuration cannot be read again.
    pub fn config_unreadable(error: impl ToString) -> Refusal {
        Refusal::ConfigUnreadable(error.to_string())
    }

    /// A mistake of the caller.
    pub fn invalid_request(text: impl Into<String>) -> Refusal {
        Refusal::InvalidRequest(text.into())
    }

    /// A parameter with a value that is not acceptable.
    pub fn invalid_params(text: impl Into<String>) -> Refusal {
        Refusal::InvalidParams(text.into())
    }

    /// A failure of the server.
    pub fn internal(text: impl Into<String>) -> Refusal {
        Refusal::Internal(text.into())
    }

    fn code(&self) -> i64 {
        match self {
            Refusal::Internal(_) | Refusal::ConfigUnreadable(_) | Refusal::RolloutLost(_) => {
                codes::INTERNAL_ERROR
            }
            Refusal::Unsupported { .. } => codes::METHOD_NOT_FOUND,
            Refusal::InvalidParams(_) | Refusal::InputTooLong { .. } => codes::INVALID_PARAMS,
            Refusal::Overloaded
            | Refusal::Stopping
            | Refusal::NoRoom(_)
            | Refusal::TooManyThreads { .. } => codes::OVERLOADED,
            _ => codes::INVALID_REQUEST,
        }
    }

    /// What a program can read.
    fn data(&self) -> Option<Value> {
        match self {
            Refusal::InputTooLong { actual, max } => Some(json!({
                "input_error_code": "input_too_large", "max_chars": max, "actual_chars": actual,
            })),
            Refusal::CloudRequirements(error) => Some(cloud_data(error)),
            Refusal::ReadStateConflict(state) => {
                Some(json!({ "reason": "readStateConflict", "readState": state }))
            }
            Refusal::ConfigWrite { code, .. } => Some(json!({ "config_write_error_code": code })),
            Refusal::NotSteerable(turn_kind) => serde_json::to_value(TurnError {
                message: self.to_string(),
                codex_error_info: Some(CodexErrorInfo::ActiveTurnNotSteerable {
                    turn_kind: *turn_kind,
                }),
                additional_details: None,
            })
            .ok(),
            _ => None,
        }
    }
}

/// Why the limits of a workspace are not known, as clients read it.
fn cloud_data(error: &CloudError) -> Value {
    let mut data = json!({
        "reason": "cloudRequirements", "errorCode": error.kind.name(), "detail": error.detail,
    });
    if let Some(status) = error.status {
        data["statusCode"] = json!(status);
    }
    if error.kind == CloudErrorKind::Auth {
        data["action"] = json!("relogin");
    }
    data
}

impl From<Refusal> for ErrorObject {
    fn from(refusal: Refusal) -> ErrorObject {
        let error = ErrorObject::new(refusal.code(), refusal.to_string());
        match refusal.data() {
            Some(data) => error.with_data(data),
            None => error,
        }
    }
}

impl From<quipu_engine::Refusal> for Refusal {
    fn from(refusal: quipu_engine::Refusal) -> Refusal {
        use quipu_engine::Refusal as From;
        match refusal {
            From::NoActiveTurn => Refusal::NoActiveTurn,
            From::WrongTurn { expected, actual } => Refusal::WrongTurn {
                expected: expected.into(),
                actual: actual.into(),
            },
            From::EmptyInput => Refusal::EmptyInput,
            From::TooMuchPending => Refusal::TooMuchPending,
            From::Closed => Refusal::ThreadUnloading,
            From::NotSteerable(turn_kind) => Refusal::NotSteerable(turn_kind),
        }
    }
}
