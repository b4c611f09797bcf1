//! Skills: directories with a `SKILL.md` that tells the model how to do something.

mod bundled;
mod interface;
mod manifest;
mod roots;
mod walk;
mod yaml;

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use quipu_config::settings::{SkillSelector, SkillSwitch};
use quipu_config::{Env, Files, Snapshot};
use quipu_wire::{SkillErrorInfo, SkillMetadata, SkillScope};

use crate::plugins::{self, Plugin};

use roots::Root;

pub use bundled::install_bundled;
pub(crate) use manifest::one_line;

/// The skills for a directory.
#[derive(Debug, Clone, Default)]
pub struct Skills {
    /// By scope, then by name, then by path.
    pub found: Vec<Skill>,
    /// Skills that cannot be used.
    pub errors: Vec<SkillErrorInfo>,
    /// The directories that were looked into.
    pub directories: Vec<PathBuf>,
    /// The plugins in force, whose skills are among those found.
    pub plugins: Vec<Plugin>,
    /// All that was looked at, to tell whether another look could find anything else.
    seen: Files,
}

/// A skill.
#[derive(Debug, Clone, PartialEq)]
pub struct Skill {
    /// What clients see of it.
    pub metadata: SkillMetadata,
    /// Whether the model may choose it by itself.
    pub implicit: bool,
}

/// Looks for the skills that count in the directory of these settings. `extra` are directories of the user's
/// to look in as well.
pub fn find(snapshot: &Snapshot, env: &Env, extra: &[PathBuf]) -> Skills {
    let settings = snapshot.skills();
    let mut skills = Skills::default();
    let mut seen = HashSet::new();
    let plugins = plugins::active(snapshot);
    for root in roots::of(snapshot, env, settings.bundled, &plugins, extra) {
        skills.look(&root, &settings.switches, &mut seen);
    }
    let files = plugins.iter().flat_map(Plugin::files);
    files.for_each(|file| skills.seen.note(&file));
    skills.plugins = plugins;
    skills.found.sort_by(|a, b| order(a).cmp(&order(b)));
    skills
}

/// The skills of a plugin, which need not be installed.
pub fn of_plugin(snapshot: &Snapshot, plugin: &Plugin) -> Skills {
    let settings = snapshot.skills();
    let mut skills = Skills::default();
    let mut seen = HashSet::new();
    for root in roots::of_plugin(plugin) {
        skills.look(&root, &settings.switches, &mut seen);
    }
    skills.found.sort_by(|a, b| order(a).cmp(&order(b)));
    skills
}

impl Skills {
    /// Whether another look would surely find the same.
    pub fn is_current(&self) -> bool {
        self.seen.unchanged()
    }

    /// Whether nothing seems to have changed since they were looked for.
    pub fn looks_current(&self) -> bool {
        self.seen.looks_unchanged()
    }

    fn look(&mut self, root: &Root, switches: &[SkillSwitch], seen: &mut HashSet<PathBuf>) {
        for file in walk::skill_files(root, self) {
            if seen.insert(canonical(&file)) {
                self.add(root, &file, switches);
            }
        }
    }

    fn add(&mut self, root: &Root, file: &Path, switches: &[SkillSwitch]) {
        self.seen.note(file);
        let manifest = match manifest::read(file, root.plugin.as_deref()) {
            Ok(manifest) => manifest,
            // What comes with the program is not the user's to mend.
            Err(_) if root.scope == SkillScope::System => return,
            Err(error) => {
                self.errors.push(SkillErrorInfo {
                    path: file.to_string_lossy().into_owned(),
                    message: error.to_string(),
                });
                return;
            }
        };
        let directory = file.parent().unwrap_or(file);
        self.seen.note(&directory.join(interface::FILE));
        let about = interface::read(directory);
        if about.hidden {
            return;
        }
        let enabled = is_enabled(file, &manifest.name, switches);
        self.found.push(Skill {
            metadata: SkillMetadata {
                name: manifest.name,
                description: manifest.description,
                short_description: manifest.short_description,
                interface: about.interface,
                dependencies: about.dependencies,
                path: file.to_string_lossy().into_owned(),
                scope: root.scope,
                enabled,
            },
            implicit: about.implicit,
        });
    }
}

/// Skills are on unless the last switch that means them says otherwise.
fn is_enabled(file: &Path, name: &str, switches: &[SkillSwitch]) -> bool {
    let means_it = |switch: &&SkillSwitch| match &switch.selector {
        SkillSelector::Name(selected) => selected == name,
        SkillSelector::Path(path) => canonical(path) == canonical(file),
    };
    let last = switches.iter().rev().find(means_it);
    last.is_none_or(|switch| switch.enabled)
}

fn canonical(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

fn order(skill: &Skill) -> (u8, &str, &str) {
    let rank = match skill.metadata.scope {
        SkillScope::Repo => 0,
        SkillScope::User => 1,
        SkillScope::System => 2,
        _ => 3,
    };
    (rank, &skill.metadata.name, &skill.metadata.path)
}
