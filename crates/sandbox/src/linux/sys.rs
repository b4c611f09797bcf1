//! System calls that the C library does not wrap, with checked results.

use std::{
    ffi::{CStr, CString},
    io,
    os::{
        fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd},
        unix::ffi::OsStrExt,
    },
    path::Path,
};

use super::walk;

pub(super) const MOUNT_ATTR_RDONLY: u64 = 1;
pub(super) const MOUNT_ATTR_NOSUID: u64 = 2;
pub(super) const MOUNT_ATTR_NODEV: u64 = 4;

const OPEN_TREE_CLONE: libc::c_uint = 1;
const AT_RECURSIVE: libc::c_uint = 0x8000;
const FSOPEN_CLOEXEC: libc::c_uint = 1;
const FSMOUNT_CLOEXEC: libc::c_uint = 1;
const FSCONFIG_SET_STRING: libc::c_uint = 1;
const FSCONFIG_CMD_CREATE: libc::c_uint = 6;
const MOVE_MOUNT_F_EMPTY_PATH: libc::c_uint = 0x4;
const MOVE_MOUNT_T_EMPTY_PATH: libc::c_uint = 0x40;

/// The argument of `mount_setattr`.
#[repr(C)]
#[derive(Default)]
struct MountAttr {
    set: u64,
    clear: u64,
    propagation: u64,
    user_namespace: u64,
}

pub(super) fn check(result: libc::c_long) -> io::Result<libc::c_long> {
    if result == -1 {
        Err(io::Error::last_os_error())
    } else {
        Ok(result)
    }
}

pub(super) fn owned(result: libc::c_long) -> io::Result<OwnedFd> {
    let fd = check(result)? as RawFd;
    // SAFETY: a system call that creates a descriptor has just returned it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

pub(super) fn c_path(path: &Path) -> io::Result<CString> {
    Ok(CString::new(path.as_os_str().as_bytes())?)
}

/// Names a file without opening it. No part of the path may be a symbolic link but the last, which
/// is named itself then.
pub(super) fn open_path(path: &Path) -> io::Result<OwnedFd> {
    open_at(
        None,
        path,
        libc::O_PATH | libc::O_NOFOLLOW,
        libc::RESOLVE_NO_SYMLINKS,
    )
}

/// Names a file with limits on how its path is resolved; a relative one starts from `base`.
pub(super) fn open_at(
    base: Option<&OwnedFd>,
    path: &Path,
    flags: libc::c_int,
    resolve: u64,
) -> io::Result<OwnedFd> {
    match open_at_once(base, path, flags, resolve) {
        Err(error) if error.raw_os_error() == Some(libc::ENOSYS) => {
            walk::name(base, path, flags, resolve != libc::RESOLVE_NO_SYMLINKS)
        }
        file => file,
    }
}

fn open_at_once(
    base: Option<&OwnedFd>,
    path: &Path,
    flags: libc::c_int,
    resolve: u64,
) -> io::Result<OwnedFd> {
    let path = c_path(path)?;
    let base = base.map_or(libc::AT_FDCWD, |base| base.as_raw_fd());
    // SAFETY: zeros are a valid value.
    let mut how: libc::open_how = unsafe { std::mem::zeroed() };
    how.flags = (flags | libc::O_CLOEXEC) as u64;
    how.resolve = resolve;
    // SAFETY: a terminated string and a structure of the given size, both alive.
    owned(unsafe {
        libc::syscall(
            libc::SYS_openat2,
            base,
            path.as_ptr(),
            &raw const how,
            size_of::<libc::open_how>(),
        )
    })
}

/// A detached copy of the mounts at and below a file.
pub(super) fn clone_tree(file: BorrowedFd<'_>) -> io::Result<OwnedFd> {
    let flags = OPEN_TREE_CLONE
        | libc::O_CLOEXEC as libc::c_uint
        | libc::AT_EMPTY_PATH as libc::c_uint
        | AT_RECURSIVE;
    // SAFETY: an open descriptor, an empty string and flags.
    owned(unsafe { libc::syscall(libc::SYS_open_tree, file.as_raw_fd(), c"".as_ptr(), flags) })
}

/// Attaches a detached tree on top of a file.
pub(super) fn attach(tree: BorrowedFd<'_>, at: BorrowedFd<'_>) -> io::Result<()> {
    // SAFETY: open descriptors, empty strings and flags.
    check(unsafe {
        libc::syscall(
            libc::SYS_move_mount,
            tree.as_raw_fd(),
            c"".as_ptr(),
            at.as_raw_fd(),
            c"".as_ptr(),
            MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH,
        )
    })
    .map(drop)
}

/// Sets attributes on all mounts at and below a file, and cuts them off from other namespaces.
pub(super) fn set_tree_attributes(tree: BorrowedFd<'_>, attributes: u64) -> io::Result<()> {
    mount_setattr(tree, attributes, AT_RECURSIVE)
}

/// Sets attributes on the mount of a file alone.
pub(super) fn set_attributes(mount: BorrowedFd<'_>, attributes: u64) -> io::Result<()> {
    mount_setattr(mount, attributes, 0)
}

fn mount_setattr(tree: BorrowedFd<'_>, attributes: u64, flags: libc::c_uint) -> io::Result<()> {
    let attributes = MountAttr {
        set: attributes,
        propagation: libc::MS_PRIVATE,
        ..Default::default()
    };
    // SAFETY: an open descriptor, an empty string, and a structure of the given size.
    check(unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            tree.as_raw_fd(),
            c"".as_ptr(),
            libc::AT_EMPTY_PATH as libc::c_uint | flags,
            &raw const attributes,
            size_of::<MountAttr>(),
        )
    })
    .map(drop)
}

