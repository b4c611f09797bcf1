//! A turn for a person: the words of the agent as they come, its commands with their output, its plan,
//! and in the end what changed.

use quipu_client::wire::{
    CommandExecutionStatus, DynamicToolCallStatus, McpToolCallStatus, PatchApplyStatus,
    PatchChangeKind, ServerNotification, ThreadItem, TurnPlanStep, TurnPlanStepStatus,
};

use quipu_client::CompletedTurn;

use super::reason;
use super::screen::{Look, Screen};

/// Lines of a command's output that are shown from its start and from its end.
const HEAD: usize = 20;
const TAIL: usize = 20;

pub struct Text {
    screen: Screen,
    /// The message whose text is on the screen already.
    streamed: Option<String>,
    /// The command whose output is shown as it comes.
    running: Option<Running>,
    doing: String,
    diff: String,
    /// The last error that is on the screen.
    shown_error: Option<String>,
}

struct Running {
    id: String,
    /// Lines of its output that are on the screen.
    shown: usize,
    /// The line that has not ended yet.
    line: String,
}

impl Text {
    pub fn new(screen: Screen) -> Text {
        Text {
            screen,
            streamed: None,
            running: None,
            doing: "thinking".to_owned(),
            diff: String::new(),
            shown_error: None,
        }
    }

    /// Facts about the run, before anything happens.
    pub fn facts(&mut self, facts: &[(&str, String)]) {
        for (name, value) in facts {
            self.screen.line(Look::Faint, &format!("{name}: {value}"));
        }
    }

    /// What the run was asked.
    pub fn prompt(&mut self, prompt: &str) {
        self.screen.line(Look::Strong, &format!("> {prompt}"));
    }

    /// What comes next, set apart.
    pub fn heading(&mut self, words: &str) {
        self.screen.line(Look::Plain, "");
        self.screen.line(Look::Place, words);
    }

    /// A line of its own kind among the others.
    pub fn indented(&mut self, words: &str) {
        self.screen.line(Look::Plain, &format!("  {words}"));
    }

    /// Shows that work goes on.
    pub fn tick(&mut self) {
        self.screen.status(&self.doing);
    }

    /// Whether the words of the agent were shown as they came.
    pub fn shows_words(&self) -> bool {
        self.screen.is_terminal()
    }

    pub fn notified(&mut self, notification: &ServerNotification) {
        match notification {
            ServerNotification::ItemAgentMessageDelta(it) if self.screen.is_terminal() => {
                if self.streamed.as_ref() != Some(&it.item_id) {
                    self.screen.end_line();
                    self.streamed = Some(it.item_id.clone());
                }
                self.screen.put(Look::Plain, &it.delta);
            }
            ServerNotification::ItemCommandExecutionOutputDelta(it) => {
                self.output(&it.item_id, &it.delta);
            }
            ServerNotification::ItemStarted(it) => self.started(&it.item),
            ServerNotification::ItemCompleted(it) => {
                self.completed(&it.item);
                "thinking".clone_into(&mut self.doing);
            }
            ServerNotification::TurnPlanUpdated(it) => self.plan(&it.plan),
            ServerNotification::TurnDiffUpdated(it) => self.diff.clone_from(&it.diff),
            ServerNotification::Error(it) if it.will_retry => {
                self.screen.line(Look::Faint, &reason::retry(&it.error));
            }
            ServerNotification::Error(it) => self.error(&reason::failure(&it.error)),
            _ => {}
        }
    }

    /// What happens beside the turn.
    pub fn noticed(&mut self, notification: &ServerNotification) {
        match notification {
            ServerNotification::ConfigWarning(it) => self.warning(&it.summary),
            ServerNotification::DeprecationNotice(it) => self.warning(&it.summary),
            ServerNotification::McpServerStartupStatusUpdated(it) => {
                if let Some(error) = &it.error {
                    let name = &it.name;
                    self.warning(&format!("the MCP server `{name}` did not start: {error}"));
                }
            }
            _ => {}
        }
    }

    /// What changed and what it took, once nothing changes any more.
    pub fn end(&mut self, outcome: Option<&CompletedTurn>, failure: Option<&str>) {
        self.screen.end_line();
        self.screen.wipe();
        self.diff();
        if let Some(usage) = outcome.and_then(|it| it.usage.as_ref()) {
            let (input, output) = (usage.total.input_tokens, usage.total.output_tokens);
            let tokens = format!("tokens: {input} in, {output} out");
            self.screen.line(Look::Faint, &tokens);
        }
        // The server said it when it happened.
        if let Some(failure) = failure.filter(|it| self.shown_error.as_deref() != Some(*it)) {
            self.error(failure);
        }
    }

    fn error(&mut self, message: &str) {
        self.failure(&format!("error: {message}"));
        self.shown_error = Some(message.to_owned());
    }

    fn diff(&mut self) {
        let diff = std::mem::take(&mut self.diff);
        if !diff.is_empty() {
            self.screen.line(Look::Plain, "");
        }
        // People have no use for the hashes of what was and what is.
        for line in diff.lines().filter(|it| !it.starts_with("index ")) {
            let look = match line.as_bytes().first() {
                _ if line.starts_with("+++") || line.starts_with("---") => Look::Strong,
                Some(b'+') => Look::Good,
                Some(b'-') => Look::Bad,
                Some(b'@') => Look::Place,
                _ if line.starts_with("diff ") => Look::Strong,
                _ => Look::Plain,
            };
            self.screen.line(look, line);
        }
    }

