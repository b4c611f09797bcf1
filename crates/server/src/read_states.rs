//! What the user has read of threads, one small file per thread. A thread without a file counts as read.

use std::path::Path;

use quipu_wire::{
    ThreadReadState, ThreadReadStateOperation, ThreadReadStateUpdateParams, ThreadUnreadPosition,
    Turn,
};
use uuid::Uuid;

use crate::Refusal;
use crate::kept::Kept;

/// What is read of a stored thread.
pub(crate) fn of(home: &Path, thread: Uuid) -> ThreadReadState {
    let stored = Kept::read_state(home, thread).read();
    stored.unwrap_or_else(|| ThreadReadState {
        first_unread: None,
        revision: format!("initial:{thread}"),
    })
}

/// A turn has ended with a result, which is unread. A mark that is already there stays where it is.
pub(crate) fn turn_ended(
    home: &Path,
    thread: Uuid,
    turn: &str,
) -> Result<ThreadReadState, Refusal> {
    let first_unread = of(home, thread).first_unread;
    let here = || ThreadUnreadPosition::Turn {
        turn_id: turn.to_owned(),
    };
    store(home, thread, Some(first_unread.unwrap_or_else(here)))
}

/// Does what a client asks for, if it has seen what there is.
pub(crate) fn update(
    home: &Path,
    thread: Uuid,
    params: &ThreadReadStateUpdateParams,
) -> Result<ThreadReadState, Refusal> {
    let current = of(home, thread);
    if current.revision != params.expected_revision {
        return Err(Refusal::ReadStateConflict(Box::new(current)));
    }
    let first_unread = match params.operation {
        ThreadReadStateOperation::Read => None,
        ThreadReadStateOperation::Unread => Some(ThreadUnreadPosition::ThreadStart),
    };
    store(home, thread, first_unread)
}

/// Only these turns are left of a thread; what is read, if that changes it.
pub(crate) fn turns_left(
    home: &Path,
    thread: Uuid,
    turns: &[Turn],
) -> Result<Option<ThreadReadState>, Refusal> {
    match of(home, thread).first_unread {
        Some(ThreadUnreadPosition::Turn { turn_id })
            if turns.iter().all(|turn| turn.id != turn_id) =>
        {
            store(home, thread, None).map(Some)
        }
        _ => Ok(None),
    }
}

/// Stores a position under a new revision.
fn store(
    home: &Path,
    thread: Uuid,
    first_unread: Option<ThreadUnreadPosition>,
) -> Result<ThreadReadState, Refusal> {
    let state = ThreadReadState {
        first_unread,
        revision: Uuid::new_v4().to_string(),
    };
    let stored = Kept::read_state(home, thread).put(&state);
    stored.map_err(|error| {
        Refusal::internal(format!("failed to store what is read of {thread}: {error}"))
    })?;
    Ok(state)
}
