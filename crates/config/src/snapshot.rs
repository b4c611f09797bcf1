//! The configuration at one moment: it never changes, and knows where every value came from.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::Table;
use crate::features::{self, Deprecation, Features};
use crate::files::Files;
use crate::home::Home;
use crate::layer::Stack;
use crate::load::{LoadError, Loader, Reading, check_stack};
use crate::project::{self, Project, Trust};
use crate::requirements::Requirements;
use crate::settings::{
    self, Agents, Instructions, ModelCatalog, PermissionProfile, Permissions, Place, Tools,
};

/// The configuration for one directory at one moment. `Debug` does not show settings, which may hold
/// secrets.
pub struct Snapshot {
    cwd: PathBuf,
    home: Home,
    stack: Stack,
    merged: Table,
    chosen: Table,
    project: Option<Project>,
    trust: Option<Trust>,
    user_home: Option<PathBuf>,
    requirements: Requirements,
    features: Features,
    permissions: Permissions,
    tools: Tools,
    agents: Agents,
    catalog: Option<ModelCatalog>,
    openai_base_url: Option<String>,
    instructions: Instructions,
    notes: Vec<String>,
    files: Files,
}

impl Snapshot {
    pub(crate) fn new(
        loader: &Loader,
        cwd: &Path,
        reading: Reading,
        requirements: Requirements,
        chosen: Table,
    ) -> Result<Self, LoadError> {
        let Reading {
            stack,
            project,
            trust,
            mut files,
        } = reading;
        let merged = stack.merged();
        check_stack(&stack, &merged)?;
        requirements.check_features()?;
        let view = View::new(&merged, &chosen, &stack)?;
        let features = Features::resolve(
            &merged,
            view.profile,
            &loader.enablement(),
            &requirements.pinned_features(),
        );
        let mut notes = Vec::new();
        settings::check_providers(&view)?;
        let catalog = ModelCatalog::read(&view, &mut files)?;
        let instructions = Instructions::read(&view, &mut files)?;
        let place = Place {
            cwd,
            user_home: loader.env().user_home(),
            trust,
            home: loader.home(),
            limits: &requirements,
        };
        let permissions = Permissions::resolve(&view, &place, &mut notes)?;
        let tools = Tools::resolve(&view, &features, &requirements, &mut notes);
        settings::note_forbidden_servers(&view, &requirements, &mut notes);
        let agents = Agents::resolve(&view, project.as_ref(), &mut files, &mut notes)?;
        let openai_base_url = settings::openai_base_url(&view, loader.env(), &mut notes);
        Ok(Self {
            cwd: cwd.to_owned(),
            user_home: loader.env().user_home().map(Path::to_owned),
            home: loader.home().clone(),
            stack,
            merged,
            chosen,
            project,
            trust,
            requirements,
            features,
            permissions,
            tools,
            agents,
            catalog,
            openai_base_url,
            instructions,
            notes,
            files,
        })
    }

    /// The directory this is for.
    pub fn cwd(&self) -> &Path {
        &self.cwd
    }

    /// The home directory.
    pub fn home(&self) -> &Home {
        &self.home
    }

    /// The layers.
    pub fn stack(&self) -> &Stack {
        &self.stack
    }

    /// All settings in force, as they were written. A profile is not applied to them.
    pub fn merged(&self) -> &Table {
        &self.merged
    }

    /// The project around the directory.
    pub fn project(&self) -> Option<&Project> {
        self.project.as_ref()
    }

    /// The directories whose settings count wherever a thread works: all that the user trusts, and the linked
    /// worktrees of their repositories, as they are now.
    pub fn trusted_projects(&self) -> Vec<PathBuf> {
        project::all_trusted(&self.merged)
    }

    /// What the user says about the project.
    pub fn trust(&self) -> Option<Trust> {
        self.trust
    }

    /// The administrator's limits.
    pub fn requirements(&self) -> &Requirements {
        &self.requirements
    }

    /// Which features are on.
    pub fn features(&self) -> &Features {
        &self.features
    }

    /// When to ask and what commands may touch.
    pub fn permissions(&self) -> &Permissions {
        &self.permissions
    }

    /// The permission profiles to choose from.
    pub fn permission_profiles(&self) -> Vec<PermissionProfile> {
        let base = settings::Base {
            cwd: &self.cwd,
            user_home: self.user_home.as_deref(),
        };
        settings::permission_profiles(&self.view(), base)
    }

