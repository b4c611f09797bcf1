//! What clients are warned of about the configuration when they connect.

use std::sync::Arc;

use quipu_wire::{ConfigLayerSource, ConfigWarningNotification, TextPosition, TextRange};

use crate::document::{self, Position};
use crate::features::Feature;
use crate::layer::Layer;
use crate::load::{LoadError, LoadRequest, Loader};
use crate::schema::{self, IgnoredKey, ROOT, Why};
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
    /// The configuration to start with. A mistake in a file leaves the defaults in force and is reported to
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
    warnings.extend(snapshot.stack().enabled().flat_map(ignored_keys));
    warnings.extend(unstable_features(snapshot).map(plain));
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
        .map(|(index, (directory, reason))| {
            format!("    {}. {directory}\n       {reason}\n", index + 1)
        })
        .collect();
    (!lines.is_empty()).then(|| {
        format!(
            "Project config.toml files are disabled in the following folders. Settings in those files are \
             ignored, but skills and exec policies still load.\n{lines}"
        )
    })
}

/// At most two warnings for the keys of a file that do nothing: one for unknown keys, one for those without
/// effect. Each points at the first of its keys.
fn ignored_keys(layer: &Layer) -> impl Iterator<Item = ConfigWarningNotification> {
    let ignored = schema::ignored_keys(&ROOT, &layer.config);
    let (useless, unknown): (Vec<_>, Vec<_>) = ignored
        .into_iter()
        .partition(|key| key.why == Why::NoEffect);
    let unknown = listed("Ignoring unknown configuration keys", &unknown, layer);
    let useless = listed("Settings without effect in this program", &useless, layer);
    unknown.into_iter().chain(useless)
}

fn listed(text: &str, keys: &[IgnoredKey], layer: &Layer) -> Option<ConfigWarningNotification> {
    let first = keys.first()?;
    let list: Vec<String> = keys.iter().map(describe).collect();
    let mut warning = plain(format!("{text}: {}.", list.join(", ")));
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

fn describe(key: &IgnoredKey) -> String {
    match key.why {
        Why::Unknown {
            nearest: Some(nearest),
        } => format!("`{}` (did you mean `{nearest}`?)", key.path),
        Why::Unknown { nearest: None } | Why::NoEffect => format!("`{}`", key.path),
    }
}

/// Features that are on although they are under development, unless the user knows.
fn unstable_features(snapshot: &Snapshot) -> Option<String> {
    if snapshot.get("suppress_unstable_features_warning") == Some(true) {
        return None;
    }
    let names: Vec<_> = snapshot.features().unstable().map(Feature::name).collect();
    (!names.is_empty()).then(|| {
        format!(
            "Features under development are on: {}. They are incomplete and may change. Set \
             `suppress_unstable_features_warning = true` to hide this warning.",
            names.join(", ")
        )
    })
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
