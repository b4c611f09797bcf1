//! What a handler is given on stdin.

use std::borrow::Cow;
use std::path::Path;

use quipu_wire::HookEventName;
use serde::Serialize;

/// What happened, or is about to happen.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// A session begins; it is resumed if it was stored.
    SessionStart {
        resumed: bool,
    },
    UserPromptSubmit {
        prompt: String,
    },
    PreToolUse {
        call_id: String,
        command: String,
    },
    PostToolUse {
        call_id: String,
        command: String,
        response: String,
    },
    Stop {
        /// A hook has already made the model go on in this turn.
        active: bool,
        last_assistant_message: Option<String>,
    },
}

/// All commands go by this name, whichever tool runs them.
const TOOL: &str = "Bash";

impl Event {
    #[must_use]
    pub fn name(&self) -> HookEventName {
        match self {
            Event::SessionStart { .. } => HookEventName::SessionStart,
            Event::UserPromptSubmit { .. } => HookEventName::UserPromptSubmit,
            Event::PreToolUse { .. } => HookEventName::PreToolUse,
            Event::PostToolUse { .. } => HookEventName::PostToolUse,
            Event::Stop { .. } => HookEventName::Stop,
        }
    }

    /// What matchers look at.
    #[must_use]
    pub fn subject(&self) -> &'static str {
        match self {
            Event::SessionStart { resumed } => source(*resumed),
            Event::PreToolUse { .. } | Event::PostToolUse { .. } => TOOL,
            Event::UserPromptSubmit { .. } | Event::Stop { .. } => "",
        }
    }
}

fn source(resumed: bool) -> &'static str {
    if resumed { "resume" } else { "startup" }
}

/// An event with the turn that it belongs to.
#[derive(Debug, Clone, Copy)]
pub struct Call<'a> {
    pub event: &'a Event,
    pub thread_id: &'a str,
    pub turn_id: &'a str,
    /// The rollout; ephemeral threads have none.
    pub transcript: Option<&'a Path>,
    pub cwd: &'a Path,
    pub model: &'a str,
    /// The user is never asked.
    pub bypasses_permissions: bool,
}

/// The members in the order in which handlers get them.
#[derive(Serialize)]
struct Stdin<'a> {
    session_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    turn_id: Option<&'a str>,
    transcript_path: Option<Cow<'a, str>>,
    cwd: Cow<'a, str>,
    hook_event_name: &'static str,
    model: &'a str,
    permission_mode: &'static str,
    #[serde(flatten)]
    own: Own<'a>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Own<'a> {
    SessionStart {
        source: &'static str,
    },
    UserPromptSubmit {
        prompt: &'a str,
    },
    ToolUse {
        tool_name: &'static str,
        tool_input: ToolInput<'a>,
        #[serde(skip_serializing_if = "Option::is_none")]
        tool_response: Option<&'a str>,
        tool_use_id: &'a str,
    },
    Stop {
        stop_hook_active: bool,
        last_assistant_message: Option<&'a str>,
    },
}

#[derive(Serialize)]
struct ToolInput<'a> {
    command: &'a str,
}

impl Call<'_> {
    /// The JSON object that a handler reads.
    #[must_use]
    pub fn to_json(&self) -> String {
        let (hook_event_name, own) = match self.event {
            Event::SessionStart { resumed } => {
                let source = source(*resumed);
                ("SessionStart", Own::SessionStart { source })
            }
            Event::UserPromptSubmit { prompt } => {
                ("UserPromptSubmit", Own::UserPromptSubmit { prompt })
            }
            Event::PreToolUse { call_id, command } => {
                ("PreToolUse", tool_use(call_id, command, None))
            }
            Event::PostToolUse {
                call_id,
                command,
                response,
            } => ("PostToolUse", tool_use(call_id, command, Some(response))),
            Event::Stop {
                active,
                last_assistant_message,
            } => (
                "Stop",
                Own::Stop {
                    stop_hook_active: *active,
                    last_assistant_message: last_assistant_message.as_deref(),
                },
            ),
        };
        let has_turn = !matches!(self.event, Event::SessionStart { .. });
        let stdin = Stdin {
            session_id: self.thread_id,
            turn_id: has_turn.then_some(self.turn_id),
            transcript_path: self.transcript.map(Path::to_string_lossy),
            cwd: self.cwd.to_string_lossy(),
            hook_event_name,
            model: self.model,
            permission_mode: match self.bypasses_permissions {
                true => "bypassPermissions",
                false => "default",
            },
            own,
        };
        // Strings can always be written.
        serde_json::to_string(&stdin).unwrap_or_default()
    }
}

fn tool_use<'a>(call_id: &'a str, command: &'a str, response: Option<&'a str>) -> Own<'a> {
    Own::ToolUse {
        tool_name: TOOL,
        tool_input: ToolInput { command },
        tool_response: response,
        tool_use_id: call_id,
    }
}
