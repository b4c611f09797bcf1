//! MODDOC

use quipu_wire_macros::wire;

use crate::{ApprovalsReviewer, AskForApproval, Json, SandboxPolicy, ThreadItem, UserInput};

/// DOC
#[wire(root, exhaustive)]
pub enum Personality {
    None,
    Friendly,
    Pragmatic,
}

/// DOC
#[wire(root)]
pub enum ServiceTier {
    Fast,
    Flex,
}

/// DOC
#[wire(root)]
pub struct CollaborationMode {
    pub mode: ModeKind,
    pub settings: Settings,
}

/// DOC
#[wire(root)]
pub enum ModeKind {
    Plan,
    Default,
}

/// DOC
#[wire(root)]
pub enum ReasoningEffort {
    None,
    Minimal,
    Low,
    Medium,
    High,
    Xhigh,
}

/// DOC
#[wire(root)]
pub enum ReasoningSummary {
    Auto,
    Concise,
    Detailed,
    #[wire(apart)]
    None,
}

/// DOC
#[wire(root, snake)]
pub struct Settings {
    pub model: String,
    pub reasoning_effort: Option<ReasoningEffort>,
    pub developer_instructions: Option<String>,
}

/// Parameters of `turn/start`.
#[wire(params, default)]
pub struct TurnStartParams {
    pub thread_id: String,
    pub input: Vec<UserInput>,
    pub cwd: Option<String>,
    #[wire(nested)]
    pub approval_policy: Option<AskForApproval>,
    pub approvals_reviewer: Option<ApprovalsReviewer>,
    pub sandbox_policy: Option<SandboxPolicy>,
    pub model: Option<String>,
    pub service_tier: Option<Option<ServiceTier>>,
    pub effort: Option<ReasoningEffort>,
    pub summary: Option<ReasoningSummary>,
    pub personality: Option<Personality>,
    #[wire(described)]
    pub output_schema: Option<Json>,
    #[wire(experimental = "turn/start.collaborationMode")]
    pub collaboration_mode: Option<CollaborationMode>,
}

/// Parameters of `turn/steer`.
#[wire(params, default)]
pub struct TurnSteerParams {
    pub thread_id: String,
    pub input: Vec<UserInput>,
    pub expected_turn_id: String,
}

/// Parameters of `turn/interrupt`.
#[wire(params, default)]
pub struct TurnInterruptParams {
    pub thread_id: String,
    pub turn_id: String,
}

/// Parameters of `collaborationMode/list`.
#[wire(params, default)]
pub struct CollaborationModeListParams {}

/// DOC
#[wire]
pub enum CodexErrorInfo {
    ContextWindowExceeded,
    UsageLimitExceeded,
    ServerOverloaded,
    HttpConnectionFailed { http_status_code: Option<u16> },
    ResponseStreamConnectionFailed { http_status_code: Option<u16> },
    InternalServerError,
    Unauthorized,
    BadRequest,
    ThreadRollbackFailed,
    SandboxError,
    ResponseStreamDisconnected { http_status_code: Option<u16> },
    ResponseTooManyFailedAttempts { http_status_code: Option<u16> },
    ActiveTurnNotSteerable { turn_kind: NonSteerableTurnKind },
    Other,
}

/// DOC
#[wire]
pub enum NonSteerableTurnKind {
    Review,
    Compact,
}

/// DOC
#[wire]
pub struct Turn {
    pub id: String,
    pub items: Vec<ThreadItem>,
    pub status: TurnStatus,
    pub error: Option<TurnError>,
}

/// DOC
#[wire]
pub struct TurnError {
    pub message: String,
    pub codex_error_info: Option<CodexErrorInfo>,
    #[wire(default)]
    pub additional_details: Option<String>,
}

/// DOC
#[wire]
pub enum TurnStatus {
    Completed,
    Interrupted,
    Failed,
    InProgress,
}

/// Result of `turn/start`.
#[wire]
pub struct TurnStartResponse {
    pub turn: Turn,
}

/// Result of `turn/steer`.
#[wire]
pub struct TurnSteerResponse {
    pub turn_id: String,
}

/// Result of `turn/interrupt`.
#[wire]
pub struct TurnInterruptResponse {}

/// DOC
#[wire(snake)]
pub struct CollaborationModeMask {
    pub name: String,
    pub mode: Option<ModeKind>,
    pub model: Option<String>,
    pub reasoning_effort: Option<Option<ReasoningEffort>>,
}

/// Result of `collaborationMode/list`.
#[wire]
pub struct CollaborationModeListResponse {
    pub data: Vec<CollaborationModeMask>,
}

/// Parameters of the notification `error`.
#[wire]
pub struct ErrorNotification {
    pub error: TurnError,
    pub will_retry: bool,
    pub thread_id: String,
    pub turn_id: String,
}

/// Parameters of the notification `turn/started`.
#[wire]
pub struct TurnStartedNotification {
    pub thread_id: String,
    pub turn: Turn,
}

/// Parameters of the notification `turn/completed`.
#[wire]
pub struct TurnCompletedNotification {
    pub thread_id: String,
    pub turn: Turn,
}

/// Parameters of the notification `turn/diff/updated`.
#[wire]
pub struct TurnDiffUpdatedNotification {
    pub thread_id: String,
    pub turn_id: String,
    pub diff: String,
}

/// DOC
#[wire]
pub struct TurnPlanStep {
    pub step: String,
    pub status: TurnPlanStepStatus,
}

/// DOC
#[wire]
pub enum TurnPlanStepStatus {
    Pending,
    InProgress,
    Completed,
}

/// Parameters of the notification `turn/plan/updated`.
#[wire]
pub struct TurnPlanUpdatedNotification {
    pub thread_id: String,
    pub turn_id: String,
    pub explanation: Option<String>,
    pub plan: Vec<TurnPlanStep>,
}

/// DOC
#[wire]
pub enum ModelRerouteReason {
    HighRiskCyberActivity,
}

/// Parameters of the notification `model/rerouted`.
#[wire]
pub struct ModelReroutedNotification {
    pub thread_id: String,
    pub turn_id: String,
    pub from_model: String,
    pub to_model: String,
    pub reason: ModelRerouteReason,
}
