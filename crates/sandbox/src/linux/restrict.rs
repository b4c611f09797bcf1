//! Giving up privileges for good.

use std::io;

use super::sys;

/// What root keeps inside a sandbox, so that it can still handle files of others where the policy
/// lets it write: CHOWN, DAC_OVERRIDE, FOWNER, KILL, SETGID, SETUID, NET_BIND_SERVICE. Without FSETID
/// a program that lends out its owner's rights stops doing so when it is written.
const ROOT_KEEPS: u32 = 1 << 0 | 1 << 1 | 1 << 3 | 1 << 5 | 1 << 6 | 1 << 7 | 1 << 10;

/// `_LINUX_CAPABILITY_VERSION_3`.
const CAPABILITY_VERSION: u32 = 0x2008_0522;

#[repr(C)]
struct CapabilityHeader {
    version: u32,
    pid: libc::c_int,
}

#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Capabilities {
    effective: u32,
    permitted: u32,
    inheritable: u32,
}

/// Drops all capabilities, but for root those on files and ids.
pub(crate) fn drop_capabilities() -> io::Result<()> {
    let mut header = CapabilityHeader {
        version: CAPABILITY_VERSION,
        pid: 0,
    };
    let mut held = [Capabilities::default(); 2];
    // SAFETY: version 3 reads and writes one header and two sets.
    sys::check(unsafe { libc::syscall(libc::SYS_capget, &raw mut header, held.as_mut_ptr()) })?;
    let keep = if sys::is_root() {
        held[0].permitted & ROOT_KEEPS
    } else {
        0
    };
    let kept = Capabilities {
        effective: keep,
        permitted: keep,
        inheritable: 0,
    };
    let wanted = [kept, Capabilities::default()];
    // SAFETY: as above.
    sys::check(unsafe { libc::syscall(libc::SYS_capset, &raw mut header, wanted.as_ptr()) })?;
    Ok(())
}

/// No program executed from now on gains anything: neither by set-user-id bits nor by being root.
pub(crate) fn forbid_new_privileges() -> io::Result<()> {
    sys::prctl(libc::PR_SET_NO_NEW_PRIVS, 1)
}
