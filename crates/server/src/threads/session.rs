//! The settings of a thread: what it was started with, and what turns have changed since.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use quipu_config::{
    Feature, LoadError, LoadRequest, Overrides as ConfigOverrides, Snapshot, Table,
};
use quipu_model::ProviderConfig;
use quipu_model::catalogue::ModelInfo;
use quipu_wire::{
    AbsolutePath, ApprovalsReviewer, AskForApproval, CollaborationMode, ConfigWarningNotification,
    DynamicToolSpec, Json, ModeKind, Personality, ReasoningEffort, ReasoningSummary, SandboxMode,
    SandboxPolicy, ServiceTier, Settings, ThreadForkParams, ThreadResumeParams, ThreadStartParams,
    TurnEnvironmentParams, TurnStartParams,
};
use serde_json::Value;

use super::rights::{Environment, add_roots, one_policy};
use crate::{Refusal, Server, models, providers, windows};
use quipu_prompt::plan;

/// What a client may choose when it opens a thread.
#[derive(Debug, Default, Clone)]
pub(crate) struct Overrides {
    pub model: Option<String>,
    pub model_provider: Option<String>,
    pub service_tier: Option<Option<ServiceTier>>,
    pub cwd: Option<String>,
    pub approval_policy: Option<AskForApproval>,
    pub approvals_reviewer: Option<ApprovalsReviewer>,
    pub sandbox: Option<SandboxMode>,
    /// The permission profile, in place of `sandbox`.
    pub permissions: Option<String>,
    pub workspace_roots: Option<Vec<AbsolutePath>>,
    pub environments: Option<Vec<TurnEnvironmentParams>>,
    pub config: Option<BTreeMap<String, Json>>,
    pub base_instructions: Option<String>,
    pub developer_instructions: Option<String>,
    pub personality: Option<Personality>,
}

macro_rules! overrides_from {
    ($params:expr, $personality:expr, $environments:expr) => {
        Overrides {
            model: $params.model.clone(),
            model_provider: $params.model_provider.clone(),
            service_tier: $params.service_tier,
            cwd: $params.cwd.clone(),
            approval_policy: $params.approval_policy.clone(),
            approvals_reviewer: $params.approvals_reviewer,
            sandbox: $params.sandbox,
            permissions: $params.permissions.clone(),
            workspace_roots: $params.runtime_workspace_roots.clone(),
            environments: $environments,
            config: $params.config.clone(),
            base_instructions: $params.base_instructions.clone(),
            developer_instructions: $params.developer_instructions.clone(),
            personality: $personality,
        }
    };
}

impl From<&ThreadStartParams> for Overrides {
    fn from(params: &ThreadStartParams) -> Overrides {
        overrides_from!(params, params.personality, params.environments.clone())
    }
}

impl From<&ThreadResumeParams> for Overrides {
    fn from(params: &ThreadResumeParams) -> Overrides {
        overrides_from!(params, params.personality, None)
    }
}

impl From<&ThreadForkParams> for Overrides {
    fn from(params: &ThreadForkParams) -> Overrides {
        overrides_from!(params, None, None)
    }
}

/// The settings in force. Turns change them for themselves and all later ones.
#[derive(Clone)]
pub(crate) struct Session {
    /// What the client chose when it opened the thread.
    pub asked: Overrides,
    pub snapshot: Arc<Snapshot>,
    pub provider: ProviderConfig,
    pub model: String,
    /// What is known of the model, with what the configuration says of it.
    pub info: Arc<ModelInfo>,
    pub effort: Option<ReasoningEffort>,
    pub summary: Option<ReasoningSummary>,
    pub service_tier: Option<ServiceTier>,
    pub personality: Option<Personality>,
    pub mode: CollaborationMode,
    pub cwd: PathBuf,
    pub approval_policy: AskForApproval,
    pub approvals_reviewer: ApprovalsReviewer,
    pub sandbox: SandboxPolicy,
    /// Whether the model may touch files and run commands at all.
    pub has_environment: bool,
    pub base_instructions: Option<String>,
    pub developer_instructions: Option<String>,
    pub dynamic_tools: Vec<DynamicToolSpec>,
}

