//! The status that clients see, derived from what is going on and told when it changes.

use quipu_wire::{ThreadActiveFlag, ThreadStatus};

use crate::input::Waiting;

/// The facts behind the status.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Status {
    pub running: bool,
    pub failed: bool,
    /// What the open questions wait for.
    pub waiting: Vec<(u64, Waiting)>,
    pub closed: bool,
}

impl Status {
    pub fn derive(&self) -> ThreadStatus {
        if self.closed {
            return ThreadStatus::NotLoaded;
        }
        if self.running || !self.waiting.is_empty() {
            let has = |what| self.waiting.iter().any(|(_, waiting)| *waiting == what);
            let flags = [
                (Waiting::Approval, ThreadActiveFlag::WaitingOnApproval),
                (Waiting::UserInput, ThreadActiveFlag::WaitingOnUserInput),
            ];
            let active_flags = flags
                .into_iter()
                .filter(|(what, _)| has(*what))
                .map(|(_, flag)| flag);
            return ThreadStatus::Active {
                active_flags: active_flags.collect(),
            };
        }
        if self.failed {
            ThreadStatus::SystemError
        } else {
            ThreadStatus::Idle
        }
    }
}
