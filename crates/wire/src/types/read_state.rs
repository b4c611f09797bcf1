//! What the user has read of a thread.

use quipu_wire_macros::wire;

/// Where the unread part of a thread begins.
#[wire(tag = "type")]
pub enum ThreadUnreadPosition {
    /// The thread was marked as unread.
    ThreadStart,
    /// The first turn that ended with a result and was not read.
    Turn { turn_id: String },
}

/// What the user has read of a thread.
#[wire]
pub struct ThreadReadState {
    /// Null if all is read.
    pub first_unread: Option<ThreadUnreadPosition>,
    /// Changes with every turn and every update.
    pub revision: String,
}

/// What a client says about a thread.
#[wire(tag = "type", exhaustive)]
pub enum ThreadReadStateOperation {
    /// All of it is read.
    Read,
    /// All of it is unread.
    Unread,
}

/// Parameters of `thread/readState/update`.
#[wire(params)]
pub struct ThreadReadStateUpdateParams {
    pub thread_id: String,
    pub operation: ThreadReadStateOperation,
    /// The revision that the user saw. If there is another one by now, nothing changes.
    pub expected_revision: String,
}

/// Result of `thread/readState/update`.
#[wire]
pub struct ThreadReadStateUpdateResponse {
    pub read_state: ThreadReadState,
}

/// Parameters of the notification `thread/readState/changed`.
#[wire]
pub struct ThreadReadStateChangedNotification {
    pub thread_id: String,
    pub read_state: ThreadReadState,
}
