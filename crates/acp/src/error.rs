//! Errors as editors show them: the reason is in the message, since most editors show nothing else.

use quipu_rpc::{ErrorObject, codes};

/// The code that makes an editor ask its user to log in.
const AUTH_REQUIRED: i64 = -32000;

pub type Result<T, E = ErrorObject> = std::result::Result<T, E>;

/// An error of the server, for the editor.
pub fn refused(error: quipu_client::Error) -> ErrorObject {
    match error {
        quipu_client::Error::Refused { error, .. } => invalid(error.message),
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

pub fn auth_required() -> ErrorObject {
    ErrorObject::new(AUTH_REQUIRED, "Authentication required: log in first")
}
