//! Reads limits from `requirements.toml` and from the older `managed_config.toml`.

use std::collections::BTreeMap;

use quipu_wire::{AskForApproval, ResidencyRequirement, WebSearchMode};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::rules::RulesError;
use super::{AllowedSandbox, Limit, McpIdentity, Requirements, Source};
use crate::Table;
use crate::document::{self, Mistake};
use crate::features::Feature;
use crate::schema::{self, REQUIREMENTS};

/// What is wrong with limits.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RequirementsError {
    /// The file is not TOML, or a value in it has the wrong type.
    #[error("Error parsing requirements file {source_name}: {excerpt}")]
    Syntax {
        /// The file.
        source_name: String,
        /// The mistake, with the line it is on.
        excerpt: String,
    },
    /// A list that must have members has none.
    #[error("field `{0}` cannot be empty")]
    Empty(&'static str),
    /// `read-only` cannot be forbidden.
    #[error(
        "invalid value for `allowed_sandbox_modes`: `{modes}` is not in the allowed set must include \
         'read-only' to allow any SandboxPolicy (set by {source_name})"
    )]
    WithoutReadOnly {
        /// What is allowed.
        modes: String,
        /// Who says so.
        source_name: String,
    },
    /// A pinned feature does not exist.
    #[error("invalid `features` requirement `{name}` from {source_name}{hint}")]
    Feature {
        /// Its name.
        name: String,
        /// Who pins it.
        source_name: String,
        /// What it is called now, if that is the trouble.
        hint: String,
    },
    /// A rule that makes no sense.
    #[error("invalid rules in requirements (set by {source_name}): {error}")]
    Rules {
        /// Who sets it.
        source_name: String,
        /// What is wrong.
        error: RulesError,
    },
}

/// Reads `requirements.toml`.
pub fn from_toml(text: &str, source: &Source) -> Result<Requirements, RequirementsError> {
    let table = document::parse(text).map_err(|mistake| syntax(text, source, &mistake))?;
    schema::check(&REQUIREMENTS, &table).map_err(|mismatch| {
        let span = document::locate(text, &mismatch.steps).unwrap_or(0..0);
        syntax(
            text,
            source,
            &Mistake {
                message: mismatch.in_file,
                span,
            },
        )
    })?;
    from_table(&table, source)
}

/// The limits that the older `managed_config.toml` implies: its values are the only ones.
pub fn from_managed(config: &Table, source: &Source) -> Requirements {
    let approval: Option<AskForApproval> = value(config, "approval_policy");
    let sandbox: Option<AllowedSandbox> = config.get("sandbox_mode").and_then(allowed_sandbox);
    let limit_modes = |mode: AllowedSandbox| match mode {
        AllowedSandbox::ReadOnly => vec![mode],
        other => vec![AllowedSandbox::ReadOnly, other],
    };
    Requirements {
        approval_policies: approval.map(|policy| limit(vec![policy], source)),
        sandbox_modes: sandbox.map(|mode| limit(limit_modes(mode), source)),
        ..Requirements::default()
    }
}

fn from_table(table: &Table, source: &Source) -> Result<Requirements, RequirementsError> {
    let approval_policies: Option<Vec<AskForApproval>> = value(table, "allowed_approval_policies");
    if approval_policies.as_ref().is_some_and(Vec::is_empty) {
        return Err(RequirementsError::Empty("allowed_approval_policies"));
    }
    let features: Option<BTreeMap<String, bool>> =
        value(table, "features").or_else(|| value(table, "feature_requirements"));
    let rules = super::rules::from_table(table).map_err(|error| RequirementsError::Rules {
        source_name: source.to_string(),
        error,
    })?;
    let residency: Option<ResidencyRequirement> = value(table, "enforce_residency");
    let guardian: Option<String> = value(table, "guardian_developer_instructions");
    Ok(Requirements {
        approval_policies: approval_policies.map(|value| limit(value, source)),
        sandbox_modes: sandbox_modes(table, source)?.map(|value| limit(value, source)),
        web_search_modes: web_search_modes(table).map(|value| limit(value, source)),
        features: features.map(|value| limit(value, source)),
        mcp_servers: mcp_servers(table).map(|value| limit(value, source)),
        apps: apps(table),
        rules: rules.map(|value| limit(value, source)),
        residency: residency.map(|value| limit(value, source)),
        guardian_instructions: guardian.map(|value| limit(value, source)),
        network: super::network::from_table(table).map(|value| limit(value, source)),
    })
}

