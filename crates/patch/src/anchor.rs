//! A directory that is held on to while its files are written. A policy has agreed to a path; a program that may write in the
//! workspace could put a link in the place of one of its directories before the patch gets there.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

/// A directory, by whatever name it goes now.
pub(crate) struct Anchor {
    #[cfg(target_os = "linux")]
    _directory: std::os::fd::OwnedFd,
    path: PathBuf,
}

impl Anchor {
    /// The place of an entry of the directory.
    pub(crate) fn entry(&self, name: Option<&OsStr>) -> PathBuf {
        self.path.join(name.unwrap_or_default())
    }
}

#[cfg(target_os = "linux")]
impl Anchor {
    /// Takes hold of the directory at an absolute path, every part of which has to be a directory itself and no link. What
    /// is missing of it is made.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        use rustix::fs::{CWD, Mode, OFlags, mkdirat, openat};
        use std::os::fd::AsRawFd;

        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut directory = openat(CWD, "/", flags, Mode::empty())?;
        for part in path.strip_prefix("/").unwrap_or(path) {
            let open = || openat(&directory, part, flags, Mode::empty());
            let next = match open() {
                Err(rustix::io::Errno::NOENT) => {
                    match mkdirat(&directory, part, Mode::from_raw_mode(0o777)) {
                        Ok(()) | Err(rustix::io::Errno::EXIST) => open(),
                        Err(error) => Err(error),
                    }
                }
                found => found,
            };
            directory = next?;
        }
        // What the descriptor stands for cannot be exchanged, as the path can.
        let path = PathBuf::from(format!("/proc/self/fd/{}", directory.as_raw_fd()));
        Ok(Self {
            _directory: directory,
            path,
        })
    }
}

#[cfg(not(target_os = "linux"))]
impl Anchor {
    /// Makes what is missing of the directory. Nothing is sandboxed here, so nobody needs to be kept out.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        std::fs::create_dir_all(path)?;
        Ok(Self {
            path: path.to_owned(),
        })
    }
}
