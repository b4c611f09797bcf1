//! Items of a turn as lines of the scrollback.

use quipu_client::wire::{
    CommandExecutionStatus, FileUpdateChange, McpToolCallStatus, PatchApplyStatus, PatchChangeKind,
    ThreadItem, TurnPlanStepStatus, TurnPlanUpdatedNotification, UserInput,
};

use crate::markdown::Message;
use crate::style::{Line, Look};
use crate::wrap::clean;

/// Lines of a command's output: from its beginning and from its end.
const OUTPUT: (usize, usize) = (6, 6);
/// Lines of one file's diff.
const DIFF: usize = 60;
/// Lines of a summary of thoughts.
const THOUGHTS: usize = 6;

/// What is shown of an item when it has ended.
pub fn lines(item: &ThreadItem) -> Vec<Line> {
    match item {
        ThreadItem::UserMessage { content, .. } => said(content),
        ThreadItem::AgentMessage { text, .. } | ThreadItem::Plan { text, .. } => message(text),
        ThreadItem::Reasoning { summary, .. } => {
            let text = clean(&summary.join("\n")).replace("**", "");
            let lines = text
                .lines()
                .filter(|it| !it.trim().is_empty())
                .take(THOUGHTS);
            lines.map(|it| Line::dim(format!("  {it}"))).collect()
        }
        ThreadItem::CommandExecution { .. } => command(item),
        ThreadItem::FileChange {
            changes, status, ..
        } => patch(changes, status),
        ThreadItem::McpToolCall {
            server,
            tool,
            status,
            error,
            ..
        } => {
            let name = clean(&format!("* called {tool} of {server}"));
            match (status, error) {
                (McpToolCallStatus::Completed, _) => vec![Line::plain(name)],
                (_, Some(error)) => {
                    vec![
                        Line::plain(name),
                        Line::alert(format!("  {}", one_line(&error.message))),
                    ]
                }
                _ => vec![Line::plain(format!("{name}: failed"))],
            }
        }
        ThreadItem::DynamicToolCall { tool, .. } => vec![Line::plain(format!("* called {tool}"))],
        ThreadItem::WebSearch { query, .. } => {
            vec![Line::plain(format!(
                "* searched the web: {}",
                one_line(query)
            ))]
        }
        ThreadItem::ImageView { path, .. } => {
            vec![Line::plain(format!("* looked at {}", one_line(path)))]
        }
        ThreadItem::ContextCompaction { .. } => {
            vec![Line::plain("* the history was shortened")]
        }
        ThreadItem::EnteredReviewMode { review, .. } => {
            vec![Line::plain(format!("* reviewing {}", one_line(review)))]
        }
        // The message that follows says the same, and has all findings also in a stored conversation.
        ThreadItem::ExitedReviewMode { .. } => Vec::new(),
        _ => Vec::new(),
    }
}

/// What happens at the moment, in a few words.
pub fn activity(item: &ThreadItem) -> Option<String> {
    Some(match item {
        ThreadItem::CommandExecution { command, .. } => format!("running {}", script(command)),
        ThreadItem::FileChange { changes, .. } => format!("changing {} files", changes.len()),
        ThreadItem::McpToolCall { server, tool, .. } => format!("calling {tool} of {server}"),
        ThreadItem::Reasoning { .. } => "thinking".to_owned(),
        ThreadItem::WebSearch { .. } => "searching the web".to_owned(),
        ThreadItem::ContextCompaction { .. } => "shortening the history".to_owned(),
        _ => return None,
    })
}

fn one_line(text: &str) -> String {
    clean(text).replace('\n', " ")
}

fn said(content: &[UserInput]) -> Vec<Line> {
    let mut text = String::new();
    for input in content {
        match input {
            UserInput::Text { text: more, .. } => text.push_str(more),
            UserInput::Image { .. } => text.push_str("[image]"),
            UserInput::LocalImage { path } => text.push_str(path),
            UserInput::Skill { name, .. } | UserInput::Mention { name, .. } => text.push_str(name),
            _ => {}
        }
    }
    let text = clean(&text);
    let mark = |index: usize| if index == 0 { "> " } else { "  " };
    let lines = text.lines().enumerate();
    let lines = lines.map(|(index, it)| Line::new(format!("{}{it}", mark(index)), Look::Bold));
    [Line::default()].into_iter().chain(lines).collect()
}

