//! What tools, questions and their answers do to the turn.

use quipu_wire::{
    CommandExecutionOutputDeltaNotification, FileChangeOutputDeltaNotification,
    ItemCompletedNotification, Json, McpToolCallProgressNotification, RequestId,
    ServerNotification, ServerRequest, ServerRequestResolvedNotification,
    TerminalInteractionNotification, ThreadItem, TurnPlanStep, TurnPlanUpdatedNotification,
};

use crate::effect::{Effect, Record};
use crate::input::{ToolDelta, ToolEvent, Waiting};
use crate::items;
use crate::thread::Thread;
use crate::turn::Stopping;

impl Thread {
    pub(crate) fn tool(&mut self, call_id: &str, event: ToolEvent) {
        let turn = self.active.as_ref();
        let is_shell = turn.is_some_and(|turn| turn.shells.iter().any(|id| id == call_id));
        let is_call = turn.is_some_and(|turn| {
            turn.calls
                .iter()
                .any(|call| call.call_id == call_id && call.output.is_none())
        });
        if !is_call && !is_shell {
            return self.late_tool(call_id, event);
        }
        match event {
            ToolEvent::ItemStarted(item) => {
                if let ThreadItem::DynamicToolCall { .. } = &item {
                    let (_, turn_id) = self.ids();
                    self.record(Record::DynamicCall {
                        turn_id,
                        item: item.clone(),
                    });
                }
                self.open_item(item, None);
            }
            ToolEvent::Delta(delta) => self.tool_delta(call_id, delta),
            ToolEvent::ItemCompleted(item) => self.finish_item(item),
            ToolEvent::Ask {
                question,
                request,
                waiting,
            } => self.ask(question, call_id, *request, waiting),
            ToolEvent::PlanUpdated { explanation, plan } => self.plan_updated(explanation, plan),
            ToolEvent::DiffUpdated(diff) => {
                if let Some(turn) = &mut self.active {
                    turn.diff = Some(diff);
                }
                self.tell_diff();
            }
            ToolEvent::Note(note) => self.note(note),
            ToolEvent::Finished { output, end_turn } => {
                self.tool_finished(call_id, output, end_turn, is_shell)
            }
        }
    }

    /// A process that outlives its call reports under its item, also after the turn.
    fn late_tool(&mut self, call_id: &str, event: ToolEvent) {
        match event {
            ToolEvent::Delta(delta) if self.item_turn(call_id).is_some() => {
                self.tool_delta(call_id, delta)
            }
            ToolEvent::ItemCompleted(item) => {
                let id = items::id(&item).to_owned();
                if self
                    .active
                    .as_ref()
                    .is_some_and(|turn| turn.items.is_open(&id))
                {
                    return self.finish_item(item);
                }
                let Some((turn_id, _)) = self.background.remove(&id) else {
                    return;
                };
                self.record(Record::Item {
                    turn_id: turn_id.clone(),
                    item: item.clone(),
                });
                let params = ItemCompletedNotification {
                    item,
                    thread_id: self.id.clone(),
                    turn_id,
                };
                self.notify(ServerNotification::ItemCompleted(params));
            }
            ToolEvent::Note(note) => self.note(note),
            // The tool asks after its turn has ended: nobody may answer any more.
            ToolEvent::Ask { question, .. } => {
                self.emit(Effect::Deliver {
                    question,
                    call_id: call_id.to_owned(),
                });
            }
            _ => {}
        }
    }

    /// The turn that an open item belongs to.
    fn item_turn(&self, item_id: &str) -> Option<String> {
        let active = self
            .active
            .as_ref()
            .filter(|turn| turn.items.is_open(item_id));
        let background = || {
            self.background
                .get(item_id)
                .map(|(turn_id, _)| turn_id.clone())
        };
        active.map(|turn| turn.id.clone()).or_else(background)
    }

    fn tool_delta(&mut self, item_id: &str, delta: ToolDelta) {
        let Some(turn_id) = self.item_turn(item_id) else {
            return;
        };
        let (thread_id, item_id) = (self.id.clone(), item_id.to_owned());
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
    fn note(&mut self, note: Json) {
        match &mut self.active {
            Some(turn) => turn.notes.push(note),
            None => self.remember(note),
        }
    }

    fn ask(
        &mut self,
        question: u64,
        call_id: &str,
        request: ServerRequest,
        waiting: Option<Waiting>,
    ) {
        let Some(turn) = &mut self.active else { return };
        if turn.stopping != Stopping::No || turn.questions.contains_key(&question) {
            return self.emit(Effect::Deliver {
                question,
                call_id: call_id.to_owned(),
            });
        }
        turn.questions.insert(question, call_id.to_owned());
        if let Some(waiting) = waiting {
            self.status.waiting.push((question, waiting));
        }
        self.tell_status();
        self.emit(Effect::Ask {
            question,
            request: Box::new(request),
        });
    }

    pub(crate) fn answered(&mut self, question: u64) {
        let Some(call_id) = self
            .active
            .as_mut()
            .and_then(|turn| turn.questions.remove(&question))
        else {
            return;
        };
        self.resolve(question);
        self.tell_status();
        self.emit(Effect::Deliver { question, call_id });
    }

    /// Tells that a question is settled.
    pub(crate) fn resolve(&mut self, question: u64) {
        self.status.waiting.retain(|(id, _)| *id != question);
        let request_id = RequestId::Integer(i64::try_from(question).unwrap_or(i64::MAX));
        let params = ServerRequestResolvedNotification {
            thread_id: self.id.clone(),
            request_id,
        };
        self.notify(ServerNotification::ServerRequestResolved(params));
    }

    fn tool_finished(&mut self, call_id: &str, output: Vec<Json>, end_turn: bool, is_shell: bool) {
        let Some(turn) = &mut self.active else { return };
        if is_shell {
            turn.shells.retain(|id| id != call_id);
            turn.notes.extend(output);
        } else if let Some(call) = turn.calls.iter_mut().find(|call| call.call_id == call_id) {
            call.output = Some(output);
        }
        if end_turn && turn.stopping == Stopping::No {
            return self.stop(Stopping::Interrupted);
        }
        self.proceed();
    }
}
