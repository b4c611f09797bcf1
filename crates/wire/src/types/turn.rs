//! Turns: what the user wants of the agent, and how that comes to an end.

use quipu_wire_macros::wire;

use crate::{
    AbsolutePath, ApprovalsReviewer, AskForApproval, Json, SandboxPolicy, ThreadItem,
    TurnEnvironmentParams, UserInput,
};

/// The tone of the agent.
#[wire(root, exhaustive)]
pub enum Personality {
    /// No particular tone.
    None,
    Friendly,
    /// The default.
    Pragmatic,
}

/// Which kind of processing to ask the provider for.
#[wire(root, lenient, nameless)]
pub enum ServiceTier {
    /// Faster and dearer; sent to the provider as `priority`.
    #[wire(also = "priority")]
    Fast,
    /// Slower and cheaper.
    Flex,
    /// The provider's standard, as if there were no tier.
    #[wire(since = "0.166")]
    Default,
}

/// A way of working together, with its settings.
#[wire(root)]
pub struct CollaborationMode {
    pub mode: ModeKind,
    pub settings: Settings,
}

/// A way of working together.
#[wire(root)]
pub enum ModeKind {
    /// The agent looks around and asks, changes nothing, and proposes a plan.
    Plan,
    /// The agent does the work.
    #[wire(
        alias = "code",
        alias = "custom",
        alias = "execute",
        alias = "pair_programming"
    )]
    Default,
}

/// How much the model thinks before it speaks or acts.
#[wire(root, lenient)]
pub enum ReasoningEffort {
    /// Not at all.
    None,
    Minimal,
    Low,
    Medium,
    High,
    /// More than `high`, where a model offers it.
    Xhigh,
    /// More than `xhigh`, where a model offers it.
    #[wire(since = "0.166")]
    Max,
    /// The most, where a model offers it.
    #[wire(since = "0.166")]
    Ultra,
}

/// How the provider sums up the model's thoughts.
#[wire(root)]
pub enum ReasoningSummary {
    /// As the provider chooses.
    Auto,
    Concise,
    Detailed,
    /// Not at all.
    #[wire(apart)]
    None,
}

/// The settings of a way of working together.
#[wire(root, snake)]
pub struct Settings {
    /// Takes the place of the thread's model.
    pub model: String,
    /// Takes the place of the thread's effort.
    pub reasoning_effort: Option<ReasoningEffort>,
    /// Null uses the built-in ones of the mode.
    pub developer_instructions: Option<String>,
}

/// Parameters of `turn/start`. Settings given here last for later turns too, but for
/// `outputSchema`.
#[wire(params, default)]
pub struct TurnStartParams {
    pub thread_id: String,
    /// Must not be empty.
    pub input: Vec<UserInput>,
    /// The working directory, relative to the server's own.
    pub cwd: Option<String>,
    #[wire(nested)]
    pub approval_policy: Option<AskForApproval>,
    pub approvals_reviewer: Option<ApprovalsReviewer>,
    pub sandbox_policy: Option<SandboxPolicy>,
    /// The id of a permission profile, in place of `sandboxPolicy`; see `thread/start`.
    #[wire(since = "0.166", experimental = "turn/start.permissions")]
    pub permissions: Option<String>,
    /// The directories that `workspaceWrite` is about; they must include the working directory.
    #[wire(since = "0.166", experimental = "turn/start.runtimeWorkspaceRoots")]
    pub runtime_workspace_roots: Option<Vec<AbsolutePath>>,
    /// Where commands run. An empty list denies the model all access to files and commands.
    #[wire(since = "0.166", experimental = "turn/start.environments")]
    pub environments: Option<Vec<TurnEnvironmentParams>>,
    /// Plugins that must not be used. Only an empty list is accepted.
    #[wire(since = "0.166")]
    pub disabled_plugin_ids: Option<Vec<String>>,
    /// The model's name, which is not checked.
    pub model: Option<String>,
    /// If absent, the tier stays; null asks for none.
    pub service_tier: Option<Option<ServiceTier>>,
    pub effort: Option<ReasoningEffort>,
    pub summary: Option<ReasoningSummary>,
    pub personality: Option<Personality>,
    /// A JSON Schema that the model's final message of this turn has to fit.
    #[wire(described)]
    pub output_schema: Option<Json>,
    /// Its settings win over `model` and `effort`.
    #[wire(experimental = "turn/start.collaborationMode")]
    pub collaboration_mode: Option<CollaborationMode>,
    /// Makes the request safe to repeat: sent again with the same key, it acts once and is answered the same.
    #[wire(since = "quipu", sparse)]
    pub idempotency_key: Option<String>,
}

