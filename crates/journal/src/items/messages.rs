//! Messages, plans, reviews and the prompts of hooks.

use quipu_wire::{
    ByteRange, HookPromptFragment, Json, MemoryCitation, MemoryCitationEntry, MessagePhase,
    TextElement, ThreadItem, UserInput,
};
use serde::Deserialize;
use serde_json::json;

use super::{NewItem, here};
use crate::event::{
    self, AgentMessage, EnteredReviewMode, Event, ExitedReviewMode, ItemCompleted, PlanItem,
    ReasoningText, ReviewOutput, TurnItem, UserMessage,
};

const NO_REVIEW: &str = "Reviewer failed to output a response.";
const UNNAMED_REVIEW: &str = "Review requested.";

pub(super) fn user_message(message: UserMessage) -> ThreadItem {
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
        id: String::new(),
        content,
    }
}

pub(super) fn agent_message(message: AgentMessage) -> Option<ThreadItem> {
    let phase = match message.phase.as_deref() {
        Some("commentary") => Some(MessagePhase::Commentary),
        Some("final_answer") => Some(MessagePhase::FinalAnswer),
        _ => None,
    };
    (!message.message.is_empty()).then(|| ThreadItem::AgentMessage {
        id: String::new(),
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

pub(super) fn plan(item: TurnItem) -> Option<ThreadItem> {
    match item {
        TurnItem::Plan(PlanItem { id, text }) if !text.is_empty() => {
            Some(ThreadItem::Plan { id, text })
        }
        _ => None,
    }
}

pub(super) fn entered_review(entered: EnteredReviewMode) -> ThreadItem {
    let review = entered
        .user_facing_hint
        .unwrap_or_else(|| UNNAMED_REVIEW.to_owned());
    ThreadItem::EnteredReviewMode {
        id: String::new(),
        review,
    }
}

pub(super) fn exited_review(exited: ExitedReviewMode) -> ThreadItem {
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

pub(super) fn store_answer(
    message: String,
    phase: Option<MessagePhase>,
    citation: Option<MemoryCitation>,
) -> Event {
    let phase = match phase {
        Some(MessagePhase::Commentary) => Some("commentary".to_owned()),
        Some(MessagePhase::FinalAnswer) => Some("final_answer".to_owned()),
        Some(MessagePhase::Unrecognized) | None => None,
    };
    let entry = |entry: MemoryCitationEntry| event::Citation {
        path: entry.path,
        line_start: entry.line_start,
        line_end: entry.line_end,
        note: entry.note,
    };
    let memory_citation = citation.map(|citation| event::MemoryCitation {
        entries: citation.entries.into_iter().map(entry).collect(),
        rollout_ids: citation.thread_ids,
    });
    Event::AgentMessage(AgentMessage {
        message,
        phase,
        memory_citation,
    })
}

pub(super) fn store_reasoning(summary: Vec<String>, content: Vec<String>) -> Vec<Event> {
    let summary = summary
        .into_iter()
        .map(|text| Event::AgentReasoning(ReasoningText { text }));
    let content = content
        .into_iter()
        .map(|text| Event::AgentReasoningRawContent(ReasoningText { text }));
    summary.chain(content).collect()
}

pub(super) fn store_plan(id: String, text: String, thread: &str, turn: &str) -> Event {
    Event::ItemCompleted(ItemCompleted {
        thread_id: thread.to_owned(),
        turn_id: turn.to_owned(),
        item: TurnItem::Plan(PlanItem { id, text }),
        started_at_ms: None,
        completed_at_ms: None,
    })
}

pub(super) fn store_review_start(review: String) -> Event {
    // The item does not tell the target, only how to call it.
    let target = Json::from(json!({ "type": "custom", "instructions": review }));
    Event::EnteredReviewMode(EnteredReviewMode {
        target,
        user_facing_hint: Some(review),
    })
}

pub(super) fn store_review(review: String) -> Event {
    let review_output = (review != NO_REVIEW).then(|| ReviewOutput {
        findings: Json::from(json!([])),
        overall_correctness: String::new(),
        overall_explanation: review,
        overall_confidence_score: 0.0,
    });
    Event::ExitedReviewMode(ExitedReviewMode { review_output })
}
