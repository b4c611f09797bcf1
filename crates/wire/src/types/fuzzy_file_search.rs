//! Finding files by a few letters of their path, once or while the user types.

use quipu_wire_macros::wire;

/// Parameters of `fuzzyFileSearch`.
#[wire(root, params, default)]
pub struct FuzzyFileSearchParams {
    /// Words that must all match; case counts only if there is a capital. Empty finds nothing.
    pub query: String,
    /// Directories to search; hidden files are found, files that Git ignores are not.
    pub roots: Vec<String>,
    /// A newer search with the same token makes this one needless.
    #[wire(nullable)]
    pub cancellation_token: Option<String>,
}

/// Parameters of `fuzzyFileSearch/sessionStart`.
#[wire(root, params, default)]
pub struct FuzzyFileSearchSessionStartParams {
    /// Chosen by the client; an older session of this name ends.
    pub session_id: String,
    /// Directories to search; at least one.
    pub roots: Vec<String>,
}

/// Parameters of `fuzzyFileSearch/sessionStop`.
#[wire(root, params, default)]
pub struct FuzzyFileSearchSessionStopParams {
    pub session_id: String,
}

/// Parameters of `fuzzyFileSearch/sessionUpdate`.
#[wire(root, params, default)]
pub struct FuzzyFileSearchSessionUpdateParams {
    pub session_id: String,
    pub query: String,
}

/// What was found.
#[wire(root)]
pub enum FuzzyFileSearchMatchType {
    File,
    Directory,
}

/// A file or directory that matches a query.
#[wire(root, snake)]
pub struct FuzzyFileSearchResult {
    /// The directory of the request that it was found in.
    pub root: String,
    /// The path below `root`.
    pub path: String,
    pub match_type: FuzzyFileSearchMatchType,
    pub file_name: String,
    /// The higher the better; comparable within one query only.
    pub score: u32,
    /// The characters of `path` that match, counted from 0 in ascending order.
    pub indices: Option<Vec<u32>>,
}

/// Parameters of the notification `fuzzyFileSearch/sessionCompleted`.
#[wire(root)]
pub struct FuzzyFileSearchSessionCompletedNotification {
    pub session_id: String,
}

/// Parameters of the notification `fuzzyFileSearch/sessionUpdated`.
#[wire(root)]
pub struct FuzzyFileSearchSessionUpdatedNotification {
    pub session_id: String,
    /// The query that found these files.
    pub query: String,
    /// All matches so far, at most 50, the best first.
    pub files: Vec<FuzzyFileSearchResult>,
}

/// Result of `fuzzyFileSearch`.
#[wire(root)]
pub struct FuzzyFileSearchResponse {
    /// At most 50, the best first.
    pub files: Vec<FuzzyFileSearchResult>,
}

/// Result of `fuzzyFileSearch/sessionStart`.
#[wire(root)]
pub struct FuzzyFileSearchSessionStartResponse {}

/// Result of `fuzzyFileSearch/sessionUpdate`.
#[wire(root)]
pub struct FuzzyFileSearchSessionUpdateResponse {}

/// Result of `fuzzyFileSearch/sessionStop`.
#[wire(root)]
pub struct FuzzyFileSearchSessionStopResponse {}
