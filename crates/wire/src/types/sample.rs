//! Questions beside a thread, which leave no trace in it.

use quipu_wire_macros::wire;

use crate::{ReasoningEffort, RequestId};

/// Parameters of `thread/sample`.
#[wire(params)]
pub struct ThreadSampleParams {
    pub thread_id: String,
    /// The last turn of the thread, which must have ended.
    pub expected_turn_id: String,
    /// The question: at most 4,000 bytes, and not only blanks.
    pub prompt: String,
    /// Takes the place of the thread's effort, if the model reasons.
    pub effort: Option<ReasoningEffort>,
}

/// Result of `thread/sample`.
#[wire]
pub struct ThreadSampleResponse {
    pub source_turn_id: String,
    /// The provider's id of the answer.
    pub response_id: String,
    /// Null if the model called a tool, which is not run, or said nothing.
    pub text: Option<String>,
    /// Null if the provider does not say; so for those below.
    pub input_tokens: Option<i64>,
    pub cached_input_tokens: Option<i64>,
    pub output_tokens: Option<i64>,
}

/// Parameters of `thread/sample/cancel`.
#[wire(params, closed)]
pub struct ThreadSampleCancelParams {
    /// The `id` of a `thread/sample` of the same connection.
    pub request_id: RequestId,
}

/// Result of `thread/sample/cancel`.
#[wire]
pub struct ThreadSampleCancelResponse {}
