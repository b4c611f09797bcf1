//! Sections: groups of threads that clients show together, in an order of their own.

use quipu_wire_macros::wire;

/// How clients show a section.
#[wire]
pub struct ThreadSectionAppearance {
    pub icon: Option<String>,
    pub color: Option<String>,
}

/// A group of threads.
#[wire]
pub struct ThreadSection {
    /// Stays the same when the section is renamed.
    pub id: String,
    pub name: String,
    #[wire(default)]
    pub appearance: Option<ThreadSectionAppearance>,
}

/// Parameters of `threadSection/create`.
#[wire(params, default)]
pub struct ThreadSectionCreateParams {
    /// Must not be empty; need not be unique.
    pub name: String,
    #[wire(default)]
    pub appearance: Option<ThreadSectionAppearance>,
}

/// Result of `threadSection/create`.
#[wire]
pub struct ThreadSectionCreateResponse {
    pub section: ThreadSection,
}

/// Parameters of `threadSection/list`.
#[wire(params, default)]
pub struct ThreadSectionListParams {
    /// The `nextCursor` of the page before; absent for the first.
    pub cursor: Option<String>,
    /// Sections per page, from 1 to 100; 25 if absent.
    pub limit: Option<u32>,
}

/// Result of `threadSection/list`.
#[wire]
pub struct ThreadSectionListResponse {
    /// The built-in section `Pinned` first, then the oldest.
    pub data: Vec<ThreadSection>,
    /// Null on the last page.
    pub next_cursor: Option<String>,
}

/// Parameters of `threadSection/update`.
#[wire(params, default)]
pub struct ThreadSectionUpdateParams {
    pub section_id: String,
    /// Must not be empty.
    pub name: String,
    /// Stays as it is if absent; null removes it.
    pub appearance: Option<Option<ThreadSectionAppearance>>,
}

/// Result of `threadSection/update`.
#[wire]
pub struct ThreadSectionUpdateResponse {
    pub section: ThreadSection,
}

/// Parameters of `threadSection/delete`. Its threads are in no section then.
#[wire(params, default)]
pub struct ThreadSectionDeleteParams {
    pub section_id: String,
}

/// Result of `threadSection/delete`.
#[wire]
pub struct ThreadSectionDeleteResponse {}

/// Parameters of `thread/section/move`.
#[wire(params, default)]
pub struct ThreadSectionMoveParams {
    pub thread_id: String,
    /// Required; null takes the thread out of its section.
    #[wire(optional)]
    pub section_id: Option<Option<String>>,
    /// The thread of the section to put it before; the end if absent.
    pub before_thread_id: Option<String>,
}

/// Result of `thread/section/move`.
#[wire]
pub struct ThreadSectionMoveResponse {}
