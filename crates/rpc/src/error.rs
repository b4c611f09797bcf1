//! The error member of an answer, and the codes in use.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::raw::RawJson;

/// Error codes of this protocol.
pub mod codes {
    /// What came is not JSON.
    pub const PARSE_ERROR: i64 = -32700;
    /// The request is not acceptable: undecodable, unknown, out of order, or a caller's mistake.
    pub const INVALID_REQUEST: i64 = -32600;
    /// The method does not exist. Read from other servers; ours says [`INVALID_REQUEST`].
    pub const METHOD_NOT_FOUND: i64 = -32601;
    /// A parameter has a value that is not acceptable.
    pub const INVALID_PARAMS: i64 = -32602;
    /// The server failed.
    pub const INTERNAL_ERROR: i64 = -32603;
    /// The server has no room for the request now; it may be sent again.
    pub const OVERLOADED: i64 = -32001;
}

/// Why a request failed, as the wire says it. Members are in wire order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorObject {
    /// One of [`codes`], or any other number.
    pub code: i64,
    /// Machine-readable detail.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<RawJson>,
    /// What a person reads.
    pub message: String,
}

impl ErrorObject {
    /// An error without data.
    pub fn new(code: i64, message: impl Into<String>) -> Self {
        Self {
            code,
            data: None,
            message: message.into(),
        }
    }

    /// The same error with machine-readable detail.
    pub fn with_data(self, data: impl Into<RawJson>) -> Self {
        Self {
            data: Some(data.into()),
            ..self
        }
    }

    /// A caller's mistake.
    pub fn invalid_request(message: impl Into<String>) -> Self {
        Self::new(codes::INVALID_REQUEST, message)
    }

    /// A parameter with an unacceptable value.
    pub fn invalid_params(message: impl Into<String>) -> Self {
        Self::new(codes::INVALID_PARAMS, message)
    }

    /// A failure of our own.
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(codes::INTERNAL_ERROR, message)
    }
}

impl fmt::Display for ErrorObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (code {})", self.message, self.code)
    }
}

impl std::error::Error for ErrorObject {}
