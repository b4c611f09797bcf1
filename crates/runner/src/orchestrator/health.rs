//! How the tracker is: why it could not be read, and for how long it wants to be left alone.

use super::message::{Effect, Entry, Level};
use crate::time::Millis;
use crate::tracker::TrackerError;

/// A tracker is left alone for so long at most, whatever it asks for.
const LONGEST_QUIET: Millis = 3_600_000;

/// What is known of the tracker.
#[derive(Debug, Default)]
pub(super) struct Health {
    /// Why it cannot be read.
    pub last_error: Option<String>,
    /// Until when it wants to be left alone.
    quiet_until: Option<Millis>,
}

impl Health {
    /// A failed read is an event for operators, and nothing else, unless the tracker says how long to wait.
    pub fn failed(
        &mut self,
        now: Millis,
        operation: &'static str,
        error: &TrackerError,
        out: &mut Vec<Effect>,
    ) {
        let wait = error.retry_after_ms.map(Millis::try_from);
        let wait = wait.map(|it| it.unwrap_or(LONGEST_QUIET).min(LONGEST_QUIET));
        self.quiet_until = wait.map(|it| now + it);
        let entry = Entry::new(Level::Error, "tracker_failed")
            .field("operation", operation)
            .field("error", error);
        out.push(Effect::Log(entry));
        self.last_error = Some(error.to_string());
    }

    /// How much longer it wants to be left alone.
    pub fn quiet(&self, now: Millis) -> Option<Millis> {
        let left = self.quiet_until? - now;
        (left > 0).then_some(left)
    }

    /// An operator wants to know all the same.
    pub fn ask_now(&mut self) {
        self.quiet_until = None;
    }
}
