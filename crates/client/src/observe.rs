//! What a server writes, shown to an observer as it came: before it is understood, in order, and whole.

/// The longest text of a line that is shown of what is not a message.
pub(crate) const SHOWN: usize = 64 * 1024;

/// One thing that a server wrote, other than the answer to a call.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Received<'a> {
    /// A notification.
    Notification {
        /// The method.
        method: &'a str,
        /// The params as JSON; absent ones are `null`.
        params: &'a str,
    },
    /// A request of the server, which the [`Handler`](crate::Handler) answers.
    Question {
        /// The method.
        method: &'a str,
        /// The params as JSON; absent ones are `null`.
        params: &'a str,
    },
    /// Something that is not a message of the protocol.
    Malformed {
        /// What is wrong with it.
        error: &'a str,
        /// The beginning of it, at most 64 KiB.
        text: &'a str,
    },
    /// A line that a child process wrote to standard error. One of more than 64 KiB is left out.
    Stderr(&'a str),
}

/// Anyone who is shown what was received.
pub(crate) trait Observe: Send + Sync {
    fn received(&self, received: Received<'_>);
}

impl<F: Fn(Received<'_>) + Send + Sync> Observe for F {
    fn received(&self, received: Received<'_>) {
        self(received);
    }
}

/// What is shown of bytes that are not a message.
pub(crate) fn beginning(bytes: &[u8]) -> String {
    String::from_utf8_lossy(&bytes[..bytes.len().min(SHOWN)]).into_owned()
}
