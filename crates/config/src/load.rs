//! Reads layers and limits, and makes snapshots of the configuration from them.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard};
use quipu_wire::{AbsolutePath, ConfigLayerSource};

use crate::cloud::{CloudError, CloudLimits};
use crate::document::{self, Mistake, Position};
use crate::env::Env;
use crate::features::{Enablement, EnablementError, check_enablement};
use crate::files::Files;
use crate::home::Home;
use crate::layer::{Layer, SourceFile, Stack};
use crate::overrides::Overrides;
use crate::project::{NotAList, PROJECT_DIRECTORY, Project, Trust, root_markers};
use crate::requirements::RequirementsError;
use crate::schema::{self, Mismatch, ROOT};
use crate::snapshot::{Snapshot, listed};
use crate::{Table, layer};

/// So many directories keep their snapshot at once.
const MAX_CACHED: usize = 64;

/// Why there is no configuration. The texts are those clients know.
#[derive(Debug, Clone, thiserror::Error)]
pub enum LoadError {
    /// A mistake at a place in a file.
    #[error("{}:{}:{}: {message}", path.display(), start.line, start.column)]
    Located {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        message: String,
        /// The first character of the mistake.
        start: Position,
        /// Its last character.
        end: Position,
    },
    /// A project's file is not TOML.
    #[error("Error parsing project config file {}: {excerpt}", path.display())]
    ProjectSyntax {
        /// The file.
        path: PathBuf,
        /// The mistake, with the line it is on.
        excerpt: String,
    },
    /// A file cannot be read.
    #[error("Failed to read config file {}: {error}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        error: Arc<io::Error>,
    },
    /// A value from the command line or a request has the wrong type.
    #[error(transparent)]
    Mismatch(#[from] Mismatch),
    /// `project_root_markers` is no list.
    #[error(transparent)]
    Markers(#[from] NotAList),
    /// The administrator's limits make no sense.
    #[error(transparent)]
    Requirements(#[from] RequirementsError),
    /// The limits of the organisation's account are not known.
    #[error(transparent)]
    Cloud(#[from] CloudError),
    /// The profile in force does not exist.
    #[error("config profile `{name}` not found; {}", listed(known))]
    NoProfile {
        /// Its name.
        name: String,
        /// Those that exist.
        known: Vec<String>,
    },
    /// The provider in force does not exist.
    #[error("Model provider `{id}` not found; there are: {}", known.join(", "))]
    NoProvider {
        /// What was asked for.
        id: String,
        /// What there is.
        known: Vec<String>,
    },
    /// A setting contradicts others, or names a file that cannot be used.
    #[error("{0}")]
    Invalid(String),
}

/// The directory that only the administrator can write to.
pub const SYSTEM_DIRECTORY: &str = if cfg!(windows) {
    r"C:\Program Files\codex"
} else {
    "/etc/codex"
};

/// Where the administrator's files are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SystemPaths {
    /// Settings below the user's.
    pub config: PathBuf,
    /// Settings above everybody's, in the older way.
    pub managed: PathBuf,
    /// Limits.
    pub requirements: PathBuf,
}

impl SystemPaths {
    /// The usual places; `CODEX_APP_SERVER_MANAGED_CONFIG_PATH` moves the managed file.
    pub fn from_env(env: &Env) -> Self {
        let usual = Self::in_directory(Path::new(SYSTEM_DIRECTORY));
        let managed = env.get("CODEX_APP_SERVER_MANAGED_CONFIG_PATH");
        Self {
            managed: managed.map_or(usual.managed, PathBuf::from),
            ..usual
        }
    }

    /// All of them in one directory.
    pub fn in_directory(directory: &Path) -> Self {
        Self {
            config: directory.join("config.toml"),
            managed: directory.join("managed_config.toml"),
            requirements: directory.join("requirements.toml"),
        }
    }
}

/// What a snapshot is wanted for.
#[derive(Clone, Copy, Default)]
pub struct LoadRequest<'a> {
    /// The directory to work in; the server's own when absent.
    pub cwd: Option<&'a Path>,
    /// Settings that came with the request, over the flags of the process.
    pub overrides: Option<&'a Overrides>,
    /// Settings that came as members of the request. They win over profiles; `null` unsets.
    pub chosen: Option<&'a Table>,
}

/// Reads the configuration, as often as it changes.
#[derive(Debug)]
pub struct Loader {
    env: Env,
    home: Home,
    system: SystemPaths,
    flags: Overrides,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
pub(crate) struct State {
    pub(crate) cloud: CloudLimits,
    enablement: Enablement,
    cache: HashMap<PathBuf, Arc<Snapshot>>,
    /// Grows with every change of the above, so that a snapshot made meanwhile is not kept.
    generation: u64,
}

impl State {
    pub(crate) fn changed(&mut self) {
        self.cache.clear();
        self.generation += 1;
    }
}

/// What one reading of the files gave.
pub(crate) struct Reading {
    pub stack: Stack,
    pub project: Option<Project>,
    pub trust: Option<Trust>,
    pub files: Files,
}

impl Loader {
    /// A loader for this environment. `flags` come from the command line.
    pub fn new(env: Env, home: Home, flags: Overrides) -> Self {
        let system = SystemPaths::from_env(&env);
        Self::with_system_paths(env, home, flags, system)
    }

    /// A loader that looks for the administrator's files elsewhere.
    pub fn with_system_paths(env: Env, home: Home, flags: Overrides, system: SystemPaths) -> Self {
        Self {
            env,
            home,
            system,
            flags,
            state: Mutex::default(),
        }
    }

    /// The environment.
    pub fn env(&self) -> &Env {
        &self.env
    }

    /// The settings of the command line.
    pub(crate) fn flags(&self) -> &Overrides {
        &self.flags
    }

    /// The home directory.
    pub fn home(&self) -> &Home {
        &self.home
    }

    /// Switches features until the process ends.
    pub fn set_enablement(&self, enablement: &Enablement) -> Result<(), EnablementError> {
        check_enablement(enablement)?;
        let mut state = self.state();
        state
            .enablement
            .extend(enablement.iter().map(|(name, on)| (name.clone(), *on)));
        state.changed();
        Ok(())
    }

    /// The configuration for a request. Without overrides, the last snapshot is given as long as no
    /// file changed.
    pub fn load(&self, request: &LoadRequest<'_>) -> Result<Arc<Snapshot>, LoadError> {
        let cwd = self.absolute(request.cwd.unwrap_or(Path::new("")));
        let plain = request.overrides.is_none_or(Overrides::is_empty)
            && request.chosen.is_none_or(Table::is_empty);
        if !plain {
            return self.load_fresh(&cwd, request).map(Arc::new);
        }
        let (cached, generation) = {
            let state = self.state();
            (state.cache.get(&cwd).cloned(), state.generation)
        };
        if let Some(snapshot) = cached.filter(|snapshot| snapshot.is_current()) {
            return Ok(snapshot);
        }
        let snapshot = Arc::new(self.load_fresh(&cwd, request)?);
        let mut state = self.state();
        if state.cache.len() >= MAX_CACHED {
            state.cache.clear();
        }
        if state.generation == generation {
            state.cache.insert(cwd, Arc::clone(&snapshot));
        }
        Ok(snapshot)
    }

    /// The configuration of the server's own directory; the defaults while its files cannot be used.
    pub fn load_or_defaults(&self) -> Result<Arc<Snapshot>, LoadError> {
        self.load(&LoadRequest::default())
            .or_else(|_| self.load_defaults().map(Arc::new))
    }

    fn load_fresh(&self, cwd: &Path, request: &LoadRequest<'_>) -> Result<Snapshot, LoadError> {
        let mut flags = self.flags.clone();
        if let Some(overrides) = request.overrides {
            flags.extend(overrides);
        }
        let mut reading = self.read_layers(Some(cwd), &flags)?;
        let requirements = self.limits(&mut reading.files, reading.stack.managed())?;
        let chosen = request.chosen.cloned().unwrap_or_default();
        Snapshot::new(self, cwd, reading, requirements, chosen)
    }

    /// The built-in defaults, the flags and the limits, for when the files cannot be used.
    pub(crate) fn load_defaults(&self) -> Result<Snapshot, LoadError> {
        let cwd = self.env.cwd();
        let mut stack = Stack::default();
        if let Some(layer) = self.flags_layer(Some(cwd), &self.flags) {
            stack.push(layer);
        }
        let mut files = Files::default();
        let requirements = self.limits_or_strictest(&mut files);
        let reading = Reading {
            stack,
            project: None,
            trust: None,
            files,
        };
        Snapshot::new(self, cwd, reading, requirements, Table::new())
    }

    /// The layers for a directory; without one, no project counts.
    pub(crate) fn layers(&self, cwd: Option<&Path>) -> Result<Stack, LoadError> {
        self.read_layers(cwd, &self.flags)
            .map(|reading| reading.stack)
    }

    pub(crate) fn system(&self) -> &SystemPaths {
        &self.system
    }

    pub(crate) fn enablement(&self) -> Enablement {
        self.state().enablement.clone()
    }

    /// A path as the server's directory sees it.
    pub(crate) fn absolute(&self, path: &Path) -> PathBuf {
        schema::normalized(&self.env.cwd().join(path))
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        // The state is whole at every moment, so a panic elsewhere cannot have left it half-changed.
        self.state.lock()
    }

    pub(crate) fn read_layers(
        &self,
        cwd: Option<&Path>,
        flags: &Overrides,
    ) -> Result<Reading, LoadError> {
        let mut files = Files::default();
        let mut stack = Stack::default();
        let system = self.system.config.clone();
        let source = ConfigLayerSource::System {
            file: wire_path(&system)?,
        };
        stack.push(self.file_layer(&mut files, system, source)?);
        stack.push(self.user_layer(&mut files)?);
        let flags_layer = self.flags_layer(cwd, flags);
        let (mut project, mut trust) = (None, None);
        if let Some(cwd) = cwd {
            let mut base = stack.merged();
            if let Some(flags) = &flags_layer {
                layer::merge(&mut base, &flags.config);
            }
            let markers =
                root_markers(&base).or_else(|error| match schema::check(&ROOT, &base) {
                    // The check of the whole will explain it better.
                    Err(_) if flags_layer.is_none() => Ok(Vec::new()),
                    _ => Err(error),
                })?;
            let found = Project::find(&mut files, cwd, &markers, &base);
            self.push_project(&mut files, &mut stack, &found, &base)?;
            trust = found.trust(&base);
            project = Some(found);
        }
        if let Some(layer) = flags_layer {
            stack.push(layer);
        }
        if let Some(layer) = self.managed_layer(&mut files)? {
            stack.push(layer);
        }
        Ok(Reading {
            stack,
            project,
            trust,
            files,
        })
    }

    pub(crate) fn managed_layer(&self, files: &mut Files) -> Result<Option<Layer>, LoadError> {
        let path = self.system.managed.clone();
        if !files.exists(&path) {
            return Ok(None);
        }
        let file = wire_path(&path)?;
        let source = ConfigLayerSource::LegacyManagedConfigTomlFromFile { file };
        self.file_layer(files, path, source).map(Some)
    }

    pub(crate) fn user_layer(&self, files: &mut Files) -> Result<Layer, LoadError> {
        let path = self.home.config_file();
        let source = ConfigLayerSource::User {
            file: wire_path(&path)?,
        };
        self.file_layer(files, path, source)
    }

    /// A layer from the text of the user's file.
    pub(crate) fn user_layer_from(&self, text: String) -> Result<Layer, LoadError> {
        let path = self.home.config_file();
        let source = ConfigLayerSource::User {
            file: wire_path(&path)?,
        };
        self.parsed_layer(SourceFile { path, text }, source)
    }

    fn flags_layer(&self, cwd: Option<&Path>, flags: &Overrides) -> Option<Layer> {
        let mut table = flags.table().clone();
        self.resolve_paths(&mut table, cwd.unwrap_or(self.home.path()));
        let layer = Layer::new(ConfigLayerSource::SessionFlags, table, None);
        (!flags.is_empty()).then_some(layer)
    }

    /// The layer of a file, empty when there is no file.
    fn file_layer(
        &self,
        files: &mut Files,
        path: PathBuf,
        source: ConfigLayerSource,
    ) -> Result<Layer, LoadError> {
        let text = read(files, &path)?.unwrap_or_default();
        self.parsed_layer(SourceFile { path, text }, source)
    }

    fn parsed_layer(
        &self,
        file: SourceFile,
        source: ConfigLayerSource,
    ) -> Result<Layer, LoadError> {
        let mut table = document::parse(&file.text).map_err(|mistake| located(&file, mistake))?;
        self.resolve_paths(&mut table, file.path.parent().unwrap_or(Path::new("/")));
        Ok(Layer::new(source, table, Some(file)))
    }

    fn push_project(
        &self,
        files: &mut Files,
        stack: &mut Stack,
        project: &Project,
        base: &Table,
    ) -> Result<(), LoadError> {
        let user_file = self.home.config_file();
        for dir in project.directories() {
            let directory = dir.join(PROJECT_DIRECTORY);
            if directory == self.home.path() || !files.is_dir(&directory) {
                continue;
            }
            let path = directory.join("config.toml");
            let source = ConfigLayerSource::Project {
                dot_codex_folder: wire_path(&directory)?,
            };
            let text = read(files, &path)?;
            let reason = text
                .as_ref()
                .and_then(|_| project.distrust(dir, base, &user_file));
            let file = SourceFile {
                path,
                text: text.unwrap_or_default(),
            };
            let table = match document::parse(&file.text) {
                Ok(table) => table,
                // Nobody vouches for this file, so it must not get in the way either.
                Err(_) if reason.is_some() => Table::new(),
                Err(mistake) => {
                    let excerpt = document::excerpt(&file.text, &mistake);
                    return Err(LoadError::ProjectSyntax {
                        path: file.path,
                        excerpt,
                    });
                }
            };
            let mut table = table;
            self.resolve_paths(&mut table, &directory);
            let mut layer = Layer::new(source, table, Some(file));
            layer.disabled_reason = reason;
            stack.push(layer);
        }
        Ok(())
    }

    fn resolve_paths(&self, table: &mut Table, base: &Path) {
        schema::resolve_paths(&ROOT, table, base, self.env.user_home());
    }
}

/// Checks the merged settings. A mistake is shown in the lowest file that has it by itself.
pub(crate) fn check_stack(stack: &Stack, merged: &Table) -> Result<(), LoadError> {
    let Err(mismatch) = schema::check(&ROOT, merged) else {
        return Ok(());
    };
    for layer in stack.enabled() {
        let (Some(file), Err(mismatch)) = (&layer.file, schema::check(&ROOT, &layer.config)) else {
            continue;
        };
        let span = document::locate(&file.text, &mismatch.steps).unwrap_or(0..0);
        return Err(located(
            file,
            Mistake {
                message: mismatch.in_file,
                span,
            },
        ));
    }
    Err(LoadError::Mismatch(mismatch))
}

pub(crate) fn located(file: &SourceFile, mistake: Mistake) -> LoadError {
    let (start, end) = document::range(&file.text, &mistake.span);
    LoadError::Located {
        path: file.path.clone(),
        message: mistake.message,
        start,
        end,
    }
}

pub(crate) fn read(files: &mut Files, path: &Path) -> Result<Option<String>, LoadError> {
    files.read(path).map_err(|error| LoadError::Unreadable {
        path: path.to_owned(),
        error: Arc::new(error),
    })
}

pub(crate) fn wire_path(path: &Path) -> Result<AbsolutePath, LoadError> {
    let text = path.to_string_lossy();
    AbsolutePath::new(&*text)
        .ok_or_else(|| LoadError::Invalid(format!("`{text}` is not an absolute path")))
}
