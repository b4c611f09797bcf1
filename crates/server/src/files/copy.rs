//! `fs/copy`: a file, a link, or a tree of them.

use std::fs::{self, FileType};
use std::io;
use std::path::{Path, PathBuf};

use super::{FileError, Source, replace};
use crate::platform::symlink;

const NEEDS_RECURSIVE: &str = "fs/copy requires recursive: true when sourcePath is a directory";
const INTO_ITSELF: &str = "fs/copy cannot copy a directory to itself or one of its descendants";
const SPECIAL: &str = "fs/copy only supports regular files, directories, and symlinks";

/// Copies `source` to `destination`. An existing file is replaced, an existing directory added to; in a
/// tree, what is neither file, directory nor link is left out.
pub(crate) fn copy(source: &Path, destination: &Path, recursive: bool) -> Result<(), FileError> {
    let refused = |text: &str| Err(FileError::Refused(text.to_owned()));
    let kind = fs::symlink_metadata(source)?.file_type();
    if kind.is_dir() {
        if !recursive {
            return refused(NEEDS_RECURSIVE);
        }
        if resolve(destination)?.starts_with(fs::canonicalize(source)?) {
            return refused(INTO_ITSELF);
        }
        return Ok(copy_tree(source, destination)?);
    }
    if !copy_leaf(kind, source, destination)? {
        return refused(SPECIAL);
    }
    Ok(())
}

fn copy_tree(source: &Path, destination: &Path) -> io::Result<()> {
    let mut directories = vec![(source.to_owned(), destination.to_owned())];
    while let Some((from, to)) = directories.pop() {
        fs::create_dir_all(&to)?;
        for entry in fs::read_dir(&from)? {
            let entry = entry?;
            let kind = entry.file_type()?;
            let to = to.join(entry.file_name());
            if kind.is_dir() {
                directories.push((entry.path(), to));
            } else {
                copy_leaf(kind, &entry.path(), &to)?;
            }
        }
    }
    Ok(())
}

/// Copies what is no directory; `false` if it is of a kind that is not copied.
fn copy_leaf(kind: FileType, from: &Path, to: &Path) -> io::Result<bool> {
    if kind.is_symlink() {
        symlink(fs::read_link(from)?, to)?;
    } else if kind.is_file() {
        replace(to, Source::File(&mut quipu_disk::open(from)?))?;
    }
    Ok(kind.is_symlink() || kind.is_file())
}

/// Follows the links in the part of a path that exists.
fn resolve(path: &Path) -> io::Result<PathBuf> {
    for existing in path.ancestors() {
        match fs::canonicalize(existing) {
            Ok(resolved) => {
                let rest = path.strip_prefix(existing).unwrap_or(Path::new(""));
                return Ok(resolved.join(rest));
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    Ok(path.to_owned())
}
