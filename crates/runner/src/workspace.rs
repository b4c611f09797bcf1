//! The directory of each issue: its name, its making and its removal, always inside of the root.

use std::path::{Path, PathBuf};
use std::{fs, io};

use sha2::{Digest as _, Sha256};

/// Bytes of the hash in a name that had to be changed: 64 bits.
const HASH_BYTES: usize = 8;
/// The longest name before the hash; file systems take 255 bytes.
const MAX_NAME: usize = 200;

/// The directory of one issue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Workspace {
    pub path: PathBuf,
    pub key: String,
    /// Whether it was made just now.
    pub created_now: bool,
}

/// Why there is no workspace.
#[derive(Debug, thiserror::Error)]
pub enum WorkspaceError {
    #[error("the workspace root {} cannot be used: {source}", root.display())]
    Root { root: PathBuf, source: io::Error },
    #[error("cannot make the workspace {}: {source}", path.display())]
    Create { path: PathBuf, source: io::Error },
    #[error("{} is not a directory; remove it to let the issue have its workspace", path.display())]
    NotADirectory { path: PathBuf },
    #[error("{} is outside of the workspace root {}", path.display(), root.display())]
    Outside { path: PathBuf, root: PathBuf },
    #[error("cannot remove the workspace {}: {source}", path.display())]
    Remove { path: PathBuf, source: io::Error },
}

/// The name of an issue's directory: its identifier, with `_` for every character that is not safe, and then a hash of
/// the identifier, so that two of them never share a directory.
#[must_use]
pub fn key(identifier: &str) -> String {
    let safe = |it: char| it.is_ascii_alphanumeric() || matches!(it, '.' | '_' | '-');
    let mut name: String = identifier
        .chars()
        .map(|it| if safe(it) { it } else { '_' })
        .collect();
    let is_special = name.is_empty() || name == "." || name == "..";
    if name == identifier && !is_special && name.len() <= MAX_NAME {
        return name;
    }
    name.truncate(MAX_NAME);
    let hash = Sha256::digest(identifier.as_bytes());
    let hash: String = hash[..HASH_BYTES]
        .iter()
        .map(|it| format!("{it:02x}"))
        .collect();
    format!("{name}-{hash}")
}

/// Where the workspace of an issue is or would be.
#[must_use]
pub fn path(root: &Path, identifier: &str) -> PathBuf {
    root.join(key(identifier))
}

/// The name of the file beside a workspace that is there while it is being made or removed. Keys have no `~`.
pub(crate) fn mark(key: &str) -> String {
    format!("{key}~unfinished")
}

fn mark_path(root: &Path, identifier: &str) -> PathBuf {
    root.join(mark(&key(identifier)))
}

/// Finds or makes the workspace of an issue. One that is made has a mark beside it, before it is there, until
/// [`finish`] takes that away; one with a mark was never finished, or only partly removed, and is made again.
pub fn create(root: &Path, identifier: &str) -> Result<Workspace, WorkspaceError> {
    let unusable = |source| WorkspaceError::Root {
        root: root.to_owned(),
        source,
    };
    fs::create_dir_all(root).map_err(unusable)?;
    let (path, mark) = (path(root, identifier), mark_path(root, identifier));
    let created_now = mark.exists() || fs::symlink_metadata(&path).is_err();
    if created_now {
        let failed = |source| WorkspaceError::Create {
            path: path.clone(),
            source,
        };
        fs::write(&mark, "").map_err(failed)?;
        remove_directory(root, &path)?;
        fs::create_dir(&path).map_err(failed)?;
    }
    // A link would lead elsewhere, even one to a directory.
    let is_dir = fs::symlink_metadata(&path).is_ok_and(|it| it.is_dir());
    if !is_dir {
        return Err(WorkspaceError::NotADirectory { path });
    }
    Ok(Workspace {
        path: contained(root, &path)?,
        key: key(identifier),
        created_now,
    })
}

/// The real path of a workspace, which must be directly inside of the root.
pub fn contained(root: &Path, path: &Path) -> Result<PathBuf, WorkspaceError> {
    let outside = || WorkspaceError::Outside {
        path: path.to_owned(),
        root: root.to_owned(),
    };
    let real_root = root.canonicalize().map_err(|_| outside())?;
    let real = path.canonicalize().map_err(|_| outside())?;
    match real.parent() == Some(&real_root) {
        true => Ok(real),
        false => Err(outside()),
    }
}

/// Says that a workspace that was made is complete.
pub fn finish(root: &Path, identifier: &str) -> Result<(), WorkspaceError> {
    let path = mark_path(root, identifier);
    match fs::remove_file(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        done => done.map_err(|source| WorkspaceError::Remove { path, source }),
    }
}

/// Whether an issue has a workspace, or what is left of one.
#[must_use]
pub fn exists(root: &Path, identifier: &str) -> bool {
    let is_there = |path: PathBuf| fs::symlink_metadata(path).is_ok();
    is_there(path(root, identifier)) || is_there(mark_path(root, identifier))
}

/// Removes the workspace of an issue with all that it holds; a link is removed, not what it leads to. If that is cut
/// short, what is left counts as unfinished.
pub fn remove(root: &Path, identifier: &str) -> Result<(), WorkspaceError> {
    if !exists(root, identifier) {
        return Ok(());
    }
    let path = path(root, identifier);
    let marked = fs::write(mark_path(root, identifier), "");
    if let Err(source) = marked {
        return Err(WorkspaceError::Remove { path, source });
    }
    remove_directory(root, &path)?;
    finish(root, identifier)
}

fn remove_directory(root: &Path, path: &Path) -> Result<(), WorkspaceError> {
    let removed = match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => Err(error),
        Ok(it) if it.is_dir() => {
            contained(root, path)?;
            quipu_disk::remove_tree(path)
        }
        Ok(_) => fs::remove_file(path),
    };
    removed.map_err(|source| WorkspaceError::Remove {
        path: path.to_owned(),
        source,
    })
}