    /// Settings of single tools.
    pub fn tools(&self) -> &Tools {
        &self.tools
    }

    /// Agents that the model starts.
    pub fn agents(&self) -> &Agents {
        &self.agents
    }

    /// The list of models, if the user has one.
    pub fn catalog(&self) -> Option<&ModelCatalog> {
        self.catalog.as_ref()
    }

    /// Texts given to the model.
    pub fn instructions(&self) -> &Instructions {
        &self.instructions
    }

    /// Address of the OpenAI API, if it is not the usual one.
    pub fn openai_base_url(&self) -> Option<&str> {
        self.openai_base_url.as_deref()
    }

    /// Things the user should know, each a sentence or two.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Settings in use that have a newer form.
    pub fn deprecations(&self) -> Vec<Deprecation> {
        features::deprecations(&self.merged, profile(&self.merged))
    }

    /// Whether a new reading of the files would give the same.
    pub fn is_current(&self) -> bool {
        self.files.unchanged()
    }

    /// One setting by its top-level name: of the request, else the profile, else the files.
    pub fn get<T: DeserializeOwned>(&self, key: &str) -> Option<T> {
        self.view().get(key)
    }

    pub(crate) fn view(&self) -> View<'_> {
        View {
            chosen: &self.chosen,
            profile: profile(&self.merged),
            merged: &self.merged,
            stack: &self.stack,
        }
    }
}

impl fmt::Debug for Snapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Snapshot")
            .field("cwd", &self.cwd)
            .field("stack", &self.stack)
            .finish_non_exhaustive()
    }
}

/// The names of the tables under a key.
fn names(merged: &Table, key: &str) -> Vec<String> {
    let tables = merged.get(key).and_then(Value::as_object);
    tables.map_or_else(Vec::new, |it| it.keys().cloned().collect())
}

/// The names that exist, for errors about one that does not.
pub(crate) fn listed(names: &[String]) -> String {
    match names {
        [] => "there are none".to_owned(),
        names => format!("there are: {}", names.join(", ")),
    }
}

/// Settings with their precedence: members of the request, then the profile, then the top level.
#[derive(Clone, Copy)]
pub(crate) struct View<'a> {
    chosen: &'a Table,
    pub profile: Option<&'a Table>,
    pub merged: &'a Table,
    pub stack: &'a Stack,
}

impl<'a> View<'a> {
    fn new(merged: &'a Table, chosen: &'a Table, stack: &'a Stack) -> Result<Self, LoadError> {
        let profile = match merged.get("profile").and_then(Value::as_str) {
            Some(name) => {
                let found = profile(merged).ok_or_else(|| LoadError::NoProfile {
                    name: name.to_owned(),
                    known: names(merged, "profiles"),
                });
                Some(found?)
            }
            None => None,
        };
        Ok(Self {
            chosen,
            profile,
            merged,
            stack,
        })
    }

    /// Whether the request sets something.
    pub fn is_requested(&self, key: &str) -> bool {
        self.chosen.contains_key(key)
    }

    /// Whether the request or the profile sets something.
    pub fn is_above_files(&self, key: &str) -> bool {
        let mut tables = [Some(self.chosen), self.profile].into_iter().flatten();
        tables.any(|table| table.contains_key(key))
    }

    /// The value of a setting. A `null` in the request unsets it.
    pub fn raw(&self, key: &str) -> Option<&'a Value> {
        [Some(self.chosen), self.profile, Some(self.merged)]
            .into_iter()
            .flatten()
            .find_map(|table| table.get(key))
            .filter(|value| !value.is_null())
    }

    /// The value of a setting as a type. Files are checked before, so a misfit can only come from a
    /// program that filled the request wrongly; it counts as absent.
    pub fn get<T: DeserializeOwned>(&self, key: &str) -> Option<T> {
        serde_json::from_value(self.raw(key)?.clone()).ok()
    }

    /// A table of settings as a type, its default when absent.
    pub fn table<T: DeserializeOwned + Default>(&self, key: &str) -> T {
        self.get(key).unwrap_or_default()
    }
}

/// The profile in force.
fn profile(merged: &Table) -> Option<&Table> {
    let name = merged.get("profile")?.as_str()?;
    merged.get("profiles")?.get(name)?.as_object()
}
