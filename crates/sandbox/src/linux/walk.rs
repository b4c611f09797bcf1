//! Finding a file step by step, where `openat2` is missing: in a sandbox like ours, for example.

use std::{
    ffi::{CStr, OsString},
    io,
    os::{
        fd::{AsRawFd, OwnedFd, RawFd},
        unix::ffi::OsStringExt,
    },
    path::{Component, Path, PathBuf},
};

use super::sys::{c_path, check, owned};

/// The kernel follows no more links than this either.
const LINK_LIMIT: usize = 40;

/// The longest path that the kernel takes.
const PATH_LIMIT: usize = 4096;

/// Names a file like `openat2` with `RESOLVE_NO_SYMLINKS` or, if links are followed, with
/// `RESOLVE_NO_MAGICLINKS`.
pub(super) fn name(
    base: Option<&OwnedFd>,
    path: &Path,
    flags: libc::c_int,
    follows_links: bool,
) -> io::Result<OwnedFd> {
    if path.as_os_str().is_empty() {
        return Err(io::ErrorKind::NotFound.into());
    }
    let start = base.map_or(libc::AT_FDCWD, |base| base.as_raw_fd());
    let mut place = step(start, c".", libc::O_DIRECTORY)?;
    let mut rest: Vec<PathBuf> = parts(path);
    let mut links = 0;
    while let Some(part) = rest.pop() {
        let is_last = rest.is_empty();
        let next = step(place.as_raw_fd(), &c_path(&part)?, 0)?;
        let stays = is_last && flags & libc::O_NOFOLLOW != 0;
        let Some(target) = link(&next)?.filter(|_| !stays) else {
            place = next;
            continue;
        };
        links += 1;
        if !follows_links || links > LINK_LIMIT || is_in_proc(&next)? {
            return Err(io::Error::from_raw_os_error(libc::ELOOP));
        }
        rest.extend(parts(&target));
    }
    if flags & libc::O_DIRECTORY != 0 {
        return step(place.as_raw_fd(), c".", libc::O_DIRECTORY);
    }
    Ok(place)
}

/// Names an entry of a directory, itself if it is a link.
fn step(directory: RawFd, name: &CStr, flags: libc::c_int) -> io::Result<OwnedFd> {
    let flags = flags | libc::O_PATH | libc::O_NOFOLLOW | libc::O_CLOEXEC;
    // SAFETY: an open directory and a terminated name.
    owned(unsafe { libc::openat(directory, name.as_ptr(), flags) }.into())
}

/// What a file says if it is a symbolic link.
fn link(file: &OwnedFd) -> io::Result<Option<PathBuf>> {
    let mut text = vec![0_u8; PATH_LIMIT];
    let (fd, at) = (file.as_raw_fd(), text.as_mut_ptr().cast());
    // SAFETY: an open file, an empty name, and a buffer of that size.
    let size = unsafe { libc::readlinkat(fd, c"".as_ptr(), at, text.len()) };
    match check(size as libc::c_long) {
        Ok(size) => {
            text.truncate(size as usize);
            Ok(Some(OsString::from_vec(text).into()))
        }
        Err(error) if matches!(error.raw_os_error(), Some(libc::EINVAL | libc::ENOENT)) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Links there mean another thing in every process.
#[allow(clippy::unnecessary_cast, reason = "C libraries differ in the types")]
fn is_in_proc(file: &OwnedFd) -> io::Result<bool> {
    // SAFETY: zeros are a valid value, which the kernel overwrites.
    let mut found: libc::statfs = unsafe { std::mem::zeroed() };
    // SAFETY: an open file and a structure of the right size.
    check(unsafe { libc::fstatfs(file.as_raw_fd(), &raw mut found) }.into())?;
    Ok(found.f_type as i64 == libc::PROC_SUPER_MAGIC as i64)
}

/// The parts of a path, from the last to the first.
fn parts(path: &Path) -> Vec<PathBuf> {
    let parts = path.components().rev();
    parts
        .filter(|part| !matches!(part, Component::CurDir))
        .map(|part| part.as_os_str().into())
        .collect()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::linux::sys;

    /// The path of an open file, or the number of the error.
    fn shown(file: io::Result<OwnedFd>) -> Result<PathBuf, Option<i32>> {
        let file = file.map_err(|error| error.raw_os_error())?;
        Ok(std::fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd())).unwrap())
    }

    #[test]
    fn it_finds_what_the_kernel_finds() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().canonicalize().unwrap();
        std::fs::create_dir(root.join("a")).unwrap();
        std::fs::write(root.join("a/file"), "").unwrap();
        for (target, link) in [
            ("a", "to-a"),
            ("to-a/file", "a-file"),
            ("/proc/self/cwd", "magic"),
            ("circle", "circle"),
            ("missing", "dangling"),
        ] {
            symlink(target, root.join(link)).unwrap();
        }
        let base = sys::open_path(&root).unwrap();
        let program = format!("/proc/{}/exe", std::process::id());
        for text in [
            ".",
            "a",
            "a/",
            "a/file",
            "a/file/x",
            "a/../a/./file",
            "to-a",
            "to-a/file",
            "a-file",
            "magic",
            "magic/x",
            "circle",
            "dangling",
            "missing",
            "/",
            "/etc/passwd",
            "",
            &program,
        ] {
            for flags in [
                libc::O_PATH,
                libc::O_PATH | libc::O_NOFOLLOW,
                libc::O_PATH | libc::O_DIRECTORY,
            ] {
                for (follows, resolve) in [
                    (true, libc::RESOLVE_NO_MAGICLINKS),
                    (false, libc::RESOLVE_NO_SYMLINKS),
                ] {
                    let path = Path::new(text);
                    let ours = shown(name(Some(&base), path, flags, follows));
                    let kernel = shown(sys::open_at(Some(&base), path, flags, resolve));
                    let same = ours == kernel || ours.is_err() && kernel.is_err();
                    assert!(same, "{text:?} {flags:o} {follows}: {ours:?} {kernel:?}");
                }
            }
        }
    }
}
