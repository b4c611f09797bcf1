//! What a handler that has ended decided. A handler that fails decides nothing.

use std::time::Duration;

use quipu_wire::{
    HookEventName, HookOutputEntry, HookOutputEntryKind, HookRunStatus, HookRunSummary,
};
use serde::Deserialize;
use serde::de::DeserializeOwned;

/// How a handler ended.
#[derive(Debug, Clone, PartialEq)]
pub enum Ended {
    Exited {
        /// `None` if a signal ended it.
        code: Option<i32>,
        stdout: String,
        stderr: String,
    },
    TimedOut(Duration),
    /// It wrote more than so many bytes.
    Flooded(usize),
    /// It did not run; this is why.
    NotStarted(String),
}

/// What a handler decided, and what clients see of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Decision {
    /// [`Blocked`](HookRunStatus::Blocked) forbids the step, [`Stopped`](HookRunStatus::Stopped) ends
    /// the turn.
    pub status: HookRunStatus,
    pub entries: Vec<HookOutputEntry>,
    /// What the model is to know.
    pub context: Option<String>,
    /// Why the step is forbidden, what the model reads instead of a command's output, or what it is to
    /// go on with.
    pub message: Option<String>,
}

impl Decision {
    /// The run of the handler, which has ended.
    #[must_use]
    pub fn completed(
        &self,
        started: HookRunSummary,
        completed_at: i64,
        duration: Duration,
    ) -> HookRunSummary {
        HookRunSummary {
            status: self.status,
            entries: self.entries.clone(),
            completed_at: Some(completed_at),
            duration_ms: Some(i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)),
            ..started
        }
    }

    fn new() -> Decision {
        Decision {
            status: HookRunStatus::Completed,
            entries: Vec::new(),
            context: None,
            message: None,
        }
    }

    fn failed(why: impl Into<String>) -> Decision {
        Decision {
            status: HookRunStatus::Failed,
            ..Decision::new()
        }
        .with(HookOutputEntryKind::Error, Some(why.into()))
    }

    fn with(mut self, kind: HookOutputEntryKind, text: Option<String>) -> Decision {
        self.entries
            .extend(text.map(|text| HookOutputEntry { kind, text }));
        self
    }

    fn with_context(mut self, text: Option<String>) -> Decision {
        self.context = filled(text);
        let text = self.context.clone();
        self.with(HookOutputEntryKind::Context, text)
    }

    fn blocked(mut self, reason: String) -> Decision {
        self.status = HookRunStatus::Blocked;
        self.message = Some(reason.clone());
        self.with(HookOutputEntryKind::Feedback, Some(reason))
    }

    fn stopped(mut self, reason: Option<String>) -> Decision {
        self.status = HookRunStatus::Stopped;
        self.with(HookOutputEntryKind::Stop, reason)
    }
}

/// What the handler of an event decided.
#[must_use]
pub fn decide(event: HookEventName, ended: Ended) -> Decision {
    let (code, stdout, stderr) = match ended {
        Ended::Exited {
            code,
            stdout,
            stderr,
        } => (code, stdout, stderr),
        Ended::TimedOut(limit) => {
            return Decision::failed(format!("hook timed out after {}s", limit.as_secs()));
        }
        Ended::Flooded(limit) => {
            return Decision::failed(format!("hook wrote more than {limit} bytes of output"));
        }
        Ended::NotStarted(why) => return Decision::failed(why),
    };
    match code {
        Some(0) => succeeded(event, stdout.trim()),
        Some(2) if event != HookEventName::SessionStart => objected(event, stderr.trim()),
        Some(code) => Decision::failed(format!("hook exited with code {code}")),
        None => Decision::failed("hook exited without a status code"),
    }
}

/// A handler that exits with code 2 objects, and says why on stderr.
fn objected(event: HookEventName, stderr: &str) -> Decision {
    let (name, wanted) = match event {
        HookEventName::PostToolUse => ("PostToolUse", "feedback"),
        HookEventName::Stop => ("Stop", "a continuation prompt"),
        HookEventName::UserPromptSubmit => ("UserPromptSubmit", "a blocking reason"),
        _ => ("PreToolUse", "a blocking reason"),
    };
    if stderr.is_empty() {
        return Decision::failed(format!(
            "{name} hook exited with code 2 but did not write {wanted} to stderr"
        ));
    }
    let decision = Decision::new().blocked(stderr.to_owned());
    match event {
        // What has run cannot be forbidden any more.
        HookEventName::PostToolUse => Decision {
            status: HookRunStatus::Completed,
            ..decision
        },
        _ => decision,
    }
}

