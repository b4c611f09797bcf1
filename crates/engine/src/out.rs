//! The effects of a step, collected in order, and the notifications among them.

use quipu_wire::{
    CommandExecutionOutputDeltaNotification, ErrorNotification, FileChangeOutputDeltaNotification,
    HookCompletedNotification, HookStartedNotification, ItemCompletedNotification,
    ItemStartedNotification, McpToolCallProgressNotification, ModelRerouteReason,
    ModelReroutedNotification, RawResponseItemCompletedNotification, ResponseItem,
    ServerNotification, TerminalInteractionNotification, ThreadItem, ThreadTokenUsage,
    ThreadTokenUsageUpdatedNotification, TurnDiffUpdatedNotification, TurnError, TurnPlanStep,
    TurnPlanUpdatedNotification,
};

use crate::effect::{Answer, Effect, Record, Refusal};
use crate::fit::fit;
use crate::ids::{HookRunId, ItemId, ReplyToken, ThreadId, TurnId};
use crate::input::{HookReport, Input, ToolDelta, ToolEvent};

/// A time that is filled in when the notification is sent: the engine has no clock.
pub const UNSTAMPED: i64 = 0;

/// The effects of the current step.
#[derive(Debug, Clone, PartialEq)]
pub struct Out {
    thread_id: ThreadId,
    effects: Vec<Effect>,
}

impl Out {
    pub fn new(thread_id: ThreadId) -> Self {
        Self {
            thread_id,
            effects: Vec::new(),
        }
    }

    pub fn thread_id(&self) -> &ThreadId {
        &self.thread_id
    }

    pub fn is_empty(&self) -> bool {
        self.effects.is_empty()
    }

    /// Ends the step.
    pub fn take(&mut self) -> Vec<Effect> {
        std::mem::take(&mut self.effects)
    }

    /// Adds an effect. Most steps, such as a delta of the model, have one, so the list begins with room for one:
    /// its default would be the largest allocation of a delta.
    pub fn emit(&mut self, effect: Effect) {
        if self.effects.capacity() == 0 {
            self.effects.reserve_exact(1);
        }
        self.effects.push(effect);
    }

    pub fn record(&mut self, record: Record) {
        self.emit(Effect::Record(record));
    }

    pub fn notify(&mut self, notification: ServerNotification) {
        self.emit(Effect::Notify(notification));
    }

    pub fn answer(&mut self, reply: ReplyToken, answer: Answer) {
        self.emit(Effect::Answer { reply, answer });
    }

    pub fn refuse(&mut self, reply: ReplyToken, refusal: Refusal) {
        self.answer(reply, Answer::Refused(refusal));
    }

    /// Answers an input that will not be acted on. An interrupt has nothing left to do, so it is done.
    pub fn refuse_input(&mut self, input: Input, refusal: Refusal) {
        match input {
            Input::Start(start) => self.refuse(start.reply, refusal),
            Input::Steer { reply, .. } => self.refuse(reply, refusal),
            Input::Review(review) => {
                if let Some(reply) = review.reply {
                    self.refuse(reply, refusal);
                }
            }
            Input::Interrupt { reply: Some(reply) } => self.answer(reply, Answer::Done),
            Input::Tool {
                call_id,
                event: ToolEvent::Ask { question, .. },
            } => self.emit(Effect::Deliver { question, call_id }),
            _ => {}
        }
    }

    /// Takes a report of hooks that no turn waits for: a hook that asks gets no answer.
    pub fn refuse_hooks(&mut self, run: HookRunId, report: HookReport) {
        if let HookReport::Ask { question, .. } = report {
            let call_id = run.asker();
            self.emit(Effect::Deliver { question, call_id });
        }
    }

    /// The same list, for what concerns a turn.
    pub fn of_turn<'a>(&'a mut self, turn_id: &'a TurnId) -> TurnOut<'a> {
        TurnOut { out: self, turn_id }
    }
}

/// The effects of the current step, for what concerns a turn: its notifications carry the turn's id.
pub struct TurnOut<'a> {
    out: &'a mut Out,
    turn_id: &'a TurnId,
}

