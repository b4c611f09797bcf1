//! Items of threads that direct other threads.

use std::collections::BTreeMap;

use quipu_wire::{
    CollabAgentState, CollabAgentStatus, CollabAgentTool, CollabAgentToolCallStatus,
    ReasoningEffort, ThreadItem,
};

use crate::event::{
    AgentStatus, CollabCloseEnd, CollabInteractionEnd, CollabResumeEnd, CollabSpawnEnd,
    CollabWaitingEnd, Event,
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

/// The words for how hard a model thinks.
const EFFORTS: [(ReasoningEffort, &str); 6] = [
    (ReasoningEffort::None, "none"),
    (ReasoningEffort::Minimal, "minimal"),
    (ReasoningEffort::Low, "low"),
    (ReasoningEffort::Medium, "medium"),
    (ReasoningEffort::High, "high"),
    (ReasoningEffort::Xhigh, "xhigh"),
];

fn effort(word: &str) -> Option<ReasoningEffort> {
    EFFORTS
        .iter()
        .find(|(_, known)| *known == word)
        .map(|(effort, _)| *effort)
}

/// The event of a call to other agents that has ended.
pub(super) fn store(item: ThreadItem) -> Option<Event> {
    let ThreadItem::CollabAgentToolCall {
        id: call_id,
        tool,
        status,
        sender_thread_id,
        receiver_thread_ids,
        prompt,
        model,
        reasoning_effort,
        agents_states,
    } = item
    else {
        return None;
    };
    if status == CollabAgentToolCallStatus::InProgress {
        return None;
    }
    let states = agents_states
        .into_iter()
        .map(|(id, state)| (id, agent_status(state)));
    let statuses: BTreeMap<String, AgentStatus> = states.collect();
    let receiver = receiver_thread_ids.into_iter().next();
    let status = receiver.as_ref().and_then(|id| statuses.get(id).cloned());
    let status = status.unwrap_or(AgentStatus::NotFound);
    let directed = CollabCloseEnd {
        call_id,
        sender_thread_id,
        receiver_thread_id: receiver.clone().unwrap_or_default(),
        receiver_agent_nickname: None,
        receiver_agent_role: None,
        status,
    };
    Some(match tool {
        CollabAgentTool::CloseAgent => Event::CollabCloseEnd(directed),
        CollabAgentTool::ResumeAgent => Event::CollabResumeEnd(directed),
        CollabAgentTool::SendInput => Event::CollabAgentInteractionEnd(CollabInteractionEnd {
            call_id: directed.call_id,
            sender_thread_id: directed.sender_thread_id,
            receiver_thread_id: directed.receiver_thread_id,
            receiver_agent_nickname: None,
            receiver_agent_role: None,
            prompt: prompt.unwrap_or_default(),
            status: directed.status,
        }),
        CollabAgentTool::SpawnAgent => Event::CollabAgentSpawnEnd(CollabSpawnEnd {
            call_id: directed.call_id,
            sender_thread_id: directed.sender_thread_id,
            new_thread_id: receiver,
            new_agent_nickname: None,
            new_agent_role: None,
            prompt: prompt.unwrap_or_default(),
            model: model.unwrap_or_default(),
            reasoning_effort: reasoning_effort.and_then(effort_word).map(str::to_owned),
            status: directed.status,
        }),
        CollabAgentTool::Wait => Event::CollabWaitingEnd(CollabWaitingEnd {
            sender_thread_id: directed.sender_thread_id,
            call_id: directed.call_id,
            agent_statuses: Vec::new(),
            statuses,
        }),
        CollabAgentTool::Unrecognized => return None,
    })
}

fn agent_status(state: CollabAgentState) -> AgentStatus {
    match state.status {
        CollabAgentStatus::PendingInit => AgentStatus::PendingInit,
        CollabAgentStatus::Running => AgentStatus::Running,
        CollabAgentStatus::Interrupted => AgentStatus::Interrupted,
        CollabAgentStatus::Completed => AgentStatus::Completed(state.message),
        CollabAgentStatus::Errored => AgentStatus::Errored(state.message.unwrap_or_default()),
        CollabAgentStatus::Shutdown => AgentStatus::Shutdown,
        CollabAgentStatus::NotFound | CollabAgentStatus::Unrecognized => AgentStatus::NotFound,
    }
}

fn effort_word(effort: ReasoningEffort) -> Option<&'static str> {
    EFFORTS
        .iter()
        .find(|(known, _)| *known == effort)
        .map(|(_, word)| *word)
}
