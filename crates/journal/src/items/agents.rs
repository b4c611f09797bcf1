//! Items of threads that direct other threads.

use std::collections::BTreeMap;

use quipu_wire::{
    CollabAgentState, CollabAgentStatus, CollabAgentTool, CollabAgentToolCallStatus,
    ReasoningEffort, ThreadItem,
};

use crate::event::{
    AgentStatus, CollabCloseEnd, CollabInteractionEnd, CollabResumeEnd, CollabSpawnEnd,
    CollabWaitingEnd,
};

pub(super) fn spawned(end: CollabSpawnEnd) -> ThreadItem {
    let receivers = end
        .new_thread_id
        .map(|id| (id, end.status))
        .into_iter()
        .collect();
    let mut item = call(
        end.call_id,
        CollabAgentTool::SpawnAgent,
        end.sender_thread_id,
        receivers,
    );
    if let ThreadItem::CollabAgentToolCall {
        status,
        receiver_thread_ids,
        prompt,
        model,
        reasoning_effort,
        ..
    } = &mut item
    {
        if receiver_thread_ids.is_empty() {
            *status = CollabAgentToolCallStatus::Failed;
        }
        *prompt = Some(end.prompt);
        *model = Some(end.model);
        *reasoning_effort = end.reasoning_effort.as_deref().and_then(effort);
    }
    item
}

pub(super) fn sent_input(end: CollabInteractionEnd) -> ThreadItem {
    let receivers = BTreeMap::from([(end.receiver_thread_id, end.status)]);
    let mut item = call(
        end.call_id,
        CollabAgentTool::SendInput,
        end.sender_thread_id,
        receivers,
    );
    if let ThreadItem::CollabAgentToolCall { prompt, .. } = &mut item {
        *prompt = Some(end.prompt);
    }
    item
}

pub(super) fn waited(end: CollabWaitingEnd) -> ThreadItem {
    call(
        end.call_id,
        CollabAgentTool::Wait,
        end.sender_thread_id,
        end.statuses,
    )
}

pub(super) fn closed(end: CollabCloseEnd) -> ThreadItem {
    let receivers = BTreeMap::from([(end.receiver_thread_id, end.status)]);
    call(
        end.call_id,
        CollabAgentTool::CloseAgent,
        end.sender_thread_id,
        receivers,
    )
}

pub(super) fn resumed(end: CollabResumeEnd) -> ThreadItem {
    let receivers = BTreeMap::from([(end.receiver_thread_id, end.status)]);
    call(
        end.call_id,
        CollabAgentTool::ResumeAgent,
        end.sender_thread_id,
        receivers,
    )
}

fn call(
    id: String,
    tool: CollabAgentTool,
    sender_thread_id: String,
    receivers: BTreeMap<String, AgentStatus>,
) -> ThreadItem {
    let lost =
        |status: &AgentStatus| matches!(status, AgentStatus::Errored(_) | AgentStatus::NotFound);
    let status = match receivers.values().any(lost) {
        true => CollabAgentToolCallStatus::Failed,
        false => CollabAgentToolCallStatus::Completed,
    };
    ThreadItem::CollabAgentToolCall {
        id,
        tool,
        status,
        sender_thread_id,
        receiver_thread_ids: receivers.keys().cloned().collect(),
        prompt: None,
        model: None,
        reasoning_effort: None,
        agents_states: receivers
            .into_iter()
            .map(|(id, status)| (id, state(status)))
            .collect(),
    }
}

fn state(status: AgentStatus) -> CollabAgentState {
    let (status, message) = match status {
        AgentStatus::PendingInit => (CollabAgentStatus::PendingInit, None),
        AgentStatus::Running => (CollabAgentStatus::Running, None),
        AgentStatus::Interrupted => (CollabAgentStatus::Interrupted, None),
        AgentStatus::Completed(message) => (CollabAgentStatus::Completed, message),
        AgentStatus::Errored(message) => (CollabAgentStatus::Errored, Some(message)),
        AgentStatus::Shutdown => (CollabAgentStatus::Shutdown, None),
        AgentStatus::NotFound => (CollabAgentStatus::NotFound, None),
    };
    CollabAgentState { status, message }
}

fn effort(word: &str) -> Option<ReasoningEffort> {
    Some(match word {
        "none" => ReasoningEffort::None,
        "minimal" => ReasoningEffort::Minimal,
        "low" => ReasoningEffort::Low,
        "medium" => ReasoningEffort::Medium,
        "high" => ReasoningEffort::High,
        "xhigh" => ReasoningEffort::Xhigh,
        _ => return None,
    })
}