/// A new file system in memory, attached nowhere yet, whose root has this mode.
pub(super) fn new_tmpfs(mode: &CStr, attributes: u64) -> io::Result<OwnedFd> {
    let configure = |context: &OwnedFd, command: libc::c_uint, key: *const libc::c_char| {
        let (fd, value) = (context.as_raw_fd(), mode.as_ptr());
        let value = if key.is_null() { key } else { value };
        // SAFETY: an open context, and terminated strings or none.
        check(unsafe { libc::syscall(libc::SYS_fsconfig, fd, command, key, value, 0) })
    };
    // SAFETY: a terminated string and a flag.
    let context =
        owned(unsafe { libc::syscall(libc::SYS_fsopen, c"tmpfs".as_ptr(), FSOPEN_CLOEXEC) })?;
    configure(&context, FSCONFIG_SET_STRING, c"mode".as_ptr())?;
    configure(&context, FSCONFIG_CMD_CREATE, std::ptr::null())?;
    // SAFETY: an open context and flags.
    owned(unsafe {
        libc::syscall(
            libc::SYS_fsmount,
            context.as_raw_fd(),
            FSMOUNT_CLOEXEC,
            attributes,
        )
    })
}

/// Mounts a new file system of the given type.
pub(super) fn mount(kind: &CStr, at: &Path, flags: libc::c_ulong, data: &CStr) -> io::Result<()> {
    let at = c_path(at)?;
    // SAFETY: terminated strings.
    let result = unsafe {
        libc::mount(
            kind.as_ptr(),
            at.as_ptr(),
            kind.as_ptr(),
            flags,
            data.as_ptr().cast(),
        )
    };
    check(result.into()).map(drop)
}

/// Makes the current directory, a mount point, the root of this mount namespace, and lets go of the
/// old root.
pub(super) fn pivot_to_current_directory() -> io::Result<()> {
    let dot = c".".as_ptr();
    // SAFETY: terminated strings.
    unsafe {
        check(libc::syscall(libc::SYS_pivot_root, dot, dot))?;
        check(libc::umount2(dot, libc::MNT_DETACH).into())?;
    }
    Ok(())
}

/// Forks into new namespaces; the child gets `None`.
pub(super) fn fork_into(namespaces: libc::c_int) -> io::Result<Option<libc::pid_t>> {
    let flags = namespaces | libc::SIGCHLD;
    // SAFETY: without a new stack this is a fork; the helper has one thread.
    let pid = check(unsafe { libc::syscall(libc::SYS_clone, flags, 0, 0, 0, 0) })?;
    Ok((pid != 0).then_some(pid as libc::pid_t))
}

/// Sets a boolean or signal attribute of this process.
pub(super) fn prctl(option: libc::c_int, value: libc::c_ulong) -> io::Result<()> {
    // SAFETY: the options used here take integers only.
    check(unsafe { libc::prctl(option, value, 0, 0, 0) }.into()).map(drop)
}

/// Whether this process runs as the superuser (of its own user namespace).
pub(super) fn is_root() -> bool {
    // SAFETY: cannot fail.
    unsafe { libc::geteuid() == 0 }
}
