//! Items that editors show as tool calls: commands, patches, calls of tools, searches.

use agent_client_protocol::v1::schema::{
    ContentBlock, Diff, ToolCall, ToolCallContent, ToolCallLocation, ToolCallStatus,
    ToolCallUpdate, ToolCallUpdateFields, ToolKind,
};
use quipu_client::wire::{
    CommandAction, DynamicToolCallOutputContentItem, FileUpdateChange, PatchChangeKind, ThreadItem,
};
use serde_json::{Value, json};

use crate::diff;

/// Bytes of a command's output that an editor is shown.
const MOST_OUTPUT: usize = 64 << 10;

/// An item as a tool call, in whatever state it is.
pub fn begun(item: &ThreadItem) -> Option<Box<ToolCall>> {
    let (id, title, kind, status) = heading(item)?;
    let (content, locations, input) = body(item);
    let call = ToolCall::new(id.to_owned(), title)
        .kind(kind)
        .status(status)
        .content(content)
        .locations(locations)
        .raw_input(input);
    Some(Box::new(call))
}

/// The same item later.
pub fn changed(item: &ThreadItem) -> Option<ToolCallUpdate> {
    let (id, title, _, status) = heading(item)?;
    let (content, locations, _) = body(item);
    let fields = ToolCallUpdateFields::new()
        .title(title)
        .status(status)
        .content(content)
        .locations(locations);
    Some(ToolCallUpdate::new(id.to_owned(), fields))
}

/// A command's output so far.
pub fn output(id: &str, text: &str) -> ToolCallUpdate {
    let fields = ToolCallUpdateFields::new().content(vec![console(text)]);
    ToolCallUpdate::new(id.to_owned(), fields)
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
            (id, format!("`{}`", script(command)), kind, status(state))
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
            let mut content: Vec<_> = blocks.map(ToolCallContent::from).collect();
            content.extend(error.iter().map(|it| text(&it.message)));
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
            let content = said.map(|it| text(it)).collect();
            (
                content,
                Vec::new(),
                serde_json::from_str(arguments.get()).ok(),
            )
        }
        ThreadItem::ImageView { path, .. } => {
            (Vec::new(), vec![ToolCallLocation::new(path.clone())], None)
        }
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
        content.push(text(&format!("exit code {code}")));
    }
    let read = command_actions.iter().filter_map(|action| match action {
        CommandAction::Read { path, .. } => Some(path),
        _ => None,
    });
    let directory = std::path::Path::new(cwd);
    let locations = read
        .map(|path| ToolCallLocation::new(directory.join(path)))
        .collect();
    (
        content,
        locations,
        Some(json!({ "command": command, "cwd": cwd })),
    )
}

/// The change of one file, a diff per hunk.
fn diffs(change: &FileUpdateChange) -> Vec<ToolCallContent> {
    let path = target(change);
    match &change.kind {
        PatchChangeKind::Add => {
            vec![ToolCallContent::Diff(Diff::new(path, change.diff.clone()))]
        }
        PatchChangeKind::Delete => {
            let diff = Diff::new(path, "").old_text(change.diff.clone());
            vec![ToolCallContent::Diff(diff)]
        }
        _ => {
            let hunks = diff::hunks(&change.diff).into_iter();
            hunks
                .map(|it| ToolCallContent::Diff(Diff::new(path, it.new).old_text(it.old)))
                .collect()
        }
    }
}

fn location(change: &FileUpdateChange) -> ToolCallLocation {
    let first = diff::hunks(&change.diff).first().map(|it| it.line);
    ToolCallLocation::new(target(change)).line(first)
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

/// What a shell was told to run, without the shell.
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

fn text(text: &str) -> ToolCallContent {
    ToolCallContent::from(ContentBlock::from(text))
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
    text(&format!("{fence}console\n{shown}\n{fence}"))
}
