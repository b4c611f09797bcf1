//! Warnings about a thread, which came into the protocol after 0.118 and so are not in its schemas.

use quipu_wire_macros::wire;

use crate::method::Notification;

/// Parameters of the notification `warning`.
#[wire]
pub struct WarningNotification {
    /// The thread that it is about, if it is about one.
    pub thread_id: Option<String>,
    /// What the user should know.
    pub message: String,
}

/// The notification `warning`. Clients of 0.118 ignore notifications that they do not know.
pub struct Warning;

impl Notification for Warning {
    const NAME: &'static str = "warning";
    type Params = WarningNotification;
}
