//! Where a path leads when all links are followed, also if its end does not exist yet.

use std::path::{Component, Path, PathBuf};
use std::{fs, io};

/// Follows the links of the part of a path that exists; the rest must be plain names.
pub fn real_path(path: &Path) -> io::Result<PathBuf> {
    let mut rest = Vec::new();
    let mut existing = path;
    loop {
        match existing.canonicalize() {
            Ok(mut resolved) => {
                resolved.extend(rest.iter().rev());
                return Ok(resolved);
            }
            Err(error) => {
                // A dangling link may lead anywhere once it is written through.
                let dangling = fs::symlink_metadata(existing).is_ok_and(|found| found.is_symlink());
                let (Some(parent), Some(Component::Normal(name)), false) = (
                    existing.parent(),
                    existing.components().next_back(),
                    dangling,
                ) else {
                    return Err(error);
                };
                rest.push(name.to_owned());
                existing = parent;
            }
        }
    }
}
