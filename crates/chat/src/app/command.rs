//! What slash commands do.

use quipu_client::wire::{AskForApproval, SandboxPolicy, ThreadTokenUsage};
use serde_json::json;

use super::{App, Open};
use crate::command::{COMMANDS, Command};
use crate::session::Effect;
use crate::style::Line;

const KEYS: [&str; 6] = [
    "enter        send; while the agent works, add to its work",
    "alt-enter    new line (also ctrl-j)",
    "ctrl-c, esc  stop the agent; ctrl-c clears the input, twice leaves",
    "@name tab    complete the name of a file",
    "up, down     what you typed before",
    "ctrl-d       leave",
];

impl App {
    pub(super) fn command(&mut self, command: Command) {
        match command {
            Command::Help => self.transcript.extend(help()),
            Command::Quit => self.leave(),
            Command::Status => self.status(),
            Command::Model(Some(name)) => self.use_model(name),
            Command::Model(None) => self.effects.push(Effect::Models),
            Command::Approvals(mode) => self.approvals(&mode),
            Command::Resume(None) => self.effects.push(Effect::Threads),
            // Work of one turn would be shown in another conversation.
            _ if self.is_busy() => self.alert("The agent is working; stop it first (ctrl-c)"),
            Command::Resume(Some(id)) => self.open_with(Effect::Resume(id)),
            Command::New => self.open_with(Effect::New),
            Command::Fork | Command::Diff | Command::Review(_) | Command::Compact => {
                self.in_thread(command);
            }
        }
    }

    /// Commands that need a conversation.
    fn in_thread(&mut self, command: Command) {
        let Some(open) = &self.open else {
            return self.alert("No conversation is open yet");
        };
        let (thread_id, cwd) = (open.thread_id.clone(), open.cwd.clone());
        let effect = match command {
            Command::Fork => return self.open_with(Effect::Fork(thread_id)),
            Command::Diff => Effect::Diff(cwd),
            Command::Review(target) => {
                self.begin("reviewing");
                Effect::Review(thread_id, target)
            }
            _ => {
                self.begin("shortening the history");
                Effect::Compact(thread_id)
            }
        };
        self.effects.push(effect);
    }

    /// The next turn is the first one with this model.
    pub(super) fn use_model(&mut self, name: String) {
        self.print(Line::dim(format!("model: {name}")));
        if let Some(open) = &mut self.open {
            open.model.clone_from(&name);
            open.effort = None;
        }
        self.chosen.model = Some(name);
    }

    fn approvals(&mut self, mode: &str) {
        let Some((policy, sandbox)) = way_to_work(mode) else {
            return self.alert(
                "/approvals read-only (ask before every change), auto (work in the directory) or full (never ask)",
            );
        };
        if let Some(open) = &mut self.open {
            open.approval_policy = policy.clone();
            open.sandbox = sandbox.clone();
        }
        self.chosen.approval_policy = Some(policy);
        self.chosen.sandbox_policy = Some(sandbox);
        self.print(Line::dim(format!(
            "approvals: {mode}, from the next message on"
        )));
    }

    fn status(&mut self) {
        let Some(open) = &self.open else {
            return self.alert("No conversation is open yet");
        };
        let lines = status(open, self.usage.as_ref()).into_iter();
        self.transcript
            .extend(lines.map(|it| Line::plain(format!("  {it}"))));
    }
}

/// What `/help` says.
fn help() -> impl Iterator<Item = Line> {
    let commands = COMMANDS
        .iter()
        .map(|(name, what)| format!("{name:<12} {what}"));
    let lines = commands.chain(KEYS.map(str::to_owned));
    lines.map(|it| Line::plain(format!("  {it}")))
}

/// What an argument of `/approvals` means.
fn way_to_work(mode: &str) -> Option<(AskForApproval, SandboxPolicy)> {
    let (policy, sandbox) = match mode {
        "read-only" => (AskForApproval::OnRequest, "readOnly"),
        "auto" => (AskForApproval::OnRequest, "workspaceWrite"),
        "full" => (AskForApproval::Never, "dangerFullAccess"),
        _ => return None,
    };
    let sandbox = serde_json::from_value(json!({ "type": sandbox }));
    Some((policy, sandbox.ok()?))
}

/// What `/status` says.
fn status(open: &Open, usage: Option<&ThreadTokenUsage>) -> Vec<String> {
    let word = |value: serde_json::Value| {
        let word = value.as_str().or(value["type"].as_str());
        word.unwrap_or("granular").to_owned()
    };
    let mut lines = vec![
        format!("model       {}", open.model),
        format!("directory   {}", open.cwd),
        format!("sandbox     {}", word(json!(open.sandbox))),
        format!("approvals   {}", word(json!(open.approval_policy))),
        format!("thread      {}", open.thread_id),
    ];
    if let Some(effort) = &open.effort {
        lines.insert(1, format!("effort      {}", word(json!(effort))));
    }
    if let Some(usage) = usage {
        let total = &usage.total;
        lines.push(format!(
            "tokens      {} ({} in, {} out)",
            total.total_tokens, total.input_tokens, total.output_tokens
        ));
    }
    lines
}
