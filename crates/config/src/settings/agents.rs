//! Agents that the model starts.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use serde::Deserialize;

use crate::files::Files;
use crate::load::LoadError;
use crate::snapshot::View;

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
    /// Works out the limits and roles. A role that makes no sense is left out, which `notes` then say.
    pub(crate) fn resolve(
        view: &View<'_>,
        files: &mut Files,
        notes: &mut Vec<String>,
    ) -> Result<Self, LoadError> {
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
        let mut roles = BTreeMap::new();
        for (name, toml) in toml.roles {
            match role(&name, toml, files) {
                Ok(role) => {
                    roles.insert(name, role);
                }
                Err(reason) => {
                    notes.push(format!(
                        "Ignoring malformed agent role definition: {reason}"
                    ));
                }
            }
        }
        Ok(Self {
            max_threads: toml.max_threads.unwrap_or(6),
            max_depth: toml.max_depth.unwrap_or(1),
            job_max_runtime: toml.job_max_runtime_seconds.map(Duration::from_secs),
            roles,
        })
    }
}

fn role(name: &str, toml: RoleToml, files: &mut Files) -> Result<AgentRole, String> {
    if toml
        .description
        .as_ref()
        .is_some_and(|text| text.trim().is_empty())
    {
        return Err(format!("agents.{name}.description cannot be blank"));
    }
    if let Some(path) = &toml.config_file {
        let place = format!("agents.{name}.config_file must point to");
        match files.metadata(path) {
            Ok(metadata) if metadata.is_file() => {}
            Ok(_) => return Err(format!("{place} a file: {}", path.display())),
            Err(error) => {
                return Err(format!(
                    "{place} an existing file at {}: {error}",
                    path.display()
                ));
            }
        }
    }
    if let Some(problem) = toml
        .nickname_candidates
        .as_deref()
        .and_then(nickname_problem)
    {
        return Err(format!("agents.{name}.nickname_candidates {problem}"));
    }
    let description = toml
        .description
        .ok_or_else(|| format!("agent role `{name}` must define a description"))?;
    let nickname_candidates = toml.nickname_candidates.unwrap_or_default();
    Ok(AgentRole {
        description,
        config_file: toml.config_file,
        nickname_candidates,
    })
}

fn nickname_problem(names: &[String]) -> Option<&'static str> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, ' ' | '-' | '_');
    if names.is_empty() {
        return Some("must contain at least one name");
    }
    if names.iter().any(|name| name.trim().is_empty()) {
        return Some("cannot contain blank names");
    }
    if names
        .iter()
        .enumerate()
        .any(|(index, name)| names[..index].contains(name))
    {
        return Some("cannot contain duplicates");
    }
    let odd = names.iter().any(|name| !name.chars().all(plain));
    odd.then_some("may only contain ASCII letters, digits, spaces, hyphens, and underscores")
}
