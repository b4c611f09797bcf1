//! Permission profiles: named sets of rights to choose from.

use quipu_wire_macros::wire;

/// Parameters of `permissionProfile/list`.
#[wire(params, default)]
pub struct PermissionProfileListParams {
    /// The `nextCursor` of the page before; absent for the first.
    pub cursor: Option<String>,
    /// Profiles per page; all if absent.
    pub limit: Option<u32>,
    /// The directory whose configuration counts; the server's own if absent.
    pub cwd: Option<String>,
}

/// A profile to choose.
#[wire]
pub struct PermissionProfileSummary {
    /// The name to give as `permissions` in `thread/start` and `turn/start`.
    pub id: String,
    /// For people; null if the configuration has none.
    pub description: Option<String>,
    /// Whether the administrator's limits allow it.
    pub allowed: bool,
}

/// Result of `permissionProfile/list`.
#[wire]
pub struct PermissionProfileListResponse {
    /// The built-in ones first.
    pub data: Vec<PermissionProfileSummary>,
    /// Null on the last page.
    pub next_cursor: Option<String>,
}
