//! A prompt: a turn, a review or a command, told to the editor as it happens.

use std::collections::HashMap;

use agent_client_protocol::Result;
use agent_client_protocol::v1::schema::{
    ContentBlock, ContentChunk, Plan, PlanEntry, PlanEntryPriority, PlanEntryStatus,
    PromptResponse, SessionInfoUpdate, SessionNotification, SessionUpdate, StopReason,
    ToolCallUpdate, UsageUpdate,
};
use futures_util::{Stream, StreamExt as _};
use quipu_client::wire::{
    CodexErrorInfo, ReviewStartParams, ServerNotification, ThreadCompactStartParams, ThreadItem,
    ThreadTokenUsage, Turn, TurnInterruptParams, TurnPlanStepStatus, TurnPlanUpdatedNotification,
    TurnStartParams, TurnStatus,
};
use quipu_client::{Client, Event};

use crate::agent::{Editor, failed, locked, refused};
use crate::commands::{self, Command};
use crate::session::Session;
use crate::{input, tool_call};

/// Bytes of a command's output that are kept to be shown.
const MOST_OUTPUT: usize = 256 << 10;

/// Sends one update; an editor that is gone has no use for it.
pub fn send(editor: &Editor, session_id: &str, update: SessionUpdate) {
    let notification = SessionNotification::new(session_id.to_owned(), update);
    if let Err(error) = editor.send_notification(notification) {
        tracing::debug!(message = error.message, "an update could not be sent");
    }
}

pub fn send_call(editor: &Editor, session_id: &str, update: ToolCallUpdate) {
    send(editor, session_id, SessionUpdate::ToolCallUpdate(update));
}

fn say(editor: &Editor, session_id: &str, text: &str) {
    let chunk = ContentChunk::new(text.into());
    send(editor, session_id, SessionUpdate::AgentMessageChunk(chunk));
}

/// Runs a prompt to its end.
pub async fn run(
    client: &Client,
    session: &Session,
    editor: &Editor,
    prompt: Vec<ContentBlock>,
) -> Result<PromptResponse> {
    let input = input::of(prompt)?;
    let _prompting = session.prompting.lock().await;
    session.begin();
    let watch = Watch::new(client, session, editor);
    match commands::of(&input) {
        Some(Command::Status) => {
            say(editor, &session.thread_id, &status(session));
            Ok(PromptResponse::new(StopReason::EndTurn))
        }
        Some(Command::Compact) => {
            let events = client.thread_events(&session.thread_id);
            let params = ThreadCompactStartParams {
                thread_id: session.thread_id.clone(),
            };
            client.thread_compact_start(params).await.map_err(refused)?;
            watch.to_the_end(events, None).await
        }
        Some(Command::Review(target)) => {
            let params = ReviewStartParams {
                thread_id: session.thread_id.clone(),
                target,
                delivery: None,
            };
            let stream = client.stream_review(params).await.map_err(refused)?;
            let turn_id = stream.turn().id.clone();
            watch.to_the_end(stream, Some(turn_id)).await
        }
        None => {
            let mut params = TurnStartParams {
                thread_id: session.thread_id.clone(),
                input,
                ..TurnStartParams::default()
            };
            session.settings().apply(&mut params);
            let stream = client.stream_turn(params).await.map_err(refused)?;
            let turn_id = stream.turn().id.clone();
            watch.to_the_end(stream, Some(turn_id)).await
        }
    }
}

/// What `/status` says.
fn status(session: &Session) -> String {
    let settings = session.settings();
    let used = locked(&session.usage)
        .as_ref()
        .map_or(0, |it| it.total.total_tokens);
    format!(
        "- model: {}\n- mode: {}\n- tokens used: {used}\n- thread: {}\n",
        settings.model(),
        settings.mode_name(),
        session.thread_id,
    )
}

/// A turn that is being watched.
struct Watch<'a> {
    client: &'a Client,
    session: &'a Session,
    editor: &'a Editor,
    /// What running commands have printed.
    outputs: HashMap<String, String>,
    turn_id: Option<String>,
}

