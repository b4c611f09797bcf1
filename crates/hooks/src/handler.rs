//! The handlers in force, and how clients see a run of one.

use std::path::{Path, PathBuf};
use std::time::Duration;

use quipu_wire::{
    HookEventName, HookExecutionMode, HookHandlerType, HookMetadata, HookRunStatus, HookRunSummary,
    HookScope, HookSource, HookTrustStatus,
};

use sha2::{Digest as _, Sha256};

use crate::file::{self, Problem};
use crate::matcher::Matcher;

/// A command that runs at an event.
#[derive(Debug, Clone)]
pub struct Handler {
    pub event: HookEventName,
    /// What the user's shell is given.
    pub command: String,
    pub timeout: Duration,
    /// What clients show while it runs.
    pub status_message: Option<String>,
    pub(crate) matcher: Matcher,
    /// The `hooks.json` that declares it.
    pub(crate) source: PathBuf,
    /// Its place among all handlers.
    pub(crate) order: i64,
    /// Its group among those of the event in the file, and its place in the group.
    pub(crate) position: (usize, usize),
}

impl Handler {
    /// The id of all its runs.
    #[must_use]
    pub fn id(&self) -> String {
        let event = match self.event {
            HookEventName::PreToolUse => "pre-tool-use",
            HookEventName::PostToolUse => "post-tool-use",
            HookEventName::SessionStart => "session-start",
            HookEventName::UserPromptSubmit => "user-prompt-submit",
            HookEventName::Stop => "stop",
            HookEventName::Unrecognized => "unknown",
        };
        format!("{event}:{}:{}", self.order, self.source.display())
    }

    /// What names it within its file: the event, and its position among those of the event.
    #[must_use]
    pub fn key(&self) -> String {
        let event = match self.event {
            HookEventName::PreToolUse => "pre_tool_use",
            HookEventName::PostToolUse => "post_tool_use",
            HookEventName::SessionStart => "session_start",
            HookEventName::UserPromptSubmit => "user_prompt_submit",
            HookEventName::Stop => "stop",
            HookEventName::Unrecognized => "unknown",
        };
        let (group, index) = self.position;
        format!("{event}:{group}:{index}")
    }

    /// The `hooks.json` that declares it.
    #[must_use]
    pub fn source(&self) -> &Path {
        &self.source
    }

    /// What clients see of it.
    #[must_use]
    pub fn metadata(&self, source: HookSource) -> HookMetadata {
        let is_managed = source == HookSource::System;
        let declared = format!(
            "{}\0{}\0{}\0{:?}",
            self.event,
            self.command,
            self.timeout.as_secs(),
            self.matcher.pattern()
        );
        HookMetadata {
            key: self.id(),
            event_name: self.event,
            handler_type: HookHandlerType::Command,
            command: self.command.clone(),
            is_async: false,
            matcher: self.matcher.pattern().map(str::to_owned),
            timeout_sec: self.timeout.as_secs(),
            status_message: self.status_message.clone(),
            additional_context_limit: None,
            source_path: self.source.to_string_lossy().into_owned(),
            source,
            plugin_id: None,
            environment_id: None,
            display_order: self.order,
            enabled: true,
            is_managed,
            current_hash: format!("sha256:{}", hex(&Sha256::digest(declared))),
            trust_status: match is_managed {
                true => HookTrustStatus::Managed,
                false => HookTrustStatus::Trusted,
            },
        }
    }

    /// A run that has begun.
    #[must_use]
    pub fn started(&self, started_at: i64) -> HookRunSummary {
        HookRunSummary {
            id: self.id(),
            event_name: self.event,
            handler_type: HookHandlerType::Command,
            execution_mode: HookExecutionMode::Sync,
            scope: match self.event {
                HookEventName::SessionStart => HookScope::Thread,
                _ => HookScope::Turn,
            },
            source_path: self.source.to_string_lossy().into_owned(),
            display_order: self.order,
            status: HookRunStatus::Running,
            status_message: self.status_message.clone(),
            started_at,
            completed_at: None,
            duration_ms: None,
            entries: Vec::new(),
        }
    }
}

/// All handlers in force, in their order.
#[derive(Debug, Clone, Default)]
pub struct Hooks {
    handlers: Vec<Handler>,
}

impl Hooks {
    /// Reads the `hooks.json` of each of these directories, and says what is left out.
    #[must_use]
    pub fn load<P: AsRef<Path>>(directories: &[P]) -> (Hooks, Vec<Problem>) {
        let file = |directory: &P| directory.as_ref().join("hooks.json");
        let files: Vec<PathBuf> = directories.iter().map(file).collect();
        Hooks::read(&files)
    }

    /// Reads these files, each of the form of a `hooks.json`, and says what is left out.
    #[must_use]
    pub fn read<P: AsRef<Path>>(files: &[P]) -> (Hooks, Vec<Problem>) {
        let (mut hooks, mut problems) = (Hooks::default(), Vec::new());
        for path in files {
            file::read(path.as_ref(), &mut hooks.handlers, &mut problems);
        }
        (hooks, problems)
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.handlers.is_empty()
    }

    /// All of them.
    pub fn all(&self) -> impl Iterator<Item = &Handler> {
        self.handlers.iter()
    }

    /// The handlers of an event. Those of tools match the name of the tool, those of a session's start
    /// what it starts from; the others have nothing to match.
    pub fn matching(&self, event: HookEventName, subject: &str) -> Vec<&Handler> {
        let is_meant =
            |handler: &&Handler| handler.event == event && handler.matcher.matches(subject);
        self.handlers.iter().filter(is_meant).collect()
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
