//! What each stored event becomes as an item on the wire.

mod agents;
mod tools;

use quipu_wire::{
    ByteRange, CodexErrorInfo, HookPromptFragment, MemoryCitation, MemoryCitationEntry,
    MessagePhase, NonSteerableTurnKind, TextElement, ThreadItem, UserInput,
};
use serde::Deserialize;

use crate::event::{self, AgentMessage, ErrorInfo, Event, TurnItem, TurnKind, UserMessage};

const NO_REVIEW: &str = "Reviewer failed to output a response.";
const UNNAMED_REVIEW: &str = "Review requested.";

/// Which turn an item belongs to.
pub(crate) enum Home {
    /// The one that is open, or a new one.
    Current,
    /// The one of this id. Without such a turn the item is lost.
    Turn(String),
}

/// An item and its place. An empty id is replaced by a number.
pub(crate) struct NewItem {
    pub home: Home,
    pub item: ThreadItem,
}

fn here(item: ThreadItem) -> NewItem {
    NewItem {
        home: Home::Current,
        item,
    }
}

fn in_turn(turn: String, item: ThreadItem) -> NewItem {
    NewItem {
        home: Home::Turn(turn),
        item,
    }
}

/// The item an event makes or completes; turn boundaries and reasoning are not handled here.
pub(crate) fn from_event(event: Event) -> Option<NewItem> {
    Some(match event {
        Event::UserMessage(message) => here(user_message(message)),
        Event::AgentMessage(message) => here(agent_message(message)?),
        Event::ContextCompacted(_) => here(ThreadItem::ContextCompaction { id: String::new() }),
        Event::EnteredReviewMode(entered) => here(entered_review(entered)),
        Event::ExitedReviewMode(exited) => here(exited_review(exited)),
        Event::ItemCompleted(done) => in_turn(done.turn_id, plan(done.item)?),
        Event::ExecCommandBegin(begin) => in_turn(begin.turn_id.clone(), tools::started(begin)),
        Event::ExecCommandEnd(end) => in_turn(end.turn_id.clone(), tools::ended(end)),
        Event::PatchApplyBegin(begin) => in_turn(begin.turn_id.clone(), tools::patching(begin)),
        Event::PatchApplyEnd(end) => in_turn(end.turn_id.clone(), tools::patched(end)),
        Event::McpToolCallBegin(begin) => here(tools::mcp_called(begin)),
        Event::McpToolCallEnd(end) => here(tools::mcp_answered(end)),
        Event::DynamicToolCallRequest(call) => {
            in_turn(call.turn_id.clone(), tools::dynamic_called(call))
        }
        Event::DynamicToolCallResponse(answer) => {
            in_turn(answer.turn_id.clone(), tools::dynamic_answered(answer))
        }
        Event::WebSearchBegin(begin) => here(tools::searching(begin)),
        Event::WebSearchEnd(end) => here(tools::searched(end)),
        Event::ViewImageToolCall(view) => here(ThreadItem::ImageView {
            id: view.call_id,
            path: view.path,
        }),
        Event::ImageGenerationEnd(end) => here(tools::drawn(end)),
        Event::CollabAgentSpawnEnd(end) => here(agents::spawned(end)),
        Event::CollabAgentInteractionEnd(end) => here(agents::sent_input(end)),
        Event::CollabWaitingEnd(end) => here(agents::waited(end)),
        Event::CollabCloseEnd(end) => here(agents::closed(end)),
        Event::CollabResumeEnd(end) => here(agents::resumed(end)),
        Event::TaskStarted(_)
        | Event::TaskComplete(_)
        | Event::TurnAborted(_)
        | Event::AgentReasoning(_)
        | Event::AgentReasoningRawContent(_)
        | Event::TokenCount(_)
        | Event::ThreadRolledBack(_)
        | Event::Error(_)
        | Event::Other(_) => return None,
    })
}

