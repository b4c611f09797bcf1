//! The tracker that needs no account and no network: a directory of Markdown files with front matter, one per issue.

use std::path::PathBuf;
use std::sync::Arc;
use std::{fs, io};

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use serde_json::{Map, Value, json};

use super::{Blocker, Issue, Tracker, TrackerError, TrackerErrorKind, labels, normalized};
use crate::config::TrackerConfig;
use crate::env::Env;
use crate::session::{Tool, ToolResult, ToolSpec};
use crate::time;
use crate::workflow::{front_matter, split};

/// The value of `tracker.kind`.
pub const KIND: &str = "directory";
/// Where issues are worked on unless the workflow says otherwise.
pub const ACTIVE_STATES: &[&str] = &["Todo", "In Progress"];
/// Where they are done.
pub const TERMINAL_STATES: &[&str] = &["Done", "Closed", "Cancelled", "Canceled", "Duplicate"];

/// The state of a file that names none.
const FIRST_STATE: &str = "Todo";
/// The longest file.
const MAX_BYTES: u64 = 1 << 20;
/// So many files are looked at.
const MAX_FILES: usize = 10_000;
/// The longest name of a state that an agent may set.
const MAX_STATE: usize = 100;

/// A directory of issues.
#[derive(Clone, Debug)]
pub struct DirectoryTracker {
    directory: PathBuf,
    terminal: Vec<String>,
}

impl DirectoryTracker {
    /// The directory that `tracker.provider.path` names; `issues` beside the workflow otherwise.
    pub fn new(config: &TrackerConfig, env: &Env) -> Result<DirectoryTracker, TrackerError> {
        let invalid = |why: String| TrackerError::new(TrackerErrorKind::InvalidConfig, why);
        let path = match config.provider.get("path") {
            None | Some(Value::Null) => "issues",
            Some(Value::String(path)) => path,
            Some(other) => {
                let why = format!("`tracker.provider.path` must be a path, not {other}");
                return Err(invalid(why));
            }
        };
        let directory = env.path(path);
        let directory =
            directory.map_err(|why| invalid(format!("`tracker.provider.path` {why}")))?;
        if !directory.is_dir() {
            let why = format!(
                "{} is not a directory; create it, or say with `tracker.provider.path` where issues are",
                directory.display()
            );
            return Err(invalid(why));
        }
        Ok(DirectoryTracker {
            directory,
            terminal: config
                .terminal_states
                .iter()
                .map(|it| normalized(it))
                .collect(),
        })
    }

    /// The identifiers of all files that may be issues, in order.
    fn identifiers(&self) -> Result<Vec<String>, TrackerError> {
        let failed = |error: io::Error| {
            let why = format!("cannot list {}: {error}", self.directory.display());
            TrackerError::new(TrackerErrorKind::Request, why)
        };
        let mut found = Vec::new();
        for entry in fs::read_dir(&self.directory).map_err(failed)? {
            let name = entry.map_err(failed)?.file_name();
            let stem = name.to_str().and_then(|it| it.strip_suffix(".md"));
            found.extend(stem.filter(|it| is_identifier(it)).map(str::to_owned));
            if found.len() > MAX_FILES {
                let why = format!(
                    "{} has more than {MAX_FILES} issues",
                    self.directory.display()
                );
                return Err(TrackerError::new(TrackerErrorKind::Response, why));
            }
        }
        found.sort();
        Ok(found)
    }

