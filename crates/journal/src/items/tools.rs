//! Items of tools: commands, patches, MCP and client tools, searches, images.

use std::collections::BTreeMap;

use quipu_wire::{
    CommandAction, CommandExecutionSource, CommandExecutionStatus, DynamicToolCallStatus,
    FileUpdateChange, McpToolCallError, McpToolCallResult, McpToolCallStatus, PatchApplyStatus,
    PatchChangeKind, ThreadItem, WebSearchAction,
};

use crate::event::{
    self, DynamicToolCallRequest, DynamicToolCallResponse, ExecCommandBegin, ExecCommandEnd,
    ExecSource, ExecStatus, FileChange, ImageGenerationEnd, McpToolCallBegin, McpToolCallEnd,
    ParsedCommand, PatchApplyBegin, PatchApplyEnd, PatchStatus, WebSearchBegin, WebSearchEnd,
};

pub(super) fn started(begin: ExecCommandBegin) -> ThreadItem {
    ThreadItem::CommandExecution {
        id: begin.call_id,
        command: command_line(&begin.command),
        cwd: begin.cwd,
        process_id: begin.process_id,
        source: source(begin.source),
        status: CommandExecutionStatus::InProgress,
        command_actions: begin.parsed_cmd.into_iter().map(action).collect(),
        aggregated_output: None,
        exit_code: None,
        duration_ms: None,
    }
}

pub(super) fn ended(end: ExecCommandEnd) -> ThreadItem {
    let status = match end.status {
        Some(ExecStatus::Declined) => CommandExecutionStatus::Declined,
        Some(ExecStatus::Completed) => CommandExecutionStatus::Completed,
        None if end.exit_code == 0 => CommandExecutionStatus::Completed,
        Some(ExecStatus::Failed) | None => CommandExecutionStatus::Failed,
    };
    ThreadItem::CommandExecution {
        id: end.call_id,
        command: command_line(&end.command),
        cwd: end.cwd,
        process_id: end.process_id,
        source: source(end.source),
        status,
        command_actions: end.parsed_cmd.into_iter().map(action).collect(),
        aggregated_output: Some(end.aggregated_output).filter(|output| !output.is_empty()),
        exit_code: Some(end.exit_code),
        duration_ms: Some(end.duration.as_millis()),
    }
}

/// The arguments as one line that a shell would take apart again in the same way.
fn command_line(arguments: &[String]) -> String {
    let words = arguments.iter().map(String::as_str);
    shlex::try_join(words).unwrap_or_else(|_| arguments.join(" "))
}

fn source(source: ExecSource) -> CommandExecutionSource {
    match source {
        ExecSource::Agent => CommandExecutionSource::Agent,
        ExecSource::UserShell => CommandExecutionSource::UserShell,
        ExecSource::UnifiedExecStartup => CommandExecutionSource::UnifiedExecStartup,
        ExecSource::UnifiedExecInteraction => CommandExecutionSource::UnifiedExecInteraction,
    }
}

fn action(parsed: ParsedCommand) -> CommandAction {
    match parsed {
        ParsedCommand::Read { cmd, name, path } => CommandAction::Read {
            command: cmd,
            name,
            path,
        },
        ParsedCommand::ListFiles { cmd, path } => CommandAction::ListFiles { command: cmd, path },
        ParsedCommand::Search { cmd, query, path } => CommandAction::Search {
            command: cmd,
            query,
            path,
        },
        ParsedCommand::Unknown { cmd } => CommandAction::Unknown { command: cmd },
    }
}

pub(super) fn patching(begin: PatchApplyBegin) -> ThreadItem {
    ThreadItem::FileChange {
        id: begin.call_id,
        changes: changes(begin.changes),
        status: PatchApplyStatus::InProgress,
    }
}

pub(super) fn patched(end: PatchApplyEnd) -> ThreadItem {
    let status = match end.status {
        Some(PatchStatus::Declined) => PatchApplyStatus::Declined,
        Some(PatchStatus::Completed) => PatchApplyStatus::Completed,
        None if end.success => PatchApplyStatus::Completed,
        Some(PatchStatus::Failed) | None => PatchApplyStatus::Failed,
    };
    ThreadItem::FileChange {
        id: end.call_id,
        changes: changes(end.changes),
        status,
    }
}

