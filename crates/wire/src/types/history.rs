//! The stored history of a thread, a page at a time.

use quipu_wire_macros::wire;

use crate::{ThreadItem, Turn, TurnError, TurnItemsView, TurnStatus};

/// The order of a list.
#[wire(exhaustive)]
pub enum SortDirection {
    /// The oldest first.
    Asc,
    /// The newest first.
    Desc,
}

/// Parameters of `thread/turns/list`.
#[wire(params, default)]
pub struct ThreadTurnsListParams {
    pub thread_id: String,
    /// The `nextCursor` of the page before, or a `backwardsCursor` to go the other way; absent for the first page.
    pub cursor: Option<String>,
    /// Turns per page, from 1 to 100; 25 if absent.
    pub limit: Option<u32>,
    /// `desc` if absent.
    pub sort_direction: Option<SortDirection>,
    /// `summary` if absent.
    pub items_view: Option<TurnItemsView>,
}

/// Result of `thread/turns/list`.
#[wire]
pub struct ThreadTurnsListResponse {
    pub data: Vec<Turn>,
    /// Null on the last page.
    pub next_cursor: Option<String>,
    /// Where the page begins, for the other direction; that page begins with the same turn. Null if the page is empty.
    pub backwards_cursor: Option<String>,
}

/// Where a page of items begins.
#[wire(untagged, exhaustive)]
pub enum ThreadItemsListCursor {
    /// A cursor of another page.
    Cursor(String),
    /// The item before the first one of the page, in the page's order.
    Anchor(ThreadItemsListAnchor),
}

/// An item of the turn that `turnId` names.
#[wire(tag = "type", exhaustive)]
pub enum ThreadItemsListAnchor {
    Item { item_id: String },
}

/// Parameters of `thread/items/list`.
#[wire(params, default)]
pub struct ThreadItemsListParams {
    pub thread_id: String,
    /// Only the items of this turn.
    pub turn_id: Option<String>,
    /// Absent for the first page. An item needs `turnId` too.
    pub cursor: Option<ThreadItemsListCursor>,
    /// Items per page, from 1 to 100; 25 if absent.
    pub limit: Option<u32>,
    /// `asc` if absent.
    pub sort_direction: Option<SortDirection>,
}

/// One item of a thread's history.
#[wire]
pub struct ThreadItemEntry {
    pub turn_id: String,
    pub item: ThreadItem,
    /// In Unix milliseconds; null if that is not stored.
    pub started_at_ms: Option<i64>,
    /// In Unix milliseconds; null if that is not stored.
    pub completed_at_ms: Option<i64>,
}

/// Result of `thread/items/list`.
#[wire]
pub struct ThreadItemsListResponse {
    pub data: Vec<ThreadItemEntry>,
    /// Null on the last page.
    pub next_cursor: Option<String>,
    /// Where the page begins, for the other direction; that page begins with the same item. Null if the page is empty.
    pub backwards_cursor: Option<String>,
}

/// Parameters of `thread/items/read`.
#[wire(params, default)]
pub struct ThreadItemsReadParams {
    pub thread_id: String,
    pub turn_id: String,
    /// 1 to 100 ids of items of the turn.
    pub item_ids: Vec<String>,
}

/// Result of `thread/items/read`.
#[wire]
pub struct ThreadItemsReadResponse {
    /// Those that exist, in the order of the turn.
    pub data: Vec<ThreadItemEntry>,
}

/// Parameters of `thread/search`.
#[wire(params, default)]
pub struct ThreadSearchParams {
    /// The `nextCursor` of the page before; absent for the first.
    pub cursor: Option<String>,
    /// Threads per page, from 1 to 100; 25 if absent.
    pub limit: Option<u32>,
    /// `created_at` if absent.
    pub sort_key: Option<ThreadSearchSortKey>,
    /// `desc` if absent.
    pub sort_direction: Option<SortDirection>,
    /// If absent or empty, only threads that a user started: `cli` and `vscode`.
    pub source_kinds: Option<Vec<crate::ThreadSourceKind>>,
    /// Whether to search only archived threads, or only the others; `false` if absent.
    pub archived: Option<bool>,
    /// What messages of the user or the agent must have in them; case does not count. Must not be empty.
    pub search_term: String,
}

