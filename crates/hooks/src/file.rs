//! What a `hooks.json` says. A file that cannot be read as a whole is left out; a handler of a kind
//! that does not exist yet, or that cannot work, is left out alone.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use quipu_wire::HookEventName;
use serde::Deserialize;

use crate::handler::Handler;
use crate::matcher::Matcher;

/// The longest file that is read.
const MAX_FILE: u64 = 1024 * 1024;

/// How long a handler may run if the file does not say.
const DEFAULT_TIMEOUT: u64 = 600;

/// Handlers that are in force at most, of all files.
const MAX_HANDLERS: usize = 256;

/// Problems that are reported at most, of all files.
const MAX_PROBLEMS: usize = 16;

/// Something of a `hooks.json` that is not in force.
#[derive(Debug, thiserror::Error)]
#[error("{}: {what}", path.display())]
pub struct Problem {
    pub path: PathBuf,
    /// What is left out, and why.
    pub what: String,
}

#[derive(Deserialize)]
struct File {
    #[serde(default)]
    hooks: Events,
}

#[derive(Deserialize, Default)]
struct Events {
    #[serde(default, rename = "PreToolUse")]
    pre_tool_use: Vec<Group>,
    #[serde(default, rename = "PostToolUse")]
    post_tool_use: Vec<Group>,
    #[serde(default, rename = "SessionStart")]
    session_start: Vec<Group>,
    #[serde(default, rename = "UserPromptSubmit")]
    user_prompt_submit: Vec<Group>,
    #[serde(default, rename = "Stop")]
    stop: Vec<Group>,
}

/// Handlers with one matcher.
#[derive(Deserialize)]
struct Group {
    matcher: Option<String>,
    #[serde(default)]
    hooks: Vec<Declared>,
}

#[derive(Deserialize)]
#[serde(tag = "type")]
enum Declared {
    #[serde(rename = "command")]
    Command {
        command: String,
        #[serde(alias = "timeoutSec")]
        timeout: Option<u64>,
        #[serde(default, rename = "async")]
        is_async: bool,
        #[serde(rename = "statusMessage")]
        status_message: Option<String>,
    },
    #[serde(rename = "prompt")]
    Prompt {},
    #[serde(rename = "agent")]
    Agent {},
}

/// Adds the handlers of a file, if it exists, and what is wrong with it.
pub(crate) fn read(path: &Path, handlers: &mut Vec<Handler>, problems: &mut Vec<Problem>) {
    let mut problem = |what: String| {
        if problems.len() < MAX_PROBLEMS {
            let path = path.to_owned();
            problems.push(Problem { path, what });
        }
    };
    let text = match quipu_disk::read_text(path, MAX_FILE) {
        Ok(text) => text,
        Err(error) if is_absent(&error) => return,
        Err(error) => return problem(format!("the file cannot be read: {error}")),
    };
    let events = match serde_json::from_str::<File>(&text) {
        Ok(file) => file.hooks,
        Err(error) => return problem(format!("no hook of the file is in force: {error}")),
    };
    let groups = [
        (HookEventName::PreToolUse, events.pre_tool_use),
        (HookEventName::PostToolUse, events.post_tool_use),
        (HookEventName::SessionStart, events.session_start),
        (HookEventName::UserPromptSubmit, events.user_prompt_submit),
        (HookEventName::Stop, events.stop),
    ];
    for (event, groups) in groups {
        for (index, group) in groups.into_iter().enumerate() {
            let place = format!("group {index} of {event}");
            if let Err(why) = add((event, index), group, path, handlers, &mut |why| {
                problem(format!("a hook in {place} is skipped: {why}"));
            }) {
                problem(format!("{place} is skipped: {why}"));
            }
        }
    }
}

/// Adds the handlers of a group; says what is skipped of it, or why all of it is.
fn add(
    (event, group_index): (HookEventName, usize),
    group: Group,
    source: &Path,
    handlers: &mut Vec<Handler>,
    skipped: &mut dyn FnMut(&str),
) -> Result<(), String> {
    let matcher = matcher(event, group.matcher.as_deref())?;
    for (index, declared) in group.hooks.into_iter().enumerate() {
        let accepted = match handlers.len() {
            MAX_HANDLERS.. => Err("there are too many"),
            _ => handler(declared),
        };
        match accepted {
            Ok((command, timeout, status_message)) => handlers.push(Handler {
                event,
                command,
                timeout,
                status_message,
                matcher: matcher.clone(),
                source: source.to_owned(),
                order: i64::try_from(handlers.len()).unwrap_or(i64::MAX),
                position: (group_index, index),
            }),
            Err(why) => skipped(why),
        }
    }
    Ok(())
}

fn is_absent(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

/// Events without a subject have no matcher, whatever the file says.
fn matcher(event: HookEventName, pattern: Option<&str>) -> Result<Matcher, String> {
    match event {
        HookEventName::UserPromptSubmit | HookEventName::Stop => Ok(Matcher::default()),
        _ => Matcher::new(pattern).map_err(|error| {
            let pattern = pattern.unwrap_or_default();
            format!("the matcher `{pattern}` is not a valid regular expression: {error}")
        }),
    }
}

type Accepted = (String, Duration, Option<String>);

fn handler(declared: Declared) -> Result<Accepted, &'static str> {
    match declared {
        Declared::Prompt {} => Err("the type `prompt` is not supported yet"),
        Declared::Agent {} => Err("the type `agent` is not supported yet"),
        Declared::Command { is_async: true, .. } => Err("`async` hooks are not supported yet"),
        Declared::Command { command, .. } if command.trim().is_empty() => {
            Err("its command is empty")
        }
        Declared::Command {
            command,
            timeout,
            status_message,
            ..
        } => {
            let seconds = timeout.unwrap_or(DEFAULT_TIMEOUT).max(1);
            Ok((command, Duration::from_secs(seconds), status_message))
        }
    }
}