/// A whole message.
pub fn message(text: &str) -> Vec<Line> {
    let mut message = Message::default();
    let mut lines = message.push(text);
    lines.extend(message.end());
    lines
}

/// What a shell was given, without the shell.
pub fn script(command: &str) -> String {
    let shells = ["bash -lc ", "bash -c ", "zsh -lc ", "sh -lc ", "sh -c "];
    let script = shells
        .iter()
        .find_map(|shell| Some(command.split_once(shell)?.1));
    let script = script.unwrap_or(command);
    let quoted = script
        .strip_prefix('\'')
        .and_then(|it| it.strip_suffix('\''));
    one_line(quoted.unwrap_or(script))
}

fn command(item: &ThreadItem) -> Vec<Line> {
    let ThreadItem::CommandExecution {
        command,
        status,
        aggregated_output,
        exit_code,
        ..
    } = item
    else {
        return Vec::new();
    };
    let mut lines = vec![Line::new(format!("$ {}", script(command)), Look::Bold)];
    let output = clean(aggregated_output.as_deref().unwrap_or_default());
    let output: Vec<_> = output.lines().collect();
    let (first, last) = OUTPUT;
    let indented = |it: &&str| Line::dim(format!("  {it}"));
    if output.len() > first + last + 1 {
        lines.extend(output[..first].iter().map(indented));
        lines.push(Line::dim(format!(
            "  … {} lines",
            output.len() - first - last
        )));
        lines.extend(output[output.len() - last..].iter().map(indented));
    } else {
        lines.extend(output.iter().map(indented));
    }
    match (status, exit_code) {
        (CommandExecutionStatus::Declined, _) => lines.push(Line::alert("  not allowed")),
        (_, Some(0)) | (CommandExecutionStatus::Completed, None) => {}
        (_, Some(code)) => lines.push(Line::new(format!("  exit code {code}"), Look::Removed)),
        _ => lines.push(Line::new("  failed", Look::Removed)),
    }
    lines
}

fn patch(changes: &[FileUpdateChange], status: &PatchApplyStatus) -> Vec<Line> {
    let mut lines: Vec<_> = changes.iter().flat_map(change).collect();
    match status {
        PatchApplyStatus::Declined => lines.push(Line::alert("  not allowed")),
        PatchApplyStatus::Failed => lines.push(Line::new("  failed", Look::Removed)),
        _ => {}
    }
    lines
}

/// One file of a patch: its name and its diff.
pub fn change(change: &FileUpdateChange) -> Vec<Line> {
    let (verb, prefix) = match &change.kind {
        PatchChangeKind::Add => ("added", "+"),
        PatchChangeKind::Delete => ("deleted", "-"),
        _ => ("edited", ""),
    };
    let body = clean(&change.diff);
    let mut lines = vec![Line::new(
        format!("* {verb} {}", one_line(&change.path)),
        Look::Bold,
    )];
    if let PatchChangeKind::Update {
        move_path: Some(path),
    } = &change.kind
    {
        lines.push(Line::plain(format!("  now {}", one_line(path))));
    }
    lines.extend(diff(&body, prefix));
    lines
}

/// The lines of a diff, each of which gets the prefix.
pub fn diff(text: &str, prefix: &str) -> Vec<Line> {
    let count = text.lines().count();
    let mut lines: Vec<_> = text
        .lines()
        .take(DIFF)
        .map(|line| {
            let line = format!("{prefix}{line}");
            let look = match line.chars().next() {
                Some('+') => Look::Added,
                Some('-') => Look::Removed,
                Some('@') => Look::Dim,
                _ => Look::Plain,
            };
            Line::new(format!("  {line}"), look)
        })
        .collect();
    if count > DIFF {
        lines.push(Line::dim(format!("  … {} lines", count - DIFF)));
    }
    lines
}

/// A plan with its marks.
pub fn plan(update: &TurnPlanUpdatedNotification) -> Vec<Line> {
    let step = |step: &quipu_client::wire::TurnPlanStep| {
        let (mark, look) = match step.status {
            TurnPlanStepStatus::Completed => ("[x]", Look::Dim),
            TurnPlanStepStatus::InProgress => ("[>]", Look::Bold),
            _ => ("[ ]", Look::Plain),
        };
        Line::new(format!("  {mark} {}", one_line(&step.step)), look)
    };
    [Line::plain("* plan")]
        .into_iter()
        .chain(update.plan.iter().map(step))
        .collect()
}
