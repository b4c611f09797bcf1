//! The queue of a thread: input that waits for the thread to be idle, also across restarts.

use quipu_wire_macros::wire;

use crate::{Turn, UserInput};

/// Input that waits.
#[wire]
pub struct QueuedSubmission {
    pub id: String,
    pub input: Vec<UserInput>,
    /// The client's name for the message.
    pub client_user_message_id: String,
}

/// Parameters of `thread/queue/add`.
#[wire(params, default)]
pub struct ThreadQueueAddParams {
    pub thread_id: String,
    /// Must not be empty.
    pub input: Vec<UserInput>,
    /// The client's name for the message; need not be unique.
    pub client_user_message_id: String,
}

/// Result of `thread/queue/add`.
#[wire]
pub struct ThreadQueueAddResponse {
    pub queued_submission: QueuedSubmission,
}

/// Parameters of `thread/queue/list`.
#[wire(params, default)]
pub struct ThreadQueueListParams {
    pub thread_id: String,
    /// The `nextCursor` of the page before; absent for the first.
    pub cursor: Option<String>,
    /// Entries per page; all if absent.
    pub limit: Option<u32>,
}

/// Result of `thread/queue/list`.
#[wire]
pub struct ThreadQueueListResponse {
    /// The next to run first.
    pub data: Vec<QueuedSubmission>,
    /// Null on the last page.
    pub next_cursor: Option<String>,
}

/// Parameters of `thread/queue/update`.
#[wire(params, default)]
pub struct ThreadQueueUpdateParams {
    pub thread_id: String,
    pub queued_submission_id: String,
    /// Must not be empty.
    pub input: Vec<UserInput>,
}

/// Result of `thread/queue/update`.
#[wire]
pub struct ThreadQueueUpdateResponse {
    pub queued_submission: QueuedSubmission,
}

/// Parameters of `thread/queue/delete`.
#[wire(params, default)]
pub struct ThreadQueueDeleteParams {
    pub thread_id: String,
    pub queued_submission_id: String,
}

/// Result of `thread/queue/delete`.
#[wire]
pub struct ThreadQueueDeleteResponse {
    /// Whether there was such an entry.
    pub deleted: bool,
}

/// Parameters of `thread/queue/reorder`.
#[wire(params, default)]
pub struct ThreadQueueReorderParams {
    pub thread_id: String,
    /// All entries, in their new order.
    pub queued_submission_ids: Vec<String>,
}

/// Result of `thread/queue/reorder`.
#[wire]
pub struct ThreadQueueReorderResponse {}

/// Parameters of `thread/queue/start`.
#[wire(params, default)]
pub struct ThreadQueueStartParams {
    pub thread_id: String,
    /// The entry to run now; the first one if absent.
    pub queued_submission_id: Option<String>,
}

/// Result of `thread/queue/start`.
#[wire]
pub struct ThreadQueueStartResponse {
    pub turn: Turn,
}

/// Parameters of the notification `thread/queue/changed`.
#[wire]
pub struct ThreadQueueChangedNotification {
    pub thread_id: String,
}
