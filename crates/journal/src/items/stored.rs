//! The two forms in which a finished item is stored: the events of all rollouts, and the items of paginated
//! ones. Both say the same, except that only the second form gives an id to every item.

mod address;
mod agents;

use quipu_wire::{ByteRange, TextElement, ThreadItem, UserInput};
use uuid::Uuid;

use self::address::{file_address, file_path};
use self::agents::{collab_end, collab_item};
use super::{from_event, id_mut, messages};
use crate::event::{
    self, AgentItem, AgentMessage, AgentPart, CallError, CallStatus, CommandItem, CompactionItem,
    ContextCompacted, DynamicItem, DynamicToolCallResponse, EnteredReviewMode, Event,
    ExecCommandEnd, ExitedReviewMode, ExtensionItem, IMAGE_GENERATION, ImageGenerationEnd,
    ItemCompleted, McpInvocation, McpItem, McpToolCallEnd, PatchApplyEnd, PatchItem, ReasoningItem,
    ReviewItem, ReviewedItem, SearchItem, TurnItem, UserItem, UserMessage, UserPart,
    ViewImageToolCall, ViewItem, WebSearchEnd,
};

impl Event {
    /// Whether this event stores a finished item in the form of all rollouts, and the turn it names; an empty
    /// name is that of the turn that is open.
    pub(crate) fn finishes_item(&self) -> Option<&str> {
        match self {
            Self::ExecCommandEnd(end) => Some(&end.turn_id),
            Self::PatchApplyEnd(end) => Some(&end.turn_id),
            Self::DynamicToolCallResponse(end) => Some(&end.turn_id),
            Self::UserMessage(_)
            | Self::AgentMessage(_)
            | Self::AgentReasoning(_)
            | Self::AgentReasoningRawContent(_)
            | Self::ContextCompacted(_)
            | Self::EnteredReviewMode(_)
            | Self::ExitedReviewMode(_)
            | Self::McpToolCallEnd(_)
            | Self::WebSearchEnd(_)
            | Self::ViewImageToolCall(_)
            | Self::ImageGenerationEnd(_)
            | Self::CollabAgentSpawnEnd(_)
            | Self::CollabAgentInteractionEnd(_)
            | Self::CollabWaitingEnd(_)
            | Self::CollabCloseEnd(_)
            | Self::CollabResumeEnd(_) => Some(""),
            _ => None,
        }
    }
}

impl TurnItem {
    /// The item that an event finishes, in the form of paginated rollouts.
    pub(crate) fn of(event: &Event) -> Option<Self> {
        Some(match event.clone() {
            Event::UserMessage(message) => Self::UserMessage(user_item(message)),
            Event::AgentMessage(message) => Self::AgentMessage(AgentItem {
                id: new_id(),
                content: vec![AgentPart::Text {
                    text: message.message,
                }],
                phase: message.phase,
                memory_citation: message.memory_citation,
            }),
            Event::AgentReasoning(part) => reasoning(vec![part.text], Vec::new()),
            Event::AgentReasoningRawContent(part) => reasoning(Vec::new(), vec![part.text]),
            Event::ContextCompacted(_) => Self::ContextCompaction(CompactionItem { id: new_id() }),
            Event::EnteredReviewMode(entered) => Self::EnteredReviewMode(ReviewItem {
                id: new_id(),
                target: entered.target,
                user_facing_hint: entered.user_facing_hint,
            }),
            Event::ExitedReviewMode(exited) => Self::ExitedReviewMode(ReviewedItem {
                id: new_id(),
                review_output: exited.review_output,
            }),
            Event::ExecCommandEnd(end) => Self::CommandExecution(command_item(end)),
            Event::PatchApplyEnd(end) => Self::FileChange(PatchItem {
                id: end.call_id,
                changes: end.changes,
                status: end.status,
                stdout: end.stdout,
                stderr: end.stderr,
            }),
            Event::McpToolCallEnd(end) => Self::McpToolCall(mcp_item(end)),
            Event::DynamicToolCallResponse(answer) => Self::DynamicToolCall(DynamicItem {
                id: answer.call_id,
                namespace: answer.namespace,
                tool: answer.tool,
                arguments: answer.arguments,
                status: call_status(answer.success),
                content_items: Some(answer.content_items),
                success: Some(answer.success),
                error: answer.error,
                duration: Some(answer.duration),
            }),
            Event::WebSearchEnd(end) => Self::WebSearch(SearchItem {
                id: end.call_id,
                query: end.query,
                action: end.action,
            }),
            Event::ViewImageToolCall(view) => Self::ImageView(ViewItem {
                id: view.call_id,
                path: file_address(&view.path),
            }),
            Event::ImageGenerationEnd(end) => Self::Extension(ExtensionItem {
                kind: IMAGE_GENERATION.to_owned(),
                id: end.call_id,
                status: end.status,
                revised_prompt: end.revised_prompt,
                result: Some(end.result),
                transparent_background: None,
                failure: None,
                saved_path: end.saved_path,
                generation_id: None,
            }),
            collab => Self::CollabAgentToolCall(collab_item(collab)?),
        })
    }

