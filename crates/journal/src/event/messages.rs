//! Events of turns, messages, reviews, usage and failures.

use quipu_wire::{Json, UserInput};
use serde::{Deserialize, Serialize};

/// A turn began.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct TaskStarted {
    /// The turn.
    pub turn_id: String,
    /// The size of the model's window, in tokens.
    #[serde(default)]
    pub model_context_window: Option<i64>,
    /// The mode of the turn: `default` or `plan`.
    #[serde(default = "default_mode")]
    pub collaboration_mode_kind: String,
}

fn default_mode() -> String {
    "default".to_owned()
}

/// A turn ended by itself.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct TaskComplete {
    /// The turn.
    pub turn_id: String,
    /// What the model said last in it.
    #[serde(default)]
    pub last_agent_message: Option<String>,
    /// Why it failed. Paginated rollouts have it here, others as an event before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<ErrorEvent>,
}

/// A turn was ended from outside.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct TurnAborted {
    /// The turn; absent in old files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_id: Option<String>,
    /// `interrupted`, `replaced` or `review_ended`.
    pub reason: String,
}

/// The user said something.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct UserMessage {
    /// All texts of the input, joined.
    pub message: String,
    /// Addresses of images.
    #[serde(default)]
    pub images: Option<Vec<String>>,
    /// Paths of images.
    #[serde(default)]
    pub local_images: Vec<String>,
    /// Marked ranges of the text.
    #[serde(default)]
    pub text_elements: Vec<TextElement>,
}

impl From<Vec<UserInput>> for UserMessage {
    fn from(content: Vec<UserInput>) -> Self {
        let mut message = Self::default();
        let mut images = Vec::new();
        for input in content {
            match input {
                UserInput::Text {
                    text,
                    text_elements,
                } => {
                    let shift = message.message.len();
                    let moved = text_elements.into_iter().map(|element| TextElement {
                        byte_range: ByteRange {
                            start: element.byte_range.start + shift,
                            end: element.byte_range.end + shift,
                        },
                        placeholder: element.placeholder,
                    });
                    message.text_elements.extend(moved);
                    message.message.push_str(&text);
                }
                UserInput::Image { url } => images.push(url),
                UserInput::LocalImage { path } => message.local_images.push(path),
                // The format has no place for these; the model sees them as text.
                UserInput::Skill { .. }
                | UserInput::Mention { .. }
                | UserInput::Unrecognized(_) => {}
            }
        }
        message.images = Some(images);
        message
    }
}

/// A marked range of a text.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct TextElement {
    /// The range.
    pub byte_range: ByteRange,
    /// What to show in its place.
    #[serde(default)]
    pub placeholder: Option<String>,
}

/// A range of bytes.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct ByteRange {
    /// The first byte.
    pub start: usize,
    /// The byte after the last.
    pub end: usize,
}

/// The model said something.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct AgentMessage {
    /// The text.
    pub message: String,
    /// `commentary` or `final_answer`, where the model tells.
    #[serde(default)]
    pub phase: Option<String>,
    /// The memories it drew on.
    #[serde(default)]
    pub memory_citation: Option<MemoryCitation>,
}

/// The memories an answer drew on.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MemoryCitation {
    /// Places in memory files.
    #[serde(default)]
    pub entries: Vec<Citation>,
    /// Threads the memories came from.
    #[serde(default)]
    pub rollout_ids: Vec<String>,
}

/// A place in a memory file.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Citation {
    /// The file.
    pub path: String,
    /// The first line.
    pub line_start: u32,
    /// The last line.
    pub line_end: u32,
    /// Why it matters.
    pub note: String,
}

/// One part of the model's thoughts.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct ReasoningText {
    /// The text.
    pub text: String,
}

/// What the thread has cost so far.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct TokenCount {
    /// Usage; null in events that only carry rate limits.
    #[serde(default)]
    pub info: Option<TokenUsageInfo>,
    /// The account's limits, as the provider reported them.
    #[serde(default)]
    pub rate_limits: Option<Json>,
}

/// Usage of the thread and of its last request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenUsageInfo {
    /// Of the whole thread.
    pub total_token_usage: TokenUsage,
    /// Of the last request.
    pub last_token_usage: TokenUsage,
    /// The size of the model's window.
    #[serde(default)]
    pub model_context_window: Option<i64>,
}

