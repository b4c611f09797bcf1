//! Calls to other agents, in both forms.

use std::collections::BTreeMap;

use super::call_status;
use crate::event::{
    AgentName, AgentStatus, AgentStatusEntry, CollabCloseEnd, CollabInteractionEnd, CollabItem,
    CollabSpawnEnd, CollabTool, CollabWaitingEnd, Event,
};

/// One agent, as the events of agents name it.
struct Agent {
    id: Option<String>,
    nickname: Option<String>,
    role: Option<String>,
    status: AgentStatus,
}

pub(super) fn collab_item(event: Event) -> Option<CollabItem> {
    let resumed = matches!(event, Event::CollabResumeEnd(_));
    let (id, sender, tool, prompt, model, effort, agents) = match event {
        Event::CollabAgentSpawnEnd(end) => {
            let agent = Agent {
                id: end.new_thread_id,
                nickname: end.new_agent_nickname,
                role: end.new_agent_role,
                status: end.status,
            };
            let tool = CollabTool::SpawnAgent;
            let (prompt, model) = (Some(end.prompt), Some(end.model));
            let (id, sender, effort) = (end.call_id, end.sender_thread_id, end.reasoning_effort);
            (id, sender, tool, prompt, model, effort, vec![agent])
        }
        Event::CollabAgentInteractionEnd(end) => {
            let agent = Agent {
                id: Some(end.receiver_thread_id),
                nickname: end.receiver_agent_nickname,
                role: end.receiver_agent_role,
                status: end.status,
            };
            let (id, sender, tool) = (end.call_id, end.sender_thread_id, CollabTool::SendInput);
            (id, sender, tool, Some(end.prompt), None, None, vec![agent])
        }
        Event::CollabCloseEnd(end) | Event::CollabResumeEnd(end) => {
            let agent = Agent {
                id: Some(end.receiver_thread_id),
                nickname: end.receiver_agent_nickname,
                role: end.receiver_agent_role,
                status: end.status,
            };
            let tool = match resumed {
                true => CollabTool::ResumeAgent,
                false => CollabTool::CloseAgent,
            };
            (
                end.call_id,
                end.sender_thread_id,
                tool,
                None,
                None,
                None,
                vec![agent],
            )
        }
        Event::CollabWaitingEnd(end) => {
            let mut names: BTreeMap<_, _> = end
                .agent_statuses
                .into_iter()
                .map(|entry| (entry.thread_id, (entry.agent_nickname, entry.agent_role)))
                .collect();
            let agents = end.statuses.into_iter().map(|(id, status)| {
                let (nickname, role) = names.remove(&id).unwrap_or_default();
                let id = Some(id);
                Agent {
                    id,
                    nickname,
                    role,
                    status,
                }
            });
            let (id, sender, agents) = (end.call_id, end.sender_thread_id, agents.collect());
            (id, sender, CollabTool::Wait, None, None, None, agents)
        }
        _ => return None,
    };
    Some(of_agents(id, sender, tool, (prompt, model, effort), agents))
}

fn of_agents(
    id: String,
    sender_thread_id: String,
    tool: CollabTool,
    (prompt, model, reasoning_effort): (Option<String>, Option<String>, Option<String>),
    agents: Vec<Agent>,
) -> CollabItem {
    let lost = |agent: &Agent| {
        agent.id.is_none()
            || matches!(
                agent.status,
                AgentStatus::Errored(_) | AgentStatus::NotFound
            )
    };
    let mut item = CollabItem {
        id,
        tool,
        status: call_status(!agents.iter().any(lost)),
        sender_thread_id,
        receiver_thread_ids: Vec::new(),
        receiver_agents: Vec::new(),
        prompt,
        model,
        reasoning_effort,
        agents_states: BTreeMap::new(),
    };
    for agent in agents {
        let Some(thread_id) = agent.id else { continue };
        item.receiver_thread_ids.push(thread_id.clone());
        item.agents_states.insert(thread_id.clone(), agent.status);
        item.receiver_agents.push(AgentName {
            thread_id,
            agent_nickname: agent.nickname,
            agent_role: agent.role,
        });
    }
    item
}

pub(super) fn collab_end(item: CollabItem) -> Event {
    let first = item.receiver_thread_ids.first().cloned();
    let name = item
        .receiver_agents
        .iter()
        .find(|name| Some(&name.thread_id) == first.as_ref())
        .cloned()
        .unwrap_or_default();
    let state = first.as_ref().and_then(|id| item.agents_states.get(id));
    let status = state.cloned().unwrap_or(AgentStatus::NotFound);
    let directed = CollabCloseEnd {
        call_id: item.id,
        sender_thread_id: item.sender_thread_id,
        receiver_thread_id: first.clone().unwrap_or_default(),
        receiver_agent_nickname: name.agent_nickname,
        receiver_agent_role: name.agent_role,
        status,
    };
    match item.tool {
        CollabTool::CloseAgent => Event::CollabCloseEnd(directed),
        CollabTool::ResumeAgent => Event::CollabResumeEnd(directed),
        CollabTool::SendInput => Event::CollabAgentInteractionEnd(CollabInteractionEnd {
            call_id: directed.call_id,
            sender_thread_id: directed.sender_thread_id,
            receiver_thread_id: directed.receiver_thread_id,
            receiver_agent_nickname: directed.receiver_agent_nickname,
            receiver_agent_role: directed.receiver_agent_role,
            prompt: item.prompt.unwrap_or_default(),
            status: directed.status,
        }),
        CollabTool::SpawnAgent => Event::CollabAgentSpawnEnd(CollabSpawnEnd {
            call_id: directed.call_id,
            sender_thread_id: directed.sender_thread_id,
            new_thread_id: first,
            new_agent_nickname: directed.receiver_agent_nickname,
            new_agent_role: directed.receiver_agent_role,
            prompt: item.prompt.unwrap_or_default(),
            model: item.model.unwrap_or_default(),
            reasoning_effort: item.reasoning_effort,
            status: directed.status,
        }),
        CollabTool::Wait => {
            let entry = |name: AgentName| {
                let status = item.agents_states.get(&name.thread_id)?.clone();
                Some(AgentStatusEntry {
                    thread_id: name.thread_id,
                    agent_nickname: name.agent_nickname,
                    agent_role: name.agent_role,
                    status,
                })
            };
            let names = item.receiver_agents.into_iter();
            Event::CollabWaitingEnd(CollabWaitingEnd {
                sender_thread_id: directed.sender_thread_id,
                call_id: directed.call_id,
                agent_statuses: names.filter_map(entry).collect(),
                statuses: item.agents_states,
            })
        }
    }
}
