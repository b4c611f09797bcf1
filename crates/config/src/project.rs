//! Which project a directory belongs to, and whether its owner trusts it.
//!
//! Settings inside a repository can run programs, so they count only after the user said so in a file
//! the repository cannot write.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::Table;
use crate::files::Files;

/// The folder of a project that holds its settings.
pub const PROJECT_FOLDER: &str = ".codex";

/// A directory somebody works in, and what surrounds it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Project {
    /// The directory itself.
    pub cwd: PathBuf,
    /// The nearest directory upwards that has a root marker, else `cwd`.
    pub root: PathBuf,
    /// The root of the git repository; of the main one when `cwd` is in a linked worktree.
    pub repository: Option<PathBuf>,
}

/// What the user says about a project.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trust {
    /// Its settings count and commands may write inside it.
    Trusted,
    /// The user refused.
    Untrusted,
}

impl Project {
    /// Finds the project around `cwd`. With no markers the search does not leave `cwd`.
    pub(crate) fn find(files: &mut Files, cwd: &Path, markers: &[String]) -> Self {
        let mut has_marker =
            |dir: &Path| markers.iter().any(|marker| files.exists(&dir.join(marker)));
        let root = cwd
            .ancestors()
            .find(|dir| has_marker(dir))
            .unwrap_or(cwd)
            .to_owned();
        Self {
            cwd: cwd.to_owned(),
            root,
            repository: repository(files, cwd),
        }
    }

    /// The directories from the root down to `cwd`.
    pub fn directories(&self) -> Vec<&Path> {
        let mut upwards: Vec<&Path> = Vec::new();
        for dir in self.cwd.ancestors() {
            upwards.push(dir);
            if dir == self.root {
                break;
            }
        }
        upwards.reverse();
        upwards
    }

    /// What the user says about settings in `dir`, and the entry that says so.
    pub(crate) fn trust_of(&self, dir: &Path, config: &Table) -> Option<(Trust, PathBuf)> {
        [Some(dir), Some(&self.root), self.repository.as_deref()]
            .into_iter()
            .flatten()
            .find_map(|place| Some((listed(place, config)?, place.to_owned())))
    }

    /// What the user says about working in `cwd`.
    pub(crate) fn trust(&self, config: &Table) -> Option<Trust> {
        let repository = self.repository.as_deref();
        [Some(self.cwd.as_path()), repository]
            .into_iter()
            .flatten()
            .find_map(|p| listed(p, config))
    }

    /// Why settings in `dir` do not count, if they do not.
    pub(crate) fn distrust(&self, dir: &Path, config: &Table, user_file: &Path) -> Option<String> {
        let user_file = user_file.display();
        match self.trust_of(dir, config) {
            Some((Trust::Trusted, _)) => None,
            Some((Trust::Untrusted, entry)) => Some(format!(
                "{} is marked as untrusted in {user_file}. To load config.toml, mark it trusted.",
                entry.display()
            )),
            None => Some(format!(
                "To load config.toml, add {} as a trusted project in {user_file}.",
                self.repository.as_ref().unwrap_or(&self.root).display()
            )),
        }
    }
}

/// The trust level of exactly this path.
fn listed(path: &Path, config: &Table) -> Option<Trust> {
    let entry = config.get("projects")?.get(path.to_str()?)?;
    match entry.get("trust_level").and_then(Value::as_str)? {
        "trusted" => Some(Trust::Trusted),
        "untrusted" => Some(Trust::Untrusted),
        _ => None,
    }
}

/// The root of the main repository around `cwd`.
fn repository(files: &mut Files, cwd: &Path) -> Option<PathBuf> {
    let top = cwd
        .ancestors()
        .find(|dir| files.exists(&dir.join(".git")))?;
    let marker = top.join(".git");
    if marker.is_dir() {
        return Some(top.to_owned());
    }
    // A linked worktree: `.git` is a file that points into `<main>/.git/worktrees/<name>`.
    let text = files.read(&marker).ok()??;
    let target = top.join(text.trim().strip_prefix("gitdir:")?.trim());
    let worktrees = target.parent()?;
    let git = worktrees.parent()?;
    let linked = worktrees.ends_with("worktrees") && git.ends_with(".git");
    Some(if linked { git.parent()? } else { top }.to_owned())
}

/// The default list of files that mark a project's root, or the configured one.
pub(crate) fn root_markers(config: &Table) -> Result<Vec<String>, NotAList> {
    let Some(value) = config.get("project_root_markers") else {
        return Ok(vec![".git".to_owned()]);
    };
    let items = value.as_array().ok_or(NotAList)?;
    items
        .iter()
        .map(|item| item.as_str().map(str::to_owned).ok_or(NotAList))
        .collect()
}

/// `project_root_markers` is not what it should be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("project_root_markers must be an array of strings")]
pub struct NotAList;
