//! The engine's records as lines of a rollout.

use quipu_engine::{Record, TurnEnd};
use quipu_journal::event::{self, Event};
use quipu_journal::{Compacted, Record as Line, TurnContext};
use quipu_wire::{Json, ThreadItem, ThreadTokenUsage, TokenUsageBreakdown, TurnError};

use super::session::Session;
use crate::{Server, agents};

/// How much of a command's output the log keeps.
const MAX_OUTPUT: usize = 10_000;

// What the engine lets through fits into a record, with what the log adds to it.
const _: () = assert!(quipu_engine::MAX_RECORDED + (512 << 10) <= quipu_journal::MAX_RECORD);

/// What the lines depend on besides the record.
pub(super) struct Writing<'a> {
    thread_id: &'a str,
    window: Option<i64>,
    /// The collaboration mode, as the log names it.
    mode: String,
    /// Thoughts are kept in full, not only their summaries.
    full_reasoning: bool,
    server: &'a Server,
}

impl<'a> Writing<'a> {
    pub fn new(server: &'a Server, session: &Session, thread_id: &'a str) -> Writing<'a> {
        Writing {
            thread_id,
            window: session.info.effective_context_window(),
            mode: session.mode.mode.to_string(),
            full_reasoning: session.snapshot.session().show_raw_agent_reasoning,
            server,
        }
    }
}

/// The lines of one record.
pub(super) fn lines(record: Record, writing: &Writing<'_>) -> Vec<Line> {
    let one = |event: Event| vec![Line::from(event)];
    match record {
        Record::TurnStarted { turn_id, .. } => one(Event::TaskStarted(event::TaskStarted {
            turn_id: turn_id.into(),
            model_context_window: writing.window,
            collaboration_mode_kind: writing.mode.clone(),
        })),
        Record::History(item) => vec![Line::ResponseItem(item)],
        Record::TurnContext(context) => turn_context(&context).into_iter().collect(),
        Record::UserMessage { content, .. } => one(Event::UserMessage(content.into())),
        Record::AgentMessage { text, phase, .. } => one(Event::AgentMessage(event::AgentMessage {
            message: text,
            phase: phase.map(|phase| phase.to_string()),
            memory_citation: None,
        })),
        Record::Reasoning {
            summary, content, ..
        } => {
            let content = if writing.full_reasoning {
                content
            } else {
                Vec::new()
            };
            reasoning(summary, content)
        }
        Record::Item { turn_id, item } => {
            Event::of_item(shortened(item), writing.thread_id, &turn_id)
                .into_iter()
                .map(|event| Line::from(with_names(event, writing.server)))
                .collect()
        }
        Record::DynamicCall { turn_id, item } => requested(turn_id.into(), item),
        Record::TokenUsage { usage, rate_limits } => one(Event::TokenCount(event::TokenCount {
            info: usage.as_ref().map(usage_info),
            rate_limits: Json::new(&stored_limits(&rate_limits)).ok(),
        })),
        Record::Compacted { summary, history } => vec![
            Line::Compacted(Compacted {
                message: summary,
                replacement_history: Some(history),
            }),
            Line::from(Event::ContextCompacted(event::ContextCompacted {})),
        ],
        Record::EnteredReview { label } => {
            one(Event::EnteredReviewMode(event::EnteredReviewMode {
                target: Json::from(serde_json::json!({ "type": "custom", "instructions": label })),
                user_facing_hint: Some(label),
            }))
        }
        Record::ExitedReview { text, .. } => {
            one(Event::ExitedReviewMode(event::ExitedReviewMode {
                review_output: Some(event::ReviewOutput {
                    findings: Json::from(serde_json::json!([])),
                    overall_correctness: String::new(),
                    overall_explanation: text,
                    overall_confidence_score: 0.0,
                }),
            }))
        }
        Record::Error { turn_id, error } => one(Event::Error(error_event(turn_id.into(), error))),
        Record::TurnEnded {
            turn_id,
            end,
            last_agent_message,
        } => one(ended(turn_id.into(), end, last_agent_message)),
    }
}

fn turn_context(context: &Json) -> Option<Line> {
    match context.parse::<TurnContext>() {
        Ok(context) => Some(Line::TurnContext(Box::new(context))),
        Err(error) => {
            tracing::error!(%error, "failed to store turn context");
            None
        }
    }
}

fn ended(turn_id: String, end: TurnEnd, last_agent_message: Option<String>) -> Event {
    let reason = match end {
        TurnEnd::Completed | TurnEnd::Failed(_) => {
            return Event::TaskComplete(event::TaskComplete {
                turn_id,
                last_agent_message,
                error: None,
            });
        }
        TurnEnd::Interrupted => "interrupted",
        TurnEnd::Replaced => "replaced",
    };
    Event::TurnAborted(event::TurnAborted {
        turn_id: Some(turn_id),
        reason: reason.to_owned(),
    })
}

