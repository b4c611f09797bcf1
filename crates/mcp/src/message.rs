//! The JSON-RPC messages of MCP, read without copying what only passes through.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::error::Error;

/// A message of a server.
pub(crate) enum Incoming<'a> {
    /// It asks; the id is echoed as it came.
    Request {
        id: &'a RawValue,
        method: Cow<'a, str>,
        params: Option<&'a RawValue>,
    },
    Notification {
        method: Cow<'a, str>,
        params: Option<&'a RawValue>,
    },
    /// It answers our request of this id.
    Answer {
        id: u64,
        outcome: Result<Box<RawValue>, Error>,
    },
}

#[derive(Deserialize)]
struct Frame<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    method: Option<Cow<'a, str>>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    error: Option<ErrorFrame>,
}

#[derive(Deserialize)]
struct ErrorFrame {
    code: i64,
    #[serde(default)]
    message: String,
    data: Option<Box<RawValue>>,
}

impl<'a> Incoming<'a> {
    /// Reads a message; `None` if it is none.
    pub fn read(text: &'a [u8]) -> Option<Incoming<'a>> {
        let frame: Frame<'a> = serde_json::from_slice(text).ok()?;
        match (frame.method, frame.id) {
            (Some(method), Some(id)) => Some(Incoming::Request {
                id,
                method,
                params: frame.params,
            }),
            (Some(method), None) => Some(Incoming::Notification {
                method,
                params: frame.params,
            }),
            (None, Some(id)) => {
                let id = id.get().parse().ok()?;
                let outcome = match (frame.error, frame.result) {
                    (Some(error), _) => Err(Error::Rpc {
                        code: error.code,
                        message: error.message,
                        data: error.data,
                    }),
                    (None, Some(result)) => Ok(result.to_owned()),
                    (None, None) => return None,
                };
                Some(Incoming::Answer { id, outcome })
            }
            (None, None) => None,
        }
    }
}

#[derive(Serialize)]
struct Call<'a, P> {
    jsonrpc: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<u64>,
    method: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    params: Option<P>,
}

/// Writes a request.
pub(crate) fn request(id: u64, method: &str, params: Option<impl Serialize>) -> Vec<u8> {
    write(&Call {
        jsonrpc: "2.0",
        id: Some(id),
        method,
        params,
    })
}

/// Writes a notification.
pub(crate) fn notification(method: &str, params: Option<impl Serialize>) -> Vec<u8> {
    write(&Call {
        jsonrpc: "2.0",
        id: None,
        method,
        params,
    })
}

#[derive(Serialize)]
struct Answer<'a, R> {
    jsonrpc: &'static str,
    id: &'a RawValue,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<R>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<Refusal<'a>>,
}

#[derive(Serialize)]
struct Refusal<'a> {
    code: i64,
    message: &'a str,
}

/// Writes the answer to a server's request.
pub(crate) fn answer(id: &RawValue, result: impl Serialize) -> Vec<u8> {
    write(&Answer {
        jsonrpc: "2.0",
        id,
        result: Some(result),
        error: None,
    })
}

/// Writes an error for a server's request.
pub(crate) fn refusal(id: &RawValue, code: i64, message: &str) -> Vec<u8> {
    write(&Answer::<()> {
        jsonrpc: "2.0",
        id,
        result: None,
        error: Some(Refusal { code, message }),
    })
}

/// What is written is made of strings, numbers and JSON that was read before, so it cannot fail.
fn write(message: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(message).unwrap_or_default()
}
