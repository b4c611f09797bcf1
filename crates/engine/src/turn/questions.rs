//! Questions of tools to the user, such as approvals: each is asked once and resolved once, and its tool is given the
//! answer once.

use std::collections::BTreeMap;

use quipu_wire::{ServerNotification, ServerRequest, ServerRequestResolvedNotification};

use crate::effect::Effect;
use crate::ids::{CallId, QuestionId};
use crate::input::Waiting;
use crate::shared::Shared;

/// The open questions of a turn, with the calls that asked.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Questions(BTreeMap<QuestionId, CallId>);

impl Questions {
    /// Asks the user in the name of a call.
    pub fn ask(
        &mut self,
        question: QuestionId,
        call_id: CallId,
        request: Box<ServerRequest>,
        waiting: Option<Waiting>,
        shared: &mut Shared,
    ) {
        if self.0.contains_key(&question) {
            return deliver(question, call_id, shared);
        }
        self.0.insert(question, call_id);
        if let Some(waiting) = waiting {
            shared.status.question_asked(question, waiting);
        }
        shared.notify_status();
        shared.out.emit(Effect::Ask { question, request });
    }

    /// The user has answered. Does nothing if the question was withdrawn meanwhile.
    pub fn answered(&mut self, question: QuestionId, shared: &mut Shared) {
        if let Some(call_id) = self.0.remove(&question) {
            resolve(question, shared);
            shared.notify_status();
            deliver(question, call_id, shared);
        }
    }

    /// Withdraws the questions of a call that is over.
    pub fn withdraw_of(&mut self, call_id: &CallId, shared: &mut Shared) {
        let (over, open) = std::mem::take(&mut self.0)
            .into_iter()
            .partition(|(_, by)| by == call_id);
        self.0 = open;
        Self(over).withdraw_all(shared);
        shared.notify_status();
    }

    /// Withdraws all questions.
    pub fn withdraw_all(&mut self, shared: &mut Shared) {
        for (question, call_id) in std::mem::take(&mut self.0) {
            shared.out.emit(Effect::Withdraw { question });
            resolve(question, shared);
            deliver(question, call_id, shared);
        }
    }
}

/// Notifies that a question is no longer open.
fn resolve(question: QuestionId, shared: &mut Shared) {
    shared.status.question_resolved(question);
    let params = ServerRequestResolvedNotification {
        thread_id: shared.out.thread_id().clone().into(),
        request_id: question.into(),
    };
    let notification = ServerNotification::ServerRequestResolved(params);
    shared.out.notify(notification);
}

fn deliver(question: QuestionId, call_id: CallId, shared: &mut Shared) {
    shared.out.emit(Effect::Deliver { question, call_id });
}
