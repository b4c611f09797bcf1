//! Notifications as bytes, with the time at which they leave.

use std::io::Write as _;

use serde::Serialize;

use crate::clock;

/// Writes a notification with the member `emittedAtMs` after its params, which servers since 0.166 send.
pub(crate) fn write(notification: &impl Serialize, to: &mut Vec<u8>) -> serde_json::Result<()> {
    serde_json::to_writer(&mut *to, notification)?;
    // The message is an object, so it ends with a brace.
    to.pop();
    write!(to, r#","emittedAtMs":{}}}"#, clock::unix_milliseconds()).map_err(serde_json::Error::io)
}

/// A notification of any method.
#[derive(Serialize)]
pub(crate) struct Message<'a, P> {
    pub method: &'static str,
    pub params: &'a P,
}
