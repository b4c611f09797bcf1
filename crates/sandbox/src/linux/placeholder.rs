//! Keeping a path from being created where the kernel can only protect what exists.
//!
//! An empty folder or file is put there while commands run, and mounted read-only in their view. It
//! is known by its mode. Supervisors that share one lock it; the last takes it away again.

use std::{
    fs::{self, File},
    io,
    os::{
        fd::AsRawFd,
        unix::{
            ffi::OsStrExt,
            fs::{MetadataExt, PermissionsExt},
        },
    },
    path::PathBuf,
};

use crate::{
    fd::check,
    report::{Failure, Step},
    rules::Reserved,
};

/// The modes of placeholders, which nobody else would choose.
const FOLDER_MODE: u32 = 0o1555;
const FILE_MODE: u32 = 0o1444;

/// What is at a reserved path: a placeholder, or the real thing.
pub(super) struct Placeholder {
    path: PathBuf,
    directory: bool,
    file: File,
}

impl Placeholder {
    /// Makes sure that something is there; `None` if nobody could create anything there anyway.
    pub(super) fn hold(reserved: &Reserved) -> Result<Option<Self>, Failure> {
        let failed = |error| Failure::at(Step::Mount, reserved.path.as_os_str().as_bytes(), &error);
        loop {
            if let Err(error) = create(reserved) {
                match error.kind() {
                    io::ErrorKind::AlreadyExists => {}
                    io::ErrorKind::PermissionDenied
                    | io::ErrorKind::ReadOnlyFilesystem
                    | io::ErrorKind::NotFound => return Ok(None),
                    _ => return Err(failed(error)),
                }
            }
            let file = match File::open(&reserved.path) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                result => result.map_err(failed)?,
            };
            lock(&file, libc::LOCK_SH).map_err(failed)?;
            // Another supervisor may have taken it away before it was locked.
            if is_at(&file, &reserved.path).map_err(failed)? {
                let path = reserved.path.clone();
                return Ok(Some(Self {
                    path,
                    directory: reserved.directory,
                    file,
                }));
            }
        }
    }

    /// Takes it away if it is a placeholder and nobody else needs it.
    pub(super) fn release(self) {
        if lock(&self.file, libc::LOCK_EX | libc::LOCK_NB).is_err() {
            return;
        }
        let Ok(found) = self.file.metadata() else {
            return;
        };
        let expected = if self.directory {
            FOLDER_MODE
        } else {
            FILE_MODE
        };
        if found.mode() & 0o7777 != expected {
            return;
        }
        // A folder that somebody outside has filled meanwhile stays.
        if self.directory {
            fs::remove_dir(&self.path).ok();
        } else if found.len() == 0 {
            fs::remove_file(&self.path).ok();
        }
    }
}

fn create(reserved: &Reserved) -> io::Result<()> {
    let path = &reserved.path;
    let mode = if reserved.directory {
        fs::create_dir(path)?;
        FOLDER_MODE
    } else {
        File::create_new(path)?;
        FILE_MODE
    };
    fs::set_permissions(path, fs::Permissions::from_mode(mode))
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
