//! Where a run reports what happens: JSON lines on standard output for programs, or words on standard error
//! for people, with the last message alone on standard output.

use std::io::IsTerminal as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use chrono::{DateTime, NaiveDate};
use quipu_client::wire::{SandboxPolicy, ServerNotification, TurnStatus};
use quipu_client::{CompletedTurn, Error, Event};
use quipu_server::Server;

use super::args::Color;
use super::events::{Events, Line};
use super::job::Work;
use super::reason;
use super::screen::{Screen, Stream};
use super::sink::Sink;
use super::text::Text;
use super::thread::{self, Opened};

pub struct Output {
    form: Form,
    sink: Sink,
    /// The file that gets the last message.
    last_message: Option<PathBuf>,
    /// The thread, if a later run can go on with it.
    stored: Option<String>,
    /// What was said before the run, which need not be repeated.
    said: Option<String>,
    /// Its ledger knows what the thread costs.
    server: Arc<Server>,
    /// The thread, and the day on which it began.
    thread: Option<(String, NaiveDate)>,
}

enum Form {
    Json(Events),
    Text(Text),
}

impl Output {
    pub fn new(
        json: bool,
        color: Color,
        last_message: Option<PathBuf>,
        server: Arc<Server>,
    ) -> Output {
        let form = match json {
            true => Form::Json(Events::default()),
            false => Form::Text(Text::new(Screen::new(Stream::Error, color))),
        };
        Output {
            form,
            sink: Sink::default(),
            last_message,
            stored: None,
            said: None,
            server,
            thread: None,
        }
    }

    /// Something that people need to know before the run. It is not an event of it.
    pub fn notice(&mut self, text: String) {
        eprintln!("{text}");
        self.said = Some(text);
    }

    /// A run that could not begin. The same goes to standard error, as with every command that fails.
    pub fn not_begun(error: &str) {
        Sink::default().event(&Line::error(error.to_owned()));
    }

    pub fn opened(&mut self, opened: &Opened, work: &Work) {
        let thread = &opened.thread;
        self.stored = (!thread.ephemeral).then(|| thread.id.clone());
        let began = DateTime::from_timestamp(thread.created_at, 0).unwrap_or_default();
        self.thread = Some((thread.id.clone(), began.date_naive()));
        match &mut self.form {
            Form::Json(_) => self.sink.event(&Line::ThreadStarted {
                thread_id: opened.thread.id.clone(),
            }),
            Form::Text(text) => {
                let model = format!("{} ({})", opened.model, opened.model_provider);
                text.facts(&[
                    ("thread", opened.thread.id.clone()),
                    ("directory", opened.cwd.clone()),
                    ("model", model),
                    ("sandbox", sandbox(&opened.sandbox).to_owned()),
                ]);
                if let Work::Prompt(prompt) = work {
                    text.prompt(prompt);
                }
            }
        }
    }

    pub fn notified(&mut self, notification: &ServerNotification) {
        match &mut self.form {
            Form::Json(events) => {
                if let Some(line) = events.of(notification) {
                    self.sink.event(&line);
                }
            }
            Form::Text(text) => text.notified(notification),
        }
    }

    /// Something beside the turn.
    pub fn noticed(&mut self, event: &Event) {
        let Event::Notification(notification) = event else {
            return;
        };
        match &mut self.form {
            Form::Json(events) => {
                if let Some(line) = events.notice(notification) {
                    self.sink.event(&line);
                }
            }
            Form::Text(text) => match notification {
                ServerNotification::ConfigWarning(it)
                    if self.said.as_ref() == Some(&it.summary) => {}
                _ => text.noticed(notification),
            },
        }
    }

    /// More happened at once than could be reported.
    pub fn missed(&mut self, count: u64) {
        tracing::warn!(count, "events were lost because output was not read");
    }

    pub fn tick(&mut self) {
        if let Form::Text(text) = &mut self.form {
            text.tick();
        }
    }

    /// Reports how it ended, and with what code the process is to exit. Programs get no report of an end that
    /// a signal caused: its sender knows, and takes a failed turn for a fault.
    pub fn end(mut self, done: Result<CompletedTurn, Error>, stopped: bool) -> ExitCode {
        let (outcome, failure) = match done {
            Ok(done) if done.turn.status == TurnStatus::Interrupted => {
                (Some(done), Some(self.interrupted()))
            }
            Ok(done) => (Some(done), None),
            Err(Error::TurnFailed { error, outcome }) => {
                let failure = reason::failure(&error);
                (Some(*outcome), Some(failure))
            }
            Err(error) => (None, Some(thread::text(error))),
        };
        let message = outcome.as_ref().map(|it| it.agent_message.as_str());
        let kept = self.keep(message.unwrap_or_default());
        let is_done = failure.is_none();
        let cost = self.cost();
        match self.form {
            Form::Json(_) if stopped && failure.is_some() => {}
            Form::Json(events) => {
                let lines = events.end(failure, cost);
                lines.iter().for_each(|line| self.sink.event(line));
            }
            Form::Text(mut text) => {
                text.end(outcome.as_ref(), failure.as_deref());
                let seen = text.shows_words() && std::io::stdout().is_terminal();
                if let (None, Some(message), false) = (failure, message, seen) {
                    self.sink.line(message.as_bytes());
                }
            }
        }
        let unwritten = [kept.err(), self.sink.failure()];
        let mut unwritten = unwritten.into_iter().flatten().peekable();
        let is_whole = unwritten.peek().is_none();
        unwritten.for_each(|why| eprintln!("error: {why}"));
        match is_done && is_whole {
            true => ExitCode::SUCCESS,
            false => ExitCode::FAILURE,
        }
    }

    /// US dollars that the thread has cost, if the prices are known.
    fn cost(&self) -> Option<f64> {
        let (id, began) = self.thread.as_ref()?;
        let used = self.server.ledger().thread(id, *began);
        (used.dollars > 0.0).then_some(used.dollars)
    }

    fn interrupted(&self) -> String {
        match &self.stored {
            Some(id) => format!("interrupted; `quipu exec resume {id}` continues"),
            None => "interrupted".to_owned(),
        }
    }

    /// Writes the last message into the file that is to get it.
    fn keep(&self, message: &str) -> Result<(), String> {
        let Some(path) = &self.last_message else {
            return Ok(());
        };
        let shown = path.display();
        std::fs::write(path, message)
            .map_err(|error| format!("cannot write the last message to {shown}: {error}"))?;
        if message.is_empty() {
            eprintln!("Warning: no last agent message; wrote empty content to {shown}");
        }
        Ok(())
    }
}

fn sandbox(policy: &SandboxPolicy) -> &'static str {
    match policy {
        SandboxPolicy::DangerFullAccess => "none",
        SandboxPolicy::ReadOnly { .. } => "read-only",
        SandboxPolicy::WorkspaceWrite { .. } => "workspace-write",
        SandboxPolicy::ExternalSandbox { .. } => "external",
        SandboxPolicy::Unrecognized(_) => "unknown",
    }
}
