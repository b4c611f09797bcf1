//! Warnings about a thread.

use quipu_wire_macros::wire;

/// Parameters of the notification `warning`.
#[wire]
pub struct WarningNotification {
    /// The thread that it is about, if it is about one.
    pub thread_id: Option<String>,
    /// What the user should know.
    pub message: String,
}
