//! What stored events are as items on the wire, and the other way round. One file for each family of
//! items holds both directions.

mod agents;
mod commands;
mod errors;
mod messages;
mod stored;
mod tools;

use quipu_wire::ThreadItem;

pub(crate) use messages::hook_prompt;
pub(crate) use stored::from_completed;

use crate::event::{ContextCompacted, Event};

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
        Event::UserMessage(message) => here(messages::user_message(message)),
        Event::AgentMessage(message) => here(messages::agent_message(message)?),
        Event::ContextCompacted(_) => here(ThreadItem::ContextCompaction { id: String::new() }),
        Event::EnteredReviewMode(entered) => here(messages::entered_review(entered)),
        Event::ExitedReviewMode(exited) => here(messages::exited_review(exited)),
        Event::ItemCompleted(done) => in_turn(done.turn_id, messages::plan(done.item)?),
        Event::ExecCommandBegin(begin) => in_turn(begin.turn_id.clone(), commands::started(begin)),
        Event::ExecCommandEnd(end) => in_turn(end.turn_id.clone(), commands::ended(end)),
        Event::PatchApplyBegin(begin) => in_turn(begin.turn_id.clone(), commands::patching(begin)),
        Event::PatchApplyEnd(end) => in_turn(end.turn_id.clone(), commands::patched(end)),
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
        Event::ViewImageToolCall(view) => here(tools::viewed(view)),
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

impl Event {
    /// The events that store an item of a turn, so that a replay makes the item again: at its start
    /// those of the item in progress, at its end those of the finished one.
    ///
    /// Ids of messages, thoughts, reviews and compactions are not stored; a replay numbers them.
    /// Prompts of hooks make no event: the history for the model stores them. Nor do the starts of
    /// calls to other agents: the format has no event for them that is read back.
    pub fn of_item(item: ThreadItem, thread: &str, turn: &str) -> Vec<Self> {
        let event = match item {
            ThreadItem::UserMessage { content, .. } => Event::UserMessage(content.into()),
            ThreadItem::AgentMessage {
                text,
                phase,
                memory_citation,
                ..
            } => messages::store_answer(text, phase, memory_citation),
            ThreadItem::Reasoning {
                summary, content, ..
            } => {
                return messages::store_reasoning(summary, content);
            }
            ThreadItem::Plan { id, text } => messages::store_plan(id, text, thread, turn),
            ThreadItem::ContextCompaction { .. } => Self::ContextCompacted(ContextCompacted {}),
            ThreadItem::EnteredReviewMode { review, .. } => messages::store_review_start(review),
            ThreadItem::ExitedReviewMode { review, .. } => messages::store_review(review),
            item @ ThreadItem::CommandExecution { .. } => {
                return Vec::from_iter(commands::store(item, turn));
            }
            ThreadItem::FileChange {
                id,
                changes,
                status,
            } => commands::store_patch(id, changes, status, turn),
            item @ ThreadItem::McpToolCall { .. } => return Vec::from_iter(tools::store_mcp(item)),
            item @ ThreadItem::DynamicToolCall { .. } => {
                return Vec::from_iter(tools::store_dynamic(item, turn));
            }
            item @ ThreadItem::CollabAgentToolCall { .. } => {
                return Vec::from_iter(agents::store(item));
            }
            ThreadItem::WebSearch { id, query, action } => tools::store_search(id, query, action),
            ThreadItem::ImageView { id, path } => tools::store_view(id, path),
            ThreadItem::ImageGeneration {
                id,
                status,
                revised_prompt,
                result,
                saved_path,
            } => tools::store_drawing(id, status, revised_prompt, result, saved_path),
            ThreadItem::HookPrompt { .. } | ThreadItem::Unrecognized(_) => return Vec::new(),
        };
        vec![event]
    }
}

/// The id of an item, where its kind is known.
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
