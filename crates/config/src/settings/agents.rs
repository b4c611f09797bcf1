//! Agents that the model starts.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use serde::Deserialize;

use crate::load::LoadError;
use crate::snapshot::{Snapshot, View};

/// Agents that the model starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Agents {
    /// How many may be open at once.
    pub max_threads: usize,
    /// How deep agents may start agents.
    pub max_depth: i32,
    /// How long one of a table job may run.
    pub job_max_runtime: Option<Duration>,
    /// Roles by name.
    pub roles: BTreeMap<String, AgentRole>,
}

/// A role an agent can have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentRole {
    /// What it is for.
    pub description: String,
    /// Settings of agents in it.
    pub config_file: Option<PathBuf>,
    /// Names to give to agents in it.
    pub nickname_candidates: Vec<String>,
}

#[derive(Default, Deserialize)]
struct AgentsToml {
    max_threads: Option<usize>,
    max_depth: Option<i32>,
    job_max_runtime_seconds: Option<u64>,
    #[serde(flatten)]
    roles: BTreeMap<String, RoleToml>,
}

#[derive(Deserialize)]
struct RoleToml {
    description: Option<String>,
    config_file: Option<PathBuf>,
    nickname_candidates: Option<Vec<String>>,
}

impl Agents {
    /// Whether the limits make sense, and which roles do not.
    pub(crate) fn check(view: &View<'_>, notes: &mut Vec<String>) -> Result<(), LoadError> {
        let toml: AgentsToml = view.table("agents");
        let below_one = |name: &str| {
            Err(LoadError::Senseless(format!(
                "agents.{name} must be at least 1"
            )))
        };
        if toml.max_threads == Some(0) {
            return below_one("max_threads");
        }
        if toml.max_depth.is_some_and(|depth| depth < 1) {
            return below_one("max_depth");
        }
        for (name, role) in &toml.roles {
            if described(role).is_none() {
                notes.push(format!(
                    "Ignoring malformed agent role definition: agent role `{name}` must define a description"
                ));
            }
        }
        Ok(())
    }
}

impl Snapshot {
    /// Agents that the model starts.
    pub fn agents(&self) -> Agents {
        let toml: AgentsToml = self.view().table("agents");
        let role = |(name, role): (String, RoleToml)| {
            let description = described(&role)?;
            let nickname_candidates = role.nickname_candidates.unwrap_or_default();
            Some((
                name,
                AgentRole {
                    description,
                    config_file: role.config_file,
                    nickname_candidates,
                },
            ))
        };
        Agents {
            max_threads: toml.max_threads.unwrap_or(6),
            max_depth: toml.max_depth.unwrap_or(1),
            job_max_runtime: toml.job_max_runtime_seconds.map(Duration::from_secs),
            roles: toml.roles.into_iter().filter_map(role).collect(),
        }
    }
}

fn described(role: &RoleToml) -> Option<String> {
    role.description
        .clone()
        .filter(|description| !description.trim().is_empty())
}
