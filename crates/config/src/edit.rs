//! Edits of the user's configuration file.
//!
//! An edit is made on the text as it is at that moment, under a lock, checked as a whole, and put in
//! place in one step. Comments, order and everything that is not meant stay byte for byte.

mod document;

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use quipu_disk::Target;
use quipu_wire::{
    ConfigEdit, ConfigLayerSource, ConfigWriteResponse, MergeStrategy, OverriddenMetadata,
    WriteStatus,
};
use serde_json::Value;

use crate::features::Feature;
use crate::files::{Files, MAX_FILE_BYTES};
use crate::layer::{self, Stack};
use crate::load::{LoadError, Loader};
use crate::requirements::Requirements;
use crate::schema::{self, Mismatch, ROOT};
use crate::settings::{SkillSelector, SkillSwitch};
use crate::{Table, keypath};

pub use document::{EditError, apply};

/// One change to one setting. `Debug` does not show the value.
#[derive(Clone, PartialEq)]
pub struct Edit {
    /// The keys that lead to it.
    pub path: Vec<String>,
    /// Its new value; `null` deletes it.
    pub value: Value,
    /// What happens to a table that is there already.
    pub strategy: MergeStrategy,
}

impl Edit {
    /// Sets a value.
    pub fn set(path: &[&str], value: impl Into<Value>) -> Self {
        let path = path.iter().map(|key| (*key).to_owned()).collect();
        Self {
            path,
            value: value.into(),
            strategy: MergeStrategy::Replace,
        }
    }
}

impl fmt::Debug for Edit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Edit")
            .field("path", &self.path)
            .field("strategy", &self.strategy)
            .finish_non_exhaustive()
    }
}

impl TryFrom<&ConfigEdit> for Edit {
    type Error = EditError;

    fn try_from(edit: &ConfigEdit) -> Result<Self, EditError> {
        let path = if edit.key_path.is_empty() {
            Vec::new()
        } else {
            keypath::split(&edit.key_path)?
        };
        let value = edit.value.parse();
        Ok(Self {
            path,
            value: value.map_err(|error| EditError::Value(error.to_string()))?,
            strategy: edit.merge_strategy,
        })
    }
}

/// Changes to the file that are made together or not at all.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct WriteRequest {
    /// The changes, in order.
    pub edits: Vec<Edit>,
    /// The file the client means; only the user's own may be written.
    pub file_path: Option<String>,
    /// The version the client knows; another one is a conflict.
    pub expected_version: Option<String>,
}

