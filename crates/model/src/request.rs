//! What is asked of a model, in one shape for every provider.

use std::sync::{Arc, OnceLock};

use quipu_wire::{ReasoningEffort, ReasoningSummary, ServiceTier, Verbosity};
use serde_json::value::RawValue;

use crate::history::HistoryItem;
use crate::responses::socket::SocketSlot;
use crate::tools::ToolSet;

/// One sampling request.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// The model's slug as the provider knows it.
    pub model: String,
    /// The base instructions.
    pub instructions: Arc<str>,
    /// The whole history. It is repaired before it is sent: see [`crate::HistoryItem`].
    pub input: Vec<HistoryItem>,
    /// The tools offered.
    pub tools: ToolSet,
    /// Whether the model chooses a tool itself.
    pub tool_choice: ToolChoice,
    /// Whether the model may call several tools at once.
    pub parallel_tool_calls: bool,
    /// `None` for a model that does not reason.
    pub reasoning: Option<Reasoning>,
    /// How long answers should be; only for models that know it.
    pub verbosity: Option<Verbosity>,
    /// The JSON Schema that the final message must match.
    pub output_schema: Option<Arc<RawValue>>,
    /// Groups requests that share a prefix; the thread id.
    pub prompt_cache_key: String,
    /// How fast and at what price.
    pub service_tier: Option<ServiceTier>,
    /// Whether the model reads images; where not, they become a note.
    pub accepts_images: bool,
    /// The most tokens the model may write, for providers that must be told.
    pub max_output_tokens: Option<u64>,
    /// How many tokens the model can read, as far as is known.
    pub context_window: Option<i64>,
    /// Whether the body may be compressed, where the provider takes that.
    pub compress: bool,
    /// The websocket of the thread, for providers that have one.
    pub socket: SocketSlot,
    /// What goes into headers.
    pub meta: RequestMeta,
}

/// Who chooses the tool.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum ToolChoice {
    /// The model, which may also call none.
    #[default]
    Auto,
    /// The request: this function and no other.
    Function(String),
}

/// How much a model should think and tell of it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Reasoning {
    /// How much to think.
    pub effort: Option<ReasoningEffort>,
    /// How to summarise it; `None` and [`ReasoningSummary::None`] ask for nothing.
    pub summary: Option<ReasoningSummary>,
}

/// What travels in headers rather than in the body.
#[derive(Debug, Clone, Default)]
pub struct RequestMeta {
    /// Which client this is for.
    pub originator: String,
    /// The user agent.
    pub user_agent: String,
    /// `session_id` and `x-client-request-id`.
    pub thread_id: String,
    /// `x-codex-turn-metadata`: JSON text.
    pub turn_metadata: Option<String>,
    /// `x-codex-turn-state`, shared by the requests of one turn.
    pub turn_state: TurnState,
    /// Where in a trace the request is (W3C Trace Context), if it is in one.
    pub traceparent: Option<String>,
    /// Further headers for Responses providers (`x-codex-beta-features`, `x-openai-subagent`, …).
    pub headers: Vec<(String, String)>,
}

/// A token that a provider hands out in the first response of a turn and wants back with every
/// later request of that turn. Make one per turn and clone it into each request.
#[derive(Debug, Clone, Default)]
pub struct TurnState(Arc<OnceLock<String>>);

impl TurnState {
    pub(crate) fn get(&self) -> Option<&str> {
        self.0.get().map(String::as_str)
    }

    /// Keeps the first value; a provider sends the same one again.
    pub(crate) fn set(&self, value: &str) {
        self.0.get_or_init(|| value.to_owned());
    }
}