/// Counts of tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TokenUsage {
    /// Sent.
    pub input_tokens: i64,
    /// Sent, and known to the provider already.
    pub cached_input_tokens: i64,
    /// Received.
    pub output_tokens: i64,
    /// Received as thoughts.
    pub reasoning_output_tokens: i64,
    /// All.
    pub total_tokens: i64,
}

/// The history was replaced by a shorter one.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct ContextCompacted {}

/// A review began.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct EnteredReviewMode {
    /// What is reviewed, as the client asked.
    pub target: Json,
    /// How to call it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_facing_hint: Option<String>,
}

/// A review ended.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ExitedReviewMode {
    /// What the reviewer said; null when it said nothing.
    #[serde(default)]
    pub review_output: Option<ReviewOutput>,
}

/// What a reviewer said.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ReviewOutput {
    /// Its findings, as it wrote them.
    pub findings: Json,
    /// Its verdict.
    #[serde(default)]
    pub overall_correctness: String,
    /// Its reasons.
    #[serde(default)]
    pub overall_explanation: String,
    /// How sure it is.
    #[serde(default)]
    pub overall_confidence_score: f32,
}

/// The last turns are taken back.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct ThreadRolledBack {
    /// How many.
    pub num_turns: u32,
}

/// What is kept of a message where there is little room.
const MAX_SHORTENED: usize = 2048;

/// The turn failed.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ErrorEvent {
    /// The turn. Other programs do not write it; without it, the one that is open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_id: Option<String>,
    /// What went wrong, for people.
    pub message: String,
    /// What went wrong, for programs.
    #[serde(
        default,
        deserialize_with = "tolerant",
        skip_serializing_if = "Option::is_none"
    )]
    pub codex_error_info: Option<ErrorInfo>,
}

impl ErrorEvent {
    /// The same with no more of the message than a few lines.
    pub(crate) fn shortened(&self) -> Self {
        let mut end = self.message.len().min(MAX_SHORTENED);
        while !self.message.is_char_boundary(end) {
            end -= 1;
        }
        Self {
            turn_id: self.turn_id.clone(),
            message: self.message[..end].to_owned(),
            codex_error_info: self.codex_error_info.clone(),
        }
    }
}

/// Reads kinds of error that this version does not know as `other`, so that a turn that failed for
/// a new reason still reads back as failed.
fn tolerant<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Option<ErrorInfo>, D::Error> {
    let raw = Option::<Json>::deserialize(from)?;
    Ok(raw.map(|raw| raw.parse().unwrap_or(ErrorInfo::Other)))
}

/// The kinds of failure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorInfo {
    /// The conversation no longer fits the model's window.
    ContextWindowExceeded,
    /// The account's quota is used up.
    UsageLimitExceeded,
    /// The provider has no capacity.
    ServerOverloaded,
    /// The provider broke.
    InternalServerError,
    /// The credentials are not accepted.
    Unauthorized,
    /// The provider refused the request itself.
    BadRequest,
    /// The sandbox broke.
    SandboxError,
    /// Turns could not be taken back. Says nothing about the current turn.
    ThreadRollbackFailed,
    /// Anything else.
    Other,
    /// The provider could not be reached.
    HttpConnectionFailed {
        /// The status it answered with.
        #[serde(default)]
        http_status_code: Option<u16>,
    },
    /// The stream could not be opened.
    ResponseStreamConnectionFailed {
        /// The status it answered with.
        #[serde(default)]
        http_status_code: Option<u16>,
    },
    /// The stream broke.
    ResponseStreamDisconnected {
        /// The status it answered with.
        #[serde(default)]
        http_status_code: Option<u16>,
    },
    /// The retries are used up.
    ResponseTooManyFailedAttempts {
        /// The status it answered with.
        #[serde(default)]
        http_status_code: Option<u16>,
    },
    /// Input came for a turn that takes none. Says nothing about the current turn.
    ActiveTurnNotSteerable {
        /// What kind of turn it is.
        turn_kind: TurnKind,
    },
}

/// The kinds of turn that take no input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TurnKind {
    /// A review.
    Review,
    /// A compaction.
    Compact,
}
