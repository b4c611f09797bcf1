//! Questions of tools to the user, such as approvals: each is asked once and resolved once, and its tool is given the
//! answer once.

use std::collections::BTreeMap;

use quipu_wire::{
    ServerNotification, ServerRequest, ServerRequestResolvedNotification, ThreadActiveFlag,
};

use crate::effect::Effect;
use crate::ids::{CallId, QuestionId};
use crate::input::Waiting;
use crate::shared::Shared;

/// The open questions of the running turn. The status that clients see says what they wait for.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Questions(BTreeMap<QuestionId, Question>);

#[derive(Debug, Clone, PartialEq)]
struct Question {
    /// The call that asked.
    call_id: CallId,
    /// What the thread waits for until there is an answer, if clients see that.
    waiting: Option<Waiting>,
}

impl Questions {
    /// What clients see that the thread waits for.
    pub fn flags(&self) -> Vec<ThreadActiveFlag> {
        let flags = [
            (Waiting::Approval, ThreadActiveFlag::WaitingOnApproval),
            (Waiting::UserInput, ThreadActiveFlag::WaitingOnUserInput),
        ];
        let is_open = |what| self.0.values().any(|it| it.waiting == Some(what));
        let flags = flags.into_iter().filter(|(what, _)| is_open(*what));
        flags.map(|(_, flag)| flag).collect()
    }
}

impl Shared {
    /// Asks the user in the name of a call.
    pub fn ask(
        &mut self,
        question: QuestionId,
        call_id: CallId,
        request: Box<ServerRequest>,
        waiting: Option<Waiting>,
    ) {
        if self.questions.0.contains_key(&question) {
            return self.out.emit(Effect::Deliver { question, call_id });
        }
        let asked = Question { call_id, waiting };
        self.questions.0.insert(question, asked);
        self.notify_status();
        self.out.emit(Effect::Ask { question, request });
    }

    /// The user has answered. Does nothing if the question was withdrawn meanwhile.
    pub fn answered(&mut self, question: QuestionId) {
        if let Some(asked) = self.questions.0.remove(&question) {
            self.notify_resolved(question);
            self.notify_status();
            let call_id = asked.call_id;
            self.out.emit(Effect::Deliver { question, call_id });
        }
    }

    /// Withdraws the questions of a call that is over.
    pub fn withdraw_questions_of(&mut self, call_id: &CallId) {
        self.withdraw(|asked| asked.call_id == *call_id);
        self.notify_status();
    }

    /// Withdraws all questions.
    pub fn withdraw_questions(&mut self) {
        self.withdraw(|_| true);
    }

    fn withdraw(&mut self, is_over: impl Fn(&Question) -> bool) {
        let open = std::mem::take(&mut self.questions.0).into_iter();
        let (over, open) = open.partition::<BTreeMap<_, _>, _>(|(_, asked)| is_over(asked));
        self.questions.0 = open;
        for (question, Question { call_id, .. }) in over {
            self.out.emit(Effect::Withdraw { question });
            self.notify_resolved(question);
            self.out.emit(Effect::Deliver { question, call_id });
        }
    }

    fn notify_resolved(&mut self, question: QuestionId) {
        let params = ServerRequestResolvedNotification {
            thread_id: self.out.thread_id().clone().into(),
            request_id: question.into(),
        };
        let notification = ServerNotification::ServerRequestResolved(params);
        self.out.notify(notification);
    }
}