    /// An issue; nothing if there is no such file, or if it has no front matter and so is not an issue.
    fn issue(&self, identifier: &str) -> Result<Option<Issue>, String> {
        let path = self.path(identifier);
        let text = match quipu_disk::read_text(&path, MAX_BYTES) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(format!("cannot read {}: {error}", path.display())),
        };
        let wrong = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
        // Somebody is about to write it; it must not look like an issue that is gone.
        if text.trim().is_empty() {
            return Err(wrong(&"it is empty"));
        }
        let Some(parts) = split(&text) else {
            return Ok(None);
        };
        let (front, body) = parts.map_err(|error| wrong(&error))?;
        let front = front_matter(front).map_err(|error| wrong(&error))?;
        let changed = fs::metadata(&path).and_then(|it| it.modified()).ok();
        let mut issue = read(identifier, &front, body).map_err(|error| wrong(&error))?;
        issue.updated_at = changed.and_then(|it| {
            let since = it.duration_since(std::time::UNIX_EPOCH).ok()?;
            i64::try_from(since.as_millis()).ok()
        });
        issue.url = issue
            .url
            .or_else(|| Some(format!("file://{}", path.display())));
        self.look_at_blockers(&mut issue);
        Ok(Some(issue))
    }

    /// An issue may be worked on once everything that it waits for is done. What cannot be found is not done.
    fn look_at_blockers(&self, issue: &mut Issue) {
        for blocker in &mut issue.blocked_by {
            let identifier = blocker.identifier.as_deref().unwrap_or_default();
            blocker.state = self.state(identifier);
            let state = blocker.state.as_deref().map(normalized);
            let done = state.is_some_and(|it| self.terminal.contains(&it));
            issue.dispatchable &= done;
        }
    }

    fn state(&self, identifier: &str) -> Option<String> {
        if !is_identifier(identifier) {
            return None;
        }
        let text = quipu_disk::read_text(&self.path(identifier), MAX_BYTES).ok()?;
        let (front, body) = split(&text)?.ok()?;
        let issue = read(identifier, &front_matter(front).ok()?, body).ok()?;
        Some(issue.state)
    }

    fn path(&self, identifier: &str) -> PathBuf {
        self.directory.join(format!("{identifier}.md"))
    }

    fn in_states(&self, states: &[String]) -> Result<Vec<Issue>, TrackerError> {
        if states.is_empty() {
            return Ok(Vec::new());
        }
        let states: Vec<String> = states.iter().map(|it| normalized(it)).collect();
        let mut issues = Vec::new();
        for identifier in self.identifiers()? {
            match self.issue(&identifier) {
                Ok(issue) => {
                    issues.extend(issue.filter(|it| states.contains(&normalized(&it.state))))
                }
                Err(error) => {
                    tracing::warn!(issue_identifier = identifier, error, "issue left out");
                }
            }
        }
        Ok(issues)
    }

    fn by_id(&self, ids: &[String]) -> Result<Vec<Issue>, TrackerError> {
        let malformed = |error| TrackerError::new(TrackerErrorKind::Response, error);
        let mut ids: Vec<&String> = ids.iter().filter(|it| is_identifier(it)).collect();
        ids.sort();
        ids.dedup();
        let mut issues = Vec::new();
        for id in ids {
            issues.extend(self.issue(id).map_err(malformed)?);
        }
        // A directory that is gone must not look like one whose issues are all gone.
        if issues.is_empty() && !self.directory.is_dir() {
            let why = format!("{} is not a directory", self.directory.display());
            return Err(TrackerError::new(TrackerErrorKind::Request, why));
        }
        Ok(issues)
    }

    /// Changes the state of an issue and adds a comment, in one step.
    fn update(&self, identifier: &str, update: &Update) -> Result<Value, String> {
        let path = self.path(identifier);
        let target = quipu_disk::Target::lock(&path).map_err(|error| error.to_string())?;
        let mut text =
            quipu_disk::read_text(&path, MAX_BYTES).map_err(|error| error.to_string())?;
        if let Some(state) = &update.state {
            text = with_state(&text, state)?;
        }
        if let Some(comment) = &update.comment {
            let at = time::rfc3339(time::now());
            text = format!(
                "{}\n\n## Comment, {at}\n\n{}\n",
                text.trim_end(),
                comment.trim()
            );
        }
        if text.len() as u64 > MAX_BYTES {
            return Err(format!("the issue would have more than {MAX_BYTES} bytes"));
        }
        target
            .replace(text.as_bytes())
            .map_err(|error| error.to_string())?;
        let issue = self.issue(identifier)?.ok_or("the issue is gone")?;
        Ok(json!({ "identifier": identifier, "state": issue.state }))
    }
}

