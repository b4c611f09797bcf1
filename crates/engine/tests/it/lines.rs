//! Effects as short lines, to be compared with what the reference was seen to send.

use quipu_engine::{Answer, Effect, HookPoint, Purpose, Record, Summary, item_id};
use quipu_wire::{RequestId, ServerNotification, ThreadItem, ThreadStatus, TurnStatus};

/// Compares effects with lines, one each.
#[track_caller]
pub fn assert_lines(effects: &[Effect], expected: &str) {
    let lines: Vec<String> = effects.iter().map(line).collect();
    let expected: Vec<&str> = expected
        .lines()
        .map(str::trim)
        .filter(|it| !it.is_empty())
        .collect();
    assert!(lines == expected, "these came:\n{}\n", lines.join("\n"));
}

fn line(effect: &Effect) -> String {
    match effect {
        Effect::Record(record) => format!("record {}", recorded(record)),
        Effect::Sync => "sync".to_owned(),
        Effect::Notify(notification) | Effect::Broadcast(notification) => {
            format!("{} {}", notification.method(), told(notification))
                .trim_end()
                .to_owned()
        }
        Effect::Warn(message) => format!("warn {message:?}"),
        Effect::Answer { reply, answer } => match answer {
            Answer::Turn(turn) => format!("answer {reply}: turn {}", turn.id),
            Answer::Steered(turn_id) => format!("answer {reply}: steered {turn_id}"),
            Answer::Done => format!("answer {reply}: done"),
            Answer::Refused(refusal) => format!("answer {reply}: {refusal:?}"),
        },
        Effect::Ask { question, request } => format!("ask {question}: {}", request.method()),
        Effect::Withdraw { question } => format!("withdraw {question}"),
        Effect::Deliver { question, call_id } => format!("deliver {question} to {call_id}"),
        Effect::BuildContext { .. } => "build context".to_owned(),
        Effect::Sample {
            sample, purpose, ..
        } => match purpose {
            Purpose::Compaction { dropped: 0 } => format!("sample {sample}: Compaction"),
            purpose => format!("sample {sample}: {purpose:?}"),
        },
        Effect::CancelSample { sample } => format!("cancel sample {sample}"),
        Effect::RunTool { call, .. } => format!("run {}", call.call_id),
        Effect::RunShell { item_id, .. } => format!("run shell {item_id}"),
        Effect::CancelTools { .. } => "cancel tools".to_owned(),
        Effect::StartGrace { .. } => "start grace".to_owned(),
        Effect::RunHooks { run, point, .. } => match point {
            HookPoint::SessionStart => format!("run hooks {run}: session start"),
            HookPoint::UserPromptSubmit(_) => format!("run hooks {run}: prompt"),
            HookPoint::Stop { active, .. } => format!("run hooks {run}: stop {active}"),
        },
        Effect::Announce { .. } => "announce".to_owned(),
        Effect::Summarise {
            summary, mid_turn, ..
        } => match summary {
            Summary::Text(text) => format!("summarise {text:?} {mid_turn}"),
            Summary::Items(items) => format!("summarise {} items {mid_turn}", items.len()),
        },
        Effect::RenderReview {
            last_message,
            interrupted,
            ..
        } => {
            format!("render review {last_message:?} {interrupted}")
        }
    }
}

fn recorded(record: &Record) -> String {
    match record {
        Record::TurnStarted { kind, .. } => format!("turn started {kind:?}"),
        Record::History(item) => match &item.to_value()["content"][0]["text"] {
            serde_json::Value::String(text) => format!("history {text:?}"),
            _ => format!("history {}", item.get()),
        },
        Record::TurnContext(_) => "turn context".to_owned(),
        Record::UserMessage { item_id, .. } => format!("user message {item_id}"),
        Record::AgentMessage { item_id, text, .. } => format!("agent message {item_id} {text:?}"),
        Record::Reasoning { item_id, .. } => format!("reasoning {item_id}"),
        Record::Item { item, .. } => format!("item {}", told_item(item)),
        Record::DynamicCall { item, .. } => format!("dynamic call {}", item_id(item)),
        Record::TokenUsage { usage, .. } => {
            format!(
                "usage {:?}",
                usage.as_ref().map(|usage| usage.total.total_tokens)
            )
        }
        Record::Compacted { summary, .. } => format!("compacted {summary:?}"),
        Record::EnteredReview { label } => format!("entered review {label:?}"),
        Record::ExitedReview { last_message, text } => {
            format!("exited review {last_message:?} {text:?}")
        }
        Record::Error { error, .. } => format!("error {:?}", error.message),
        Record::TurnEnded {
            end,
            last_agent_message,
            ..
        } => {
            let end = match end {
                quipu_engine::TurnEnd::Failed(error) => format!("Failed {:?}", error.message),
                end => format!("{end:?}"),
            };
            format!("turn ended {end} {last_agent_message:?}")
        }
    }
}

