//! What the user has read of threads, one small text per thread. A thread without one counts as read.

use std::collections::HashMap;

use quipu_journal::Store;
use quipu_wire::{
    ThreadReadState, ThreadReadStateOperation, ThreadReadStateUpdateParams, ThreadUnreadPosition,
    Turn,
};
use uuid::Uuid;

use crate::Refusal;

/// What is read of a stored thread.
pub(crate) fn of(store: &Store, thread: Uuid) -> ThreadReadState {
    let stored = store.read_state(thread).read();
    stored.unwrap_or_else(|| initial(thread))
}

fn initial(thread: Uuid) -> ThreadReadState {
    ThreadReadState {
        first_unread: None,
        revision: format!("initial:{thread}"),
    }
}

/// What is read of stored threads, in their order. A database is asked once.
pub(crate) fn of_all(
    store: &Store,
    threads: &[Uuid],
) -> impl Iterator<Item = (Uuid, ThreadReadState)> {
    let stored = store.read_states(threads).unwrap_or_else(|error| {
        tracing::warn!(%error, "failed to read what is read of threads");
        Vec::new()
    });
    let mut stored: HashMap<Uuid, String> = stored.into_iter().collect();
    threads.iter().map(move |thread| {
        let state = stored.remove(thread);
        let state = state.and_then(|text| {
            let parsed = serde_json::from_str(&text);
            parsed
                .inspect_err(
                    |error| tracing::warn!(%thread, %error, "invalid read state of a thread"),
                )
                .ok()
        });
        (*thread, state.unwrap_or_else(|| initial(*thread)))
    })
}

/// A turn has ended with a result, which is unread. A mark that is already there stays where it is.
pub(crate) fn turn_ended(
    store: &Store,
    thread: Uuid,
    turn: &str,
) -> Result<ThreadReadState, Refusal> {
    let first_unread = of(store, thread).first_unread;
    let here = || ThreadUnreadPosition::Turn {
        turn_id: turn.to_owned(),
    };
    set(store, thread, Some(first_unread.unwrap_or_else(here)))
}

/// Does what a client asks for, if it has seen what there is.
pub(crate) fn update(
    store: &Store,
    thread: Uuid,
    params: &ThreadReadStateUpdateParams,
) -> Result<ThreadReadState, Refusal> {
    let current = of(store, thread);
    if current.revision != params.expected_revision {
        return Err(Refusal::ReadStateConflict(Box::new(current)));
    }
    let first_unread = match params.operation {
        ThreadReadStateOperation::Read => None,
        ThreadReadStateOperation::Unread => Some(ThreadUnreadPosition::ThreadStart),
    };
    set(store, thread, first_unread)
}

/// Only these turns are left of a thread; what is read, if that changes it.
pub(crate) fn turns_left(
    store: &Store,
    thread: Uuid,
    turns: &[Turn],
) -> Result<Option<ThreadReadState>, Refusal> {
    match of(store, thread).first_unread {
        Some(ThreadUnreadPosition::Turn { turn_id })
            if turns.iter().all(|turn| turn.id != turn_id) =>
        {
            set(store, thread, None).map(Some)
        }
        _ => Ok(None),
    }
}

/// Stores a position under a new revision.
fn set(
    store: &Store,
    thread: Uuid,
    first_unread: Option<ThreadUnreadPosition>,
) -> Result<ThreadReadState, Refusal> {
    let state = ThreadReadState {
        first_unread,
        revision: Uuid::new_v4().to_string(),
    };
    let stored = store.read_state(thread).write_lightly(&state);
    stored.map_err(|error| {
        Refusal::internal(format!(
            "failed to store what is read of {thread}: {}",
            error.reason()
        ))
    })?;
    Ok(state)
}
