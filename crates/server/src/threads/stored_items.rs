//! Finished items as events of a rollout.

use std::collections::BTreeMap;
use std::time::Duration;

use quipu_journal::Record as Line;
use quipu_journal::event::{self, Event};
use quipu_wire::{
    CollabAgentState, CollabAgentStatus, CollabAgentTool, CommandAction, CommandExecutionSource,
    CommandExecutionStatus, DynamicToolCallOutputContentItem, FileUpdateChange, Json,
    McpToolCallError, McpToolCallResult, PatchApplyStatus, PatchChangeKind, ThreadItem,
    WebSearchAction,
};

/// How much of a command's output the log keeps.
const MAX_OUTPUT: usize = 10_000;

/// A tool of the client was asked to run.
pub(super) fn requested(turn_id: String, item: ThreadItem) -> Vec<Line> {
    let ThreadItem::DynamicToolCall {
        id,
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
        tool,
        arguments,
    };
    vec![Line::from(Event::DynamicToolCallRequest(request))]
}

/// An item ended.
pub(super) fn completed(thread_id: &str, turn_id: String, item: ThreadItem) -> Vec<Line> {
    event_of(thread_id, turn_id, item)
        .map(Line::from)
        .into_iter()
        .collect()
}

fn event_of(thread_id: &str, turn_id: String, item: ThreadItem) -> Option<Event> {
    Some(match item {
        ThreadItem::Plan { id, text } => Event::ItemCompleted(event::ItemCompleted {
            thread_id: thread_id.to_owned(),
            turn_id,
            item: event::TurnItem::Plan { id, text },
        }),
        item @ ThreadItem::CommandExecution { .. } => command(turn_id, item)?,
        ThreadItem::FileChange {
            id,
            changes,
            status,
        } => patch(id, turn_id, changes, status),
        ThreadItem::McpToolCall {
            id,
            server,
            tool,
            arguments,
            result,
            error,
            duration_ms,
            ..
        } => Event::McpToolCallEnd(event::McpToolCallEnd {
            call_id: id,
            invocation: event::McpInvocation {
                server,
                tool,
                arguments: Some(arguments),
            },
            duration: elapsed(duration_ms),
            result: mcp_result(result, error),
        }),
        ThreadItem::DynamicToolCall {
            id,
            tool,
            arguments,
            content_items,
            success,
            duration_ms,
            ..
        } => Event::DynamicToolCallResponse(event::DynamicToolCallResponse {
            call_id: id,
            turn_id,
            tool,
            arguments,
            content_items: content_items
                .unwrap_or_default()
                .iter()
                .filter_map(content)
                .collect(),
            success: success.unwrap_or(false),
            error: None,
            duration: elapsed(duration_ms),
        }),
        ThreadItem::WebSearch { id, query, action } => Event::WebSearchEnd(event::WebSearchEnd {
            call_id: id,
            query,
            action: action.map_or(event::WebSearchAction::Other, search),
        }),
        ThreadItem::ImageView { id, path } => {
            Event::ViewImageToolCall(event::ViewImageToolCall { call_id: id, path })
        }
        ThreadItem::ImageGeneration {
            id,
            status,
            revised_prompt,
            result,
            saved_path,
        } => Event::ImageGenerationEnd(event::ImageGenerationEnd {
            call_id: id,
            status,
            revised_prompt,
            result,
            saved_path,
        }),
        item @ ThreadItem::CollabAgentToolCall { .. } => collab(item)?,
        _ => return None,
    })
}

fn command(turn_id: String, item: ThreadItem) -> Option<Event> {
    let ThreadItem::CommandExecution {
        id,
        command,
        cwd,
        process_id,
        source,
        status,
        command_actions,
        aggregated_output,
        exit_code,
        duration_ms,
    } = item
    else {
        return None;
    };
    Some(Event::ExecCommandEnd(event::ExecCommandEnd {
        call_id: id,
        process_id,
        turn_id,
        command: shlex::split(&command).unwrap_or_else(|| vec![command]),
        cwd,
        parsed_cmd: command_actions.into_iter().filter_map(action).collect(),
        source: match source {
            CommandExecutionSource::UserShell => event::ExecSource::UserShell,
            CommandExecutionSource::UnifiedExecStartup => event::ExecSource::UnifiedExecStartup,
            CommandExecutionSource::UnifiedExecInteraction => {
                event::ExecSource::UnifiedExecInteraction
            }
            _ => event::ExecSource::Agent,
        },
        interaction_input: None,
        stdout: String::new(),
        stderr: String::new(),
        aggregated_output: middle_cut(aggregated_output.unwrap_or_default()),
        exit_code: exit_code.unwrap_or(-1),
        duration: elapsed(duration_ms),
        formatted_output: String::new(),
        status: Some(match status {
            CommandExecutionStatus::Completed => event::ExecStatus::Completed,
            CommandExecutionStatus::Declined => event::ExecStatus::Declined,
            _ => event::ExecStatus::Failed,
        }),
    }))
}

fn patch(
    call_id: String,
    turn_id: String,
    changes: Vec<FileUpdateChange>,
    status: PatchApplyStatus,
) -> Event {
    let changes: BTreeMap<_, _> = changes
        .into_iter()
        .map(|change| (change.path.clone(), file_change(change)))
        .collect();
    let status = match status {
        PatchApplyStatus::Completed => event::PatchStatus::Completed,
        PatchApplyStatus::Declined => event::PatchStatus::Declined,
        _ => event::PatchStatus::Failed,
    };
    Event::PatchApplyEnd(event::PatchApplyEnd {
        call_id,
        turn_id,
        stdout: String::new(),
        stderr: String::new(),
        success: status == event::PatchStatus::Completed,
        changes,
        status: Some(status),
    })
}

