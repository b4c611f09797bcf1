//! Questions of tools to the user: each is asked once, settled once, and its tool hears of it once.

use std::collections::BTreeMap;

use quipu_wire::{RequestId, ServerNotification, ServerRequest, ServerRequestResolvedNotification};

use crate::effect::Effect;
use crate::input::Waiting;
use crate::thread::Thread;

impl Thread {
    pub(crate) fn ask(
        &mut self,
        question: u64,
        call_id: &str,
        request: Box<ServerRequest>,
        waiting: Option<Waiting>,
    ) {
        let Some(turn) = &mut self.active else { return };
        if turn.ending.is_some() || turn.questions.contains_key(&question) {
            return self.deliver(question, call_id.to_owned());
        }
        turn.questions.insert(question, call_id.to_owned());
        if let Some(waiting) = waiting {
            self.status.waiting.push((question, waiting));
        }
        self.tell_status();
        self.emit(Effect::Ask { question, request });
    }

    pub(crate) fn answered(&mut self, question: u64) {
        let Some(turn) = &mut self.active else { return };
        if let Some(call_id) = turn.questions.remove(&question) {
            self.resolve(question);
            self.tell_status();
            self.deliver(question, call_id);
        }
    }

    /// Withdraws the open questions of a call that is over.
    pub(crate) fn withdraw_questions(&mut self, call_id: &str) {
        let Some(turn) = &mut self.active else { return };
        let (over, open) = std::mem::take(&mut turn.questions)
            .into_iter()
            .partition(|(_, by)| by == call_id);
        turn.questions = open;
        self.withdraw(over);
        self.tell_status();
    }

    /// Settles open questions without an answer.
    pub(crate) fn withdraw(&mut self, questions: BTreeMap<u64, String>) {
        for (question, call_id) in questions {
            self.emit(Effect::Withdraw { question });
            self.resolve(question);
            self.deliver(question, call_id);
        }
    }

    /// Tells that a question is settled.
    fn resolve(&mut self, question: u64) {
        self.status.waiting.retain(|(id, _)| *id != question);
        let request_id = RequestId::Integer(i64::try_from(question).unwrap_or(i64::MAX));
        let params = ServerRequestResolvedNotification {
            thread_id: self.id.clone(),
            request_id,
        };
        self.notify(ServerNotification::ServerRequestResolved(params));
    }

    pub(crate) fn deliver(&mut self, question: u64, call_id: String) {
        self.emit(Effect::Deliver { question, call_id });
    }
}
