//! MODDOC

use quipu_wire_macros::wire;

/// Parameters of `feedback/upload`.
#[wire(params, default)]
pub struct FeedbackUploadParams {
    pub classification: String,
    pub reason: Option<String>,
    pub thread_id: Option<String>,
    pub include_logs: bool,
    pub extra_log_files: Option<Vec<String>>,
}

/// Result of `feedback/upload`.
#[wire]
pub struct FeedbackUploadResponse {
    pub thread_id: String,
}
