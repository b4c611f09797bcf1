//! Copying a mount: nothing outside it is read, whatever links say.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use super::{MountPreview, Source, WorkspaceError, io_error};

/// Entries of a mount that a preview names.
const PREVIEWED: usize = 20;
/// Directories within directories.
const DEEPEST: usize = 64;

/// A path with all links resolved.
pub(super) fn resolved(path: &Path) -> Result<PathBuf, WorkspaceError> {
    fs::canonicalize(path).map_err(|source| io_error(path, source))
}

/// A copy under way.
struct Copy<'a> {
    source: &'a Source<'a>,
    target: PathBuf,
    limit: u64,
    preview: MountPreview,
}

impl Source<'_> {
    /// Copies what the globs select, at most `limit` bytes.
    pub(super) fn copy_into(
        &self,
        workspace: &Path,
        limit: u64,
    ) -> Result<MountPreview, WorkspaceError> {
        let mut copy = Copy {
            source: self,
            target: workspace.join(&self.mount.mount_path),
            limit,
            preview: MountPreview {
                host_path: self.host_path.clone(),
                mount_path: self.mount.mount_path.clone(),
                files: 0,
                bytes: 0,
                entries: Vec::new(),
            },
        };
        match self.host_path.is_dir() {
            true => {
                create(&copy.target)?;
                copy.directory(&self.host_path, Path::new(""), 0)?;
            }
            false => copy.file(&self.host_path, Path::new(""))?,
        }
        Ok(copy.preview)
    }

    fn wants(&self, path: &Path) -> bool {
        self.include
            .as_ref()
            .is_none_or(|include| include.is_match(path))
            && !self.exclude.is_match(path)
    }
}

impl Copy<'_> {
    /// In the order of names, so that previews are the same everywhere.
    fn directory(&mut self, host: &Path, inner: &Path, depth: usize) -> Result<(), WorkspaceError> {
        if depth > DEEPEST {
            return Err(refused(host, "its directories are too deep"));
        }
        let failed = |source| io_error(host, source);
        let mut names = Vec::new();
        for entry in fs::read_dir(host).map_err(failed)? {
            names.push(entry.map_err(failed)?.file_name());
        }
        names.sort();
        for name in names {
            let (host, inner) = (host.join(&name), inner.join(&name));
            if self.source.exclude.is_match(&inner) {
                continue;
            }
            let kind = fs::symlink_metadata(&host)
                .map_err(|source| io_error(&host, source))?
                .file_type();
            if kind.is_symlink() {
                self.link(&host, &inner)?;
            } else if kind.is_dir() {
                self.directory(&host, &inner, depth + 1)?;
            } else if kind.is_file() && self.source.wants(&inner) {
                self.file(&host, &inner)?;
            }
        }
        Ok(())
    }

    /// A link within the mount becomes the same link in the copy. One that leads out is refused.
    fn link(&mut self, host: &Path, inner: &Path) -> Result<(), WorkspaceError> {
        if !self.source.wants(inner) {
            return Ok(());
        }
        let Ok(target) = fs::canonicalize(host) else {
            // A link to nothing is nothing.
            return Ok(());
        };
        let Ok(within) = target.strip_prefix(&self.source.host_path) else {
            return Err(refused(host, "the link leads out of what is mounted"));
        };
        let up: PathBuf = inner.components().skip(1).map(|_| "..").collect();
        let path = self.target.join(inner);
        path.parent().map_or(Ok(()), create)?;
        symlink(&up.join(within), &path).map_err(|source| io_error(host, source))
    }

    fn file(&mut self, host: &Path, inner: &Path) -> Result<(), WorkspaceError> {
        let path = match inner.as_os_str().is_empty() {
            true => self.target.clone(),
            false => self.target.join(inner),
        };
        path.parent().map_or(Ok(()), create)?;
        let left = self.limit - self.preview.bytes;
        let failed = |source| io_error(host, source);
        let from = open(host).map_err(failed)?;
        let permissions = from.metadata().map_err(failed)?.permissions();
        let mut to = File::create(&path).map_err(failed)?;
        let copied = io::copy(&mut from.take(left.saturating_add(1)), &mut to).map_err(failed)?;
        if copied > left {
            return Err(WorkspaceError::BudgetExceeded {
                path: host.to_owned(),
                limit: self.limit,
            });
        }
        to.set_permissions(permissions).map_err(failed)?;
        self.preview.files += 1;
        self.preview.bytes += copied;
        if self.preview.entries.len() < PREVIEWED && !inner.as_os_str().is_empty() {
            self.preview.entries.push(inner.to_owned());
        }
        Ok(())
    }
}

fn create(directory: &Path) -> Result<(), WorkspaceError> {
    fs::create_dir_all(directory).map_err(|source| io_error(directory, source))
}

fn refused(path: &Path, why: &str) -> WorkspaceError {
    WorkspaceError::Security {
        path: path.to_owned(),
        why: why.to_owned(),
    }
}

/// Opens a file that was seen to be one; a link that has taken its place since is not followed, and a pipe
/// not waited for.
#[cfg(unix)]
fn open(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt as _;
    let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK;
    let file = fs::OpenOptions::new()
        .read(true)
        .custom_flags(flags)
        .open(path)?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::other("it is not a regular file")),
    }
}

#[cfg(not(unix))]
fn open(path: &Path) -> io::Result<File> {
    File::open(path)
}

#[cfg(unix)]
fn symlink(target: &Path, link: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(target, link)
}

#[cfg(not(unix))]
fn symlink(_: &Path, _: &Path) -> io::Result<()> {
    Err(io::Error::new(
        io::ErrorKind::Unsupported,
        "links cannot be copied on this system",
    ))
}
