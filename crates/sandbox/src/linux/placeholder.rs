//! Keeping a path from being created where the kernel can only protect what exists.
//!
//! An empty folder or file is put there while commands run, and mounted read-only in their view.
//! Supervisors that share one mark it with a lock; the last takes it away again.

use std::{
    fs::{self, File, OpenOptions},
    io,
    os::{
        fd::AsRawFd,
        unix::{ffi::OsStrExt, fs::MetadataExt},
    },
    path::PathBuf,
};

use crate::{
    fd::check,
    report::{Failure, Step},
    rules::Absent,
};

pub(super) struct Placeholder {
    path: PathBuf,
    directory: bool,
    file: File,
}

impl Placeholder {
    /// Makes sure that something is there; `None` if nobody could create anything there anyway.
    pub(super) fn hold(absent: &Absent) -> Result<Option<Self>, Failure> {
        let failed = |error| Failure::at(Step::Mount, absent.path.as_os_str().as_bytes(), &error);
        loop {
            if let Err(error) = create(absent) {
                match error.kind() {
                    io::ErrorKind::AlreadyExists => {}
                    io::ErrorKind::PermissionDenied
                    | io::ErrorKind::ReadOnlyFilesystem
                    | io::ErrorKind::NotFound => return Ok(None),
                    _ => return Err(failed(error)),
                }
            }
            let file = match File::open(&absent.path) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                result => result.map_err(failed)?,
            };
            lock(&file, libc::LOCK_SH).map_err(failed)?;
            // Another supervisor may have taken it away before it was locked.
            if is_at(&file, &absent.path).map_err(failed)? {
                let path = absent.path.clone();
                return Ok(Some(Self {
                    path,
                    directory: absent.directory,
                    file,
                }));
            }
        }
    }

    /// Takes it away if it is still empty and nobody else needs it.
    pub(super) fn release(self) {
        if lock(&self.file, libc::LOCK_EX | libc::LOCK_NB).is_err() {
            return;
        }
        // What somebody outside has filled meanwhile stays; a file is only ours while empty.
        if self.directory {
            fs::remove_dir(&self.path).ok();
        } else if self
            .file
            .metadata()
            .is_ok_and(|found| found.is_file() && found.len() == 0)
        {
            fs::remove_file(&self.path).ok();
        }
    }
}

fn create(absent: &Absent) -> io::Result<()> {
    if absent.directory {
        return fs::create_dir(&absent.path);
    }
    OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(&absent.path)
        .map(drop)
}

fn lock(file: &File, kind: libc::c_int) -> io::Result<()> {
    // SAFETY: locks an open file.
    check(unsafe { libc::flock(file.as_raw_fd(), kind) }).map(drop)
}

fn is_at(file: &File, path: &std::path::Path) -> io::Result<bool> {
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        found => {
            let (ours, there) = (file.metadata()?, found?);
            Ok(ours.ino() == there.ino() && ours.dev() == there.dev())
        }
    }
}
