//! A session: one server in one workspace, one thread, and turn after turn without a person.

mod error;
mod event;
mod options;
mod tool;

pub use error::SessionError;
pub use event::{Event, EventKind, Usage};
pub use options::{Launch, Limits, Observer, SessionOptions};
pub use tool::{Tool, ToolResult, ToolSpec};

/// What a turn that was completed gave.
#[derive(Clone, Debug)]
pub struct TurnOutcome {
    /// The id of the turn.
    pub turn_id: String,
    /// `<thread>-<turn>`, under which logs and events know it.
    pub session_id: String,
    /// The last message of the agent; empty if it said nothing.
    pub message: String,
    /// All that patches changed in this turn, as one diff, if they did.
    pub diff: Option<String>,
    /// The tokens that the thread has used so far, as last told.
    pub usage: Option<Usage>,
}
