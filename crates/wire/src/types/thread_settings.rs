//! The settings of a loaded thread, as clients read and change them.

use quipu_wire_macros::wire;

use crate::{
    ApprovalsReviewer, AskForApproval, CollaborationMode, Personality, ReasoningEffort,
    ReasoningSummary, SandboxPolicy, ServiceTier,
};

/// When the model starts agents.
#[wire]
pub enum MultiAgentMode {
    /// When it is asked to.
    ExplicitRequestOnly,
    /// Whenever it seems useful.
    Proactive,
    /// As this text says.
    Custom(String),
}

/// The permission profile that a client chose.
#[wire]
pub struct ActivePermissionProfile {
    pub id: String,
    /// The profile that it is based on; always null.
    pub extends: Option<String>,
}

/// The settings of a thread.
#[wire]
pub struct ThreadSettings {
    /// Always empty: plugins cannot be disabled for one thread.
    pub disabled_plugin_ids: Vec<String>,
    pub cwd: String,
    pub approval_policy: AskForApproval,
    pub approvals_reviewer: ApprovalsReviewer,
    pub sandbox_policy: SandboxPolicy,
    /// Null if none was chosen.
    pub active_permission_profile: Option<ActivePermissionProfile>,
    pub model: String,
    pub model_provider: String,
    /// Null if none is asked for.
    pub service_tier: Option<ServiceTier>,
    /// Null leaves it to the model.
    pub effort: Option<ReasoningEffort>,
    /// Null leaves it to the model.
    pub summary: Option<ReasoningSummary>,
    pub collaboration_mode: CollaborationMode,
    /// Always `explicitRequestOnly`.
    pub multi_agent_mode: MultiAgentMode,
    /// Null if personalities are switched off.
    pub personality: Option<Personality>,
}

/// Parameters of `thread/settings/update`. What is absent stays as it is.
#[wire(params, default)]
pub struct ThreadSettingsUpdateParams {
    pub thread_id: String,
    /// Plugins that must not be used. Only an empty list is accepted.
    pub disabled_plugin_ids: Option<Vec<String>>,
    /// The working directory, relative to the server's own.
    pub cwd: Option<String>,
    pub approval_policy: Option<AskForApproval>,
    pub approvals_reviewer: Option<ApprovalsReviewer>,
    pub sandbox_policy: Option<SandboxPolicy>,
    /// The id of a permission profile, in place of `sandboxPolicy`.
    pub permissions: Option<String>,
    /// The model's name, which is not checked.
    pub model: Option<String>,
    /// Null asks for none.
    pub service_tier: Option<Option<ServiceTier>>,
    pub effort: Option<ReasoningEffort>,
    pub summary: Option<ReasoningSummary>,
    /// Its settings win over `model` and `effort`.
    pub collaboration_mode: Option<CollaborationMode>,
    pub personality: Option<Personality>,
}

/// Result of `thread/settings/update`.
#[wire]
pub struct ThreadSettingsUpdateResponse {}

/// Parameters of the notification `thread/settings/updated`.
#[wire]
pub struct ThreadSettingsUpdatedNotification {
    pub thread_id: String,
    /// All settings as they are now.
    pub thread_settings: ThreadSettings,
}

/// Parameters of `turn/settings/update`. What is absent stays as it is.
#[wire(params, closed, default)]
pub struct TurnSettingsUpdateParams {
    pub thread_id: String,
    /// The running turn.
    pub turn_id: String,
    /// Who decides about approvals that are asked for from now on.
    pub approvals_reviewer: Option<ApprovalsReviewer>,
    /// The model's name, which is not checked.
    pub model: Option<String>,
    pub effort: Option<ReasoningEffort>,
    pub summary: Option<ReasoningSummary>,
    /// Null asks for none.
    pub service_tier: Option<Option<ServiceTier>>,
}

/// Whether settings of a turn were changed.
#[wire(apart)]
pub enum TurnSettingsUpdateStatus {
    /// The next request to the model is made with them, if there is one.
    Applied,
    /// The turn does not run, or is not the one that runs.
    TargetUnavailable,
}

/// Result of `turn/settings/update`.
#[wire]
pub struct TurnSettingsUpdateResponse {
    pub status: TurnSettingsUpdateStatus,
}
