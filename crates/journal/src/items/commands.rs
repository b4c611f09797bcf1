//! Commands and patches.

use std::collections::BTreeMap;

use quipu_wire::{
    CommandAction, CommandExecutionSource, CommandExecutionStatus, FileUpdateChange,
    PatchApplyStatus, PatchChangeKind, ThreadItem,
};

use crate::event::{
    Elapsed, Event, ExecCommandBegin, ExecCommandEnd, ExecSource, ExecStatus, FileChange,
    ParsedCommand, PatchApplyBegin, PatchApplyEnd, PatchStatus,
};

/// Joins the diff of a moved file and its new place.
const MOVED: &str = "\n\nMoved to: ";

pub(super) fn started(begin: ExecCommandBegin) -> ThreadItem {
    ThreadItem::CommandExecution {
        id: begin.call_id,
        command: command_line(&begin.command),
        cwd: begin.cwd,
        process_id: begin.process_id,
        source: begin.source.into(),
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
    let output = Some(end.aggregated_output).filter(|output| !output.is_empty());
    // A command that was declined without a reason has neither exit code nor duration, though the record needs
    // numbers.
    let has_numbers = status != CommandExecutionStatus::Declined || output.is_some();
    ThreadItem::CommandExecution {
        id: end.call_id,
        command: command_line(&end.command),
        cwd: end.cwd,
        process_id: end.process_id,
        source: end.source.into(),
        status,
        command_actions: end.parsed_cmd.into_iter().map(action).collect(),
        aggregated_output: output,
        exit_code: has_numbers.then_some(end.exit_code),
        duration_ms: has_numbers.then(|| end.duration.as_millis()),
    }
}

/// The arguments as one line that a shell would take apart again in the same way.
fn command_line(arguments: &[String]) -> String {
    let words = arguments.iter().map(String::as_str);
    shlex::try_join(words).unwrap_or_else(|_| arguments.join(" "))
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
                    unified_diff.push_str(MOVED);
                    unified_diff.push_str(target);
                }
                (PatchChangeKind::Update { move_path }, unified_diff)
            }
        };
        FileUpdateChange { path, kind, diff }
    };
    changes.into_iter().map(change).collect()
}

/// The event of a command that runs, or has run.
pub(super) fn store(item: ThreadItem, turn: &str) -> Option<Event> {
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
    let turn_id = turn.to_owned();
    let command = shlex::split(&command).unwrap_or_else(|| vec![command]);
    let parsed_cmd = command_actions.into_iter().filter_map(parsed).collect();
    let source = source.into();
    let status = match status {
        CommandExecutionStatus::InProgress => {
            return Some(Event::ExecCommandBegin(ExecCommandBegin {
                call_id: id,
                process_id,
                turn_id,
                command,
                cwd,
                parsed_cmd,
                source,
            }));
        }
        CommandExecutionStatus::Completed => ExecStatus::Completed,
        CommandExecutionStatus::Declined => ExecStatus::Declined,
        CommandExecutionStatus::Failed | CommandExecutionStatus::Unrecognized => ExecStatus::Failed,
    };
    Some(Event::ExecCommandEnd(ExecCommandEnd {
        call_id: id,
        process_id,
        turn_id,
        command,
        cwd,
        parsed_cmd,
        source,
        interaction_input: None,
        stdout: String::new(),
        stderr: String::new(),
        aggregated_output: aggregated_output.unwrap_or_default(),
        exit_code: exit_code.unwrap_or(-1),
        duration: Elapsed::from_millis(duration_ms.unwrap_or_default()),
        formatted_output: String::new(),
        status: Some(status),
    }))
}

impl From<ExecSource> for CommandExecutionSource {
    fn from(source: ExecSource) -> Self {
        match source {
            ExecSource::Agent => Self::Agent,
            ExecSource::UserShell => Self::UserShell,
            ExecSource::UnifiedExecStartup => Self::UnifiedExecStartup,
            ExecSource::UnifiedExecInteraction => Self::UnifiedExecInteraction,
        }
    }
}

impl From<CommandExecutionSource> for ExecSource {
    fn from(source: CommandExecutionSource) -> Self {
        match source {
            CommandExecutionSource::UserShell => Self::UserShell,
            CommandExecutionSource::UnifiedExecStartup => Self::UnifiedExecStartup,
            CommandExecutionSource::UnifiedExecInteraction => Self::UnifiedExecInteraction,
            CommandExecutionSource::Agent | CommandExecutionSource::Unrecognized => Self::Agent,
        }
    }
}

fn parsed(action: CommandAction) -> Option<ParsedCommand> {
    Some(match action {
        CommandAction::Read {
            command: cmd,
            name,
            path,
        } => ParsedCommand::Read { cmd, name, path },
        CommandAction::ListFiles { command: cmd, path } => ParsedCommand::ListFiles { cmd, path },
        CommandAction::Search {
            command: cmd,
            query,
            path,
        } => ParsedCommand::Search { cmd, query, path },
        CommandAction::Unknown { command: cmd } => ParsedCommand::Unknown { cmd },
        CommandAction::Unrecognized(_) => return None,
    })
}

/// The event of a patch that waits, or was decided.
pub(super) fn store_patch(
    call_id: String,
    changes: Vec<FileUpdateChange>,
    status: PatchApplyStatus,
    turn: &str,
) -> Event {
    let turn_id = turn.to_owned();
    let changes = changes
        .into_iter()
        .map(|change| (change.path.clone(), file_change(change)))
        .collect();
    let status = match status {
        PatchApplyStatus::InProgress => {
            let auto_approved = false;
            return Event::PatchApplyBegin(PatchApplyBegin {
                call_id,
                turn_id,
                auto_approved,
                changes,
            });
        }
        PatchApplyStatus::Completed => PatchStatus::Completed,
        PatchApplyStatus::Declined => PatchStatus::Declined,
        PatchApplyStatus::Failed | PatchApplyStatus::Unrecognized => PatchStatus::Failed,
    };
    Event::PatchApplyEnd(PatchApplyEnd {
        call_id,
        turn_id,
        stdout: String::new(),
        stderr: String::new(),
        success: status == PatchStatus::Completed,
        changes,
        status: Some(status),
    })
}

fn file_change(change: FileUpdateChange) -> FileChange {
    match change.kind {
        PatchChangeKind::Add => FileChange::Add {
            content: change.diff,
        },
        PatchChangeKind::Delete => FileChange::Delete {
            content: change.diff,
        },
        PatchChangeKind::Update { move_path } => {
            let moved = move_path.as_ref().map(|target| format!("{MOVED}{target}"));
            let diff = moved.and_then(|moved| change.diff.strip_suffix(&moved).map(str::to_owned));
            FileChange::Update {
                unified_diff: diff.unwrap_or(change.diff),
                move_path,
            }
        }
        PatchChangeKind::Unrecognized(_) => FileChange::Update {
            unified_diff: change.diff,
            move_path: None,
        },
    }
}
