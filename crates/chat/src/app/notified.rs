//! What the server reports about the open conversation.

use quipu_client::wire::{ServerNotification, Turn, TurnStatus};

use super::App;
use crate::item;
use crate::style::Line;
use crate::wrap::clean;

impl App {
    /// Takes a notification; those of other threads are not shown.
    pub fn notified(&mut self, notification: &ServerNotification) {
        use ServerNotification as Notification;
        let about =
            |thread: &str| Some(thread) == self.open.as_ref().map(|it| it.thread_id.as_str());
        match notification {
            Notification::TurnStarted(it) if about(&it.thread_id) => {
                self.turn_id = Some(it.turn.id.clone());
                self.is_sending = false;
            }
            Notification::TurnCompleted(it) if about(&it.thread_id) => self.turn_ended(&it.turn),
            Notification::ItemStarted(it) if about(&it.thread_id) => {
                self.transcript.item_started(&it.item)
            }
            Notification::ItemCompleted(it) if about(&it.thread_id) => {
                self.transcript.item_ended(&it.item)
            }
            Notification::ItemAgentMessageDelta(it) if about(&it.thread_id) => {
                self.transcript.stream(&it.item_id, &it.delta);
            }
            Notification::ItemPlanDelta(it) if about(&it.thread_id) => {
                self.transcript.stream(&it.item_id, &it.delta);
            }
            Notification::ItemReasoningSummaryTextDelta(it) if about(&it.thread_id) => {
                let text = clean(&it.delta).replace("**", "");
                if let Some(line) = text.lines().next().filter(|it| it.len() > 8) {
                    self.transcript.activity = format!("thinking: {line}");
                }
            }
            Notification::ItemCommandExecutionOutputDelta(it) if about(&it.thread_id) => {
                self.transcript.command_printed(&it.delta);
            }
            Notification::TurnPlanUpdated(it) if about(&it.thread_id) => {
                self.transcript.extend(item::plan(it));
            }
            Notification::ThreadTokenUsageUpdated(it) if about(&it.thread_id) => {
                self.usage = Some(it.token_usage.clone());
            }
            Notification::Error(it) if about(&it.thread_id) && it.will_retry => {
                self.transcript.activity = clean(&it.error.message);
            }
            Notification::ConfigWarning(it) => self.alert(clean(&it.summary)),
            Notification::McpServerStartupStatusUpdated(it) => {
                let error = it.error.as_deref().map(clean);
                self.transcript.extend(error.map(Line::alert));
            }
            Notification::ModelRerouted(it) if about(&it.thread_id) => {
                let (to, from) = (clean(&it.to_model), clean(&it.from_model));
                self.alert(format!("the provider used {to} instead of {from}"));
            }
            _ => {}
        }
    }

    fn turn_ended(&mut self, turn: &Turn) {
        self.transcript.end_turn();
        self.turn_id = None;
        self.is_sending = false;
        self.forget_settled();
        self.transcript.extend(ending(turn));
        self.send_waiting();
    }
}

/// What is said of a turn that did not end by itself.
fn ending(turn: &Turn) -> Option<Line> {
    match (&turn.status, &turn.error) {
        (TurnStatus::Interrupted, _) => Some(Line::alert("* stopped")),
        (TurnStatus::Failed, Some(error)) => {
            let text = format!("The turn failed: {}", clean(&error.message));
            Some(Line::alert(text))
        }
        (TurnStatus::Failed, None) => Some(Line::alert("The turn failed")),
        _ => None,
    }
}
