//! Reports that users send about a thread.

use quipu_wire_macros::wire;

/// Parameters of `feedback/upload`.
#[wire(params, default)]
pub struct FeedbackUploadParams {
    /// The kind of report, such as `bug`, `bad_result` or `safety_check`.
    pub classification: String,
    /// The user's own words.
    pub reason: Option<String>,
    pub thread_id: Option<String>,
    /// Attaches the server's log.
    pub include_logs: bool,
    /// Paths of more files to attach; those that cannot be read are skipped.
    pub extra_log_files: Option<Vec<String>>,
}

/// Result of `feedback/upload`.
#[wire]
pub struct FeedbackUploadResponse {
    /// What the report is filed under; made up if it names no thread.
    pub thread_id: String,
}