fn succeeded(event: HookEventName, stdout: &str) -> Decision {
    if stdout.is_empty() {
        return Decision::new();
    }
    let (decided, what) = match event {
        HookEventName::SessionStart => (parse(stdout, session_start), "session start"),
        HookEventName::UserPromptSubmit => {
            (parse(stdout, user_prompt_submit), "user prompt submit")
        }
        HookEventName::PreToolUse => (parse(stdout, pre_tool_use), "pre-tool-use"),
        HookEventName::PostToolUse => (parse(stdout, post_tool_use), "post-tool-use"),
        _ => (parse(stdout, stop), "stop hook"),
    };
    let takes_text = matches!(
        event,
        HookEventName::SessionStart | HookEventName::UserPromptSubmit
    );
    match decided {
        Some(Ok(decision)) => decision,
        Some(Err(why)) => Decision::failed(why),
        None if stdout.starts_with(['{', '[']) || event == HookEventName::Stop => {
            Decision::failed(format!("hook returned invalid {what} JSON output"))
        }
        None if takes_text => Decision::new().with_context(Some(stdout.to_owned())),
        None => Decision::new(),
    }
}

/// What a handler may say at every event.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Said<S, D = Block> {
    #[serde(default = "yes")]
    r#continue: bool,
    stop_reason: Option<String>,
    #[serde(default)]
    suppress_output: bool,
    system_message: Option<String>,
    decision: Option<D>,
    reason: Option<String>,
    hook_specific_output: Option<S>,
}

/// The same where there is nothing to decide.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct SaidAtStart {
    #[serde(default = "yes")]
    r#continue: bool,
    stop_reason: Option<String>,
    #[serde(default, rename = "suppressOutput")]
    _suppress_output: bool,
    system_message: Option<String>,
    hook_specific_output: Option<Additional>,
}