    /// The events that store the same in other rollouts.
    pub(crate) fn into_events(self, turn: &str) -> Vec<Event> {
        let turn_id = turn.to_owned();
        vec![match self {
            Self::UserMessage(item) => Event::UserMessage(user_input(item).into()),
            Self::AgentMessage(item) => Event::AgentMessage(AgentMessage {
                message: item.content.into_iter().filter_map(words).collect(),
                phase: item.phase,
                memory_citation: item.memory_citation,
            }),
            Self::Reasoning(item) => {
                return messages::store_reasoning(item.summary_text, item.raw_content);
            }
            Self::ContextCompaction(_) => Event::ContextCompacted(ContextCompacted {}),
            Self::EnteredReviewMode(item) => Event::EnteredReviewMode(EnteredReviewMode {
                target: item.target,
                user_facing_hint: item.user_facing_hint,
            }),
            Self::ExitedReviewMode(item) => Event::ExitedReviewMode(ExitedReviewMode {
                review_output: item.review_output,
            }),
            Self::CommandExecution(item) => Event::ExecCommandEnd(command_end(item, turn_id)),
            Self::FileChange(item) => Event::PatchApplyEnd(PatchApplyEnd {
                call_id: item.id,
                turn_id,
                stdout: item.stdout,
                stderr: item.stderr,
                success: item.status == Some(event::PatchStatus::Completed),
                changes: item.changes,
                status: item.status,
            }),
            Self::McpToolCall(item) => Event::McpToolCallEnd(mcp_end(item)),
            Self::DynamicToolCall(item) => {
                Event::DynamicToolCallResponse(DynamicToolCallResponse {
                    call_id: item.id,
                    turn_id,
                    namespace: item.namespace,
                    tool: item.tool,
                    arguments: item.arguments,
                    content_items: item.content_items.unwrap_or_default(),
                    success: item.success.unwrap_or(item.status == CallStatus::Completed),
                    error: item.error,
                    duration: item.duration.unwrap_or_default(),
                })
            }
            Self::WebSearch(item) => Event::WebSearchEnd(WebSearchEnd {
                call_id: item.id,
                query: item.query,
                action: item.action,
            }),
            Self::ImageView(item) => Event::ViewImageToolCall(ViewImageToolCall {
                call_id: item.id,
                path: file_path(item.path),
            }),
            Self::Extension(item) if item.kind == IMAGE_GENERATION => {
                Event::ImageGenerationEnd(ImageGenerationEnd {
                    call_id: item.id,
                    status: item.status,
                    revised_prompt: item.revised_prompt,
                    result: item.result.unwrap_or_default(),
                    saved_path: item.saved_path,
                })
            }
            Self::CollabAgentToolCall(item) => collab_end(item),
            // Plans are stored as items everywhere; prompts of hooks are items of the model.
            Self::Plan(_) | Self::HookPrompt(_) | Self::Extension(_) | Self::Other => {
                return Vec::new();
            }
        }]
    }
}

/// The item that clients see.
pub(crate) fn from_completed(done: ItemCompleted) -> Option<ThreadItem> {
    let id = done.item.id().to_owned();
    match done.item {
        TurnItem::UserMessage(item) => Some(ThreadItem::UserMessage {
            id,
            content: user_input(item),
        }),
        TurnItem::Reasoning(item) => Some(ThreadItem::Reasoning {
            id,
            summary: item.summary_text,
            content: item.raw_content,
        }),
        item => {
            let event = item.into_events(&done.turn_id).pop()?;
            let mut item = from_event(event)?.item;
            *id_mut(&mut item)? = id;
            Some(item)
        }
    }
}