impl Tracker for DirectoryTracker {
    fn issues_in_states<'a>(
        &'a self,
        states: &'a [String],
    ) -> BoxFuture<'a, Result<Vec<Issue>, TrackerError>> {
        let (tracker, states) = (self.clone(), states.to_vec());
        blocking(move || tracker.in_states(&states))
    }

    fn issues_by_id<'a>(
        &'a self,
        ids: &'a [String],
    ) -> BoxFuture<'a, Result<Vec<Issue>, TrackerError>> {
        let (tracker, ids) = (self.clone(), ids.to_vec());
        if ids.is_empty() {
            return async { Ok(Vec::new()) }.boxed();
        }
        blocking(move || tracker.by_id(&ids))
    }

    fn tools(&self, issue: &Issue) -> Vec<Arc<dyn Tool>> {
        vec![Arc::new(UpdateIssue {
            tracker: self.clone(),
            identifier: issue.identifier.clone(),
        })]
    }
}

/// Files may be slow, on a network say.
fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, TrackerError> + Send + 'static,
) -> BoxFuture<'static, Result<T, TrackerError>> {
    async {
        let done = tokio::task::spawn_blocking(work).await;
        done.unwrap_or_else(|error| {
            Err(TrackerError::new(
                TrackerErrorKind::Request,
                error.to_string(),
            ))
        })
    }
    .boxed()
}

/// Names that cannot lead out of the directory.
fn is_identifier(name: &str) -> bool {
    !name.is_empty() && !name.starts_with('.') && !name.contains(['/', '\\', '\0'])
}

/// An issue from its file. What is optional and cannot be used is left out.
fn read(identifier: &str, front: &Map<String, Value>, body: &str) -> Result<Issue, String> {
    let text = |key: &str| match front.get(key) {
        Some(Value::String(text)) => Some(text.trim().to_owned()).filter(|it| !it.is_empty()),
        Some(Value::Number(number)) => Some(number.to_string()),
        _ => None,
    };
    let state = match front.get("state") {
        None => FIRST_STATE.to_owned(),
        Some(_) => text("state").ok_or("`state` is not a text")?,
    };
    let body = body.trim();
    let heading = body.lines().find_map(|it| it.strip_prefix("# "));
    let title = text("title").or_else(|| heading.map(|it| it.trim().to_owned()));
    let list = |key: &str| match front.get(key) {
        Some(Value::Array(all)) => all
            .iter()
            .filter_map(|it| it.as_str().map(str::to_owned))
            .collect(),
        Some(Value::String(text)) => text.split(',').map(|it| it.trim().to_owned()).collect(),
        _ => Vec::<String>::new(),
    };
    let mut issue = Issue::new(
        identifier,
        identifier,
        title.as_deref().unwrap_or(identifier),
        &state,
    );
    issue.description = Some(body.to_owned()).filter(|it| !it.is_empty());
    issue.priority = front.get("priority").and_then(Value::as_i64);
    issue.branch_name = text("branch");
    issue.url = text("url");
    issue.assignee_id = text("assignee");
    issue.labels = labels(list("labels"));
    issue.blocked_by = blockers(front.get("blocked_by"))
        .into_iter()
        .map(|it| Blocker {
            id: Some(it.clone()),
            identifier: Some(it),
            state: None,
        })
        .collect();
    issue.created_at = text("created_at").as_deref().and_then(time::parse);
    Ok(issue)
}

/// The names of what an issue waits for. What is no name counts as one that nobody has: an issue that waits for
/// something must not be worked on because it was written oddly.
fn blockers(value: Option<&Value>) -> Vec<String> {
    let all = match value {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Array(all)) => all.iter().map(name).collect(),
        Some(Value::String(text)) => text.split(',').map(|it| it.trim().to_owned()).collect(),
        Some(other) => vec![name(other)],
    };
    all.into_iter().filter(|it| !it.is_empty()).collect()
}

