//! What a session says of itself while it works, for logs, dashboards and accounting.

use std::time::SystemTime;

use serde_json::Value;

/// One thing that happened, as it came from the server where it did.
#[derive(Clone, Debug)]
pub struct Event {
    /// When it arrived.
    pub at: SystemTime,
    /// `<thread>-<turn>`; nothing before the first turn.
    pub session_id: Option<String>,
    /// The process of the server, if it is a child of this one.
    pub pid: Option<u32>,
    /// What kind of thing.
    pub kind: EventKind,
    /// The method of the message; empty if there is none.
    pub method: String,
    /// The params of the message, the text of a line, or what the kind says.
    pub payload: Value,
}

/// The kinds of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// A turn began: `{threadId, turnId}`.
    SessionStarted,
    /// The session could not start: `{code, message}`.
    StartupFailed,
    /// The turn was completed, with what the server said.
    TurnCompleted,
    /// The turn failed, with what the server said.
    TurnFailed,
    /// The turn was interrupted or cancelled, with what the server said.
    TurnCancelled,
    /// The turn ended with another error: `{code, message}`.
    TurnEndedWithError,
    /// The turn needs the answer of a person, with what was asked.
    TurnInputRequired,
    /// The turn needs an approval that the policy does not let the session give, with what was asked.
    ApprovalRequired,
    /// A question was answered in place of a person: `{request, answer}`.
    ApprovalAutoApproved,
    /// A question for which nobody is there was answered so: `{request, answer}`.
    InputAutoAnswered,
    /// A local tool was called and succeeded: `{tool, output}`.
    ToolCallCompleted,
    /// A local tool was called and failed: `{tool, output}`.
    ToolCallFailed,
    /// A tool was called that the session does not have: `{tool, output}`.
    UnsupportedToolCall,
    /// A notification of the server.
    Notification,
    /// A request of the server that the session does not know; it was refused.
    OtherMessage,
    /// A line that is not a message: its text.
    Malformed,
    /// A line of the server's standard error.
    Stderr,
}

impl EventKind {
    /// The name for logs.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            EventKind::SessionStarted => "session_started",
            EventKind::StartupFailed => "startup_failed",
            EventKind::TurnCompleted => "turn_completed",
            EventKind::TurnFailed => "turn_failed",
            EventKind::TurnCancelled => "turn_cancelled",
            EventKind::TurnEndedWithError => "turn_ended_with_error",
            EventKind::TurnInputRequired => "turn_input_required",
            EventKind::ApprovalRequired => "approval_required",
            EventKind::ApprovalAutoApproved => "approval_auto_approved",
            EventKind::InputAutoAnswered => "tool_input_auto_answered",
            EventKind::ToolCallCompleted => "tool_call_completed",
            EventKind::ToolCallFailed => "tool_call_failed",
            EventKind::UnsupportedToolCall => "unsupported_tool_call",
            EventKind::Notification => "notification",
            EventKind::OtherMessage => "other_message",
            EventKind::Malformed => "malformed",
            EventKind::Stderr => "stderr",
        }
    }
}

/// The tokens that a thread has used in all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// What was sent to the model.
    pub input: u64,
    /// The part of it that the model had seen before.
    pub cached_input: u64,
    /// What the model wrote.
    pub output: u64,
    /// Both together, as the server counts.
    pub total: u64,
}

impl Event {
    /// The thread's tokens in all, if this event has them. They are totals of the thread, not of the turn.
    #[must_use]
    pub fn usage(&self) -> Option<Usage> {
        if self.method != "thread/tokenUsage/updated" {
            return None;
        }
        let total = self.payload.pointer("/tokenUsage/total")?;
        let count = |name: &str| total.get(name).and_then(Value::as_u64).unwrap_or(0);
        Some(Usage {
            input: count("inputTokens"),
            cached_input: count("cachedInputTokens"),
            output: count("outputTokens"),
            total: count("totalTokens"),
        })
    }

    /// The account's rate limits, if this event has them, as the server has them.
    #[must_use]
    pub fn rate_limits(&self) -> Option<&Value> {
        match self.method.as_str() {
            "account/rateLimits/updated" => self.payload.get("rateLimits"),
            _ => None,
        }
    }
}
