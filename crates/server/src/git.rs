//! What is known of a repository without running `git`: its files are read directly.

use std::fs;
use std::path::{Path, PathBuf};

use quipu_journal::GitInfo;

/// The commit, branch and origin of the repository around a folder, if there is one.
pub(crate) fn info(folder: &Path) -> Option<GitInfo> {
    let git = folder.ancestors().find_map(git_dir)?;
    let common = fs::read_to_string(git.join("commondir"))
        .map_or_else(|_| git.clone(), |common| git.join(common.trim()));
    let head = fs::read_to_string(git.join("HEAD")).ok()?;
    let (branch, commit_hash) = match head.trim().strip_prefix("ref: ") {
        Some(reference) => {
            let branch = reference.strip_prefix("refs/heads/").unwrap_or(reference);
            (Some(branch.to_owned()), commit(&common, reference))
        }
        None => (None, Some(head.trim().to_owned())),
    };
    let info = GitInfo {
        commit_hash,
        branch,
        repository_url: origin(&common),
    };
    (!info.is_empty()).then_some(info)
}

/// The folder behind `.git`, which is a folder or, in a worktree, a file that names one.
fn git_dir(folder: &Path) -> Option<PathBuf> {
    let git = folder.join(".git");
    if git.is_dir() {
        return Some(git);
    }
    let text = fs::read_to_string(&git).ok()?;
    let target = text.trim().strip_prefix("gitdir: ")?;
    Some(folder.join(target))
}

fn commit(common: &Path, reference: &str) -> Option<String> {
    if let Ok(hash) = fs::read_to_string(common.join(reference)) {
        return Some(hash.trim().to_owned());
    }
    let packed = fs::read_to_string(common.join("packed-refs")).ok()?;
    let line = packed
        .lines()
        .find(|line| line.ends_with(&format!(" {reference}")))?;
    line.split_once(' ').map(|(hash, _)| hash.to_owned())
}

fn origin(common: &Path) -> Option<String> {
    let config = fs::read_to_string(common.join("config")).ok()?;
    let section = config.split("[remote \"origin\"]").nth(1)?;
    let lines = section
        .lines()
        .take_while(|line| !line.trim_start().starts_with('['));
    lines
        .filter_map(|line| line.split_once('='))
        .find(|(key, _)| key.trim() == "url")
        .map(|(_, url)| url.trim().to_owned())
}
