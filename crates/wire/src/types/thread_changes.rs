//! Changes to a loaded thread: turns taken back, items added to the model's history, background terminals ended.

use quipu_wire_macros::wire;

use crate::{Json, Thread};

/// Parameters of `thread/revert`.
#[wire(params, default)]
pub struct ThreadRevertParams {
    pub thread_id: String,
    /// The first turn that is taken back, with all after it; files stay as they are.
    pub before_turn_id: String,
}

/// Result of `thread/revert`.
#[wire]
pub struct ThreadRevertResponse {
    /// Without turns.
    pub thread: Thread,
    /// A cursor for `thread/turns/list` that begins with the last turn left; null if there is none.
    pub turns_backwards_cursor: Option<String>,
    /// A cursor for `thread/items/list` that begins with the last item left; null if there is none.
    pub items_backwards_cursor: Option<String>,
}

/// Parameters of the notification `thread/reverted`.
#[wire]
pub struct ThreadRevertedNotification {
    pub thread_id: String,
}

/// Parameters of `thread/inject_items`.
#[wire(params, default)]
pub struct ThreadInjectItemsParams {
    pub thread_id: String,
    /// Items of the Responses API, added to what the model reads with its next request.
    pub items: Vec<Json>,
}

/// Result of `thread/inject_items`.
#[wire]
pub struct ThreadInjectItemsResponse {}

/// Parameters of `thread/backgroundTerminals/list`.
#[wire(params, default)]
pub struct ThreadBackgroundTerminalsListParams {
    pub thread_id: String,
    /// The `nextCursor` of the page before; absent for the first.
    pub cursor: Option<String>,
    /// Terminals per page; all if absent.
    pub limit: Option<u32>,
}

/// A command that outlived its call.
#[wire]
pub struct ThreadBackgroundTerminal {
    /// The item that started it.
    pub item_id: String,
    /// The number that the model knows it by.
    pub process_id: String,
    /// The command line with shell quoting.
    pub command: String,
    pub cwd: String,
    /// Always null.
    pub os_pid: Option<u32>,
    /// Always null.
    pub cpu_percent: Option<f64>,
    /// Always null.
    #[wire(bigint)]
    pub rss_kb: Option<u64>,
}

/// Result of `thread/backgroundTerminals/list`.
#[wire]
pub struct ThreadBackgroundTerminalsListResponse {
    pub data: Vec<ThreadBackgroundTerminal>,
    /// Null on the last page.
    pub next_cursor: Option<String>,
}

/// Parameters of `thread/backgroundTerminals/terminate`.
#[wire(params, default)]
pub struct ThreadBackgroundTerminalsTerminateParams {
    pub thread_id: String,
    pub process_id: String,
}

/// Result of `thread/backgroundTerminals/terminate`.
#[wire]
pub struct ThreadBackgroundTerminalsTerminateResponse {
    /// Whether there was such a command.
    pub terminated: bool,
}
