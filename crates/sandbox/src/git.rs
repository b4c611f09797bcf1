//! Finding what a linked git worktree needs outside its own directory.
//!
//! A worktree keeps its state in the repository it was made from. The link between both is two
//! files pointing at each other; a command in the sandbox can forge only one of them.

use std::{
    fs::{self, File},
    io::Read,
    path::{Path, PathBuf},
};

/// Git's link files hold one path.
const LINK_FILE_LIMIT: u64 = 8 * 1024;

/// A worktree whose link to its repository is mutual.
#[derive(Debug)]
pub(crate) struct Worktree {
    /// What it was made from, where hooks and configuration are.
    pub repository: PathBuf,
    /// What `git commit` writes: the worktree's state, objects, branches and their logs.
    pub history: Vec<PathBuf>,
    /// Files among them that decide which configuration and hooks git uses.
    pub steering: Vec<PathBuf>,
}

/// The directory that the `.git` file of `root` points at.
pub(crate) fn linked_directory(root: &Path) -> Option<PathBuf> {
    let text = read_link_file(&root.join(".git"))?;
    let target = text.strip_prefix("gitdir:")?.trim();
    root.join(target).canonicalize().ok()
}

impl Worktree {
    /// Checks that `directory` is `REPOSITORY/worktrees/NAME` and points back at `root`.
    pub(crate) fn find(root: &Path, directory: &Path) -> Option<Self> {
        let worktrees = directory.parent()?;
        if worktrees.file_name()? != "worktrees" {
            return None;
        }
        let back = read_link_file(&directory.join("gitdir"))?;
        if directory.join(back.trim()).canonicalize().ok()? != root.join(".git") {
            return None;
        }
        let repository = worktrees.parent()?;
        let is_directory =
            |path: &PathBuf| fs::symlink_metadata(path).is_ok_and(|meta| meta.is_dir());
        if !is_directory(&repository.join("objects")) {
            return None;
        }
        let mut history: Vec<PathBuf> = ["objects", "refs", "logs", "reftable"]
            .map(|name| repository.join(name))
            .into_iter()
            .filter(is_directory)
            .collect();
        history.push(directory.to_path_buf());
        let steering = ["commondir", "gitdir", "config.worktree"].map(|name| directory.join(name));
        Some(Self {
            repository: repository.to_path_buf(),
            history,
            steering: steering.into(),
        })
    }
}

fn read_link_file(path: &Path) -> Option<String> {
    if !fs::symlink_metadata(path).ok()?.is_file() {
        return None;
    }
    let mut text = String::new();
    File::open(path)
        .ok()?
        .take(LINK_FILE_LIMIT)
        .read_to_string(&mut text)
        .ok()?;
    Some(text)
}