/// What found threads are sorted by.
#[wire(snake, exhaustive)]
pub enum ThreadSearchSortKey {
    CreatedAt,
    UpdatedAt,
    /// The same as `updated_at`.
    RecencyAt,
}

/// A thread in which a text was found.
#[wire]
pub struct ThreadSearchResult {
    /// Without turns.
    pub thread: crate::Thread,
    /// The text around the first match.
    pub snippet: String,
}

/// Result of `thread/search`.
#[wire]
pub struct ThreadSearchResponse {
    pub data: Vec<ThreadSearchResult>,
    /// Null on the last page.
    pub next_cursor: Option<String>,
    /// Always null: a search goes one way.
    pub backwards_cursor: Option<String>,
}

/// Parameters of `thread/searchOccurrences`.
#[wire(params, default)]
pub struct ThreadSearchOccurrencesParams {
    pub thread_id: String,
    /// What messages of the user or the agent must have in them; case does not count. Must not be empty.
    pub search_term: String,
    /// The `nextCursor` of the page before; absent for the first.
    pub cursor: Option<String>,
    /// Matches per page, from 1 to 100; 25 if absent.
    pub limit: Option<u32>,
}

/// A range of characters, as UTF-16 counts them.
#[wire]
pub struct ThreadSearchTextRange {
    pub start: u32,
    pub end: u32,
}

/// One match in a thread.
#[wire]
pub struct ThreadSearchOccurrence {
    pub turn_id: String,
    pub item_id: String,
    /// The text around the match.
    pub snippet: String,
    /// Where the match is in `snippet`.
    pub snippet_match_range: ThreadSearchTextRange,
    /// A cursor for `thread/turns/list` whose page begins with the turn.
    pub turn_cursor: String,
}

/// Result of `thread/searchOccurrences`.
#[wire]
pub struct ThreadSearchOccurrencesResponse {
    pub data: Vec<ThreadSearchOccurrence>,
    /// Null on the last page.
    pub next_cursor: Option<String>,
}

/// Parameters of `thread/timeline/list`.
#[wire(params, default)]
pub struct ThreadTimelineListParams {
    pub thread_id: String,
    /// The `nextCursor` of the page before; absent for the newest page.
    pub cursor: Option<String>,
    /// Entries per page, from 1 to 100; 25 if absent.
    pub limit: Option<u32>,
}

/// Something in the history of a thread.
#[wire(tag = "type")]
pub enum ThreadTimelineEntry {
    /// A turn began.
    TurnStarted {
        /// Grows along the history.
        position: i64,
        turn_id: String,
        /// Null: not stored.
        started_at: Option<i64>,
    },
    /// An item of a turn.
    Item {
        position: i64,
        turn_id: String,
        item: ThreadItem,
    },
    /// A turn ended.
    TurnCompleted {
        position: i64,
        turn_id: String,
        status: TurnStatus,
        error: Option<TurnError>,
        /// Null: not stored.
        started_at: Option<i64>,
        /// Null: not stored.
        completed_at: Option<i64>,
        /// Null: not stored.
        duration_ms: Option<i64>,
    },
}

/// Result of `thread/timeline/list`.
#[wire]
pub struct ThreadTimelineListResponse {
    /// The oldest first; the first page has the newest entries.
    pub data: Vec<ThreadTimelineEntry>,
    /// For the page with earlier entries; null on the last.
    pub next_cursor: Option<String>,
    /// Always null: voice conversations are not part of the history.
    pub active_realtime_session_at_page_start: Option<String>,
}
