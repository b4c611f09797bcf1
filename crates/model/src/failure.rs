//! A failure on its way through the crate, before it is known whether anybody will hear of it.

use quipu_wire::RateLimitSnapshot;

use crate::error::ErrorKind;

/// Why there is no answer, or no more of it.
pub(crate) struct Failure {
    pub(crate) kind: ErrorKind,
    /// What the provider did, when the reason does not tell.
    pub(crate) cause: Option<String>,
    /// Whether to try again before anybody hears of it.
    pub(crate) transient: bool,
    /// What the provider said about limits while refusing.
    pub(crate) rate_limits: Vec<RateLimitSnapshot>,
}

impl From<ErrorKind> for Failure {
    fn from(kind: ErrorKind) -> Self {
        Self {
            kind,
            cause: None,
            transient: false,
            rate_limits: Vec::new(),
        }
    }
}
