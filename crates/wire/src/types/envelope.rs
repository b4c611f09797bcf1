//! The envelopes of messages, as the published schemas describe them.
//! The mechanics live in `quipu-rpc`.

use quipu_wire_macros::wire;

use crate::Json;

/// The id of a request: a string or an integer, given back as it came.
#[wire(root, untagged)]
#[derive(Eq, Hash, PartialOrd, Ord)]
pub enum RequestId {
    String(String),
    Integer(i64),
}

/// Any message.
#[wire(json_name = "JSONRPCMessage", no_ts, untagged)]
pub enum JsonRpcMessage {
    Request(JsonRpcRequest),
    Notification(JsonRpcNotification),
    Response(JsonRpcResponse),
    Error(JsonRpcError),
}

/// A request; it will be answered.
#[wire(json_name = "JSONRPCRequest", no_ts)]
pub struct JsonRpcRequest {
    pub id: RequestId,
    pub method: String,
    #[wire(sparse)]
    pub params: Option<Json>,
    /// Trace context of the caller.
    #[wire(sparse)]
    pub trace: Option<W3cTraceContext>,
}

/// A message that is not answered.
#[wire(json_name = "JSONRPCNotification", no_ts)]
pub struct JsonRpcNotification {
    pub method: String,
    #[wire(sparse)]
    pub params: Option<Json>,
}

/// The answer to a request that succeeded.
#[wire(json_name = "JSONRPCResponse", no_ts)]
pub struct JsonRpcResponse {
    pub id: RequestId,
    pub result: Json,
}

/// The answer to a request that failed.
#[wire(json_name = "JSONRPCError", no_ts)]
pub struct JsonRpcError {
    pub error: JsonRpcErrorError,
    pub id: RequestId,
}

/// Why a request failed.
#[wire(json_name = "JSONRPCErrorError", no_ts)]
pub struct JsonRpcErrorError {
    /// -32600 for a bad request, -32602 for a bad value, -32603 for a fault, -32001 for overload.
    pub code: i64,
    /// Details for programs, where a method defines any.
    #[wire(sparse)]
    pub data: Option<Json>,
    pub message: String,
}

/// W3C trace context.
#[wire(no_ts)]
pub struct W3cTraceContext {
    #[wire(sparse)]
    pub traceparent: Option<String>,
    #[wire(sparse)]
    pub tracestate: Option<String>,
}