/// Parameters of `turn/steer`.
#[wire(params, default)]
pub struct TurnSteerParams {
    pub thread_id: String,
    /// Must not be empty; it goes to the model with the turn's next request.
    pub input: Vec<UserInput>,
    /// The turn that the client believes to be running; if it is another, the request fails.
    pub expected_turn_id: String,
    /// Makes the request safe to repeat: sent again with the same key, it acts once and is answered the same.
    #[wire(since = "quipu", sparse)]
    pub idempotency_key: Option<String>,
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

/// What kind of error it was, for programs; a status is null if the provider gave none.
#[wire]
pub enum CodexErrorInfo {
    /// The history is too long for the model.
    ContextWindowExceeded,
    /// The account's plan or quota is spent.
    UsageLimitExceeded,
    /// The provider has no capacity for this model.
    ServerOverloaded,
    /// The provider could not be reached or answered with an error.
    HttpConnectionFailed { http_status_code: Option<u16> },
    /// The stream of the answer could not be opened.
    ResponseStreamConnectionFailed { http_status_code: Option<u16> },
    /// The provider failed.
    InternalServerError,
    /// The provider does not accept the login.
    Unauthorized,
    /// The request cannot be fulfilled as it is.
    BadRequest,
    /// A rollback failed.
    ThreadRollbackFailed,
    /// The sandbox could not be set up.
    SandboxError,
    /// The stream of the answer broke off.
    ResponseStreamDisconnected { http_status_code: Option<u16> },
    /// The provider kept refusing, such as with status 429.
    ResponseTooManyFailedAttempts { http_status_code: Option<u16> },
    /// The running turn takes no input.
    ActiveTurnNotSteerable { turn_kind: NonSteerableTurnKind },
    /// Any other error.
    Other,
}

/// A kind of turn that takes no input.
#[wire]
pub enum NonSteerableTurnKind {
    Review,
    Compact,
}

/// Which of a turn's items are there.
#[wire]
pub enum TurnItemsView {
    /// None.
    NotLoaded,
    /// The first message of the user and the last one of the agent.
    Summary,
    /// All.
    Full,
}

/// What the agent does about one input of the user.
#[wire]
pub struct Turn {
    pub id: String,
    /// Filled when a history is read; empty in `turn/started` and `turn/completed`.
    pub items: Vec<ThreadItem>,
    /// Which items are there, in results of `thread/turns/list`.
    #[wire(since = "0.166", sparse)]
    pub items_view: Option<TurnItemsView>,
    pub status: TurnStatus,
    /// Set only if `failed`.
    pub error: Option<TurnError>,
}

/// What went wrong in a turn.
#[wire]
pub struct TurnError {
    /// For people.
    pub message: String,
    /// For programs; null if there is nothing to say.
    pub codex_error_info: Option<CodexErrorInfo>,
    /// The underlying cause; set while the request is retried.
    #[wire(default)]
    pub additional_details: Option<String>,
}

/// How far a turn has come.
#[wire]
pub enum TurnStatus {
    /// It ended by itself.
    Completed,
    /// It was stopped: by `turn/interrupt`, by a cancelled approval, or by the end of the server.
    Interrupted,
    /// It ended with an error.
    Failed,
    InProgress,
}

/// Result of `turn/start`.
#[wire]
pub struct TurnStartResponse {
    /// The new turn; if one is running, that one, which takes the input.
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

/// A preset of a way of working together; null members leave things as they are.
#[wire(snake)]
pub struct CollaborationModeMask {
    /// The name to show.
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
    /// Whether the model request is made again; if not, the turn fails.
    pub will_retry: bool,
    pub thread_id: String,
    pub turn_id: String,
}

/// Parameters of the notification `turn/started`.
#[wire]
pub struct TurnStartedNotification {
    pub thread_id: String,
    /// Without items.
    pub turn: Turn,
}

/// Parameters of the notification `turn/completed`.
#[wire]
pub struct TurnCompletedNotification {
    pub thread_id: String,
    /// Without items; its `status` says how it ended.
    pub turn: Turn,
}

/// Parameters of the notification `turn/diff/updated`.
#[wire]
pub struct TurnDiffUpdatedNotification {
    pub thread_id: String,
    pub turn_id: String,
    /// All that patches changed in this turn, as a Git diff; commands are not covered.
    pub diff: String,
}

/// A step of the model's plan.
#[wire]
pub struct TurnPlanStep {
    pub step: String,
    pub status: TurnPlanStepStatus,
}

/// How far a step has come.
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
    /// Why the plan changed.
    pub explanation: Option<String>,
    /// All steps, which replace those of before.
    pub plan: Vec<TurnPlanStep>,
}

/// Why the provider used another model.
#[wire]
pub enum ModelRerouteReason {
    /// The provider saw a risk of misuse for attacks on computers.
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
