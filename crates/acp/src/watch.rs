//! A running turn, shown to the editor as it happens.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use quipu_client::wire::{
    ServerNotification, ThreadItem, ThreadTokenUsage, Turn, TurnInterruptParams,
    TurnPlanStepStatus, TurnPlanUpdatedNotification,
};
use quipu_client::{Client, Event};
use tokio::time::Instant;

use crate::editor::Editor;
use crate::link::Joined;
use crate::schema::{PlanEntry, PlanStatus, Update};
use crate::session::{Cancellation, Session};
use crate::tool_call;

/// Bytes of a command's output that are kept to be shown.
const MOST_OUTPUT: usize = 256 << 10;
/// How long output is gathered before it is shown: every update repeats all of it.
const GATHER: Duration = Duration::from_millis(100);

/// How following a turn ended.
pub enum Left {
    Completed(Box<Turn>),
    /// The connection was lost, or events were.
    Lost(String),
}

/// What the editor was shown of an item.
#[derive(Default)]
struct Shown {
    /// Bytes of its text.
    text: usize,
    /// What it printed.
    output: String,
}

/// A turn that is followed.
pub struct Watch<'a> {
    session: &'a Session,
    editor: &'a Editor,
    items: HashMap<String, Shown>,
    /// Commands whose newest output is not shown yet, and when it will be.
    printed: (HashSet<String>, Instant),
    pub turn_id: Option<String>,
}

