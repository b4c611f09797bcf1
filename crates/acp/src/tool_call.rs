//! Items that editors show as tool calls: commands, patches, calls of tools, searches.

use std::path::PathBuf;

use quipu_client::wire::{
    CommandAction, DynamicToolCallOutputContentItem, FileUpdateChange, PatchChangeKind, ThreadItem,
};
use serde_json::{Value, json};

use crate::diff;
use crate::schema::{
    ContentBlock, ToolCall, ToolCallContent, ToolCallLocation, ToolCallStatus, ToolKind,
};

/// Bytes of a command's output that an editor is shown.
const MOST_OUTPUT: usize = 64 << 10;

/// An item as a tool call, in whatever state it is.
pub fn of(item: &ThreadItem) -> Option<ToolCall> {
    let (id, title, kind, status) = heading(item)?;
    let (content, locations, raw_input) = body(item);
    Some(ToolCall {
        tool_call_id: id.to_owned(),
        title: Some(title),
        kind: Some(kind),
        status: Some(status),
        content: Some(content),
        locations: Some(locations),
        raw_input,
    })
}

/// A command's output so far.
pub fn output(id: &str, text: &str) -> ToolCall {
    ToolCall {
        tool_call_id: id.to_owned(),
        content: Some(vec![console(text)]),
        ..ToolCall::default()
    }
}

/// The state of an item, whose kinds all have the same words for it.
fn status(value: &impl serde::Serialize) -> ToolCallStatus {
    match json!(value).as_str() {
        Some("inProgress") => ToolCallStatus::InProgress,
        Some("completed") => ToolCallStatus::Completed,
        _ => ToolCallStatus::Failed,
    }
}

fn heading(item: &ThreadItem) -> Option<(&str, String, ToolKind, ToolCallStatus)> {
    let done = ToolCallStatus::Completed;
    Some(match item {
        ThreadItem::CommandExecution {
            id,
            command,
            status: state,
            command_actions,
            ..
        } => {
            let kind = match command_actions.as_slice() {
                [CommandAction::Read { .. }] => ToolKind::Read,
                [CommandAction::ListFiles { .. } | CommandAction::Search { .. }] => {
                    ToolKind::Search
                }
                _ => ToolKind::Execute,
            };
            (id, command_title(command), kind, status(state))
        }
        ThreadItem::FileChange {
            id,
            changes,
            status: state,
        } => (id, patch_title(changes), ToolKind::Edit, status(state)),
        ThreadItem::McpToolCall {
            id,
            server,
            tool,
            status: state,
            ..
        } => (
            id,
            format!("{server}: {tool}"),
            ToolKind::Other,
            status(state),
        ),
        ThreadItem::DynamicToolCall {
            id,
            tool,
            status: state,
            ..
        } => (id, tool.clone(), ToolKind::Other, status(state)),
        ThreadItem::WebSearch { id, query, .. } => (
            id,
            format!("Search the web: {query}"),
            ToolKind::Fetch,
            done,
        ),
        ThreadItem::ImageView { id, path } => (id, format!("View {path}"), ToolKind::Read, done),
        ThreadItem::ContextCompaction { id } => {
            (id, "Shorten the history".to_owned(), ToolKind::Think, done)
        }
        ThreadItem::CollabAgentToolCall {
            id, tool, prompt, ..
        } => {
            let what = json!(tool).as_str().unwrap_or("agent").to_owned();
            let title = prompt
                .as_ref()
                .map_or(what.clone(), |it| format!("{what}: {it}"));
            (id, title, ToolKind::Think, done)
        }
        _ => return None,
    })
}

type Body = (Vec<ToolCallContent>, Vec<ToolCallLocation>, Option<Value>);

fn body(item: &ThreadItem) -> Body {
    match item {
        ThreadItem::CommandExecution { .. } => command_body(item),
        ThreadItem::FileChange { changes, .. } => {
            let content = changes.iter().flat_map(diffs).collect();
            (content, changes.iter().map(location).collect(), None)
        }
        ThreadItem::McpToolCall {
            arguments,
            result,
            error,
            ..
        } => {
            let said = result.iter().flat_map(|it| &it.content);
            let blocks = said.filter_map(|it| serde_json::from_str::<ContentBlock>(it.get()).ok());
            let content = |content| ToolCallContent::Content { content };
            let mut content: Vec<_> = blocks.map(content).collect();
            content.extend(error.iter().map(|it| it.message.as_str().into()));
            (
                content,
                Vec::new(),
                serde_json::from_str(arguments.get()).ok(),
            )
        }
        ThreadItem::DynamicToolCall {
            arguments,
            content_items,
            ..
        } => {
            let said = content_items.iter().flatten().filter_map(|it| match it {
                DynamicToolCallOutputContentItem::InputText { text } => Some(text),
                _ => None,
            });
            let content = said.map(|it| it.as_str().into()).collect();
            (
                content,
                Vec::new(),
                serde_json::from_str(arguments.get()).ok(),
            )
        }
        ThreadItem::ImageView { path, .. } => (Vec::new(), vec![at(path.into(), None)], None),
        _ => (Vec::new(), Vec::new(), None),
    }
}

