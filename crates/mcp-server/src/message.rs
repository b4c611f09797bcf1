//! JSON-RPC 2.0 messages of MCP.

use serde_json::{Map, Value, json};
use tokio::sync::mpsc;

/// Where messages to the peer go, in order. One that is gone loses them, which harms nobody.
pub type Outlet = mpsc::Sender<Value>;

/// What the peer sends.
pub enum Incoming {
    Request {
        id: Value,
        method: String,
        params: Value,
    },
    Notification {
        method: String,
        params: Value,
    },
    /// The answer to a request of ours.
    Answer {
        id: Value,
        outcome: Result<Value, Value>,
    },
}

/// Why something is no message, and the id that it came with.
pub struct Malformed {
    pub id: Value,
    pub code: i64,
    pub why: &'static str,
}

pub const PARSE_ERROR: i64 = -32700;
pub const INVALID_REQUEST: i64 = -32600;
pub const METHOD_NOT_FOUND: i64 = -32601;
pub const INTERNAL_ERROR: i64 = -32603;

/// Reads one message.
pub fn read(text: &[u8]) -> Result<Incoming, Malformed> {
    let malformed = |id, code, why| Malformed { id, code, why };
    let value: Value = serde_json::from_slice(text)
        .map_err(|_| malformed(Value::Null, PARSE_ERROR, "this is not JSON"))?;
    let Value::Object(mut message) = value else {
        let why = "a message is one JSON object; batches are not supported";
        return Err(malformed(Value::Null, INVALID_REQUEST, why));
    };
    let id = message.remove("id");
    let params = message.remove("params").unwrap_or(Value::Null);
    match (id, message.remove("method")) {
        (None, Some(Value::String(method))) => Ok(Incoming::Notification { method, params }),
        (Some(id @ (Value::String(_) | Value::Number(_))), Some(Value::String(method))) => {
            Ok(Incoming::Request { id, method, params })
        }
        (Some(id), None) => answer(id, message),
        (id, _) => {
            let id = id.filter(|it| it.is_string() || it.is_number());
            let why = "a request has a method, which is a string, and an id, which is a string or a number";
            Err(malformed(id.unwrap_or_default(), INVALID_REQUEST, why))
        }
    }
}

fn answer(id: Value, mut message: Map<String, Value>) -> Result<Incoming, Malformed> {
    let outcome = match (message.remove("result"), message.remove("error")) {
        (Some(result), None) => Ok(result),
        (None, Some(error)) => Err(error),
        _ => {
            return Err(Malformed {
                id,
                code: INVALID_REQUEST,
                why: "a message has a method, a result or an error",
            });
        }
    };
    Ok(Incoming::Answer { id, outcome })
}

pub fn result(id: &Value, result: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "result": result })
}

pub fn error(id: &Value, code: i64, message: &str, data: Option<Value>) -> Value {
    let mut error = json!({ "code": code, "message": message });
    if let Some(data) = data {
        error["data"] = data;
    }
    json!({ "jsonrpc": "2.0", "id": id, "error": error })
}

pub fn request(id: i64, method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

pub fn notification(method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "method": method, "params": params })
}

/// Sends a message; a peer that is gone has no use for it.
pub async fn send(outlet: &Outlet, message: Value) {
    if outlet.send(message).await.is_err() {
        tracing::debug!("message dropped: the peer is gone");
    }
}