/// The id of an item that [`from_event`] can make.
pub(crate) fn id_mut(item: &mut ThreadItem) -> Option<&mut String> {
    match item {
        ThreadItem::UserMessage { id, .. }
        | ThreadItem::HookPrompt { id, .. }
        | ThreadItem::AgentMessage { id, .. }
        | ThreadItem::Plan { id, .. }
        | ThreadItem::Reasoning { id, .. }
        | ThreadItem::CommandExecution { id, .. }
        | ThreadItem::FileChange { id, .. }
        | ThreadItem::McpToolCall { id, .. }
        | ThreadItem::DynamicToolCall { id, .. }
        | ThreadItem::CollabAgentToolCall { id, .. }
        | ThreadItem::WebSearch { id, .. }
        | ThreadItem::ImageView { id, .. }
        | ThreadItem::ImageGeneration { id, .. }
        | ThreadItem::EnteredReviewMode { id, .. }
        | ThreadItem::ExitedReviewMode { id, .. }
        | ThreadItem::ContextCompaction { id } => Some(id),
        ThreadItem::Unrecognized(_) => None,
    }
}

fn user_message(message: UserMessage) -> ThreadItem {
    let mut content = Vec::new();
    if !message.message.trim().is_empty() {
        let mark = |element: event::TextElement| TextElement {
            byte_range: ByteRange {
                start: element.byte_range.start,
                end: element.byte_range.end,
            },
            placeholder: element.placeholder,
        };
        content.push(UserInput::Text {
            text: message.message,
            text_elements: message.text_elements.into_iter().map(mark).collect(),
        });
    }
    let images = message.images.unwrap_or_default().into_iter();
    content.extend(images.map(|url| UserInput::Image { url }));
    content.extend(
        message
            .local_images
            .into_iter()
            .map(|path| UserInput::LocalImage { path }),
    );
    ThreadItem::UserMessage {
        id: message.item_id.unwrap_or_default(),
        content,
    }
}

fn agent_message(message: AgentMessage) -> Option<ThreadItem> {
    let phase = match message.phase.as_deref() {
        Some("commentary") => Some(MessagePhase::Commentary),
        Some("final_answer") => Some(MessagePhase::FinalAnswer),
        _ => None,
    };
    (!message.message.is_empty()).then(|| ThreadItem::AgentMessage {
        id: message.item_id.unwrap_or_default(),
        text: message.message,
        phase,
        memory_citation: message.memory_citation.map(citation),
    })
}

fn citation(citation: event::MemoryCitation) -> MemoryCitation {
    let entry = |entry: event::Citation| MemoryCitationEntry {
        path: entry.path,
        line_start: entry.line_start,
        line_end: entry.line_end,
        note: entry.note,
    };
    MemoryCitation {
        entries: citation.entries.into_iter().map(entry).collect(),
        thread_ids: citation.rollout_ids,
    }
}

fn plan(item: TurnItem) -> Option<ThreadItem> {
    match item {
        TurnItem::Plan { id, text } if !text.is_empty() => Some(ThreadItem::Plan { id, text }),
        TurnItem::Plan { .. } | TurnItem::Other => None,
    }
}

fn entered_review(entered: event::EnteredReviewMode) -> ThreadItem {
    let review = entered
        .user_facing_hint
        .unwrap_or_else(|| UNNAMED_REVIEW.to_owned());
    ThreadItem::EnteredReviewMode {
        id: String::new(),
        review,
    }
}

fn exited_review(exited: event::ExitedReviewMode) -> ThreadItem {
    let said = exited
        .review_output
        .map(|output| output.overall_explanation.trim().to_owned());
    let review = said
        .filter(|text| !text.is_empty())
        .unwrap_or_else(|| NO_REVIEW.to_owned());
    ThreadItem::ExitedReviewMode {
        id: String::new(),
        review,
    }
}

/// The item of a message by which a hook made the model go on. It has no event of its own, only
/// the message to the model.
pub(crate) fn hook_prompt(offset: u64, response_item: &str) -> Option<NewItem> {
    #[derive(Deserialize)]
    struct Message {
        role: String,
        content: Vec<Part>,
    }
    #[derive(Deserialize)]
    struct Part {
        #[serde(default)]
        text: String,
    }
    let message: Message = serde_json::from_str(response_item).ok()?;
    let fragments: Option<Vec<_>> = (message.role == "user").then(|| {
        message
            .content
            .iter()
            .map(|part| hook_fragment(&part.text))
            .collect()
    })?;
    let fragments = fragments.filter(|fragments| !fragments.is_empty())?;
    Some(here(ThreadItem::HookPrompt {
        id: format!("hook-{offset}"),
        fragments,
    }))
}

