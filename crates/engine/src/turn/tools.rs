//! What the tools of a turn report.

use quipu_wire::{Json, ThreadItem};

use super::approval_reviews::ApprovalReviews;
use super::calls::Calls;
use super::items::{Items, Writer};
use super::{Next, Turn};
use crate::effect::{Effect, Record, TurnEnd};
use crate::fit::fit_output;
use crate::ids::{CallId, TurnId};
use crate::input::{ToolDelta, ToolEvent};
use crate::item;
use crate::out::TurnOut;
use crate::shared::Shared;

/// The calls of a turn, and what they are about to do or have done.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TurnTools {
    pub calls: Calls,
    approval_reviews: ApprovalReviews,
    diff: Option<String>,
    /// The model has answered, and the diff is sent again once the calls of that answer have ended.
    is_diff_due: bool,
}

impl TurnTools {
    pub fn set_diff_due(&mut self) {
        self.is_diff_due = true;
    }

    /// The diff, if it is to be sent again.
    pub fn take_due_diff(&mut self) -> Option<String> {
        let is_due = std::mem::take(&mut self.is_diff_due);
        self.diff.clone().filter(|diff| is_due && !diff.is_empty())
    }

    pub fn abort_reviews(&mut self, out: &mut TurnOut<'_>) {
        self.approval_reviews.abort_all(out);
    }

    /// Ends a call. The output of a command of the user is given back: it goes into the history like a note.
    fn finish(
        &mut self,
        call_id: &CallId,
        output: Vec<Json>,
        items: &mut Items,
        out: &mut TurnOut<'_>,
    ) -> Vec<Json> {
        self.approval_reviews.abort_of(call_id, out);
        let output = output.into_iter().map(fit_output).collect();
        let notes = self.calls.finish(call_id, output);
        items.close_ended(call_id, out);
        notes
    }
}

impl Turn {
    /// Takes the report of a tool. In a turn that is ending, tools can ask nothing more, and open questions are
    /// withdrawn after the end of the turn.
    pub fn tool(
        &mut self,
        call_id: CallId,
        event: ToolEvent,
        is_ending: bool,
        shared: &mut Shared,
    ) -> Next {
        let (tools, items) = (&mut self.tools, self.transcript.items());
        if !tools.calls.has_running(&call_id) {
            let notes = items.late_report(&call_id, event, &self.id, shared);
            notes.into_iter().for_each(|note| self.add_note(note));
            return Next::Wait;
        }
        let out = &mut shared.out.of_turn(&self.id);
        match event {
            ToolEvent::ItemStarted(item) => items.tool_started(item, &self.id, shared),
            ToolEvent::Delta(delta) => items.tool_delta(&call_id, delta, &self.id, shared),
            ToolEvent::ItemCompleted(item) => items.tool_completed(item, &self.id, shared),
            ToolEvent::Ask { question, .. } if is_ending => {
                shared.out.emit(Effect::Deliver { question, call_id });
            }
            ToolEvent::Ask {
                question,
                request,
                waiting,
            } => shared.ask(question, call_id, request, waiting),
            ToolEvent::ApprovalReviewStarted { .. } if is_ending => {}
            ToolEvent::ApprovalReviewStarted { target, action } => {
                tools.approval_reviews.start(target, call_id, action, out);
            }
            ToolEvent::ApprovalReviewCompleted { target, review } => {
                tools.approval_reviews.complete(target, review, out);
            }
            ToolEvent::PlanUpdated { explanation, plan } => out.plan(explanation, plan),
            ToolEvent::DiffUpdated(diff) => {
                tools.diff = Some(diff.clone());
                out.diff(diff);
            }
            ToolEvent::Hooks(report) => out.hooks(report),
            ToolEvent::Note(note) => self.add_note(note),
            ToolEvent::Finished { output, end_turn } => {
                if !is_ending {
                    shared.withdraw_questions_of(&call_id);
                }
                let out = &mut shared.out.of_turn(&self.id);
                let notes = tools.finish(&call_id, output, items, out);
                notes.into_iter().for_each(|note| self.add_note(note));
                return match end_turn {
                    true => Next::Stop(TurnEnd::Interrupted),
                    false => Next::Proceed,
                };
            }
        }
        Next::Wait
    }
}

impl Items {
    /// Takes a report for which no call of the turn waits: of a process that outlived its call, or of an earlier
    /// turn. Returns the notes for the model in it.
    fn late_report(
        &mut self,
        call_id: &CallId,
        event: ToolEvent,
        turn_id: &TurnId,
        shared: &mut Shared,
    ) -> Vec<Json> {
        match event {
            ToolEvent::Delta(delta) => self.tool_delta(call_id, delta, turn_id, shared),
            ToolEvent::ItemCompleted(item) if self.has_tool_item(item::id(&item)) => {
                self.finish(item, &mut shared.out.of_turn(turn_id));
            }
            event => return shared.background.report(call_id, event, &mut shared.out),
        }
        Vec::new()
    }

    fn tool_started(&mut self, item: ThreadItem, turn_id: &TurnId, shared: &mut Shared) {
        let id = item::id(&item);
        if shared.background.has(id) {
            return;
        }
        if matches!(item, ThreadItem::DynamicToolCall { .. }) && !self.was_shown(id) {
            shared.out.record(Record::DynamicCall {
                turn_id: turn_id.clone(),
                item: item.clone(),
            });
        }
        self.start(item, Writer::Other, &mut shared.out.of_turn(turn_id));
    }

    /// An item completes once, and only by its writer; one that outlived its turn completes in that turn.
    fn tool_completed(&mut self, item: ThreadItem, turn_id: &TurnId, shared: &mut Shared) {
        let id = item::id(&item);
        if shared.background.has(id) {
            shared.background.end_item(item, &mut shared.out);
        } else if self.has_tool_item(id) || !self.was_shown(id) {
            self.finish(item, &mut shared.out.of_turn(turn_id));
        }
    }

    /// Notifies of more of an open item, of this turn or of an earlier one. Typing into a command belongs to the
    /// turn that runs, whichever turn started the command.
    fn tool_delta(
        &mut self,
        item_id: &CallId,
        delta: ToolDelta,
        turn_id: &TurnId,
        shared: &mut Shared,
    ) {
        let is_typed = matches!(delta, ToolDelta::TerminalInput { .. });
        let turn_id = match shared.background.turn_of_item(item_id) {
            _ if self.has_tool_item(item_id) => Some(turn_id),
            Some(_) if is_typed => Some(turn_id),
            earlier => earlier,
        };
        if let Some(turn_id) = turn_id {
            let mut out = shared.out.of_turn(turn_id);
            out.tool_delta(item_id.clone().into(), delta);
        }
    }
}
