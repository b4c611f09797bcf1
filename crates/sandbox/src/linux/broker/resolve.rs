//! From the text of a path to open files whose real place is known.

use std::{
    ffi::{CString, OsStr},
    fs, io,
    os::{
        fd::{AsRawFd, OwnedFd},
        unix::ffi::OsStrExt,
    },
    path::{Component, Path, PathBuf},
};

use crate::linux::sys;

/// A file that exists, only named.
pub(super) struct Found {
    pub file: OwnedFd,
    /// Where it really is.
    pub path: PathBuf,
}

/// An entry of a directory, whether it exists or not.
pub(super) struct Place {
    pub directory: OwnedFd,
    pub name: CString,
    /// Where it really is.
    pub path: PathBuf,
}

/// Finds a file. Links that mean another thing in every process are not followed.
pub(super) fn existing(base: Option<&OwnedFd>, path: &Path, follow: bool) -> io::Result<Found> {
    let nofollow = if follow { 0 } else { libc::O_NOFOLLOW };
    let file = sys::open_at(
        base,
        path,
        libc::O_PATH | nofollow,
        libc::RESOLVE_NO_MAGICLINKS,
    )?;
    let path = real_path(&file)?;
    Ok(Found { file, path })
}

/// Finds the directory of an entry.
pub(super) fn place(base: Option<&OwnedFd>, path: &Path) -> io::Result<Place> {
    let invalid = || io::Error::from_raw_os_error(libc::EINVAL);
    let Some(Component::Normal(name)) = path.components().next_back() else {
        return Err(invalid());
    };
    // `Path` forgets a final dot, which the kernel minds.
    let text = path.as_os_str().as_bytes();
    if text.ends_with(b"/.") {
        return Err(invalid());
    }
    let parent = match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    };
    let flags = libc::O_PATH | libc::O_DIRECTORY;
    let directory = sys::open_at(base, parent, flags, libc::RESOLVE_NO_MAGICLINKS)?;
    let path = real_path(&directory)?.join(name);
    Ok(Place {
        directory,
        name: CString::new(name.as_bytes())?,
        path,
    })
}

/// Where the kernel says that an open file is.
pub(super) fn real_path(file: &OwnedFd) -> io::Result<PathBuf> {
    fs::read_link(OsStr::from_bytes(handle(file).as_bytes()))
}

/// A path by which this process reaches an open file again, as itself or with more rights.
pub(super) fn handle(file: &OwnedFd) -> CString {
    let path = format!("/proc/self/fd/{}\0", file.as_raw_fd());
    CString::from_vec_with_nul(path.into_bytes()).unwrap_or_default()
}