    fn failure(&mut self, text: &str) {
        self.screen.line(Look::Bad, text);
    }

    fn warning(&mut self, summary: &str) {
        self.screen
            .line(Look::Faint, &format!("warning: {summary}"));
    }

    fn started(&mut self, item: &ThreadItem) {
        match item {
            ThreadItem::CommandExecution { id, command, .. } => {
                self.screen.line(Look::Strong, &format!("$ {command}"));
                if self.screen.is_terminal() && self.running.is_none() {
                    self.running = Some(Running {
                        id: id.clone(),
                        shown: 0,
                        line: String::new(),
                    });
                }
                self.doing = format!("running {command}");
            }
            ThreadItem::McpToolCall { server, tool, .. } => {
                self.doing = format!("asking {server} to {tool}");
            }
            ThreadItem::DynamicToolCall { tool, .. } => self.doing = format!("calling {tool}"),
            _ => {}
        }
    }

    fn completed(&mut self, item: &ThreadItem) {
        match item {
            ThreadItem::AgentMessage { id, text, .. } => {
                if self.streamed.as_ref() != Some(id) {
                    self.screen.line(Look::Plain, text);
                }
                self.screen.end_line();
            }
            ThreadItem::Reasoning { summary, .. } => {
                for part in summary {
                    self.screen.line(Look::Faint, part);
                }
            }
            ThreadItem::CommandExecution { .. } => self.command(item),
            ThreadItem::FileChange {
                changes, status, ..
            } => {
                for change in changes {
                    let letter = match change.kind {
                        PatchChangeKind::Add => "A",
                        PatchChangeKind::Delete => "D",
                        _ => "M",
                    };
                    self.screen
                        .line(Look::Strong, &format!("{letter} {}", change.path));
                }
                match status {
                    PatchApplyStatus::Completed => {}
                    PatchApplyStatus::Declined => self.failure("the patch was declined"),
                    _ => self.failure("the patch failed"),
                }
            }
            ThreadItem::McpToolCall {
                server,
                tool,
                status,
                ..
            } => {
                let well = *status == McpToolCallStatus::Completed;
                self.tool(&format!("{server}.{tool}"), well);
            }
            ThreadItem::DynamicToolCall { tool, status, .. } => {
                self.tool(tool, *status == DynamicToolCallStatus::Completed);
            }
            ThreadItem::WebSearch { query, .. } => {
                self.screen.line(Look::Strong, &format!("search: {query}"));
            }
            _ => {}
        }
    }

    fn tool(&mut self, name: &str, well: bool) {
        match well {
            true => self.screen.line(Look::Strong, &format!("tool: {name}")),
            false => self.failure(&format!("tool: {name} failed")),
        }
    }

    /// Shows the first lines of a command's output as they come; the last ones are shown at its end.
    fn output(&mut self, id: &str, delta: &str) {
        let Some(running) = self.running.as_mut().filter(|it| it.id == id) else {
            return;
        };
        for piece in delta.split_inclusive('\n') {
            if running.shown == HEAD {
                return;
            }
            running.line.push_str(piece);
            if running.line.ends_with('\n') {
                self.screen.line(Look::Plain, running.line.trim_end());
                running.line.clear();
                running.shown += 1;
            }
        }
    }

    fn command(&mut self, item: &ThreadItem) {
        let ThreadItem::CommandExecution {
            id,
            aggregated_output,
            exit_code,
            duration_ms,
            status,
            ..
        } = item
        else {
            return;
        };
        let output = aggregated_output.as_deref().unwrap_or_default();
        let shown = self.running.take_if(|it| it.id == *id);
        for line in shortened(output, shown.map_or(0, |it| it.shown)) {
            self.screen.line(Look::Plain, &line);
        }
        let took = duration_ms.map_or(String::new(), |ms| format!(" in {ms} ms"));
        match (status, exit_code) {
            (CommandExecutionStatus::Declined, _) => self.failure("the command was declined"),
            (_, Some(0)) => self.screen.line(Look::Faint, &format!("done{took}")),
            (_, Some(code)) => self.failure(&format!("exit code {code}{took}")),
            (_, None) => self.failure("the command did not end by itself"),
        }
    }

    fn plan(&mut self, steps: &[TurnPlanStep]) {
        for step in steps {
            let (mark, look) = match step.status {
                TurnPlanStepStatus::Completed => ("[x]", Look::Good),
                TurnPlanStepStatus::InProgress => ("[>]", Look::Strong),
                _ => ("[ ]", Look::Plain),
            };
            self.screen.line(look, &format!("{mark} {}", step.step));
        }
    }
}

/// The first and last lines of a long text, but for those that are on the screen already.
fn shortened(text: &str, shown: usize) -> Vec<String> {
    let lines: Vec<&str> = text.lines().collect();
    let owned = |lines: &[&str]| lines.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>();
    if lines.len() <= HEAD + TAIL + 1 {
        return owned(lines.get(shown..).unwrap_or_default());
    }
    let mut rest = owned(lines[..HEAD].get(shown..).unwrap_or_default());
    rest.push(format!("… {} more lines …", lines.len() - HEAD - TAIL));
    rest.extend(owned(&lines[lines.len() - TAIL..]));
    rest
}
