//! Bringing a thread to life: starting, resuming and forking one.

use std::collections::BTreeMap;

use quipu_wire_macros::wire;

use crate::{
    AbsolutePath, ActivePermissionProfile, ApprovalsReviewer, AskForApproval, DynamicToolEntry,
    Json, Personality, QuipuResume, ReasoningEffort, ResponseItem, SandboxMode, SandboxPolicy,
    ServiceTier, Thread, ThreadEvents,
};

/// A tool that the client brings; the model's calls come as `item/tool/call`.
#[wire]
pub struct DynamicToolSpec {
    /// Unique in the thread; neither `mcp` nor beginning with `mcp__`.
    pub name: String,
    /// What the model goes by to use it.
    pub description: String,
    /// A JSON Schema of its arguments.
    pub input_schema: Json,
    /// Keeps it off the list that the model gets, until the model finds it by `tool_search` or calls it.
    #[wire(sparse)]
    pub defer_loading: bool,
    /// The namespace that it was declared in. The model calls it by both names, with two underscores between them,
    /// which is its `name` here.
    #[wire(since = "0.166", sparse)]
    pub namespace: Option<String>,
}

/// A place where commands run.
#[wire]
pub struct TurnEnvironmentParams {
    /// `local`, the machine of the server; there is no other.
    pub environment_id: String,
    /// The working directory there, which must be absolute.
    pub cwd: String,
    /// The directories that `workspaceWrite` is about; they must include the working directory.
    #[wire(optional)]
    pub runtime_workspace_roots: Option<Vec<AbsolutePath>>,
}

/// Parameters of `thread/start`.
#[wire(params, default)]
pub struct ThreadStartParams {
    /// The model's name, which is not checked; the configured one if absent.
    pub model: Option<String>,
    /// A key of `model_providers` in the configuration.
    pub model_provider: Option<String>,
    /// If absent, the configured one; null asks for none.
    pub service_tier: Option<Option<ServiceTier>>,
    /// The working directory, relative to the server's own, which is also the default.
    pub cwd: Option<String>,
    /// If absent, the configured one.
    #[wire(nested)]
    pub approval_policy: Option<AskForApproval>,
    /// If absent, the configured one.
    pub approvals_reviewer: Option<ApprovalsReviewer>,
    /// If absent, the configured one.
    pub sandbox: Option<SandboxMode>,
    /// The id of a permission profile, in place of `sandbox`: `:read-only`, `:workspace`,
    /// `:danger-full-access`, or a table of `[permissions]` in the configuration.
    #[wire(since = "0.166", experimental = "thread/start.permissions")]
    pub permissions: Option<String>,
    /// The directories that `workspaceWrite` is about; they must include the working directory.
    #[wire(since = "0.166", experimental = "thread/start.runtimeWorkspaceRoots")]
    pub runtime_workspace_roots: Option<Vec<AbsolutePath>>,
    /// Where commands run. An empty list denies the model all access to files and commands.
    #[wire(since = "0.166", experimental = "thread/start.environments")]
    pub environments: Option<Vec<TurnEnvironmentParams>>,
    /// Settings for this thread by dotted key, as in `config.toml`; other parameters win.
    pub config: Option<BTreeMap<String, Json>>,
    /// A label for metrics.
    pub service_name: Option<String>,
    /// Takes the place of the model's own instructions.
    pub base_instructions: Option<String>,
    /// Given to the model besides its own instructions.
    pub developer_instructions: Option<String>,
    pub personality: Option<Personality>,
    /// Keeps the thread in memory only; `false` if nothing is configured.
    pub ephemeral: Option<bool>,
    /// Tools that the client brings; stored with the thread. Since 0.166 an entry may also be a namespace, which groups
    /// tools: `{"type": "namespace", "name", "description", "tools"}`.
    #[wire(experimental = "thread/start.dynamicTools")]
    pub dynamic_tools: Option<Vec<DynamicToolEntry>>,
    /// Without effect; for tests of the experimental gate.
    #[wire(experimental = "thread/start.mockExperimentalField")]
    pub mock_experimental_field: Option<String>,
    /// Also sends the items of the model's history, as `rawResponseItem/completed`.
    #[wire(default, experimental = "thread/start.experimentalRawEvents")]
    pub experimental_raw_events: bool,
    /// Asks to store commands, patches, tool calls and errors as well, which Quipu always does.
    #[wire(default, experimental = "thread/start.persistFullHistory")]
    pub persist_extended_history: bool,
    /// Makes the request safe to repeat: sent again with the same key, it acts once and is answered the same.
    #[wire(since = "quipu", sparse)]
    pub idempotency_key: Option<String>,
}

