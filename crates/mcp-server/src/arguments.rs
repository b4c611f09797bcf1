//! The arguments of the tools.

use std::collections::BTreeMap;
use std::path::PathBuf;

use quipu_client::wire::{AskForApproval, Json, SandboxMode, ThreadStartParams};
use serde::Deserialize;
use serde_json::Value;

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct CodexArguments {
    pub prompt: String,
    model: Option<String>,
    profile: Option<String>,
    cwd: Option<String>,
    approval_policy: Option<ApprovalPolicy>,
    sandbox: Option<Sandbox>,
    config: Option<BTreeMap<String, Value>>,
    base_instructions: Option<String>,
    developer_instructions: Option<String>,
    compact_prompt: Option<String>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum ApprovalPolicy {
    Untrusted,
    OnFailure,
    OnRequest,
    Never,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Sandbox {
    ReadOnly,
    WorkspaceWrite,
    DangerFullAccess,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReplyArguments {
    pub prompt: String,
    thread_id: Option<String>,
    conversation_id: Option<String>,
}

/// Reads the arguments of `codex`, or says what is wrong with them.
pub fn codex(arguments: Option<Value>) -> Result<CodexArguments, String> {
    let missing = "Missing arguments for codex tool-call; the `prompt` field is required.";
    read(arguments, missing)
}

/// Reads the arguments of `codex-reply`: the thread and what to say to it.
pub fn reply(arguments: Option<Value>) -> Result<(String, String), String> {
    let missing = "Missing arguments for codex-reply tool-call; the `thread_id` and `prompt` fields are required.";
    let read: ReplyArguments = read(arguments, missing)?;
    let thread = read
        .thread_id
        .or(read.conversation_id)
        .ok_or("Failed to parse thread_id: either threadId or conversationId must be provided")?;
    Ok((thread, read.prompt))
}

fn read<T: for<'a> Deserialize<'a>>(arguments: Option<Value>, missing: &str) -> Result<T, String> {
    let arguments = arguments.ok_or(missing)?;
    serde_json::from_value(arguments)
        .map_err(|error| format!("Failed to parse configuration for Codex tool: {error}"))
}

impl CodexArguments {
    /// How the thread is started, and what is said to it first. A relative directory is completed with this one;
    /// without one, the server decides.
    pub fn into_thread(self, base: Option<&PathBuf>) -> (ThreadStartParams, String) {
        let mut config = self.config.unwrap_or_default();
        let settings = [
            ("profile", self.profile),
            ("compact_prompt", self.compact_prompt),
        ];
        for (key, value) in settings {
            if let Some(value) = value {
                config.insert(key.to_owned(), value.into());
            }
        }
        let config: BTreeMap<String, Json> = config
            .into_iter()
            .map(|(key, value)| (key, value.into()))
            .collect();
        let cwd = match (self.cwd, base) {
            (Some(cwd), Some(base)) => Some(base.join(cwd).display().to_string()),
            (None, Some(base)) => Some(base.display().to_string()),
            (cwd, None) => cwd,
        };
        let params = ThreadStartParams {
            model: self.model,
            cwd,
            approval_policy: self.approval_policy.map(|it| match it {
                ApprovalPolicy::Untrusted => AskForApproval::Untrusted,
                ApprovalPolicy::OnFailure => AskForApproval::OnFailure,
                ApprovalPolicy::OnRequest => AskForApproval::OnRequest,
                ApprovalPolicy::Never => AskForApproval::Never,
            }),
            sandbox: self.sandbox.map(|it| match it {
                Sandbox::ReadOnly => SandboxMode::ReadOnly,
                Sandbox::WorkspaceWrite => SandboxMode::WorkspaceWrite,
                Sandbox::DangerFullAccess => SandboxMode::DangerFullAccess,
            }),
            config: (!config.is_empty()).then_some(config),
            base_instructions: self.base_instructions,
            developer_instructions: self.developer_instructions,
            experimental_raw_events: true,
            ..ThreadStartParams::default()
        };
        (params, self.prompt)
    }
}