impl Session {
    /// Resolves what a client chose against the configuration.
    pub fn resolve(
        server: &Server,
        overrides: &Overrides,
        recorded_cwd: Option<&str>,
    ) -> Result<Session, Refusal> {
        one_policy(
            ("permissions", overrides.permissions.is_some()),
            ("sandbox", overrides.sandbox.is_some()),
        )?;
        let environment = Environment::chosen(overrides.environments.as_deref())?;
        let own = server.cwd();
        let cwd = overrides.cwd.as_deref().or(recorded_cwd);
        let (cwd, roots) = match environment {
            Some(Environment::Local(cwd, roots)) => (cwd.to_owned(), roots),
            _ => (
                cwd.map_or_else(|| own.to_owned(), |cwd| own.join(cwd)),
                None,
            ),
        };
        let snapshot = load(server, overrides, &cwd)?;
        let settings = snapshot.model();
        let provider = providers::for_thread(server, &snapshot)?;
        let model = match settings.model.clone() {
            Some(model) => model,
            None => models::default(server, &snapshot, &provider)?,
        };
        let permissions = snapshot.permissions();
        let mut sandbox = permissions.sandbox_policy.clone();
        let roots = roots.or(overrides.workspace_roots.as_deref());
        add_roots(&mut sandbox, roots, &cwd)?;
        let mode = CollaborationMode {
            mode: ModeKind::Default,
            settings: Settings {
                model: model.clone(),
                reasoning_effort: settings.reasoning_effort,
                developer_instructions: None,
            },
        };
        let info = models::info(server, &snapshot, &provider, &model);
        Ok(Session {
            asked: overrides.clone(),
            provider,
            model,
            info,
            effort: settings.reasoning_effort,
            summary: settings.reasoning_summary,
            service_tier: special(overrides.service_tier.unwrap_or(settings.service_tier)),
            personality: snapshot
                .features()
                .enabled(Feature::Personality)
                .then(|| overrides.personality.unwrap_or(settings.personality)),
            mode,
            cwd,
            approval_policy: permissions.approval_policy.clone(),
            approvals_reviewer: permissions.approvals_reviewer,
            sandbox,
            has_environment: !matches!(environment, Some(Environment::Nowhere)),
            base_instructions: overrides
                .base_instructions
                .clone()
                .or_else(|| snapshot.instructions().base.clone()),
            developer_instructions: snapshot.instructions().developer.clone(),
            dynamic_tools: Vec::new(),
            snapshot,
        })
    }

    /// Reads the files again. What the thread was started with (model, approvals, sandbox, directory) stays;
    /// what is looked up when it is needed changes. Files that cannot be used change nothing.
    pub fn reload(&mut self, server: &Server) {
        match load(server, &self.asked, &self.cwd) {
            Ok(snapshot) => self.snapshot = snapshot,
            Err(error) => {
                tracing::warn!(%error, "failed to reload settings; thread keeps the old ones")
            }
        }
    }

    /// Takes over what a turn changes besides its [rights](super::rights); it stays changed.
    pub fn change(&mut self, server: &Server, params: &TurnStartParams) {
        if let Some(policy) = &params.approval_policy {
            self.approval_policy = policy.clone();
        }
        if let Some(reviewer) = params.approvals_reviewer {
            self.approvals_reviewer = reviewer;
        }
        if let Some(model) = &params.model {
            self.model.clone_from(model);
        }
        if let Some(tier) = params.service_tier {
            self.service_tier = special(tier);
        }
        self.effort = params.effort.or(self.effort);
        self.summary = params.summary.or(self.summary);
        if self.has_feature(Feature::Personality) {
            self.personality = params.personality.or(self.personality);
        }
        if let Some(mode) = &params.collaboration_mode {
            let mode = self.with_defaults(mode.clone());
            self.model.clone_from(&mode.settings.model);
            self.effort = mode.settings.reasoning_effort;
            self.mode = mode;
        } else {
            self.mode.settings.model.clone_from(&self.model);
            self.mode.settings.reasoning_effort = self.effort;
        }
        if self.info.slug != self.model {
            self.info = models::info(server, &self.snapshot, &self.provider, &self.model);
        }
    }

    /// Asks the provider for the window of a model that no list knows. Returns a warning if it does not say.
    pub async fn learn_window(&mut self, server: &Server) -> Option<ConfigWarningNotification> {
        let (snapshot, provider) = (&self.snapshot, &self.provider);
        if !windows::is_unknown(server, snapshot, provider, &self.model) {
            return None;
        }
        let warning = windows::learn(server, provider, &self.model).await;
        self.info = models::info(server, snapshot, provider, &self.model);
        warning
    }

    /// Whether a feature is on.
    pub fn has_feature(&self, feature: Feature) -> bool {
        self.snapshot.features().enabled(feature)
    }

