//! The ids that inputs, effects and state carry.

/// A conversation.
pub type ThreadId = String;
/// One piece of work in a thread.
pub type TurnId = String;
/// One thing that happened in a turn.
pub type ItemId = String;
/// A tool call. The item that shows it has the same id.
pub type CallId = String;
/// A question to the user.
pub type QuestionId = u64;
/// A client's request that waits for its answer.
pub type ReplyToken = u64;
/// A request to the model.
pub type SampleId = u64;
/// A run of hooks.
pub type HookRunId = u64;