impl TurnOut<'_> {
    pub fn turn_id(&self) -> &TurnId {
        self.turn_id
    }

    /// The ids of the thread and of the turn, as notifications carry them.
    pub fn ids(&self) -> (String, String) {
        let thread_id = self.out.thread_id.as_str().to_owned();
        (thread_id, self.turn_id.as_str().to_owned())
    }

    pub fn notify(&mut self, notification: ServerNotification) {
        self.out.notify(notification);
    }

    pub fn item_started(&mut self, item: ThreadItem) {
        let (thread_id, turn_id) = self.ids();
        let params = ItemStartedNotification {
            item,
            thread_id,
            turn_id,
            started_at_ms: UNSTAMPED,
        };
        self.notify(ServerNotification::ItemStarted(params));
    }

    /// Notifies of the end of an item that is in the log already.
    pub fn item_completed(&mut self, item: ThreadItem) {
        let (thread_id, turn_id) = self.ids();
        let params = ItemCompletedNotification {
            item,
            thread_id,
            turn_id,
            completed_at_ms: UNSTAMPED,
        };
        self.notify(ServerNotification::ItemCompleted(params));
    }

    /// Notifies of an item that begins and ends at once, and is in the log already.
    pub fn item(&mut self, item: ThreadItem) {
        self.item_started(item.clone());
        self.item_completed(item);
    }

    /// Records the end of an item, and notifies of it.
    pub fn complete_item(&mut self, mut item: ThreadItem) {
        fit(&mut item);
        self.record_item(item.clone());
        self.item_completed(item);
    }

    fn record_item(&mut self, item: ThreadItem) {
        self.out.record(match item {
            ThreadItem::AgentMessage {
                id: item_id,
                text,
                phase,
                ..
            } => Record::AgentMessage {
                item_id: item_id.into(),
                text,
                phase,
            },
            ThreadItem::Reasoning {
                id: item_id,
                summary,
                content,
            } => Record::Reasoning {
                item_id: item_id.into(),
                summary,
                content,
            },
            item => Record::Item {
                turn_id: self.turn_id.clone(),
                item,
            },
        });
    }

    /// Notifies of an item exactly as the model made it.
    pub fn raw_item(&mut self, item: ResponseItem) {
        let (thread_id, turn_id) = self.ids();
        let params = RawResponseItemCompletedNotification {
            thread_id,
            turn_id,
            item,
        };
        self.notify(ServerNotification::RawResponseItemCompleted(params));
    }

    pub fn error(&mut self, error: TurnError, will_retry: bool) {
        let (thread_id, turn_id) = self.ids();
        let params = ErrorNotification {
            error,
            will_retry,
            thread_id,
            turn_id,
        };
        self.notify(ServerNotification::Error(params));
    }

    pub fn diff(&mut self, diff: String) {
        let (thread_id, turn_id) = self.ids();
        let params = TurnDiffUpdatedNotification {
            thread_id,
            turn_id,
            diff,
        };
        self.notify(ServerNotification::TurnDiffUpdated(params));
    }

    /// Notifies of the steps that the model plans.
    pub fn plan(&mut self, explanation: Option<String>, plan: Vec<TurnPlanStep>) {
        let (thread_id, turn_id) = self.ids();
        let params = TurnPlanUpdatedNotification {
            thread_id,
            turn_id,
            explanation,
            plan,
        };
        self.notify(ServerNotification::TurnPlanUpdated(params));
    }

    /// Notifies that another model answers than the one asked for.
    pub fn rerouted(&mut self, from_model: String, to_model: String) {
        let (thread_id, turn_id) = self.ids();
        let params = ModelReroutedNotification {
            thread_id,
            turn_id,
            from_model,
            to_model,
            reason: ModelRerouteReason::HighRiskCyberActivity,
        };
        self.notify(ServerNotification::ModelRerouted(params));
    }

    pub fn token_usage(&mut self, token_usage: ThreadTokenUsage) {
        let (thread_id, turn_id) = self.ids();
        let params = ThreadTokenUsageUpdatedNotification {
            thread_id,
            turn_id,
            token_usage,
        };
        self.notify(ServerNotification::ThreadTokenUsageUpdated(params));
    }

    /// Notifies that hooks started or completed.
    pub fn hooks(&mut self, report: HookReport) {
        match report {
            HookReport::Started(runs) => {
                for run in runs {
                    let (thread_id, turn_id) = self.ids();
                    let params = HookStartedNotification {
                        thread_id,
                        turn_id: Some(turn_id),
                        run,
                    };
                    self.notify(ServerNotification::HookStarted(params));
                }
            }
            HookReport::Completed(runs) => {
                for run in runs {
                    let (thread_id, turn_id) = self.ids();
                    let params = HookCompletedNotification {
                        thread_id,
                        turn_id: Some(turn_id),
                        run,
                    };
                    self.notify(ServerNotification::HookCompleted(params));
                }
            }
            HookReport::Ask { .. } | HookReport::Done(_) => {}
        }
    }

    /// Notifies of more of a tool's item.
    pub fn tool_delta(&mut self, item_id: ItemId, delta: ToolDelta) {
        let (thread_id, turn_id) = self.ids();
        let item_id = item_id.into();
        self.notify(match delta {
            ToolDelta::CommandOutput(delta) => ServerNotification::ItemCommandExecutionOutputDelta(
                CommandExecutionOutputDeltaNotification {
                    thread_id,
                    turn_id,
                    item_id,
                    delta,
                },
            ),
            ToolDelta::PatchOutput(delta) => {
                ServerNotification::ItemFileChangeOutputDelta(FileChangeOutputDeltaNotification {
                    thread_id,
                    turn_id,
                    item_id,
                    delta,
                })
            }
            ToolDelta::McpProgress(message) => {
                ServerNotification::ItemMcpToolCallProgress(McpToolCallProgressNotification {
                    thread_id,
                    turn_id,
                    item_id,
                    message,
                })
            }
            ToolDelta::TerminalInput { process_id, stdin } => {
                ServerNotification::ItemCommandExecutionTerminalInteraction(
                    TerminalInteractionNotification {
                        thread_id,
                        turn_id,
                        item_id,
                        process_id: process_id.to_string(),
                        stdin,
                    },
                )
            }
        });
    }
}
