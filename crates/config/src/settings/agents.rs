//! Agents that the model starts.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::agent_roles::{self, AgentRole};
use crate::files::Files;
use crate::load::LoadError;
use crate::project::Project;
use crate::snapshot::View;

/// Agents that the model starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Agents {
    /// How many may be open at once.
    pub max_threads: usize,
    /// How deep agents may start agents.
    pub max_depth: i32,
    /// Roles by name.
    pub roles: BTreeMap<String, AgentRole>,
}

#[derive(Default, Deserialize)]
struct AgentsToml {
    max_threads: Option<usize>,
    max_depth: Option<i32>,
}

impl Agents {
    /// Works out the limits and roles. A role that makes no sense is left out, which `notes` then say.
    pub(crate) fn resolve(
        view: &View<'_>,
        project: Option<&Project>,
        files: &mut Files,
        notes: &mut Vec<String>,
    ) -> Result<Self, LoadError> {
        let toml: AgentsToml = view.table("agents");
        let below_one = |name: &str| {
            Err(LoadError::Invalid(format!(
                "agents.{name} must be at least 1"
            )))
        };
        if toml.max_threads == Some(0) {
            return below_one("max_threads");
        }
        if toml.max_depth.is_some_and(|depth| depth < 1) {
            return below_one("max_depth");
        }
        Ok(Self {
            max_threads: toml.max_threads.unwrap_or(6),
            max_depth: toml.max_depth.unwrap_or(1),
            roles: agent_roles::resolve(view.stack, project, files, notes),
        })
    }
}
