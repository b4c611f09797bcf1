//! Takes over what a user has set up for another agent, Claude Code: settings, skills, instructions.
//!
//! Only what is missing here is added; nothing that exists is changed.

mod directories;
mod place;
mod settings;
mod words;

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use quipu_config::Loader;
use quipu_config::edit::{EditError, WriteError};
use quipu_wire::{
    ExternalAgentConfigImportItemTypeSuccess, ExternalAgentConfigMigrationItem,
    ExternalAgentConfigMigrationItemType as Kind,
};

use place::Place;

/// The longest file that is read.
const MAX_BYTES: u64 = 16 * 1024 * 1024;

/// Why something cannot be taken over.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// The other agent's settings are not JSON.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    /// The other agent's settings are no object.
    #[error("external agent settings root must be an object")]
    NotAnObject,
    /// The present settings are not TOML.
    #[error("invalid existing config.toml: {0}")]
    Existing(String),
    /// A setting cannot be added to the present ones.
    #[error("the settings cannot be added: {0}")]
    Edit(#[from] EditError),
    /// The user's settings cannot be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// The disk does not do its part.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// What can be taken over: from the user's home if asked for, then from the repositories around `cwds`.
pub fn detect(
    config: &Loader,
    include_home: bool,
    cwds: &[PathBuf],
) -> Result<Vec<ExternalAgentConfigMigrationItem>, ImportError> {
    let home = include_home.then(|| Place::home(config)).flatten();
    let mut repositories: Vec<Place> = Vec::new();
    for place in cwds.iter().filter_map(|cwd| Place::repository(cwd)) {
        if !repositories.contains(&place) {
            repositories.push(place);
        }
    }
    let mut items = Vec::new();
    for place in home.iter().chain(&repositories) {
        items.extend(place.detect()?);
    }
    Ok(items)
}

/// Takes things over in order; the first that fails ends it. Returns what was taken over.
pub fn import(
    config: &Loader,
    items: &[ExternalAgentConfigMigrationItem],
) -> Result<Vec<ExternalAgentConfigImportItemTypeSuccess>, ImportError> {
    let mut imported = Vec::new();
    for item in items {
        let place = match &item.cwd {
            None => Place::home(config),
            Some(cwd) => Place::repository(Path::new(cwd)),
        };
        let Some(place) = place else { continue };
        let Some((from, to)) = place.import(config, item.item_type)? else {
            continue;
        };
        imported.push(ExternalAgentConfigImportItemTypeSuccess {
            item_type: item.item_type,
            cwd: item.cwd.clone(),
            source: Some(from.to_string_lossy().into_owned()),
            target: Some(to.to_string_lossy().into_owned()),
            title: None,
        });
    }
    Ok(imported)
}

impl Place {
    fn detect(&self) -> Result<Vec<ExternalAgentConfigMigrationItem>, ImportError> {
        let mut items = Vec::new();
        let mut add = |item_type, description: String| {
            let cwd = self.repository.as_deref();
            items.push(ExternalAgentConfigMigrationItem {
                item_type,
                description,
                cwd: cwd.map(|cwd| cwd.to_string_lossy().into_owned()),
            });
        };
        let (from, to) = (self.settings.from.display(), self.settings.to.display());
        if !settings::missing(&self.settings)?.is_empty() {
            add(Kind::CONFIG, format!("Migrate {from} into {to}"));
        }
        let (from, to) = (self.skills.from.display(), self.skills.to.display());
        if !directories::missing(&self.skills.from, &self.skills.to).is_empty() {
            add(
                Kind::SKILLS,
                format!("Copy skill directories from {from} to {to}"),
            );
        }
        if let Some(from) = self.instructions_to_import() {
            let (from, to) = (from.display(), self.instructions_to.display());
            add(Kind::AGENTSMD, format!("Import {from} to {to}"));
        }
        Ok(items)
    }

    /// Takes over what there is of a kind. Returns from where and to where, unless there was nothing.
    fn import(
        &self,
        config: &Loader,
        kind: Kind,
    ) -> Result<Option<(PathBuf, PathBuf)>, ImportError> {
        let way = match kind {
            Kind::CONFIG => {
                self.import_settings(config)?;
                &self.settings
            }
            Kind::SKILLS => {
                directories::copy_missing(&self.skills.from, &self.skills.to)?;
                &self.skills
            }
            Kind::AGENTSMD => return self.import_instructions(),
            _ => return Ok(None),
        };
        Ok(Some((way.from.clone(), way.to.clone())))
    }

    fn import_settings(&self, config: &Loader) -> Result<(), ImportError> {
        let edits = settings::missing(&self.settings)?;
        if edits.is_empty() {
            return Ok(());
        }
        if self.repository.is_none() {
            let request = quipu_config::edit::WriteRequest {
                edits,
                ..Default::default()
            };
            config.write(&request)?;
            return Ok(());
        }
        let before = read(&self.settings.to)?.unwrap_or_default();
        let after = quipu_config::edit::apply(&before, &edits)?;
        write(&self.settings.to, after.as_bytes())
    }

    /// The file with the instructions, if there are none here yet.
    fn instructions_to_import(&self) -> Option<PathBuf> {
        let is_blank = |path: &Path| match read(path) {
            Ok(text) => text.is_none_or(|text| text.trim().is_empty()),
            Err(_) => false,
        };
        if !is_blank(&self.instructions_to) {
            return None;
        }
        let mut sources = self.instructions_from.iter();
        sources
            .find(|path| path.is_file() && !is_blank(path))
            .cloned()
    }

    fn import_instructions(&self) -> Result<Option<(PathBuf, PathBuf)>, ImportError> {
        let Some(from) = self.instructions_to_import() else {
            return Ok(None);
        };
        let text = read(&from)?.unwrap_or_default();
        write(&self.instructions_to, words::rewrite(&text).as_bytes())?;
        Ok(Some((from, self.instructions_to.clone())))
    }
}

/// The text of a file; `None` if there is no such file.
fn read(path: &Path) -> Result<Option<String>, ImportError> {
    match quipu_disk::read_text(path, MAX_BYTES) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Puts a file in place in one step.
fn write(path: &Path, bytes: &[u8]) -> Result<(), ImportError> {
    let directory = path.parent().unwrap_or(Path::new("/"));
    fs::create_dir_all(directory)?;
    let mut file = ordinary_file(directory)?;
    file.write_all(bytes)?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}

/// A new file with the permissions of ordinary files, less what the user's mask takes away.
#[cfg(unix)]
fn ordinary_file(directory: &Path) -> io::Result<tempfile::NamedTempFile> {
    use std::os::unix::fs::PermissionsExt as _;
    tempfile::Builder::new()
        .permissions(fs::Permissions::from_mode(0o666))
        .tempfile_in(directory)
}

/// A new file with the permissions of its directory.
#[cfg(windows)]
fn ordinary_file(directory: &Path) -> io::Result<tempfile::NamedTempFile> {
    tempfile::NamedTempFile::new_in(directory)
}