impl<'a> Watch<'a> {
    pub fn new(session: &'a Session, editor: &'a Editor) -> Watch<'a> {
        Watch {
            session,
            editor,
            items: HashMap::new(),
            printed: (HashSet::new(), Instant::now()),
            turn_id: None,
        }
    }

    /// Shows what happens until the turn or the connection ends.
    pub async fn follow(&mut self, joined: &mut Joined, cancellation: &mut Cancellation) -> Left {
        let mut is_cancelled = false;
        loop {
            let event = tokio::select! {
                event = joined.events.next() => event,
                () = tokio::time::sleep_until(self.printed.1), if !self.printed.0.is_empty() => {
                    self.show_output().await;
                    continue;
                }
                () = cancellation.wait(), if !is_cancelled && self.turn_id.is_some() => {
                    is_cancelled = true;
                    self.interrupt(&joined.client).await;
                    continue;
                }
            };
            match event {
                Some(Event::Notification(ServerNotification::TurnCompleted(done)))
                    if self.turn_id.as_ref().is_none_or(|id| *id == done.turn.id) =>
                {
                    return Left::Completed(Box::new(done.turn));
                }
                Some(Event::Notification(notification)) => self.notified(&notification).await,
                Some(Event::Closed(cause)) => return Left::Lost(cause.to_string()),
                Some(Event::Lagged(lagged)) => {
                    return Left::Lost(format!("{} notifications were missed", lagged.missed));
                }
                Some(_) => {}
                None => return Left::Lost("the turn was not reported to its end".to_owned()),
            }
        }
    }

    async fn interrupt(&self, client: &Client) {
        let params = TurnInterruptParams {
            thread_id: self.session.thread_id.clone(),
            turn_id: self.turn_id.clone().unwrap_or_default(),
        };
        if let Err(error) = client.turn_interrupt(params).await {
            tracing::debug!(%error, "turn not interrupted");
        }
    }

    async fn send(&self, update: Update) {
        self.editor.update(&self.session.thread_id, update).await;
    }

    async fn notified(&mut self, notification: &ServerNotification) {
        use ServerNotification as Seen;
        match notification {
            Seen::TurnStarted(it) if self.turn_id.is_none() => {
                self.turn_id = Some(it.turn.id.clone());
            }
            Seen::ItemAgentMessageDelta(it) => self.speak(&it.item_id, &it.delta).await,
            Seen::ItemPlanDelta(it) => self.speak(&it.item_id, &it.delta).await,
            Seen::ItemReasoningSummaryTextDelta(it) => self.think(&it.item_id, &it.delta).await,
            Seen::ItemReasoningSummaryPartAdded(it) if it.summary_index > 0 => {
                self.think(&it.item_id, PARAGRAPH).await;
            }
            Seen::ItemReasoningTextDelta(it) => self.think(&it.item_id, &it.delta).await,
            Seen::ItemStarted(it) => self.show_call(&it.item).await,
            Seen::ItemCompleted(it) => self.show(&it.item).await,
            Seen::ItemCommandExecutionOutputDelta(it) => self.gather(&it.item_id, &it.delta),
            Seen::TurnPlanUpdated(it) => self.send(plan(it)).await,
            Seen::ThreadTokenUsageUpdated(it) => self.used(&it.token_usage).await,
            Seen::ThreadNameUpdated(it) => {
                let title = it.thread_name.clone();
                self.send(Update::SessionInfoUpdate { title }).await;
            }
            Seen::Error(it) if it.will_retry => {
                self.think("", &format!("{}\n", it.error.message)).await;
            }
            _ => {}
        }
    }

    async fn speak(&mut self, item_id: &str, text: &str) {
        self.count(item_id, text);
        self.editor.say(&self.session.thread_id, text).await;
    }

    async fn think(&mut self, item_id: &str, text: &str) {
        self.count(item_id, text);
        let content = text.into();
        self.send(Update::AgentThoughtChunk { content }).await;
    }

    fn count(&mut self, item_id: &str, text: &str) {
        self.items.entry(item_id.to_owned()).or_default().text += text.len();
    }

    /// What is not shown yet of an item's text.
    fn rest<'t>(&self, item_id: &str, text: &'t str) -> Option<&'t str> {
        let shown = self.items.get(item_id).map_or(0, |it| it.text);
        text.get(shown..).filter(|it| !it.is_empty())
    }

    /// Shows what is not shown yet of a turn.
    pub async fn catch_up(&mut self, turn: &Turn) {
        for item in &turn.items {
            self.show(item).await;
        }
    }

    /// Shows what is not shown yet of an item.
    async fn show(&mut self, item: &ThreadItem) {
        match item {
            ThreadItem::AgentMessage { id, text, .. } | ThreadItem::Plan { id, text, .. } => {
                if let Some(rest) = self.rest(id, text) {
                    self.speak(id, rest).await;
                }
            }
            ThreadItem::Reasoning { id, summary, .. } => {
                let text = summary.join(PARAGRAPH);
                if let Some(rest) = self.rest(id, &text) {
                    self.think(id, rest).await;
                }
            }
            other => self.show_call(other).await,
        }
    }

    /// Shows an item that is a tool call: what it is the first time, what changed after that.
    async fn show_call(&mut self, item: &ThreadItem) {
        let Some(mut call) = tool_call::of(item) else {
            return;
        };
        let id = call.tool_call_id.clone();
        if self.items.insert(id.clone(), Shown::default()).is_none() {
            self.send(Update::ToolCall(call)).await;
        } else {
            // The editor's own terminal stays on display.
            if let ThreadItem::DynamicToolCall { .. } = item {
                call.content = None;
                call.title = None;
            }
            // It has all output that there is.
            self.printed.0.remove(&id);
            self.send(Update::ToolCallUpdate(call)).await;
        }
        self.session.item_begun(&id, item);
    }

    fn gather(&mut self, id: &str, delta: &str) {
        let shown = self.items.entry(id.to_owned()).or_default();
        if shown.output.len() < MOST_OUTPUT {
            shown.output.push_str(delta);
            if self.printed.0.is_empty() {
                self.printed.1 = Instant::now() + GATHER;
            }
            self.printed.0.insert(id.to_owned());
        }
    }

    async fn show_output(&mut self) {
        for id in std::mem::take(&mut self.printed.0) {
            if let Some(shown) = self.items.get(&id) {
                let call = tool_call::output(&id, &shown.output);
                self.send(Update::ToolCallUpdate(call)).await;
            }
        }
    }

    async fn used(&self, usage: &ThreadTokenUsage) {
        let count = |it: i64| u64::try_from(it).unwrap_or_default();
        let size = count(usage.model_context_window.unwrap_or_default());
        let used = count(usage.last.total_tokens);
        self.send(Update::UsageUpdate { used, size }).await;
        *self.session.usage.lock() = Some(usage.clone());
    }
}

/// What separates parts of a text.
const PARAGRAPH: &str = "\n\n";

fn plan(update: &TurnPlanUpdatedNotification) -> Update {
    let entries = update.plan.iter().map(|step| PlanEntry {
        content: step.step.clone(),
        priority: "medium",
        status: match step.status {
            TurnPlanStepStatus::Completed => PlanStatus::Completed,
            TurnPlanStepStatus::InProgress => PlanStatus::InProgress,
            _ => PlanStatus::Pending,
        },
    });
    Update::Plan {
        entries: entries.collect(),
    }
}
