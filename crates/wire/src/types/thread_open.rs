//! MODDOC

use std::collections::BTreeMap;

use quipu_wire_macros::wire;

use crate::{
    ApprovalsReviewer, AskForApproval, Json, Personality, ReasoningEffort, ResponseItem,
    SandboxMode, SandboxPolicy, ServiceTier, Thread,
};

/// DOC
#[wire]
pub struct DynamicToolSpec {
    pub name: String,
    pub description: String,
    pub input_schema: Json,
    #[wire(sparse)]
    pub defer_loading: bool,
}

/// Parameters of `thread/start`.
#[wire(params, default)]
pub struct ThreadStartParams {
    pub model: Option<String>,
    pub model_provider: Option<String>,
    pub service_tier: Option<Option<ServiceTier>>,
    pub cwd: Option<String>,
    #[wire(nested)]
    pub approval_policy: Option<AskForApproval>,
    pub approvals_reviewer: Option<ApprovalsReviewer>,
    pub sandbox: Option<SandboxMode>,
    pub config: Option<BTreeMap<String, Json>>,
    pub service_name: Option<String>,
    pub base_instructions: Option<String>,
    pub developer_instructions: Option<String>,
    pub personality: Option<Personality>,
    pub ephemeral: Option<bool>,
    #[wire(experimental = "thread/start.dynamicTools")]
    pub dynamic_tools: Option<Vec<DynamicToolSpec>>,
    #[wire(experimental = "thread/start.mockExperimentalField")]
    pub mock_experimental_field: Option<String>,
    #[wire(default, experimental = "thread/start.experimentalRawEvents")]
    pub experimental_raw_events: bool,
    #[wire(default, experimental = "thread/start.persistFullHistory")]
    pub persist_extended_history: bool,
}

/// Parameters of `thread/resume`.
#[wire(params, default)]
pub struct ThreadResumeParams {
    pub thread_id: String,
    #[wire(experimental = "thread/resume.history")]
    pub history: Option<Vec<ResponseItem>>,
    #[wire(experimental = "thread/resume.path")]
    pub path: Option<String>,
    pub model: Option<String>,
    pub model_provider: Option<String>,
    pub service_tier: Option<Option<ServiceTier>>,
    pub cwd: Option<String>,
    #[wire(nested)]
    pub approval_policy: Option<AskForApproval>,
    pub approvals_reviewer: Option<ApprovalsReviewer>,
    pub sandbox: Option<SandboxMode>,
    pub config: Option<BTreeMap<String, Json>>,
    pub base_instructions: Option<String>,
    pub developer_instructions: Option<String>,
    pub personality: Option<Personality>,
    #[wire(default, experimental = "thread/resume.persistFullHistory")]
    pub persist_extended_history: bool,
}

/// Parameters of `thread/fork`.
#[wire(params, default)]
pub struct ThreadForkParams {
    pub thread_id: String,
    #[wire(experimental = "thread/fork.path")]
    pub path: Option<String>,
    pub model: Option<String>,
    pub model_provider: Option<String>,
    pub service_tier: Option<Option<ServiceTier>>,
    pub cwd: Option<String>,
    #[wire(nested)]
    pub approval_policy: Option<AskForApproval>,
    pub approvals_reviewer: Option<ApprovalsReviewer>,
    pub sandbox: Option<SandboxMode>,
    pub config: Option<BTreeMap<String, Json>>,
    pub base_instructions: Option<String>,
    pub developer_instructions: Option<String>,
    #[wire(sparse)]
    pub ephemeral: bool,
    #[wire(default, experimental = "thread/fork.persistFullHistory")]
    pub persist_extended_history: bool,
}

/// Result of `thread/start`.
#[wire]
pub struct ThreadStartResponse {
    pub thread: Thread,
    pub model: String,
    pub model_provider: String,
    pub service_tier: Option<ServiceTier>,
    pub cwd: String,
    pub approval_policy: AskForApproval,
    pub approvals_reviewer: ApprovalsReviewer,
    pub sandbox: SandboxPolicy,
    pub reasoning_effort: Option<ReasoningEffort>,
}

/// Result of `thread/resume`.
#[wire]
pub struct ThreadResumeResponse {
    pub thread: Thread,
    pub model: String,
    pub model_provider: String,
    pub service_tier: Option<ServiceTier>,
    pub cwd: String,
    pub approval_policy: AskForApproval,
    pub approvals_reviewer: ApprovalsReviewer,
    pub sandbox: SandboxPolicy,
    pub reasoning_effort: Option<ReasoningEffort>,
}

/// Result of `thread/fork`.
#[wire]
pub struct ThreadForkResponse {
    pub thread: Thread,
    pub model: String,
    pub model_provider: String,
    pub service_tier: Option<ServiceTier>,
    pub cwd: String,
    pub approval_policy: AskForApproval,
    pub approvals_reviewer: ApprovalsReviewer,
    pub sandbox: SandboxPolicy,
    pub reasoning_effort: Option<ReasoningEffort>,
}