/// Reads `<hook_prompt hook_run_id="…">…</hook_prompt>`.
fn hook_fragment(text: &str) -> Option<HookPromptFragment> {
    let (head, rest) = text
        .trim_start()
        .strip_prefix("<hook_prompt ")?
        .split_once('>')?;
    let (text, _) = rest.split_once("</hook_prompt>")?;
    let id = head.split_once("hook_run_id=")?.1;
    let quote = id.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let (id, _) = id[1..].split_once(quote)?;
    let (text, hook_run_id) = (unescape(text), unescape(id));
    (!text.is_empty()).then_some(HookPromptFragment { text, hook_run_id })
}

fn unescape(text: &str) -> String {
    text.replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&quot;", "\"")
        .replace("&apos;", "'")
        .replace("&amp;", "&")
}

impl From<ErrorInfo> for CodexErrorInfo {
    fn from(info: ErrorInfo) -> Self {
        match info {
            ErrorInfo::ContextWindowExceeded => Self::ContextWindowExceeded,
            ErrorInfo::UsageLimitExceeded => Self::UsageLimitExceeded,
            ErrorInfo::ServerOverloaded => Self::ServerOverloaded,
            ErrorInfo::InternalServerError => Self::InternalServerError,
            ErrorInfo::Unauthorized => Self::Unauthorized,
            ErrorInfo::BadRequest => Self::BadRequest,
            ErrorInfo::SandboxError => Self::SandboxError,
            ErrorInfo::ThreadRollbackFailed => Self::ThreadRollbackFailed,
            ErrorInfo::Other => Self::Other,
            ErrorInfo::HttpConnectionFailed { http_status_code } => {
                Self::HttpConnectionFailed { http_status_code }
            }
            ErrorInfo::ResponseStreamConnectionFailed { http_status_code } => {
                Self::ResponseStreamConnectionFailed { http_status_code }
            }
            ErrorInfo::ResponseStreamDisconnected { http_status_code } => {
                Self::ResponseStreamDisconnected { http_status_code }
            }
            ErrorInfo::ResponseTooManyFailedAttempts { http_status_code } => {
                Self::ResponseTooManyFailedAttempts { http_status_code }
            }
            ErrorInfo::ActiveTurnNotSteerable { turn_kind } => Self::ActiveTurnNotSteerable {
                turn_kind: match turn_kind {
                    TurnKind::Review => NonSteerableTurnKind::Review,
                    TurnKind::Compact => NonSteerableTurnKind::Compact,
                },
            },
        }
    }
}

impl From<CodexErrorInfo> for ErrorInfo {
    fn from(info: CodexErrorInfo) -> Self {
        match info {
            CodexErrorInfo::ContextWindowExceeded => Self::ContextWindowExceeded,
            CodexErrorInfo::UsageLimitExceeded => Self::UsageLimitExceeded,
            CodexErrorInfo::ServerOverloaded => Self::ServerOverloaded,
            CodexErrorInfo::InternalServerError => Self::InternalServerError,
            CodexErrorInfo::Unauthorized => Self::Unauthorized,
            CodexErrorInfo::BadRequest => Self::BadRequest,
            CodexErrorInfo::SandboxError => Self::SandboxError,
            CodexErrorInfo::ThreadRollbackFailed => Self::ThreadRollbackFailed,
            CodexErrorInfo::HttpConnectionFailed { http_status_code } => {
                Self::HttpConnectionFailed { http_status_code }
            }
            CodexErrorInfo::ResponseStreamConnectionFailed { http_status_code } => {
                Self::ResponseStreamConnectionFailed { http_status_code }
            }
            CodexErrorInfo::ResponseStreamDisconnected { http_status_code } => {
                Self::ResponseStreamDisconnected { http_status_code }
            }
            CodexErrorInfo::ResponseTooManyFailedAttempts { http_status_code } => {
                Self::ResponseTooManyFailedAttempts { http_status_code }
            }
            CodexErrorInfo::ActiveTurnNotSteerable { turn_kind } => Self::ActiveTurnNotSteerable {
                turn_kind: match turn_kind {
                    NonSteerableTurnKind::Compact => TurnKind::Compact,
                    _ => TurnKind::Review,
                },
            },
            _ => Self::Other,
        }
    }
}
