//! Which project a directory belongs to, and whether its owner trusts it.
//!
//! Settings inside a repository can run programs, so they count only after the user said so in a file
//! the repository cannot write. Trust covers the `.codex` directory of the trusted directory itself, which
//! sandboxed commands cannot write. Directories below need an entry of their own: any command could have made
//! their settings.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::Table;
use crate::files::Files;

/// The directory of a project that holds its settings.
pub const PROJECT_DIRECTORY: &str = ".codex";

/// The linked worktrees of one repository that are looked at.
const MAX_WORKTREES: usize = 256;
/// Git's link files hold one path.
const MAX_LINK_BYTES: u64 = 8 * 1024;

/// A directory somebody works in, and what surrounds it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Project {
    /// The directory itself.
    pub cwd: PathBuf,
    /// The nearest directory upwards that has a root marker, else `cwd`.
    pub root: PathBuf,
    /// The root of the git repository; of the main one when `cwd` is in a linked worktree.
    pub repository: Option<PathBuf>,
    /// The directories from the root down to `cwd` whose settings count.
    pub trusted: Vec<PathBuf>,
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
    /// `config` says which directories are trusted.
    pub(crate) fn find(files: &mut Files, cwd: &Path, markers: &[String], config: &Table) -> Self {
        let mut has_marker =
            |dir: &Path| markers.iter().any(|marker| files.exists(&dir.join(marker)));
        let root = cwd
            .ancestors()
            .find(|dir| has_marker(dir))
            .unwrap_or(cwd)
            .to_owned();
        let mut project = Self {
            cwd: cwd.to_owned(),
            root,
            repository: repository(files, cwd),
            trusted: Vec::new(),
        };
        let is_trusted = |dir: &&Path| {
            let trust = project.trust_of(dir, config);
            trust.is_some_and(|(trust, _)| trust == Trust::Trusted)
        };
        let trusted = project.directories().into_iter().filter(is_trusted);
        project.trusted = trusted.map(Path::to_owned).collect();
        project
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

    /// What the user says about settings in `dir`, and the entry that says so. Distrust of the root covers all
    /// below it, trust does not. A root that is a linked worktree is as trusted as its repository.
    fn trust_of(&self, dir: &Path, config: &Table) -> Option<(Trust, PathBuf)> {
        let covers = |trust: Trust| trust == Trust::Untrusted || dir == self.root;
        let above = [Some(self.root.as_path()), self.repository.as_deref()];
        let of_dir = listed(dir, config).map(|trust| (trust, dir.to_owned()));
        of_dir.or_else(|| {
            let mut above = above.into_iter().flatten();
            above.find_map(|place| {
                Some((
                    listed(place, config).filter(|it| covers(*it))?,
                    place.to_owned(),
                ))
            })
        })
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
            None => {
                let root_counts = self.trusted.contains(&self.root);
                let entry = match root_counts {
                    true => dir,
                    false => self.repository.as_ref().unwrap_or(&self.root),
                };
                Some(format!(
                    "To load config.toml, add {} as a trusted project in {user_file}.",
                    entry.display()
                ))
            }
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
    // Anybody can write a `.git` file; that the repository points back is beyond sandboxed commands.
    let back = files.read(&target.join("gitdir")).ok().flatten();
    let back = back.and_then(|back| target.join(back.trim()).canonicalize().ok());
    let mutual = back.is_some() && back == marker.canonicalize().ok();
    Some(if linked && mutual { git.parent()? } else { top }.to_owned())
}

/// The directories that the user trusts, and the linked worktrees of their repositories. Their settings
/// count, so no sandboxed command may write them.
pub(crate) fn all_trusted(config: &Table) -> Vec<PathBuf> {
    let projects = config.get("projects").and_then(Value::as_object);
    let places = projects.into_iter().flat_map(|projects| projects.keys());
    let mut trusted = Vec::new();
    for place in places.map(Path::new) {
        if listed(place, config) != Some(Trust::Trusted) {
            continue;
        }
        trusted.push(place.to_owned());
        let linked = std::fs::read_dir(place.join(".git/worktrees"));
        for entry in linked.into_iter().flatten().flatten().take(MAX_WORKTREES) {
            let back = quipu_disk::read_text(&entry.path().join("gitdir"), MAX_LINK_BYTES);
            let back = back.ok().map(|back| entry.path().join(back.trim()));
            trusted.extend(back.and_then(|back| Some(back.parent()?.to_owned())));
        }
    }
    trusted
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