    /// A mode that a client chooses without instructions has the built-in ones, and plan mode without an
    /// effort the configured one.
    fn with_defaults(&self, mut mode: CollaborationMode) -> CollaborationMode {
        if mode.mode == ModeKind::Plan {
            let configured = self.snapshot.model().plan_mode_reasoning_effort;
            let effort = mode.settings.reasoning_effort.or(configured);
            mode.settings.reasoning_effort = effort;
        }
        let asks = self.has_feature(Feature::DefaultModeRequestUserInput);
        mode.settings
            .developer_instructions
            .get_or_insert_with(|| plan::mode_instructions(&mode.mode, asks));
        mode
    }

    /// Goes back to the model of a stored thread.
    pub fn recall(&mut self, server: &Server, model: &str, effort: Option<ReasoningEffort>) {
        model.clone_into(&mut self.model);
        self.effort = effort;
        self.info = models::info(server, &self.snapshot, &self.provider, &self.model);
        self.mode = self.plain_mode();
    }

    /// The ordinary way to work together, with the model and effort in use.
    pub fn plain_mode(&self) -> CollaborationMode {
        CollaborationMode {
            mode: ModeKind::Default,
            settings: Settings {
                model: self.model.clone(),
                reasoning_effort: self.effort,
                developer_instructions: None,
            },
        }
    }

    pub fn cwd_text(&self) -> String {
        self.cwd.to_string_lossy().into_owned()
    }

    /// The working directory and what the client added to it. Clients send it back with their turns.
    pub fn workspace_roots(&self) -> Vec<AbsolutePath> {
        let cwd = AbsolutePath::new(&self.cwd);
        let added = self.asked.workspace_roots.iter().flatten();
        let added = added.filter(|root| root.as_path() != self.cwd).cloned();
        cwd.into_iter().chain(added).collect()
    }
}

/// The id of the provider that a thread without choices of its own would have.
pub(crate) fn usual_provider(server: &Server) -> Option<String> {
    let snapshot = load(server, &Overrides::default(), server.cwd()).ok()?;
    Some(providers::in_use(server, &snapshot).ok()?.id)
}

pub(super) fn load(
    server: &Server,
    overrides: &Overrides,
    cwd: &Path,
) -> Result<Arc<Snapshot>, Refusal> {
    let refusal = |error: &dyn Display| Refusal::InvalidConfig(error.to_string());
    let mut config = ConfigOverrides::default();
    for (key, value) in overrides.config.iter().flatten() {
        let value = value
            .parse()
            .map_err(|error| refusal(&format!("{key}: {error}")))?;
        let setting = Table::from_iter([(key.clone(), value)]);
        config.add_json(&setting).map_err(|error| refusal(&error))?;
    }
    let chosen = chosen(overrides);
    let request = LoadRequest {
        cwd: Some(cwd),
        overrides: (!config.is_empty()).then_some(&config),
        chosen: (!chosen.is_empty()).then_some(&chosen),
    };
    let loaded = server.settings.config.load(&request);
    let checked = loaded.and_then(|snapshot| snapshot.check_telemetry().map(|()| snapshot));
    checked.map_err(|error| match error {
        LoadError::Cloud(error) => Refusal::CloudRequirements(error),
        error => refusal(&error),
    })
}

/// The tier that requests ask for. The standard one is reported as none, which clients of 0.118 know.
fn special(tier: Option<ServiceTier>) -> Option<ServiceTier> {
    tier.filter(|tier| *tier != ServiceTier::Default)
}

/// The typed members of a request, as the settings they stand for.
fn chosen(overrides: &Overrides) -> Table {
    let members = [
        (
            "model",
            overrides.model.as_ref().map(|it| Value::from(it.as_str())),
        ),
        (
            "model_provider",
            overrides
                .model_provider
                .as_ref()
                .map(|it| Value::from(it.as_str())),
        ),
        (
            "approval_policy",
            overrides
                .approval_policy
                .as_ref()
                .and_then(|it| serde_json::to_value(it).ok()),
        ),
        (
            "approvals_reviewer",
            overrides
                .approvals_reviewer
                .map(|it| Value::from(it.as_str())),
        ),
        (
            "sandbox_mode",
            overrides.sandbox.map(|it| Value::from(it.as_str())),
        ),
        (
            "default_permissions",
            overrides
                .permissions
                .as_ref()
                .map(|it| Value::from(it.as_str())),
        ),
        (
            "developer_instructions",
            overrides
                .developer_instructions
                .as_ref()
                .map(|it| Value::from(it.as_str())),
        ),
    ];
    let present = members
        .into_iter()
        .filter_map(|(key, value)| Some((key.to_owned(), value?)));
    present.collect()
}
