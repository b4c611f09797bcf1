//! The status that clients see, derived from what is going on and sent when it changes.

use quipu_wire::ThreadStatus;

use crate::questions::Questions;

/// The facts behind the status, and the status that clients know.
#[derive(Debug, Clone, PartialEq)]
pub struct Status {
    is_running: bool,
    has_failed: bool,
    is_closed: bool,
    sent: ThreadStatus,
}

impl Status {
    /// The status of a thread that has just been loaded.
    pub fn new() -> Self {
        Self {
            is_running: false,
            has_failed: false,
            is_closed: false,
            sent: ThreadStatus::Idle,
        }
    }

    /// The status that clients know.
    pub fn sent(&self) -> &ThreadStatus {
        &self.sent
    }

    pub fn turn_started(&mut self) {
        self.is_running = true;
        self.has_failed = false;
    }

    pub fn turn_failed(&mut self) {
        self.is_running = false;
        self.has_failed = true;
    }

    /// The end of a turn could not be stored; another turn may run already.
    pub fn turn_not_stored(&mut self) {
        self.has_failed = true;
    }

    pub fn turn_ended(&mut self) {
        self.is_running = false;
    }

    pub fn closed(&mut self) {
        self.is_closed = true;
    }

    /// The status now, if clients know another one. They are sent it next.
    pub fn take_change(&mut self, questions: &Questions) -> Option<ThreadStatus> {
        let status = self.derive(questions);
        if status == self.sent {
            return None;
        }
        self.sent = status.clone();
        Some(status)
    }

    fn derive(&self, questions: &Questions) -> ThreadStatus {
        if self.is_closed {
            return ThreadStatus::NotLoaded;
        }
        if self.is_running {
            let active_flags = questions.flags();
            return ThreadStatus::Active { active_flags };
        }
        if self.has_failed {
            ThreadStatus::SystemError
        } else {
            ThreadStatus::Idle
        }
    }
}