impl Requirements {
    /// Whether every pinned feature exists.
    pub(crate) fn check_features(&self) -> Result<(), RequirementsError> {
        let Some(limit) = &self.features else {
            return Ok(());
        };
        for name in limit.value.keys() {
            if Feature::canonical(name).is_none() {
                let hint = Feature::named(name)
                    .map(|feature| format!(": use canonical feature key `{}`", feature.name()));
                return Err(RequirementsError::Feature {
                    name: name.clone(),
                    source_name: limit.source.to_string(),
                    hint: hint.unwrap_or_default(),
                });
            }
        }
        Ok(())
    }
}

fn sandbox_modes(
    table: &Table,
    source: &Source,
) -> Result<Option<Vec<AllowedSandbox>>, RequirementsError> {
    let Some(Value::Array(names)) = table.get("allowed_sandbox_modes") else {
        return Ok(None);
    };
    let modes: Vec<AllowedSandbox> = names.iter().filter_map(allowed_sandbox).collect();
    if modes.contains(&AllowedSandbox::ReadOnly) {
        return Ok(Some(modes));
    }
    let modes = format!("{modes:?}");
    Err(RequirementsError::WithoutReadOnly {
        modes,
        source_name: source.to_string(),
    })
}

fn allowed_sandbox(value: &Value) -> Option<AllowedSandbox> {
    match value.as_str()? {
        "read-only" => Some(AllowedSandbox::ReadOnly),
        "workspace-write" => Some(AllowedSandbox::WorkspaceWrite),
        "danger-full-access" => Some(AllowedSandbox::DangerFullAccess),
        "external-sandbox" => Some(AllowedSandbox::ExternalSandbox),
        _ => None,
    }
}

/// Not to search is always allowed.
fn web_search_modes(table: &Table) -> Option<Vec<WebSearchMode>> {
    let mut modes: Vec<WebSearchMode> = value(table, "allowed_web_search_modes")?;
    if !modes.contains(&WebSearchMode::Disabled) {
        modes.push(WebSearchMode::Disabled);
    }
    Some(modes)
}

fn mcp_servers(table: &Table) -> Option<BTreeMap<String, McpIdentity>> {
    let servers = table.get("mcp_servers")?.as_object()?;
    let identity = |server: &Value| {
        let identity = server.get("identity")?;
        let text = |key: &str| identity.get(key).and_then(Value::as_str).map(str::to_owned);
        text("command")
            .map(McpIdentity::Command)
            .or_else(|| text("url").map(McpIdentity::Url))
    };
    Some(
        servers
            .iter()
            .filter_map(|(name, server)| Some((name.clone(), identity(server)?)))
            .collect(),
    )
}

fn apps(table: &Table) -> BTreeMap<String, bool> {
    let apps = table.get("apps").and_then(Value::as_object);
    let enabled = |app: &Value| app.get("enabled").and_then(Value::as_bool);
    apps.into_iter()
        .flatten()
        .filter_map(|(id, app)| Some((id.clone(), enabled(app)?)))
        .collect()
}

/// A value of the file as a type; the file has been checked before.
fn value<T: DeserializeOwned>(table: &Table, key: &str) -> Option<T> {
    serde_json::from_value(table.get(key)?.clone()).ok()
}

fn limit<T>(value: T, source: &Source) -> Limit<T> {
    Limit {
        value,
        source: source.clone(),
    }
}

fn syntax(text: &str, source: &Source, mistake: &Mistake) -> RequirementsError {
    let excerpt = document::excerpt(text, mistake);
    RequirementsError::Syntax {
        source_name: source.to_string(),
        excerpt,
    }
}
