//! The directories that hold skills, in the order in which they are looked through.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use quipu_config::{Env, PROJECT_DIRECTORY, SYSTEM_DIRECTORY, Snapshot};
use quipu_wire::SkillScope;

use super::bundled;
use crate::plugins::Plugin;

/// A directory with skills.
pub(super) struct Root {
    pub path: PathBuf,
    pub scope: SkillScope,
    /// The plugin that brings it.
    pub plugin: Option<String>,
}

impl Root {
    /// Whether links in it are followed. What others wrote must not lead out of its directory.
    pub fn follows_links(&self) -> bool {
        self.scope != SkillScope::System && self.plugin.is_none()
    }
}

/// The directories with skills of a plugin.
pub(super) fn of_plugin(plugin: &Plugin) -> impl Iterator<Item = Root> {
    plugin.contents.skills.iter().map(|path| Root {
        path: path.clone(),
        scope: SkillScope::User,
        plugin: Some(plugin.id.plugin().to_owned()),
    })
}

/// The directories that count for these settings; they need not exist.
pub(super) fn of(
    snapshot: &Snapshot,
    env: &Env,
    with_bundled: bool,
    plugins: &[Plugin],
    extra: &[PathBuf],
) -> Vec<Root> {
    let home = snapshot.home().path();
    let project: Vec<&Path> = snapshot
        .project()
        .map(|project| project.directories())
        .unwrap_or_default();
    let mut roots = Vec::new();
    let mut add = |path, scope| roots.push(plain(path, scope));
    for directory in project.iter().rev().map(|dir| dir.join(PROJECT_DIRECTORY)) {
        if directory != home {
            add(directory.join("skills"), SkillScope::Repo);
        }
    }
    add(home.join("skills"), SkillScope::User);
    if let Some(user) = env.user_home() {
        add(user.join(".agents/skills"), SkillScope::User);
    }
    if with_bundled {
        add(home.join(bundled::DIRECTORY), SkillScope::System);
    }
    add(
        Path::new(SYSTEM_DIRECTORY).join("skills"),
        SkillScope::Admin,
    );
    roots.extend(plugins.iter().flat_map(of_plugin));
    let mut add = |path, scope| roots.push(plain(path, scope));
    for dir in &project {
        add(dir.join(".agents/skills"), SkillScope::Repo);
    }
    let extra: BTreeSet<PathBuf> = extra.iter().map(|path| super::canonical(path)).collect();
    for path in extra {
        add(path, SkillScope::User);
    }
    roots
}

fn plain(path: PathBuf, scope: SkillScope) -> Root {
    Root {
        path,
        scope,
        plugin: None,
    }
}