/// Why nothing was written.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The file is not the user's.
    #[error("Only writes to the user config are allowed")]
    Readonly,
    /// Somebody else wrote in between.
    #[error("Configuration was modified since last read. Fetch latest version and retry.")]
    Conflict,
    /// An edit cannot be made.
    #[error(transparent)]
    Edit(#[from] EditError),
    /// The result would have a value of the wrong type.
    #[error("Invalid configuration: {0}")]
    Invalid(#[from] Mismatch),
    /// The result would break the administrator's limits.
    #[error("Invalid configuration: {0}")]
    Limits(String),
    /// The present file cannot be used.
    #[error("failed to load configuration: {0}")]
    Load(#[from] LoadError),
    /// There is an MCP server of this name already.
    #[error("there is another MCP server called `{0}`")]
    Taken(String),
    /// The result could not be stored; the file is as before.
    #[error("failed to persist config.toml: {0}")]
    Persist(#[from] io::Error),
}

impl WriteError {
    /// The machine-readable code in the error's data; `None` for faults that are not the client's.
    pub fn code(&self) -> Option<&'static str> {
        match self {
            WriteError::Readonly => Some("configLayerReadonly"),
            WriteError::Conflict => Some("configVersionConflict"),
            WriteError::Edit(EditError::NotFound) => Some("configPathNotFound"),
            WriteError::Edit(_) | WriteError::Invalid(_) | WriteError::Limits(_) => {
                Some("configValidationError")
            }
            WriteError::Taken(_) | WriteError::Load(_) | WriteError::Persist(_) => None,
        }
    }
}

impl Loader {
    /// Makes changes to the user's file.
    pub fn write(&self, request: &WriteRequest) -> Result<ConfigWriteResponse, WriteError> {
        let file_path = self.writable_path(request.file_path.as_deref())?;
        request.edits.iter().try_for_each(check_paths)?;
        let expected = request.expected_version.as_deref();
        let stack = self.change_user_file(expected, |text| apply(text, &request.edits))?;
        let overridden = request
            .edits
            .iter()
            .find_map(|edit| overridden(&stack, &edit.path));
        let version = stack
            .user()
            .map(|layer| layer.version.clone())
            .unwrap_or_default();
        Ok(ConfigWriteResponse {
            status: if overridden.is_some() {
                WriteStatus::OkOverridden
            } else {
                WriteStatus::Ok
            },
            version,
            file_path: crate::load::wire_path(&file_path)?,
            overridden_metadata: overridden,
        })
    }

    /// Switches a skill on or off. On is the rule, so switching on removes the entry.
    pub fn set_skill(&self, switch: &SkillSwitch) -> Result<(), WriteError> {
        let (key, value) = match &switch.selector {
            SkillSelector::Path(path) => ("path", path.to_string_lossy().into_owned()),
            SkillSelector::Name(name) => ("name", name.clone()),
        };
        self.home().ensure()?;
        change_text(&self.home().config_file(), |text| {
            document::set_skill(text, key, &value, switch.enabled)
        })
    }

    /// Keeps that a tool of an MCP server may be called without asking: in the project's file if that is
    /// where the server is configured, else in the user's.
    pub fn approve_mcp_tool(
        &self,
        stack: &Stack,
        server: &str,
        tool: &str,
    ) -> Result<(), WriteError> {
        let edit = Edit::set(
            &["mcp_servers", server, "tools", tool, "approval_mode"],
            "approve",
        );
        let place = ["mcp_servers".to_owned(), server.to_owned()];
        let in_project = stack.enabled().rev().find(|layer| {
            matches!(layer.source, ConfigLayerSource::Project { .. })
                && layer::get(&layer.config, &place).is_some()
        });
        let Some(file) = in_project.and_then(|layer| layer.file.as_ref()) else {
            self.change_user_file(None, |text| apply(text, &[edit]))?;
            return Ok(());
        };
        change_text(&file.path, |text| apply(text, &[edit]))
    }

    /// Adds an MCP server to the user's file, unless that has one of the name. `address` is the key that says how it is
    /// reached, and its value.
    pub fn add_mcp_server(
        &self,
        name: &str,
        address: Option<(&str, &str)>,
    ) -> Result<(), WriteError> {
        let Some((key, value)) = address else {
            return Ok(());
        };
        let place = ["mcp_servers".to_owned(), name.to_owned()];
        let stack = self.layers(None)?;
        if layer::get(&stack.merged(), &place).is_some() {
            return Err(WriteError::Taken(name.to_owned()));
        }
        let edit = Edit::set(&["mcp_servers", name, key], value);
        self.change_user_file(None, |text| apply(text, &[edit]))?;
        Ok(())
    }

    /// Saves in the user's file that a tool of an app may be called without asking.
    pub fn approve_app_tool(&self, app: &str, tool: &str) -> Result<(), WriteError> {
        let edit = Edit::set(&["apps", app, "tools", tool, "approval_mode"], "approve");
        self.change_user_file(None, |text| apply(text, &[edit]))?;
        Ok(())
    }

    /// Changes the text of the user's file under a lock and gives the layers as they are then.
    fn change_user_file(
        &self,
        expected_version: Option<&str>,
        change: impl FnOnce(&str) -> Result<String, EditError>,
    ) -> Result<Stack, WriteError> {
        self.home().ensure()?;
        let target = Target::lock(&self.home().config_file())?;
        let mut stack = self.layers(None)?;
        let limits = self.limits(&mut Files::default(), stack.managed())?;
        let user = stack.user_mut().ok_or(WriteError::Readonly)?;
        if expected_version.is_some_and(|expected| expected != user.version) {
            return Err(WriteError::Conflict);
        }
        let before = user
            .file
            .as_ref()
            .map(|file| file.text.clone())
            .unwrap_or_default();
        let after = change(&before)?;
        *user = self.user_layer_from(after.clone())?;
        schema::check(&ROOT, &user.config)?;
        let config = user.config.clone();
        check_features(&config, &limits)?;
        schema::check(&ROOT, &stack.merged())?;
        if after != before {
            target.replace(after.as_bytes())?;
        }
        Ok(stack)
    }

    /// The path to report: the given one, if it is the user's file.
    fn writable_path(&self, given: Option<&str>) -> Result<PathBuf, WriteError> {
        let user = self.home().config_file();
        let Some(given) = given else { return Ok(user) };
        let given = self.absolute(Path::new(given));
        let same_directory = || {
            let canonical = |path: &Path| path.parent()?.canonicalize().ok();
            given.file_name() == user.file_name() && canonical(&given) == canonical(&user)
        };
        if given == user || same_directory() {
            Ok(given)
        } else {
            Err(WriteError::Readonly)
        }
    }
}

/// Changes the text of a file under a lock, whatever its settings are worth.
fn change_text(
    path: &Path,
    change: impl FnOnce(&str) -> Result<String, EditError>,
) -> Result<(), WriteError> {
    let target = Target::lock(path)?;
    let before = match quipu_disk::read_text(path, MAX_FILE_BYTES) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        read => read?,
    };
    let after = change(&before)?;
    if after != before {
        target.replace(after.as_bytes())?;
    }
    Ok(())
}

/// Whether the paths of a change are absolute. A client does not write from the directory of the file.
fn check_paths(edit: &Edit) -> Result<(), Mismatch> {
    let nested = edit
        .path
        .iter()
        .rev()
        .fold(edit.value.clone(), |value, key| {
            Value::Object(Table::from_iter([(key.clone(), value)]))
        });
    let relative = nested.as_object();
    let Some(named) = relative.and_then(|table| schema::relative_path(&ROOT, table)) else {
        return Ok(());
    };
    let message = "AbsolutePathBuf deserialized without a base path".to_owned();
    Err(Mismatch {
        in_file: message.clone(),
        message,
        named,
        steps: Vec::new(),
    })
}

/// Whether the features of the file are as the administrator wants them.
fn check_features(config: &Table, limits: &Requirements) -> Result<(), WriteError> {
    let Some(limit) = &limits.features else {
        return Ok(());
    };
    limits
        .check_features()
        .map_err(|error| WriteError::Limits(error.to_string()))?;
    let profiles = config.get("profiles").and_then(Value::as_object);
    let mut tables = vec![("features".to_owned(), config.get("features"))];
    for (name, profile) in profiles.into_iter().flatten() {
        tables.push((format!("profiles.{name}.features"), profile.get("features")));
    }
    for (place, table) in tables {
        for (name, value) in table.and_then(Value::as_object).into_iter().flatten() {
            let Some(feature) = Feature::named(name) else {
                continue;
            };
            let pinned = limit.value.get(feature.name());
            if pinned.is_some_and(|pinned| Some(*pinned) != value.as_bool()) {
                let allowed: Vec<String> = limit
                    .value
                    .iter()
                    .map(|(name, on)| format!("{name}={on}"))
                    .collect();
                return Err(WriteError::Limits(format!(
                    "invalid value for `features`: `{place}.{name}={value}` is not in the allowed set [{}] \
                     (set by {})",
                    allowed.join(", "),
                    limit.source
                )));
            }
        }
    }
    Ok(())
}

/// Says which layer decides about a setting when it is not the user's.
fn overridden(stack: &Stack, path: &[String]) -> Option<OverriddenMetadata> {
    let merged = stack.merged();
    let effective = layer::get(&merged, path);
    let own = stack
        .user()
        .and_then(|layer| layer::get(&layer.config, path));
    if own == effective {
        return None;
    }
    let layer = stack.highest_with(path)?;
    Some(OverriddenMetadata {
        message: override_message(&layer.source),
        overriding_layer: layer.metadata(),
        effective_value: effective.cloned().unwrap_or_default().into(),
    })
}

fn override_message(source: &ConfigLayerSource) -> String {
    match source {
        ConfigLayerSource::Mdm { domain, .. } => {
            format!("Overridden by managed policy (MDM): {domain}")
        }
        ConfigLayerSource::System { file } => {
            format!("Overridden by managed config (system): {}", file.as_str())
        }
        ConfigLayerSource::User { file } => format!("Overridden by user config: {}", file.as_str()),
        ConfigLayerSource::Project { dot_codex_folder } => {
            format!(
                "Overridden by project config: {}/config.toml",
                dot_codex_folder.as_str()
            )
        }
        ConfigLayerSource::LegacyManagedConfigTomlFromFile { file } => {
            format!(
                "Overridden by legacy managed_config.toml: {}",
                file.as_str()
            )
        }
        ConfigLayerSource::LegacyManagedConfigTomlFromMdm => {
            "Overridden by legacy managed configuration from MDM".to_owned()
        }
        _ => "Overridden by session flags".to_owned(),
    }
}