impl<'a> Watch<'a> {
    fn new(client: &'a Client, session: &'a Session, editor: &'a Editor) -> Watch<'a> {
        Watch {
            client,
            session,
            editor,
            outputs: HashMap::new(),
            turn_id: None,
        }
    }

    async fn to_the_end(
        mut self,
        events: impl Stream<Item = Event> + Unpin,
        turn_id: Option<String>,
    ) -> Result<PromptResponse> {
        let mut events = events;
        self.turn_id = turn_id;
        let mut is_cancelled = false;
        loop {
            let event = tokio::select! {
                event = events.next() => event,
                () = self.session.cancellation(), if !is_cancelled && self.turn_id.is_some() => {
                    is_cancelled = true;
                    self.interrupt().await;
                    continue;
                }
            };
            match event {
                Some(Event::Notification(ServerNotification::TurnCompleted(done))) => {
                    return ended(&done.turn);
                }
                Some(Event::Notification(notification)) => self.notified(&notification),
                Some(Event::Closed(cause)) => return Err(lost(&cause)),
                Some(_) => {}
                None => return Err(lost(&"the turn was not reported to its end")),
            }
        }
    }

    async fn interrupt(&self) {
        let params = TurnInterruptParams {
            thread_id: self.session.thread_id.clone(),
            turn_id: self.turn_id.clone().unwrap_or_default(),
        };
        if let Err(error) = self.client.turn_interrupt(params).await {
            tracing::debug!(%error, "a turn could not be interrupted");
        }
    }

    fn send(&self, update: SessionUpdate) {
        send(self.editor, &self.session.thread_id, update);
    }

    fn notified(&mut self, notification: &ServerNotification) {
        use ServerNotification as Told;
        match notification {
            Told::TurnStarted(it) => self.turn_id = Some(it.turn.id.clone()),
            Told::ItemAgentMessageDelta(it) => {
                let chunk = ContentChunk::new(it.delta.as_str().into());
                self.send(SessionUpdate::AgentMessageChunk(chunk));
            }
            Told::ItemPlanDelta(it) => {
                let chunk = ContentChunk::new(it.delta.as_str().into());
                self.send(SessionUpdate::AgentMessageChunk(chunk));
            }
            Told::ItemReasoningSummaryTextDelta(it) => self.think(&it.delta),
            Told::ItemReasoningSummaryPartAdded(it) if it.summary_index > 0 => self.think("\n\n"),
            Told::ItemReasoningTextDelta(it) => self.think(&it.delta),
            Told::ItemStarted(it) => self.started(&it.item),
            Told::ItemCompleted(it) => self.completed(&it.item),
            Told::ItemCommandExecutionOutputDelta(it) => self.printed(&it.item_id, &it.delta),
            Told::TurnPlanUpdated(it) => self.send(SessionUpdate::Plan(plan(it))),
            Told::ThreadTokenUsageUpdated(it) => self.used(&it.token_usage),
            Told::ThreadNameUpdated(it) => {
                let update = SessionInfoUpdate::new().title(it.thread_name.clone());
                self.send(SessionUpdate::SessionInfoUpdate(update));
            }
            Told::Error(it) if it.will_retry => self.think(&format!("{}\n", it.error.message)),
            _ => {}
        }
    }

    fn think(&self, text: &str) {
        self.send(SessionUpdate::AgentThoughtChunk(ContentChunk::new(
            text.into(),
        )));
    }

    fn started(&mut self, item: &ThreadItem) {
        if let Some(call) = tool_call::begun(item) {
            let id = call.tool_call_id.0.to_string();
            self.send(SessionUpdate::ToolCall(*call));
            self.session.item_begun(&id, item);
        }
    }

    fn completed(&mut self, item: &ThreadItem) {
        if let Some(call) = tool_call::changed(item) {
            self.outputs.remove(&*call.tool_call_id.0);
            // The editor's own terminal stays on display.
            let call = match item {
                ThreadItem::DynamicToolCall { .. } => {
                    let mut call = call;
                    call.fields.content = None;
                    call.fields.title = None;
                    call
                }
                _ => call,
            };
            self.send(SessionUpdate::ToolCallUpdate(call));
        }
        if let ThreadItem::ExitedReviewMode { review, .. } = item {
            say(self.editor, &self.session.thread_id, review);
        }
    }

    fn printed(&mut self, id: &str, delta: &str) {
        let output = self.outputs.entry(id.to_owned()).or_default();
        if output.len() < MOST_OUTPUT {
            output.push_str(delta);
            let call = tool_call::output(id, output);
            self.send(SessionUpdate::ToolCallUpdate(call));
        }
    }

    fn used(&self, usage: &ThreadTokenUsage) {
        let count = |it: i64| u64::try_from(it).unwrap_or_default();
        let size = count(usage.model_context_window.unwrap_or_default());
        let update = UsageUpdate::new(count(usage.last.total_tokens), size);
        self.send(SessionUpdate::UsageUpdate(update));
        *locked(&self.session.usage) = Some(usage.clone());
    }
}

fn lost(cause: &dyn std::fmt::Display) -> agent_client_protocol::Error {
    failed(format!(
        "The connection to the server was lost: {cause}. The next prompt connects again."
    ))
}

/// How a turn ended, in the words of the protocol.
fn ended(turn: &Turn) -> Result<PromptResponse> {
    match (&turn.status, &turn.error) {
        (TurnStatus::Interrupted, _) => Ok(PromptResponse::new(StopReason::Cancelled)),
        (TurnStatus::Failed, Some(error)) => match error.codex_error_info {
            Some(CodexErrorInfo::ContextWindowExceeded) => {
                Ok(PromptResponse::new(StopReason::MaxTokens))
            }
            _ => Err(failed(&error.message)),
        },
        (TurnStatus::Failed, None) => Err(failed("the turn failed")),
        _ => Ok(PromptResponse::new(StopReason::EndTurn)),
    }
}

fn plan(update: &TurnPlanUpdatedNotification) -> Plan {
    let entries = update.plan.iter().map(|step| {
        let status = match step.status {
            TurnPlanStepStatus::Completed => PlanEntryStatus::Completed,
            TurnPlanStepStatus::InProgress => PlanEntryStatus::InProgress,
            _ => PlanEntryStatus::Pending,
        };
        PlanEntry::new(step.step.clone(), PlanEntryPriority::Medium, status)
    });
    Plan::new(entries.collect())
}