fn command_body(item: &ThreadItem) -> Body {
    let ThreadItem::CommandExecution {
        command,
        cwd,
        command_actions,
        aggregated_output,
        exit_code,
        ..
    } = item
    else {
        return (Vec::new(), Vec::new(), None);
    };
    let output = aggregated_output.iter().filter(|it| !it.is_empty());
    let mut content: Vec<_> = output.map(|it| console(it)).collect();
    if let Some(code) = exit_code.filter(|code| *code != 0) {
        content.push(format!("exit code {code}").as_str().into());
    }
    let read = command_actions.iter().filter_map(|action| match action {
        CommandAction::Read { path, .. } => Some(path),
        _ => None,
    });
    let directory = std::path::Path::new(cwd);
    let locations = read.map(|path| at(directory.join(path), None)).collect();
    (
        content,
        locations,
        Some(json!({ "command": command, "cwd": cwd })),
    )
}

/// The change of one file, a diff per hunk.
fn diffs(change: &FileUpdateChange) -> Vec<ToolCallContent> {
    let diff = |old_text, new_text| ToolCallContent::Diff {
        path: target(change).to_owned(),
        old_text,
        new_text,
    };
    match &change.kind {
        PatchChangeKind::Add => vec![diff(None, change.diff.clone())],
        PatchChangeKind::Delete => vec![diff(Some(change.diff.clone()), String::new())],
        _ => {
            let hunks = diff::hunks(&change.diff).into_iter();
            hunks.map(|it| diff(Some(it.old), it.new)).collect()
        }
    }
}

fn location(change: &FileUpdateChange) -> ToolCallLocation {
    let first = diff::hunks(&change.diff).first().map(|it| it.line);
    at(target(change).into(), first)
}

fn at(path: PathBuf, line: Option<u32>) -> ToolCallLocation {
    ToolCallLocation { path, line }
}

/// The file as it is called after the change.
fn target(change: &FileUpdateChange) -> &str {
    match &change.kind {
        PatchChangeKind::Update {
            move_path: Some(path),
        } => path,
        _ => &change.path,
    }
}

fn patch_title(changes: &[FileUpdateChange]) -> String {
    let name = |change: &FileUpdateChange| {
        let path = std::path::Path::new(&change.path);
        path.file_name().map_or_else(
            || change.path.clone(),
            |it| it.to_string_lossy().into_owned(),
        )
    };
    match changes {
        [change] => {
            let verb = match change.kind {
                PatchChangeKind::Add => "Add",
                PatchChangeKind::Delete => "Delete",
                _ => "Edit",
            };
            format!("{verb} {}", name(change))
        }
        changes => format!("Edit {} files", changes.len()),
    }
}

/// A command as a title.
pub fn command_title(command: &str) -> String {
    format!("`{}`", script(command))
}

/// What a shell runs, without the shell.
fn script(command: &str) -> &str {
    let script = ["bash -lc ", "sh -lc ", "bash -c ", "sh -c ", "zsh -lc "]
        .iter()
        .find_map(|shell| Some(command.split_once(shell)?.1));
    let script = script.unwrap_or(command);
    script
        .strip_prefix('\'')
        .and_then(|it| it.strip_suffix('\''))
        .unwrap_or(script)
}

/// Output as it stood on a terminal; of a long one, the end. The fence is longer than any in it.
fn console(output: &str) -> ToolCallContent {
    let cut = output.len().saturating_sub(MOST_OUTPUT);
    let cut = (cut..=output.len())
        .find(|at| output.is_char_boundary(*at))
        .unwrap_or(0);
    let shown = output[cut..].trim_end_matches('\n');
    let mut fence = "```".to_owned();
    while shown.contains(&fence) {
        fence.push('`');
    }
    format!("{fence}console\n{shown}\n{fence}").as_str().into()
}