/// Parameters of `thread/resume`. If the thread is loaded, the caller joins it as it is and
/// settings are ignored.
#[wire(params, default)]
pub struct ThreadResumeParams {
    /// Always needed, though `history` and `path` win over it.
    pub thread_id: String,
    /// A history to begin a new thread with; must not be empty.
    #[wire(experimental = "thread/resume.history")]
    pub history: Option<Vec<ResponseItem>>,
    /// The rollout file to load; the thread's id is the one in the file.
    #[wire(experimental = "thread/resume.path")]
    pub path: Option<String>,
    /// The model's name, which is not checked; the one last used in the thread if absent.
    pub model: Option<String>,
    /// A key of `model_providers`. This or `model` drops both model and effort last used.
    pub model_provider: Option<String>,
    /// If absent, the configured one; null asks for none.
    pub service_tier: Option<Option<ServiceTier>>,
    /// The working directory; the one of the thread if absent.
    pub cwd: Option<String>,
    /// If absent, the configured one.
    #[wire(nested)]
    pub approval_policy: Option<AskForApproval>,
    /// If absent, the configured one.
    pub approvals_reviewer: Option<ApprovalsReviewer>,
    /// If absent, the configured one.
    pub sandbox: Option<SandboxMode>,
    /// The id of a permission profile, in place of `sandbox`: `:read-only`, `:workspace`,
    /// `:danger-full-access`, or a table of `[permissions]` in the configuration.
    #[wire(since = "0.166", experimental = "thread/resume.permissions")]
    pub permissions: Option<String>,
    /// The directories that `workspaceWrite` is about; they must include the working directory.
    #[wire(since = "0.166", experimental = "thread/resume.runtimeWorkspaceRoots")]
    pub runtime_workspace_roots: Option<Vec<AbsolutePath>>,
    /// Settings for this thread by dotted key, as in `config.toml`; other parameters win.
    pub config: Option<BTreeMap<String, Json>>,
    /// Takes the place of the instructions that the thread was started with.
    pub base_instructions: Option<String>,
    /// Given to the model besides its own instructions.
    pub developer_instructions: Option<String>,
    pub personality: Option<Personality>,
    /// Asks to store commands, patches, tool calls and errors as well, which Quipu always does.
    #[wire(default, experimental = "thread/resume.persistFullHistory")]
    pub persist_extended_history: bool,
    /// Leaves `turns` of the answer empty, for clients that read them with `thread/turns/list`.
    #[wire(since = "0.166", sparse)]
    pub exclude_turns: bool,
    /// Where a client with numbered events left off.
    #[wire(since = "quipu", sparse)]
    pub quipu: Option<QuipuResume>,
}

/// Parameters of `thread/fork`.
#[wire(params, default)]
pub struct ThreadForkParams {
    /// The source, which stays as it is; always needed, though `path` wins over it.
    pub thread_id: String,
    /// The rollout file to copy.
    #[wire(experimental = "thread/fork.path")]
    pub path: Option<String>,
    /// The model's name, which is not checked; the configured one if absent, not the source's.
    pub model: Option<String>,
    /// A key of `model_providers` in the configuration.
    pub model_provider: Option<String>,
    /// If absent, the configured one; null asks for none.
    pub service_tier: Option<Option<ServiceTier>>,
    /// The working directory; the one of the source if absent.
    pub cwd: Option<String>,
    /// If absent, the configured one.
    #[wire(nested)]
    pub approval_policy: Option<AskForApproval>,
    /// If absent, the configured one.
    pub approvals_reviewer: Option<ApprovalsReviewer>,
    /// If absent, the configured one.
    pub sandbox: Option<SandboxMode>,
    /// The id of a permission profile, in place of `sandbox`: `:read-only`, `:workspace`,
    /// `:danger-full-access`, or a table of `[permissions]` in the configuration.
    #[wire(since = "0.166", experimental = "thread/fork.permissions")]
    pub permissions: Option<String>,
    /// The directories that `workspaceWrite` is about; they must include the working directory.
    #[wire(since = "0.166", experimental = "thread/fork.runtimeWorkspaceRoots")]
    pub runtime_workspace_roots: Option<Vec<AbsolutePath>>,
    /// Settings for this thread by dotted key, as in `config.toml`; other parameters win.
    pub config: Option<BTreeMap<String, Json>>,
    /// Takes the place of the instructions that the thread was started with.
    pub base_instructions: Option<String>,
    /// Given to the model besides its own instructions.
    pub developer_instructions: Option<String>,
    /// Keeps the fork in memory only.
    #[wire(sparse)]
    pub ephemeral: bool,
    /// Asks to store commands, patches, tool calls and errors as well, which Quipu always does.
    #[wire(default, experimental = "thread/fork.persistFullHistory")]
    pub persist_extended_history: bool,
    /// Leaves `turns` of the answer empty, for clients that read them with `thread/turns/list`.
    #[wire(since = "0.166", sparse)]
    pub exclude_turns: bool,
    /// The last turn that is copied; the last one of all if absent.
    #[wire(since = "0.166")]
    pub last_turn_id: Option<String>,
    /// The first turn that is not copied, in place of `lastTurnId`.
    #[wire(since = "0.166")]
    pub before_turn_id: Option<String>,
    /// Makes the request safe to repeat: sent again with the same key, it acts once and is answered the same.
    #[wire(since = "quipu", sparse)]
    pub idempotency_key: Option<String>,
}

