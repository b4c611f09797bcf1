//! What the tools of a turn report.

use quipu_wire::{Json, ServerNotification, ThreadItem, TurnPlanStep, TurnPlanUpdatedNotification};

use super::items::Writer;
use super::{Next, Turn};
use crate::effect::{Effect, Record, TurnEnd};
use crate::fit::fit_output;
use crate::ids::CallId;
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
            ToolEvent::ItemStarted(item) => self.tool_item_started(item, shared),
            ToolEvent::Delta(delta) => self.tool_delta(&call_id, delta, shared),
            ToolEvent::ItemCompleted(item) => self.tool_item_completed(item, shared),
            ToolEvent::Ask { question, .. } if is_ending => {
                shared.out.emit(Effect::Deliver { question, call_id });
            }
            ToolEvent::Ask {
                question,
                request,
                waiting,
            } => {
                self.questions
                    .ask(question, call_id, request, waiting, shared);
            }
            ToolEvent::ApprovalReviewStarted { .. } if is_ending => {}
            ToolEvent::ApprovalReviewStarted { target, action } => {
                self.approval_reviews.start(target, call_id, action, out);
            }
            ToolEvent::ApprovalReviewCompleted { target, review } => {
                self.approval_reviews.complete(target, review, out);
            }
            ToolEvent::PlanUpdated { explanation, plan } => {
                self.plan_updated(explanation, plan, shared);
            }
            ToolEvent::DiffUpdated(diff) => {
                self.diff = Some(diff.clone());
                out.diff(diff);
            }
            ToolEvent::Hooks(report) => out.hooks(report),
            ToolEvent::Note(note) => self.add_note(note),
            ToolEvent::Finished { output, end_turn } => {
                if !is_ending {
                    self.questions.withdraw_of(&call_id, shared);
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
            ToolEvent::Delta(delta) => self.tool_delta(call_id, delta, shared),
            ToolEvent::ItemCompleted(item) if self.items.has_tool_item(item::id(&item)) => {
                self.items.finish(item, &mut shared.out.of_turn(&self.id));
            }
            event => {
                let notes = shared.background.report(call_id, event, &mut shared.out);
                notes.into_iter().for_each(|note| self.add_note(note));
            }
        }
    }

    fn tool_item_started(&mut self, item: ThreadItem, shared: &mut Shared) {
        let id = item::id(&item);
        if shared.background.has(id) {
            return;
        }
        if matches!(item, ThreadItem::DynamicToolCall { .. }) && !self.items.was_shown(id) {
            shared.out.record(Record::DynamicCall {
                turn_id: self.id.clone(),
                item: item.clone(),
            });
        }
        let out = &mut shared.out.of_turn(&self.id);
        self.items.start(item, Writer::Other, out);
    }

    /// An item completes once, and only by its writer; one that outlived its turn completes in that turn.
    fn tool_item_completed(&mut self, item: ThreadItem, shared: &mut Shared) {
        let id = item::id(&item);
        if shared.background.has(id) {
            shared.background.end_item(item, &mut shared.out);
        } else if self.items.has_tool_item(id) || !self.items.was_shown(id) {
            self.items.finish(item, &mut shared.out.of_turn(&self.id));
        }
    }

    /// Notifies of more of an open item, of this turn or of an earlier one. Typing into a command belongs to the
    /// turn that runs, whichever turn started the command.
    fn tool_delta(&mut self, item_id: &CallId, delta: ToolDelta, shared: &mut Shared) {
        let earlier = shared.background.turn_of_item(item_id);
        let is_typed = matches!(delta, ToolDelta::TerminalInput { .. });
        let turn_id = match earlier {
            _ if self.items.has_tool_item(item_id) => Some(&self.id),
            Some(_) if is_typed => Some(&self.id),
            earlier => earlier,
        };
        if let Some(turn_id) = turn_id {
            shared
                .out
                .of_turn(turn_id)
                .tool_delta(item_id.clone(), delta);
        }
    }

    fn plan_updated(
        &mut self,
        explanation: Option<String>,
        plan: Vec<TurnPlanStep>,
        shared: &mut Shared,
    ) {
        let mut out = shared.out.of_turn(&self.id);
        let (thread_id, turn_id) = out.ids();
        let params = TurnPlanUpdatedNotification {
            thread_id,
            turn_id,
            explanation,
            plan,
        };
        out.notify(ServerNotification::TurnPlanUpdated(params));
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