/// A name, which YAML may take for a number.
fn name(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.trim().to_owned(),
        other => other.to_string(),
    }
}

/// The text with another state in its front matter. All else stays as it is written, unless the state is not on a
/// line of its own; then the front matter is written anew.
fn with_state(text: &str, state: &str) -> Result<String, String> {
    let missing = || "the file has no front matter".to_owned();
    let (front, _) = split(text)
        .ok_or_else(missing)?
        .map_err(|it| it.to_string())?;
    let mut wanted = front_matter(front).map_err(|error| error.to_string())?;
    wanted.insert("state".to_owned(), state.into());
    let anew = wanted.iter().map(|(key, value)| {
        let key = Value::from(key.as_str());
        format!("{key}: {value}\n")
    });
    let candidates = [with_line(front, state), anew.collect()];
    let is_right = |it: &String| front_matter(it).is_ok_and(|it| it == wanted);
    let new = candidates.into_iter().find(is_right);
    let new = new.ok_or("the front matter cannot be changed")?;
    // The front matter begins after the first line.
    let (first, rest) = text.split_at(text.find('\n').map_or(0, |it| it + 1));
    Ok(format!("{first}{new}{}", &rest[front.len()..]))
}

/// Front matter with another line for the state, which is added if there is none.
fn with_line(front: &str, state: &str) -> String {
    let lines = || front.split_inclusive('\n');
    let end = match lines().next() {
        Some(line) if line.ends_with("\r\n") => "\r\n",
        _ => "\n",
    };
    let new = format!("state: {}{end}", Value::from(state));
    let is_state = |it: &str| it.starts_with("state:");
    match lines().position(is_state) {
        None => format!("{new}{front}"),
        Some(at) => {
            let before: String = lines().take(at).collect();
            let after: String = lines().skip(at + 1).collect();
            format!("{before}{new}{after}")
        }
    }
}

/// What an agent wants of its issue.
struct Update {
    state: Option<String>,
    comment: Option<String>,
}

impl Update {
    fn read(arguments: &Value) -> Result<Update, String> {
        let text = |key: &str| match arguments.get(key) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) if !text.trim().is_empty() => {
                Ok(Some(text.trim().to_owned()))
            }
            Some(_) => Err(format!("`{key}` must be a text that is not empty")),
        };
        let update = Update {
            state: text("state")?,
            comment: text("comment")?,
        };
        match &update {
            Update {
                state: None,
                comment: None,
            } => Err("give `state`, `comment` or both".to_owned()),
            Update {
                state: Some(it), ..
            } if it.len() > MAX_STATE || it.contains('\n') => Err(format!(
                "`state` must be one line of at most {MAX_STATE} bytes"
            )),
            _ => Ok(update),
        }
    }
}

/// The tool with which an agent changes its own issue, and no other.
struct UpdateIssue {
    tracker: DirectoryTracker,
    identifier: String,
}

impl Tool for UpdateIssue {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "update_issue".to_owned(),
            description: format!(
                "Changes the issue {} that you work on: moves it to another state, adds a comment, or both.",
                self.identifier
            ),
            input_schema: json!({
                "type": "object",
                "properties": {
                    "state": { "type": "string", "description": "The new state, such as Done." },
                    "comment": { "type": "string", "description": "Markdown to add to the issue." },
                },
                "additionalProperties": false,
            }),
        }
    }

    fn call(&self, arguments: Value) -> BoxFuture<'_, ToolResult> {
        let (tracker, identifier) = (self.tracker.clone(), self.identifier.clone());
        async move {
            let done = tokio::task::spawn_blocking(move || {
                tracker.update(&identifier, &Update::read(&arguments)?)
            });
            match done.await {
                Ok(Ok(output)) => ToolResult::success(output),
                Ok(Err(error)) => ToolResult::failure(json!({ "error": error })),
                Err(error) => ToolResult::failure(json!({ "error": error.to_string() })),
            }
        }
        .boxed()
    }
}