fn changes(changes: BTreeMap<String, FileChange>) -> Vec<FileUpdateChange> {
    let change = |(path, change)| {
        let (kind, diff) = match change {
            FileChange::Add { content } => (PatchChangeKind::Add, content),
            FileChange::Delete { content } => (PatchChangeKind::Delete, content),
            FileChange::Update {
                mut unified_diff,
                move_path,
            } => {
                if let Some(target) = &move_path {
                    unified_diff.push_str("\n\nMoved to: ");
                    unified_diff.push_str(target);
                }
                (PatchChangeKind::Update { move_path }, unified_diff)
            }
        };
        FileUpdateChange { path, kind, diff }
    };
    changes.into_iter().map(change).collect()
}

pub(super) fn mcp_called(begin: McpToolCallBegin) -> ThreadItem {
    ThreadItem::McpToolCall {
        id: begin.call_id,
        server: begin.invocation.server,
        tool: begin.invocation.tool,
        status: McpToolCallStatus::InProgress,
        arguments: begin.invocation.arguments.unwrap_or_default(),
        result: None,
        error: None,
        duration_ms: None,
    }
}

pub(super) fn mcp_answered(end: McpToolCallEnd) -> ThreadItem {
    let failed = end
        .result
        .as_ref()
        .map_or(true, |result| result.is_error == Some(true));
    let (result, error) = match end.result {
        Ok(result) => {
            let structured_content = result.structured_content;
            (
                Some(McpToolCallResult {
                    content: result.content,
                    structured_content,
                }),
                None,
            )
        }
        Err(message) => (None, Some(McpToolCallError { message })),
    };
    ThreadItem::McpToolCall {
        id: end.call_id,
        server: end.invocation.server,
        tool: end.invocation.tool,
        status: if failed {
            McpToolCallStatus::Failed
        } else {
            McpToolCallStatus::Completed
        },
        arguments: end.invocation.arguments.unwrap_or_default(),
        result,
        error,
        duration_ms: Some(end.duration.as_millis()),
    }
}

pub(super) fn dynamic_called(call: DynamicToolCallRequest) -> ThreadItem {
    ThreadItem::DynamicToolCall {
        id: call.call_id,
        tool: call.tool,
        arguments: call.arguments,
        status: DynamicToolCallStatus::InProgress,
        content_items: None,
        success: None,
        duration_ms: None,
    }
}

pub(super) fn dynamic_answered(answer: DynamicToolCallResponse) -> ThreadItem {
    let content = answer
        .content_items
        .iter()
        .filter_map(|item| item.parse().ok())
        .collect();
    ThreadItem::DynamicToolCall {
        id: answer.call_id,
        tool: answer.tool,
        arguments: answer.arguments,
        status: match answer.success {
            true => DynamicToolCallStatus::Completed,
            false => DynamicToolCallStatus::Failed,
        },
        content_items: Some(content),
        success: Some(answer.success),
        duration_ms: Some(answer.duration.as_millis()),
    }
}

pub(super) fn searching(begin: WebSearchBegin) -> ThreadItem {
    ThreadItem::WebSearch {
        id: begin.call_id,
        query: String::new(),
        action: None,
    }
}

pub(super) fn searched(end: WebSearchEnd) -> ThreadItem {
    let action = match end.action {
        event::WebSearchAction::Search { query, queries } => {
            WebSearchAction::Search { query, queries }
        }
        event::WebSearchAction::OpenPage { url } => WebSearchAction::OpenPage { url },
        event::WebSearchAction::FindInPage { url, pattern } => {
            WebSearchAction::FindInPage { url, pattern }
        }
        event::WebSearchAction::Other => WebSearchAction::Other,
    };
    ThreadItem::WebSearch {
        id: end.call_id,
        query: end.query,
        action: Some(action),
    }
}

pub(super) fn drawn(end: ImageGenerationEnd) -> ThreadItem {
    ThreadItem::ImageGeneration {
        id: end.call_id,
        status: end.status,
        revised_prompt: end.revised_prompt,
        result: end.result,
        saved_path: end.saved_path,
    }
}