fn told(notification: &ServerNotification) -> String {
    use ServerNotification as N;
    match notification {
        N::TurnCompleted(it) => match (&it.turn.status, &it.turn.error) {
            (TurnStatus::Failed, Some(error)) => format!("failed {:?}", error.message),
            (status, _) => format!("{status:?}"),
        },
        N::ThreadStatusChanged(it) => match &it.status {
            ThreadStatus::Active { active_flags } => format!("active {active_flags:?}"),
            status => format!("{status:?}"),
        },
        N::ItemStarted(it) => told_item(&it.item),
        N::ItemCompleted(it) => told_item(&it.item),
        N::ItemAgentMessageDelta(it) => format!("{} {:?}", it.item_id, it.delta),
        N::ItemPlanDelta(it) => format!("{} {:?}", it.item_id, it.delta),
        N::ItemCommandExecutionOutputDelta(it) => format!("{} {:?}", it.item_id, it.delta),
        N::ItemFileChangeOutputDelta(it) => format!("{} {:?}", it.item_id, it.delta),
        N::ItemReasoningSummaryPartAdded(it) => format!("{} {}", it.item_id, it.summary_index),
        N::ItemReasoningSummaryTextDelta(it) => format!("{} {:?}", it.item_id, it.delta),
        N::ServerRequestResolved(it) => match &it.request_id {
            RequestId::Integer(id) => id.to_string(),
            RequestId::String(id) => id.clone(),
        },
        N::Error(it) => format!("{:?} will retry: {}", it.error.message, it.will_retry),
        N::ThreadTokenUsageUpdated(it) => {
            let usage = &it.token_usage;
            format!("{} {}", usage.total.total_tokens, usage.last.total_tokens)
        }
        N::TurnDiffUpdated(it) => it.diff.clone(),
        N::HookStarted(it) => it.run.id.clone(),
        N::HookCompleted(it) => it.run.id.clone(),
        _ => String::new(),
    }
}

fn told_item(item: &ThreadItem) -> String {
    let id = item_id(item);
    match item {
        ThreadItem::UserMessage { .. } => format!("userMessage {id}"),
        ThreadItem::AgentMessage { text, .. } => format!("agentMessage {id} {text:?}"),
        ThreadItem::Plan { text, .. } => format!("plan {id} {text:?}"),
        ThreadItem::Reasoning { summary, .. } => format!("reasoning {id} {summary:?}"),
        ThreadItem::CommandExecution { status, .. } => format!("commandExecution {id} {status:?}"),
        ThreadItem::FileChange { status, .. } => format!("fileChange {id} {status:?}"),
        ThreadItem::McpToolCall { status, .. } => format!("mcpToolCall {id} {status:?}"),
        ThreadItem::DynamicToolCall { status, .. } => format!("dynamicToolCall {id} {status:?}"),
        ThreadItem::WebSearch { query, .. } => format!("webSearch {id} {query:?}"),
        ThreadItem::EnteredReviewMode { review, .. } => {
            format!("enteredReviewMode {id} {review:?}")
        }
        ThreadItem::ExitedReviewMode { review, .. } => format!("exitedReviewMode {id} {review:?}"),
        ThreadItem::HookPrompt { .. } => "hookPrompt".to_owned(),
        ThreadItem::ContextCompaction { .. } => "contextCompaction".to_owned(),
        item => format!("{item:?}"),
    }
}