fn yes() -> bool {
    true
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Block {
    Block,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum ApproveOrBlock {
    Approve,
    Block,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Permission {
    Allow,
    Deny,
    Ask,
}

/// The name of the event, which must be one, but not the right one.
#[derive(Deserialize)]
enum Name {
    PreToolUse,
    PostToolUse,
    SessionStart,
    UserPromptSubmit,
    Stop,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Additional {
    #[serde(rename = "hookEventName")]
    _name: Name,
    additional_context: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct BeforeTool {
    #[serde(rename = "hookEventName")]
    _name: Name,
    permission_decision: Option<Permission>,
    permission_decision_reason: Option<String>,
    updated_input: Option<serde_json::Value>,
    additional_context: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct AfterTool {
    #[serde(rename = "hookEventName")]
    _name: Name,
    additional_context: Option<String>,
    #[serde(rename = "updatedMCPToolOutput")]
    updated_mcp_tool_output: Option<serde_json::Value>,
}

/// At the end of a turn nothing is specific.
#[derive(Deserialize)]
enum Nothing {}

type Decided = Result<Decision, String>;

/// Reads what a handler said; `None` if it is not an object of the right form.
fn parse<T: DeserializeOwned>(text: &str, decide: fn(T) -> Decided) -> Option<Decided> {
    let said = text.starts_with('{').then_some(text)?;
    serde_json::from_str(said).ok().map(decide)
}

fn filled(text: Option<String>) -> Option<String> {
    text.filter(|text| !text.trim().is_empty())
}

fn session_start(said: SaidAtStart) -> Decided {
    let context = said
        .hook_specific_output
        .and_then(|output| output.additional_context);
    let decision = Decision::new()
        .with(HookOutputEntryKind::Warning, said.system_message)
        .with_context(context);
    Ok(match said.r#continue {
        true => decision,
        false => decision.stopped(said.stop_reason),
    })
}

fn user_prompt_submit(said: Said<Additional>) -> Decided {
    let context = said
        .hook_specific_output
        .and_then(|output| output.additional_context);
    let decision = Decision::new()
        .with(HookOutputEntryKind::Warning, said.system_message)
        .with_context(context);
    if !said.r#continue {
        return Ok(decision.stopped(said.stop_reason));
    }
    match said.decision {
        None => Ok(decision),
        Some(Block::Block) => Ok(decision.blocked(needed("UserPromptSubmit", said.reason)?)),
    }
}

/// The reason of a block, which must be there.
fn needed(event: &str, reason: Option<String>) -> Result<String, String> {
    let missing = || format!("{event} hook returned decision:block without a non-empty reason");
    let reason = filled(reason).ok_or_else(missing)?;
    Ok(reason.trim().to_owned())
}

fn pre_tool_use(said: Said<BeforeTool, ApproveOrBlock>) -> Decided {
    let unsupported = |what: &str| Err(format!("PreToolUse hook returned unsupported {what}"));
    if !said.r#continue {
        return unsupported("continue:false");
    }
    if said.stop_reason.is_some() {
        return unsupported("stopReason");
    }
    if said.suppress_output {
        return unsupported("suppressOutput");
    }
    let decision = Decision::new().with(HookOutputEntryKind::Warning, said.system_message);
    if let Some(output) = said.hook_specific_output {
        if output.updated_input.is_some() {
            return unsupported("updatedInput");
        }
        if filled(output.additional_context).is_some() {
            return unsupported("additionalContext");
        }
        match (
            output.permission_decision,
            filled(output.permission_decision_reason),
        ) {
            (Some(Permission::Allow), _) => return unsupported("permissionDecision:allow"),
            (Some(Permission::Ask), _) => return unsupported("permissionDecision:ask"),
            (Some(Permission::Deny), Some(reason)) => {
                return Ok(decision.blocked(reason.trim().to_owned()));
            }
            (Some(Permission::Deny), None) => {
                return Err("PreToolUse hook returned permissionDecision:deny without a non-empty permissionDecisionReason".to_owned());
            }
            (None, Some(_)) => {
                return Err(
                    "PreToolUse hook returned permissionDecisionReason without permissionDecision"
                        .to_owned(),
                );
            }
            (None, None) => {}
        }
    }
    match said.decision {
        Some(ApproveOrBlock::Approve) => unsupported("decision:approve"),
        Some(ApproveOrBlock::Block) => Ok(decision.blocked(needed("PreToolUse", said.reason)?)),
        None => reasonless("PreToolUse", said.reason, decision),
    }
}

/// A reason is only given for a decision.
fn reasonless(event: &str, reason: Option<String>, decision: Decision) -> Decided {
    match filled(reason) {
        Some(_) => Err(format!("{event} hook returned reason without decision")),
        None => Ok(decision),
    }
}

fn post_tool_use(said: Said<AfterTool>) -> Decided {
    let unsupported = |what: &str| Err(format!("PostToolUse hook returned unsupported {what}"));
    if said.suppress_output {
        return unsupported("suppressOutput");
    }
    let mut context = None;
    if let Some(output) = said.hook_specific_output {
        if output.updated_mcp_tool_output.is_some() {
            return unsupported("updatedMCPToolOutput");
        }
        context = output.additional_context;
    }
    let decision = Decision::new()
        .with(HookOutputEntryKind::Warning, said.system_message)
        .with_context(context);
    if !said.r#continue {
        let why = filled(said.stop_reason)
            .unwrap_or_else(|| "PostToolUse hook stopped execution".to_owned());
        let mut decision = decision.stopped(Some(why.clone()));
        decision.message = filled(said.reason).or(Some(why));
        return Ok(decision);
    }
    match said.decision {
        Some(Block::Block) => Ok(decision.blocked(needed("PostToolUse", said.reason)?)),
        None => reasonless("PostToolUse", said.reason, decision),
    }
}

fn stop(said: Said<Nothing>) -> Decided {
    let decision = Decision::new().with(HookOutputEntryKind::Warning, said.system_message);
    if !said.r#continue {
        return Ok(decision.stopped(said.stop_reason));
    }
    match said.decision {
        None => Ok(decision),
        Some(Block::Block) => Ok(decision.blocked(needed("Stop", said.reason)?)),
    }
}
