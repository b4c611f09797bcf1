//! The status that clients see, derived from what is going on and sent when it changes.

use quipu_wire::{ThreadActiveFlag, ThreadStatus};

use crate::ids::QuestionId;
use crate::input::Waiting;

/// The facts behind the status, and the status that clients know.
#[derive(Debug, Clone, PartialEq)]
pub struct Status {
    is_running: bool,
    has_failed: bool,
    is_closed: bool,
    /// What the open questions wait for.
    waiting: Vec<(QuestionId, Waiting)>,
    sent: ThreadStatus,
}

impl Status {
    /// The status of a thread that has just been loaded.
    pub fn new() -> Self {
        Self {
            is_running: false,
            has_failed: false,
            is_closed: false,
            waiting: Vec::new(),
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
        self.waiting.clear();
    }

    pub fn closed(&mut self) {
        self.is_closed = true;
    }

    pub fn question_asked(&mut self, question: QuestionId, waiting: Waiting) {
        self.waiting.push((question, waiting));
    }

    pub fn question_resolved(&mut self, question: QuestionId) {
        self.waiting.retain(|(id, _)| *id != question);
    }

    /// The status now, if clients know another one. They are sent it next.
    pub fn take_change(&mut self) -> Option<ThreadStatus> {
        let status = self.derive();
        if status == self.sent {
            return None;
        }
        self.sent = status.clone();
        Some(status)
    }

    fn derive(&self) -> ThreadStatus {
        if self.is_closed {
            return ThreadStatus::NotLoaded;
        }
        if self.is_running || !self.waiting.is_empty() {
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
        if self.has_failed {
            ThreadStatus::SystemError
        } else {
            ThreadStatus::Idle
        }
    }
}
