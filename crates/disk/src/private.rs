//! Directories that nobody but their owner can write to, whatever the user's mask says.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

/// Makes a directory below `base`, and those between them, for their owner only; returns its path. One
/// that is there already loses what lets others write to it. One that belongs to somebody else than
/// `base` is refused: its owner can always put something else in the place of what is made there.
pub fn private_dirs(base: &Path, below: &Path) -> io::Result<PathBuf> {
    builder().recursive(true).create(base)?;
    let owner = owner(base)?;
    let mut path = base.to_owned();
    for part in below.components() {
        path.push(part);
        make(&path)?;
        if self::owner(&path)? != owner {
            return Err(io::Error::new(
                io::ErrorKind::PermissionDenied,
                format!(
                    "{} belongs to somebody else than {}",
                    path.display(),
                    base.display()
                ),
            ));
        }
        keep_others_out(&path)?;
    }
    Ok(path)
}

fn builder() -> fs::DirBuilder {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder
}

fn make(path: &Path) -> io::Result<()> {
    match builder().create(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => Ok(()),
        made => made,
    }
}

#[cfg(unix)]
fn owner(path: &Path) -> io::Result<u32> {
    use std::os::unix::fs::MetadataExt as _;
    Ok(fs::metadata(path)?.uid())
}

#[cfg(unix)]
fn keep_others_out(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    /// What lets the group and everybody else write.
    const OTHERS_WRITE: u32 = 0o022;
    let mut permissions = fs::metadata(path)?.permissions();
    if permissions.mode() & OTHERS_WRITE != 0 {
        permissions.set_mode(permissions.mode() & 0o7777 & !OTHERS_WRITE);
        fs::set_permissions(path, permissions)?;
    }
    Ok(())
}

/// The profile of a user is that user's own there.
#[cfg(not(unix))]
fn owner(path: &Path) -> io::Result<()> {
    fs::metadata(path).map(drop)
}

#[cfg(not(unix))]
fn keep_others_out(_path: &Path) -> io::Result<()> {
    Ok(())
}
