//! What the tools of a turn report.

use quipu_wire::{Json, ThreadItem};

use super::items::{Items, Writer};
use super::{Next, Turn};
use crate::effect::{Effect, Record, TurnEnd};
use crate::fit::fit_output;
use crate::ids::{CallId, TurnId};
use crate::input::{ToolDelta, ToolEvent};
use crate::item;
use crate::shared::Shared;

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
        if !self.calls.has_running(&call_id) {
            self.late_report(&call_id, event, shared);
            return Next::Wait;
        }
        let out = &mut shared.out.of_turn(&self.id);
        match event {
            ToolEvent::ItemStarted(item) => self.items.tool_started(item, &self.id, shared),
            ToolEvent::Delta(delta) => self.items.tool_delta(&call_id, delta, &self.id, shared),
            ToolEvent::ItemCompleted(item) => self.items.tool_completed(item, &self.id, shared),
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
                self.approval_reviews.start(target, call_id, action, out);
            }
            ToolEvent::ApprovalReviewCompleted { target, review } => {
                self.approval_reviews.complete(target, review, out);
            }
            ToolEvent::PlanUpdated { explanation, plan } => out.plan(explanation, plan),
            ToolEvent::DiffUpdated(diff) => {
                self.diff = Some(diff.clone());
                out.diff(diff);
            }
            ToolEvent::Hooks(report) => out.hooks(report),
            ToolEvent::Note(note) => self.add_note(note),
            ToolEvent::Finished { output, end_turn } => {
                if !is_ending {
                    shared.withdraw_questions_of(&call_id);
                }
                self.call_finished(&call_id, output, shared);
                return match end_turn {
                    true => Next::Stop(TurnEnd::Interrupted),
                    false => Next::Proceed,
                };
            }
        }
        Next::Wait
    }

    /// Takes a report for which no call of the turn waits: of a process that outlived its call, or of an earlier
    /// turn.
    fn late_report(&mut self, call_id: &CallId, event: ToolEvent, shared: &mut Shared) {
        match event {
            ToolEvent::Delta(delta) => self.items.tool_delta(call_id, delta, &self.id, shared),
            ToolEvent::ItemCompleted(item) if self.items.has_tool_item(item::id(&item)) => {
                self.items.finish(item, &mut shared.out.of_turn(&self.id));
            }
            event => {
                let notes = shared.background.report(call_id, event, &mut shared.out);
                notes.into_iter().for_each(|note| self.add_note(note));
            }
        }
    }

    /// Ends a call. The output of a command of the user goes into the history like a note.
    fn call_finished(&mut self, call_id: &CallId, output: Vec<Json>, shared: &mut Shared) {
        let out = &mut shared.out.of_turn(&self.id);
        self.approval_reviews.abort_of(call_id, out);
        let output = output.into_iter().map(fit_output).collect();
        for note in self.calls.finish(call_id, output) {
            self.pending.push_note(note);
        }
        self.items.close_ended(call_id, out);
    }
}

impl Items {
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
