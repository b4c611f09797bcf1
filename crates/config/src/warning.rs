//! What clients are told about the configuration when they connect.

use std::sync::Arc;

use quipu_wire::{ConfigLayerSource, ConfigWarningNotification, TextPosition, TextRange};

use crate::document::{self, Position};
use crate::layer::Layer;
use crate::load::{LoadError, LoadRequest, Loader};
use crate::schema::{self, UnknownKey};
use crate::snapshot::Snapshot;

/// The configuration a server starts with.
#[derive(Debug)]
pub struct StartUp {
    /// The configuration; the built-in defaults when the files cannot be used.
    pub snapshot: Arc<Snapshot>,
    /// Why the files cannot be used.
    pub invalid: Option<ConfigWarningNotification>,
    /// Other warnings, in the order in which clients get them.
    pub warnings: Vec<ConfigWarningNotification>,
}

impl Loader {
    /// The configuration to start with. A mistake in a file leaves the defaults in force and is told to
    /// clients; a mistake on the command line is an error.
    pub fn start_up(&self) -> Result<StartUp, LoadError> {
        let (snapshot, invalid) = match self.load(&LoadRequest::default()) {
            Ok(snapshot) => (snapshot, None),
            Err(error) => (Arc::new(self.load_defaults()?), Some(invalid(&error))),
        };
        let warnings = warnings(&snapshot);
        Ok(StartUp {
            snapshot,
            invalid,
            warnings,
        })
    }
}

fn warnings(snapshot: &Snapshot) -> Vec<ConfigWarningNotification> {
    let mut warnings: Vec<_> = disabled_projects(snapshot).map(plain).into_iter().collect();
    warnings.extend(snapshot.notes().iter().cloned().map(plain));
    warnings.extend(snapshot.stack().enabled().filter_map(unknown_keys));
    warnings
}

fn invalid(error: &LoadError) -> ConfigWarningNotification {
    let mut warning = plain("Invalid configuration; using defaults.".to_owned());
    warning.details = Some(error.to_string());
    if let LoadError::Located {
        path, start, end, ..
    } = error
    {
        warning.path = Some(path.to_string_lossy().into_owned());
        warning.range = Some(TextRange {
            start: wire_position(*start),
            end: wire_position(*end),
        });
    }
    warning
}

fn disabled_projects(snapshot: &Snapshot) -> Option<String> {
    let disabled = snapshot
        .stack()
        .layers()
        .iter()
        .filter_map(|layer| match &layer.source {
            ConfigLayerSource::Project { dot_codex_folder } => {
                Some((dot_codex_folder.as_str(), layer.disabled_reason.as_ref()?))
            }
            _ => None,
        });
    let lines: String = disabled
        .enumerate()
        .map(|(index, (folder, reason))| format!("    {}. {folder}\n       {reason}\n", index + 1))
        .collect();
    (!lines.is_empty()).then(|| {
        format!(
            "Project config.toml files are disabled in the following folders. Settings in those files are \
             ignored, but skills and exec policies still load.\n{lines}"
        )
    })
}

/// One warning for all keys of a file that mean nothing, at the place of the first.
fn unknown_keys(layer: &Layer) -> Option<ConfigWarningNotification> {
    let unknown = schema::unknown_keys(&layer.config);
    let first = unknown.first()?;
    let list: Vec<String> = unknown.iter().map(describe).collect();
    let mut warning = plain(format!(
        "Ignoring unknown configuration keys: {}.",
        list.join(", ")
    ));
    if let Some(file) = &layer.file {
        warning.path = Some(file.path.to_string_lossy().into_owned());
        warning.range = document::locate_key(&file.text, &first.steps).map(|span| {
            let (start, end) = document::range(&file.text, &span);
            TextRange {
                start: wire_position(start),
                end: wire_position(end),
            }
        });
    }
    Some(warning)
}

fn describe(key: &UnknownKey) -> String {
    match key.nearest {
        Some(nearest) => format!("`{}` (did you mean `{nearest}`?)", key.path),
        None => format!("`{}`", key.path),
    }
}

fn plain(summary: String) -> ConfigWarningNotification {
    ConfigWarningNotification {
        summary,
        details: None,
        path: None,
        range: None,
    }
}

fn wire_position(position: Position) -> TextPosition {
    TextPosition {
        line: position.line,
        column: position.column,
    }
}
