//! MODDOC

use quipu_wire_macros::wire;

/// Parameters of `fuzzyFileSearch`.
#[wire(root, params, default)]
pub struct FuzzyFileSearchParams {
    pub query: String,
    pub roots: Vec<String>,
    #[wire(nullable)]
    pub cancellation_token: Option<String>,
}

/// Parameters of `fuzzyFileSearch/sessionStart`.
#[wire(root, params, default)]
pub struct FuzzyFileSearchSessionStartParams {
    pub session_id: String,
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

/// DOC
#[wire(root)]
pub enum FuzzyFileSearchMatchType {
    File,
    Directory,
}

/// DOC
#[wire(root, snake)]
pub struct FuzzyFileSearchResult {
    pub root: String,
    pub path: String,
    pub match_type: FuzzyFileSearchMatchType,
    pub file_name: String,
    pub score: u32,
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
    pub query: String,
    pub files: Vec<FuzzyFileSearchResult>,
}

/// Result of `fuzzyFileSearch`.
#[wire(root)]
pub struct FuzzyFileSearchResponse {
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