fn new_id() -> String {
    Uuid::now_v7().to_string()
}

fn reasoning(summary_text: Vec<String>, raw_content: Vec<String>) -> TurnItem {
    TurnItem::Reasoning(ReasoningItem {
        id: new_id(),
        summary_text,
        raw_content,
    })
}

fn words(part: AgentPart) -> Option<String> {
    match part {
        AgentPart::Text { text } => Some(text),
        AgentPart::Other => None,
    }
}

fn user_item(message: UserMessage) -> UserItem {
    let text = (!message.message.is_empty()).then_some(UserPart::Text {
        text: message.message,
        text_elements: message.text_elements,
    });
    let images = message.images.unwrap_or_default().into_iter();
    let images = images.map(|image_url| UserPart::Image { image_url });
    let local = message.local_images.into_iter();
    let local = local.map(|path| UserPart::LocalImage { path });
    UserItem {
        id: new_id(),
        content: text.into_iter().chain(images).chain(local).collect(),
    }
}

fn user_input(item: UserItem) -> Vec<UserInput> {
    let mark = |element: event::TextElement| TextElement {
        byte_range: ByteRange {
            start: element.byte_range.start,
            end: element.byte_range.end,
        },
        placeholder: element.placeholder,
    };
    let input = |part| {
        Some(match part {
            UserPart::Text {
                text,
                text_elements,
            } => UserInput::Text {
                text,
                text_elements: text_elements.into_iter().map(mark).collect(),
            },
            UserPart::Image { image_url: url } => UserInput::Image { url },
            UserPart::LocalImage { path } => UserInput::LocalImage { path },
            UserPart::Skill { name, path } => UserInput::Skill { name, path },
            UserPart::Mention { name, path } => UserInput::Mention { name, path },
            UserPart::Other => return None,
        })
    };
    item.content.into_iter().filter_map(input).collect()
}

fn command_item(end: ExecCommandEnd) -> CommandItem {
    CommandItem {
        id: end.call_id,
        process_id: end.process_id,
        command: end.command,
        cwd: file_address(&end.cwd),
        parsed_cmd: end.parsed_cmd,
        source: end.source,
        status: end.status,
        aggregated_output: Some(end.aggregated_output),
        exit_code: Some(end.exit_code),
        duration: Some(end.duration),
    }
}

fn command_end(item: CommandItem, turn_id: String) -> ExecCommandEnd {
    ExecCommandEnd {
        call_id: item.id,
        process_id: item.process_id,
        turn_id,
        command: item.command,
        cwd: file_path(item.cwd),
        parsed_cmd: item.parsed_cmd,
        source: item.source,
        interaction_input: None,
        stdout: String::new(),
        stderr: String::new(),
        aggregated_output: item.aggregated_output.unwrap_or_default(),
        exit_code: item.exit_code.unwrap_or(-1),
        duration: item.duration.unwrap_or_default(),
        formatted_output: String::new(),
        status: item.status,
    }
}

fn call_status(success: bool) -> CallStatus {
    match success {
        true => CallStatus::Completed,
        false => CallStatus::Failed,
    }
}

fn mcp_item(end: McpToolCallEnd) -> McpItem {
    let worked = matches!(&end.result, Ok(result) if result.is_error != Some(true));
    let (result, error) = match end.result {
        Ok(result) => (Some(result), None),
        Err(message) => (None, Some(CallError { message })),
    };
    McpItem {
        id: end.call_id,
        server: end.invocation.server,
        tool: end.invocation.tool,
        arguments: end.invocation.arguments.unwrap_or_default(),
        status: call_status(worked),
        result,
        error,
        duration: Some(end.duration),
    }
}

fn mcp_end(item: McpItem) -> McpToolCallEnd {
    McpToolCallEnd {
        call_id: item.id,
        invocation: McpInvocation {
            server: item.server,
            tool: item.tool,
            arguments: Some(item.arguments).filter(|arguments| !arguments.is_null()),
        },
        duration: item.duration.unwrap_or_default(),
        result: match (item.result, item.error) {
            (Some(result), _) => Ok(result),
            (None, error) => Err(error.map(|error| error.message).unwrap_or_default()),
        },
    }
}