fn file_change(change: FileUpdateChange) -> event::FileChange {
    match change.kind {
        PatchChangeKind::Add => event::FileChange::Add {
            content: change.diff,
        },
        PatchChangeKind::Delete => event::FileChange::Delete {
            content: change.diff,
        },
        PatchChangeKind::Update { move_path } => {
            let note = move_path
                .as_ref()
                .map(|path| format!("\n\nMoved to: {path}"));
            let diff = note.and_then(|note| change.diff.strip_suffix(&note).map(str::to_owned));
            event::FileChange::Update {
                unified_diff: diff.unwrap_or(change.diff),
                move_path,
            }
        }
        PatchChangeKind::Unrecognized(_) => event::FileChange::Update {
            unified_diff: change.diff,
            move_path: None,
        },
    }
}

fn mcp_result(
    result: Option<McpToolCallResult>,
    error: Option<McpToolCallError>,
) -> Result<event::McpResult, String> {
    match (result, error) {
        (_, Some(error)) => Err(error.message),
        (Some(result), None) => Ok(event::McpResult {
            content: result.content,
            structured_content: result.structured_content,
            is_error: None,
            meta: None,
        }),
        (None, None) => Err("no result".to_owned()),
    }
}

fn content(item: &DynamicToolCallOutputContentItem) -> Option<Json> {
    Json::new(item).ok()
}

fn search(action: WebSearchAction) -> event::WebSearchAction {
    match action {
        WebSearchAction::Search { query, queries } => {
            event::WebSearchAction::Search { query, queries }
        }
        WebSearchAction::OpenPage { url } => event::WebSearchAction::OpenPage { url },
        WebSearchAction::FindInPage { url, pattern } => {
            event::WebSearchAction::FindInPage { url, pattern }
        }
        WebSearchAction::Other | WebSearchAction::Unrecognized(_) => event::WebSearchAction::Other,
    }
}

fn action(action: CommandAction) -> Option<event::ParsedCommand> {
    Some(match action {
        CommandAction::Read {
            command,
            name,
            path,
        } => event::ParsedCommand::Read {
            cmd: command,
            name,
            path,
        },
        CommandAction::ListFiles { command, path } => {
            event::ParsedCommand::ListFiles { cmd: command, path }
        }
        CommandAction::Search {
            command,
            query,
            path,
        } => event::ParsedCommand::Search {
            cmd: command,
            query,
            path,
        },
        CommandAction::Unknown { command } => event::ParsedCommand::Unknown { cmd: command },
        CommandAction::Unrecognized(_) => return None,
    })
}

fn collab(item: ThreadItem) -> Option<Event> {
    let ThreadItem::CollabAgentToolCall {
        id,
        tool,
        sender_thread_id,
        receiver_thread_ids,
        prompt,
        model,
        reasoning_effort,
        agents_states,
        ..
    } = item
    else {
        return None;
    };
    let receiver = receiver_thread_ids.first().cloned();
    let status = receiver
        .as_ref()
        .and_then(|id| agents_states.get(id))
        .map_or(event::AgentStatus::NotFound, agent);
    let close = |receiver: Option<String>| event::CollabCloseEnd {
        call_id: id.clone(),
        sender_thread_id: sender_thread_id.clone(),
        receiver_thread_id: receiver.unwrap_or_default(),
        receiver_agent_nickname: None,
        receiver_agent_role: None,
        status: status.clone(),
    };
    Some(match tool {
        CollabAgentTool::SpawnAgent => Event::CollabAgentSpawnEnd(event::CollabSpawnEnd {
            call_id: id,
            sender_thread_id,
            new_thread_id: receiver,
            new_agent_nickname: None,
            new_agent_role: None,
            prompt: prompt.unwrap_or_default(),
            model: model.unwrap_or_default(),
            reasoning_effort: reasoning_effort.map(|effort| effort.to_string()),
            status,
        }),
        CollabAgentTool::SendInput => {
            Event::CollabAgentInteractionEnd(event::CollabInteractionEnd {
                call_id: id,
                sender_thread_id,
                receiver_thread_id: receiver.unwrap_or_default(),
                receiver_agent_nickname: None,
                receiver_agent_role: None,
                prompt: prompt.unwrap_or_default(),
                status,
            })
        }
        CollabAgentTool::Wait => Event::CollabWaitingEnd(event::CollabWaitingEnd {
            sender_thread_id,
            call_id: id,
            agent_statuses: Vec::new(),
            statuses: agents_states
                .iter()
                .map(|(id, state)| (id.clone(), agent(state)))
                .collect(),
        }),
        CollabAgentTool::CloseAgent => Event::CollabCloseEnd(close(receiver)),
        CollabAgentTool::ResumeAgent => Event::CollabResumeEnd(close(receiver)),
        CollabAgentTool::Unrecognized => return None,
    })
}

fn agent(state: &CollabAgentState) -> event::AgentStatus {
    match state.status {
        CollabAgentStatus::PendingInit => event::AgentStatus::PendingInit,
        CollabAgentStatus::Running => event::AgentStatus::Running,
        CollabAgentStatus::Interrupted => event::AgentStatus::Interrupted,
        CollabAgentStatus::Completed => event::AgentStatus::Completed(state.message.clone()),
        CollabAgentStatus::Errored => {
            event::AgentStatus::Errored(state.message.clone().unwrap_or_default())
        }
        CollabAgentStatus::Shutdown => event::AgentStatus::Shutdown,
        CollabAgentStatus::NotFound | CollabAgentStatus::Unrecognized => {
            event::AgentStatus::NotFound
        }
    }
}

fn elapsed(millis: Option<i64>) -> event::Elapsed {
    Duration::from_millis(u64::try_from(millis.unwrap_or(0)).unwrap_or(0)).into()
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
