//! What tools do to the turn.

use quipu_wire::{
    CommandExecutionOutputDeltaNotification, FileChangeOutputDeltaNotification, Json,
    McpToolCallProgressNotification, ServerNotification, TerminalInteractionNotification,
    ThreadItem, TurnPlanStep, TurnPlanUpdatedNotification,
};

use crate::effect::{Record, TurnEnd};
use crate::fit::fit_output;
use crate::input::{ToolDelta, ToolEvent};
use crate::items::{self, Writer};
use crate::thread::Thread;
use crate::turn::Pending;

impl Thread {
    pub(crate) fn tool(&mut self, call_id: &str, event: ToolEvent) {
        let Some(turn) = &mut self.active else {
            return self.late_tool(call_id, event);
        };
        let is_shell = turn.shells.iter().any(|id| id == call_id);
        let is_call = turn
            .calls
            .iter()
            .any(|call| call.call_id == call_id && call.output.is_none());
        if !is_call && !is_shell {
            return self.late_tool(call_id, event);
        }
        match event {
            ToolEvent::ItemStarted(item) => self.tool_item_started(item),
            ToolEvent::Delta(delta) => self.tool_delta(call_id, delta),
            ToolEvent::ItemCompleted(item) => self.tool_item_completed(item),
            ToolEvent::Ask {
                question,
                request,
                waiting,
            } => {
                self.ask(question, call_id, request, waiting);
            }
            ToolEvent::ApprovalReviewStarted { target, action } => {
                self.approval_review_started(call_id, target, action);
            }
            ToolEvent::ApprovalReviewCompleted { target, review } => {
                self.approval_review_completed(target, review);
            }
            ToolEvent::PlanUpdated { explanation, plan } => self.plan_updated(explanation, plan),
            ToolEvent::DiffUpdated(diff) => {
                turn.diff = Some(diff);
                self.tell_diff();
            }
            ToolEvent::Hooks(report) => self.tell_hooks(report),
            ToolEvent::Note(note) => self.note(note),
            ToolEvent::Finished { output, end_turn } => {
                self.tool_finished(call_id, output, end_turn);
            }
        }
    }

    fn tool_item_started(&mut self, item: ThreadItem) {
        let Some(turn) = &self.active else { return };
        if self.background.has(items::id(&item)) {
            return;
        }
        if matches!(item, ThreadItem::DynamicToolCall { .. })
            && !turn.items.was_shown(items::id(&item))
        {
            let turn_id = turn.id.clone();
            self.record(Record::DynamicCall {
                turn_id,
                item: item.clone(),
            });
        }
        self.open_item(item, Writer::Other);
    }

    /// An item ends once, and only by the one who wrote it; one that outlived its turn ends in that turn.
    fn tool_item_completed(&mut self, item: ThreadItem) {
        let Some(turn) = &self.active else { return };
        let id = items::id(&item);
        if self.background.has(id) {
            self.late_end(item);
        } else if turn.items.has_tool_item(id) || !turn.items.was_shown(id) {
            self.finish_item(item);
        }
    }

    /// Tells more of an open item, of whichever turn.
    pub(crate) fn tool_delta(&mut self, item_id: &str, delta: ToolDelta) {
        let active = self
            .active
            .as_ref()
            .filter(|turn| turn.items.has_tool_item(item_id));
        let turn_id = active.map(|turn| turn.id.as_str());
        let Some(turn_id) = turn_id.or_else(|| self.background.turn_of_item(item_id)) else {
            return;
        };
        let (thread_id, turn_id) = (self.id.clone(), turn_id.to_owned());
        let item_id = item_id.to_owned();
        self.notify(match delta {
            ToolDelta::CommandOutput(delta) => {
                let params = CommandExecutionOutputDeltaNotification {
                    thread_id,
                    turn_id,
                    item_id,
                    delta,
                };
                ServerNotification::ItemCommandExecutionOutputDelta(params)
            }
            ToolDelta::PatchOutput(delta) => {
                let params = FileChangeOutputDeltaNotification {
                    thread_id,
                    turn_id,
                    item_id,
                    delta,
                };
                ServerNotification::ItemFileChangeOutputDelta(params)
            }
            ToolDelta::McpProgress(message) => {
                let params = McpToolCallProgressNotification {
                    thread_id,
                    turn_id,
                    item_id,
                    message,
                };
                ServerNotification::ItemMcpToolCallProgress(params)
            }
            ToolDelta::TerminalInput { process_id, stdin } => {
                // Typing is a deed of the turn that runs, whichever turn started the command.
                let running = self.active.as_ref().map(|turn| turn.id.clone());
                let turn_id = running.unwrap_or(turn_id);
                let params = TerminalInteractionNotification {
                    thread_id,
                    turn_id,
                    item_id,
                    process_id,
                    stdin,
                };
                ServerNotification::ItemCommandExecutionTerminalInteraction(params)
            }
        });
    }

    fn plan_updated(&mut self, explanation: Option<String>, plan: Vec<TurnPlanStep>) {
        let (thread_id, turn_id) = self.ids();
        let params = TurnPlanUpdatedNotification {
            thread_id,
            turn_id,
            explanation,
            plan,
        };
        self.notify(ServerNotification::TurnPlanUpdated(params));
    }

    /// A message for the model: with the next request if a turn runs, else at once.
    pub(crate) fn note(&mut self, note: Json) {
        match &self.active {
            Some(_) => self.queue(Pending::Note(note)),
            None => self.remember(note),
        }
    }

    fn tool_finished(&mut self, call_id: &str, output: Vec<Json>, end_turn: bool) {
        // A turn that ends settles its questions itself, after it has told so.
        if self
            .active
            .as_ref()
            .is_some_and(|turn| turn.ending.is_none())
        {
            self.withdraw_questions(call_id);
        }
        self.abort_reviews_of(call_id);
        let output: Vec<Json> = output.into_iter().map(fit_output).collect();
        let Some(turn) = &mut self.active else { return };
        let unfinished = turn.items.take_ended(call_id);
        if let Some(call) = turn.calls.iter_mut().find(|call| call.call_id == call_id) {
            call.output = Some(output);
        } else {
            turn.shells.retain(|id| id != call_id);
            turn.pending.extend(output.into_iter().map(Pending::Note));
        }
        if let Some(item) = unfinished {
            self.complete(items::abandoned(item));
        }
        if end_turn {
            self.stop(TurnEnd::Interrupted);
        }
        self.proceed();
    }
}
