//! The thread, turn and item state machine, pure.
//!
//! A [`Thread`] takes one [`Input`] at a time and returns what must be done, as [`Effect`]s in order. It does no IO,
//! reads no clock and never waits; its driver does. So there is one place where a turn changes state, its laws are
//! tested with random sequences of inputs, and a bug report can be a list of inputs.
//!
//! The laws, kept by construction and checked on every trace in `tests`:
//! - an accepted turn ends exactly once, whatever happens;
//! - an item is started, then changes, then completes, each once;
//! - what clients see is recorded before ([`Effect::Record`] precedes the [`Effect::Notify`] that shows it);
//! - every question asked is resolved;
//! - the status that clients see is the status of the thread.

mod background;
mod effect;
mod fit;
mod history;
mod ids;
mod input;
mod item;
mod out;
mod questions;
mod sequence;
mod shared;
mod status;
mod thread;
mod turn;
mod usage;

pub use effect::{Answer, Effect, HookPoint, Purpose, Record, Refusal, Summary, TurnEnd};
pub use fit::MAX_RECORDED;
pub use ids::{
    CallId, HookRunId, ItemId, ProcessId, QuestionId, ReplyToken, SampleId, ThreadId, TurnId,
};
pub use input::{
    CallKind, Compacted, Context, GeneratedImage, HookReport, HookVerdict, HooksDone, Input,
    ModelEvent, ModelItem, Obstacle, OutputItem, Resumed, ReviewOutcome, ReviewStart,
    SchemaMismatch, ShellStart, Start, ToolCall, ToolDelta, ToolEvent, UserMessage, Waiting,
};
pub use item::{id as item_id, is_open as is_open_item, same_kind as same_item_kind};
pub use thread::{Thread, ThreadSetup};
pub use turn::{MAX_PENDING, MAX_PENDING_BYTES, TurnKind};
