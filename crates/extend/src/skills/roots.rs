//! The directories that hold skills, in the order in which they are looked through.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use quipu_config::{Env, PROJECT_DIRECTORY, SYSTEM_DIRECTORY, Snapshot};
use quipu_wire::SkillScope;

use super::bundled;

/// A directory with skills.
pub(super) struct Root {
    pub path: PathBuf,
    pub scope: SkillScope,
}

/// The directories that count for these settings; they need not exist.
pub(super) fn of(
    snapshot: &Snapshot,
    env: &Env,
    with_bundled: bool,
    extra: &[PathBuf],
) -> Vec<Root> {
    let home = snapshot.home().path();
    let project: Vec<&Path> = snapshot
        .project()
        .map(|project| project.directories())
        .unwrap_or_default();
    let mut roots = Vec::new();
    let mut add = |path: PathBuf, scope| roots.push(Root { path, scope });
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
    for dir in &project {
        add(dir.join(".agents/skills"), SkillScope::Repo);
    }
    let extra: BTreeSet<PathBuf> = extra.iter().map(|path| super::canonical(path)).collect();
    for path in extra {
        add(path, SkillScope::User);
    }
    roots
}