/// Result of `thread/start`.
#[wire]
pub struct ThreadStartResponse {
    /// The new thread, without turns.
    pub thread: Thread,
    pub model: String,
    pub model_provider: String,
    /// Null if none is asked for.
    pub service_tier: Option<ServiceTier>,
    pub cwd: String,
    /// The directories that `workspaceWrite` is about: the working directory, and those that the client added.
    #[wire(
        since = "0.166",
        default,
        experimental = "thread/start.runtimeWorkspaceRoots",
        sent
    )]
    pub runtime_workspace_roots: Vec<AbsolutePath>,
    /// The permission profile that was chosen; null if none was.
    #[wire(
        since = "0.166",
        default,
        experimental = "thread/start.activePermissionProfile",
        sent
    )]
    pub active_permission_profile: Option<ActivePermissionProfile>,
    pub approval_policy: AskForApproval,
    pub approvals_reviewer: ApprovalsReviewer,
    pub sandbox: SandboxPolicy,
    /// Null leaves it to the model.
    pub reasoning_effort: Option<ReasoningEffort>,
    /// Where the numbered events of the thread are, for clients that asked for them.
    #[wire(since = "quipu", sparse)]
    pub quipu: Option<ThreadEvents>,
}

/// Result of `thread/resume`.
#[wire]
pub struct ThreadResumeResponse {
    /// The thread with its turns, a running one included.
    pub thread: Thread,
    pub model: String,
    pub model_provider: String,
    /// Null if none is asked for.
    pub service_tier: Option<ServiceTier>,
    pub cwd: String,
    /// The directories that `workspaceWrite` is about: the working directory, and those that the client added.
    #[wire(
        since = "0.166",
        default,
        experimental = "thread/resume.runtimeWorkspaceRoots",
        sent
    )]
    pub runtime_workspace_roots: Vec<AbsolutePath>,
    /// The permission profile that was chosen; null if none was.
    #[wire(
        since = "0.166",
        default,
        experimental = "thread/resume.activePermissionProfile",
        sent
    )]
    pub active_permission_profile: Option<ActivePermissionProfile>,
    pub approval_policy: AskForApproval,
    pub approvals_reviewer: ApprovalsReviewer,
    pub sandbox: SandboxPolicy,
    /// Null leaves it to the model.
    pub reasoning_effort: Option<ReasoningEffort>,
    /// Where the numbered events of the thread are, for clients that asked for them.
    #[wire(since = "quipu", sparse)]
    pub quipu: Option<ThreadEvents>,
}

/// Result of `thread/fork`.
#[wire]
pub struct ThreadForkResponse {
    /// The new thread with a copy of the turns; one that is running is `interrupted` in it.
    pub thread: Thread,
    pub model: String,
    pub model_provider: String,
    /// Null if none is asked for.
    pub service_tier: Option<ServiceTier>,
    pub cwd: String,
    /// The directories that `workspaceWrite` is about: the working directory, and those that the client added.
    #[wire(
        since = "0.166",
        default,
        experimental = "thread/fork.runtimeWorkspaceRoots",
        sent
    )]
    pub runtime_workspace_roots: Vec<AbsolutePath>,
    /// The permission profile that was chosen; null if none was.
    #[wire(
        since = "0.166",
        default,
        experimental = "thread/fork.activePermissionProfile",
        sent
    )]
    pub active_permission_profile: Option<ActivePermissionProfile>,
    pub approval_policy: AskForApproval,
    pub approvals_reviewer: ApprovalsReviewer,
    pub sandbox: SandboxPolicy,
    /// Null leaves it to the model.
    pub reasoning_effort: Option<ReasoningEffort>,
    /// Where the numbered events of the thread are, for clients that asked for them.
    #[wire(since = "quipu", sparse)]
    pub quipu: Option<ThreadEvents>,
}
