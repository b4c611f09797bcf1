//! The facts of a turn as a rollout's `turn_context` line keeps them, and back: a resumed thread learns
//! from the last such line what its model was told. Rollouts spell sandbox policies in another way than
//! the protocol does.

use quipu_journal::TurnContext;
use quipu_wire::{AbsolutePath, Json, NetworkAccess, ReadOnlyAccess, SandboxPolicy};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::facts::{Baseline, Facts};

/// The line for a turn. What the model is not told (effort, summary, output schema, truncation) is for
/// the caller to add.
pub fn turn_context(facts: &Facts, turn_id: &str) -> TurnContext {
    TurnContext {
        turn_id: Some(turn_id.to_owned()),
        trace_id: None,
        cwd: facts.cwd.clone(),
        current_date: Some(facts.date.clone()),
        timezone: Some(facts.timezone.clone()),
        approval_policy: json(&facts.approval_policy),
        sandbox_policy: json(&StoredPolicy::from(&facts.sandbox)),
        network: facts.network.as_ref().map(json),
        model: facts.model.slug.clone(),
        personality: facts.personality.as_ref().and_then(word),
        collaboration_mode: Some(json(&facts.collaboration_mode)),
        realtime_active: Some(facts.realtime.is_some()),
        effort: None,
        summary: None,
        user_instructions: facts.project_instructions.clone(),
        developer_instructions: facts.developer_instructions.clone(),
        final_output_json_schema: None,
        truncation_policy: None,
    }
}

/// What a stored line says the model was told; nothing if it cannot be read, in which case the model
/// should be told everything again.
pub fn baseline(stored: &TurnContext) -> Option<Baseline> {
    let policy: StoredPolicy = stored.sandbox_policy.parse().ok()?;
    Some(Baseline {
        cwd: stored.cwd.clone(),
        date: stored.current_date.clone(),
        timezone: stored.timezone.clone(),
        approval_policy: stored.approval_policy.parse().ok()?,
        sandbox: policy.into(),
        network: stored
            .network
            .as_ref()
            .and_then(|network| network.parse().ok()),
        model: stored.model.clone(),
        personality: stored.personality.as_deref().and_then(from_word),
        collaboration_mode: stored
            .collaboration_mode
            .as_ref()
            .and_then(|mode| mode.parse().ok()),
        developer_instructions: stored.developer_instructions.clone(),
        realtime: stored.realtime_active.unwrap_or_default(),
        plugins: None,
    })
}

fn json<T: Serialize>(value: &T) -> Json {
    Json::new(value).unwrap_or_default()
}

fn word<T: Serialize>(value: &T) -> Option<String> {
    serde_json::to_value(value)
        .ok()?
        .as_str()
        .map(str::to_owned)
}

fn from_word<T: DeserializeOwned>(word: &str) -> Option<T> {
    serde_json::from_value(word.into()).ok()
}

/// A sandbox policy in the spelling of rollouts, which leave out some defaults.
#[derive(Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
enum StoredPolicy {
    DangerFullAccess,
    ReadOnly {
        #[serde(default, skip_serializing_if = "StoredAccess::is_full")]
        access: StoredAccess,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        network_access: bool,
    },
    ExternalSandbox {
        #[serde(default = "restricted")]
        network_access: NetworkAccess,
    },
    WorkspaceWrite {
        #[serde(default)]
        writable_roots: Vec<AbsolutePath>,
        #[serde(default, skip_serializing_if = "StoredAccess::is_full")]
        read_only_access: StoredAccess,
        #[serde(default)]
        network_access: bool,
        #[serde(default)]
        exclude_tmpdir_env_var: bool,
        #[serde(default)]
        exclude_slash_tmp: bool,
    },
}

#[derive(Default, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
enum StoredAccess {
    #[default]
    FullAccess,
    Restricted {
        #[serde(default = "yes")]
        include_platform_defaults: bool,
        #[serde(default)]
        readable_roots: Vec<AbsolutePath>,
    },
}

fn yes() -> bool {
    true
}

fn restricted() -> NetworkAccess {
    NetworkAccess::Restricted
}

impl StoredAccess {
    fn is_full(&self) -> bool {
        matches!(self, Self::FullAccess)
    }
}

impl From<&SandboxPolicy> for StoredPolicy {
    fn from(policy: &SandboxPolicy) -> Self {
        match policy.clone() {
            SandboxPolicy::ReadOnly {
                access,
                network_access,
            } => Self::ReadOnly {
                access: access.into(),
                network_access,
            },
            SandboxPolicy::ExternalSandbox { network_access } => {
                Self::ExternalSandbox { network_access }
            }
            SandboxPolicy::WorkspaceWrite {
                writable_roots,
                read_only_access,
                network_access,
                exclude_tmpdir_env_var,
                exclude_slash_tmp,
            } => Self::WorkspaceWrite {
                writable_roots,
                read_only_access: read_only_access.into(),
                network_access,
                exclude_tmpdir_env_var,
                exclude_slash_tmp,
            },
            _ => Self::DangerFullAccess,
        }
    }
}

impl From<StoredPolicy> for SandboxPolicy {
    fn from(policy: StoredPolicy) -> Self {
        match policy {
            StoredPolicy::DangerFullAccess => Self::DangerFullAccess,
            StoredPolicy::ReadOnly {
                access,
                network_access,
            } => Self::ReadOnly {
                access: access.into(),
                network_access,
            },
            StoredPolicy::ExternalSandbox { network_access } => {
                Self::ExternalSandbox { network_access }
            }
            StoredPolicy::WorkspaceWrite {
                writable_roots,
                read_only_access,
                network_access,
                exclude_tmpdir_env_var,
                exclude_slash_tmp,
            } => Self::WorkspaceWrite {
                writable_roots,
                read_only_access: read_only_access.into(),
                network_access,
                exclude_tmpdir_env_var,
                exclude_slash_tmp,
            },
        }
    }
}

impl From<ReadOnlyAccess> for StoredAccess {
    fn from(access: ReadOnlyAccess) -> Self {
        match access {
            ReadOnlyAccess::Restricted {
                include_platform_defaults,
                readable_roots,
            } => Self::Restricted {
                include_platform_defaults,
                readable_roots,
            },
            _ => Self::FullAccess,
        }
    }
}

impl From<StoredAccess> for ReadOnlyAccess {
    fn from(access: StoredAccess) -> Self {
        match access {
            StoredAccess::FullAccess => Self::FullAccess,
            StoredAccess::Restricted {
                include_platform_defaults,
                readable_roots,
            } => Self::Restricted {
                include_platform_defaults,
                readable_roots,
            },
        }
    }
}