/// A reasoning of which nothing is shown has one empty part: clients saw the item, and must find it again.
fn reasoning(mut summary: Vec<String>, content: Vec<String>) -> Vec<Line> {
    if summary.is_empty() && content.is_empty() {
        summary.push(String::new());
    }
    let text = |text| event::ReasoningText { text };
    let summary = summary
        .into_iter()
        .map(|part| Line::from(Event::AgentReasoning(text(part))));
    let content = content
        .into_iter()
        .map(|part| Line::from(Event::AgentReasoningRawContent(text(part))));
    summary.chain(content).collect()
}

fn usage_info(usage: &ThreadTokenUsage) -> event::TokenUsageInfo {
    let tokens = |it: &TokenUsageBreakdown| event::TokenUsage {
        input_tokens: it.input_tokens,
        cached_input_tokens: it.cached_input_tokens,
        output_tokens: it.output_tokens,
        reasoning_output_tokens: it.reasoning_output_tokens,
        total_tokens: it.total_tokens,
    };
    event::TokenUsageInfo {
        total_token_usage: tokens(&usage.total),
        last_token_usage: tokens(&usage.last),
        model_context_window: usage.model_context_window,
    }
}

/// Rate limits in the spelling of rollouts.
fn stored_limits(limits: &quipu_wire::RateLimitSnapshot) -> serde_json::Value {
    let window = |window: &Option<quipu_wire::RateLimitWindow>| {
        window.as_ref().map(|it| {
            serde_json::json!({
                "used_percent": f64::from(it.used_percent),
                "window_minutes": it.window_duration_mins,
                "resets_at": it.resets_at,
            })
        })
    };
    serde_json::json!({
        "limit_id": limits.limit_id,
        "limit_name": limits.limit_name,
        "primary": window(&limits.primary),
        "secondary": window(&limits.secondary),
        "credits": limits.credits.as_ref().map(|it| serde_json::json!({
            "has_credits": it.has_credits, "unlimited": it.unlimited, "balance": it.balance,
        })),
        "plan_type": limits.plan_type,
    })
}

fn error_event(turn_id: String, error: TurnError) -> event::ErrorEvent {
    event::ErrorEvent {
        turn_id: Some(turn_id),
        message: error.message,
        codex_error_info: error.codex_error_info.map(Into::into),
    }
}

/// A tool of the client was asked to run.
fn requested(turn_id: String, item: ThreadItem) -> Vec<Line> {
    let ThreadItem::DynamicToolCall {
        id,
        namespace,
        tool,
        arguments,
        ..
    } = item
    else {
        return Vec::new();
    };
    let request = event::DynamicToolCallRequest {
        call_id: id,
        turn_id,
        namespace,
        tool,
        arguments,
    };
    vec![Line::from(Event::DynamicToolCallRequest(request))]
}

/// Says in the log what agents are called.
fn with_names(mut event: Event, server: &Server) -> Event {
    let named = |id: &str| agents::named(server, id);
    match &mut event {
        Event::CollabAgentSpawnEnd(end) => {
            let id = end.new_thread_id.as_deref();
            (end.new_agent_nickname, end.new_agent_role) = id.map(named).unwrap_or_default();
        }
        Event::CollabAgentInteractionEnd(end) => {
            (end.receiver_agent_nickname, end.receiver_agent_role) = named(&end.receiver_thread_id);
        }
        Event::CollabCloseEnd(end) | Event::CollabResumeEnd(end) => {
            (end.receiver_agent_nickname, end.receiver_agent_role) = named(&end.receiver_thread_id);
        }
        Event::CollabWaitingEnd(end) => {
            let entries = end.statuses.iter().map(|(id, status)| {
                let (agent_nickname, agent_role) = named(id);
                event::AgentStatusEntry {
                    thread_id: id.clone(),
                    agent_nickname,
                    agent_role,
                    status: status.clone(),
                }
            });
            end.agent_statuses = entries.collect();
        }
        _ => {}
    }
    event
}

/// The log keeps the ends of a long output.
fn shortened(mut item: ThreadItem) -> ThreadItem {
    if let ThreadItem::CommandExecution {
        aggregated_output: Some(output),
        ..
    } = &mut item
    {
        *output = middle_cut(std::mem::take(output));
    }
    item
}

/// Keeps the head and the tail of a long output.
fn middle_cut(text: String) -> String {
    if text.len() <= MAX_OUTPUT {
        return text;
    }
    let mut head = MAX_OUTPUT / 2;
    while !text.is_char_boundary(head) {
        head -= 1;
    }
    let mut tail = text.len() - MAX_OUTPUT / 2;
    while !text.is_char_boundary(tail) {
        tail += 1;
    }
    let cut = text[head..tail].chars().count();
    format!("{}…{cut} chars truncated…{}", &text[..head], &text[tail..])
}
