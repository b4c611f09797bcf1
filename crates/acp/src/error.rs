//! Errors as editors show them: the reason is in the message, since most editors show nothing else.

use quipu_rpc::{ErrorObject, codes};

/// The code that makes an editor ask its user to log in.
const AUTH_REQUIRED: i64 = -32000;
/// The code for what is not there. An editor that keeps the ids of sessions begins a new one then.
const NOT_FOUND: i64 = -32002;
/// The beginning of the server's message for an unknown thread.
const NO_THREAD: [&str; 2] = ["no rollout found", "invalid thread id"];

pub type Result<T, E = ErrorObject> = std::result::Result<T, E>;

/// An error of the server, for the editor.
pub fn refused(error: quipu_client::Error) -> ErrorObject {
    match error {
        quipu_client::Error::Refused { error, .. } => {
            match NO_THREAD.iter().any(|it| error.message.starts_with(it)) {
                true => missing(error.message),
                false => invalid(error.message),
            }
        }
        other => failed(other),
    }
}

/// Something that should not have failed.
pub fn failed(error: impl std::fmt::Display) -> ErrorObject {
    ErrorObject::internal(error.to_string())
}

/// A request that cannot be fulfilled, and why.
pub fn invalid(why: impl Into<String>) -> ErrorObject {
    ErrorObject::new(codes::INVALID_PARAMS, why)
}

/// A session that is not there.
pub fn missing(why: impl Into<String>) -> ErrorObject {
    ErrorObject::new(NOT_FOUND, why)
}

/// A login that the model provider does not accept, or not any more. The editor asks its user to log in again.
pub fn login_refused(why: &str) -> ErrorObject {
    ErrorObject::new(AUTH_REQUIRED, format!("Authentication required: {why}"))
}

pub fn auth_required() -> ErrorObject {
    ErrorObject::new(AUTH_REQUIRED, "Authentication required: log in first")
}
