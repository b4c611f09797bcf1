//! Paths as text: made absolute and compared without asking the file system.

use std::path::{Component, Path, PathBuf};

/// `path` as seen from `cwd`, with `.` and `..` resolved by name.
pub(crate) fn resolve(cwd: &Path, path: &Path) -> PathBuf {
    let mut clean = PathBuf::new();
    for component in cwd.join(path).components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                clean.pop();
            }
            other => clean.push(other),
        }
    }
    clean
}

/// Whether `path` is one of the directories or lies below one.
pub(crate) fn inside_any(path: &Path, directories: &[PathBuf]) -> bool {
    directories
        .iter()
        .any(|directory| path.starts_with(directory))
}
