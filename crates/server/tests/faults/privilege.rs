//! What the test may do to its machine. It mounts only where nobody else sees it, and it can serve without
//! the rights that would make limits and permissions mean nothing.

use std::io;
use std::process::ExitCode;
use std::sync::OnceLock;

use rustix::process::{Pid, Resource, Rlimit, getrlimit, prlimit};

/// The variable that makes a server give up its rights.
pub const PLAIN: &str = "QUIPU_FAULTS_PLAIN";

static IS_ROOT: OnceLock<bool> = OnceLock::new();

/// Whether the test was started by root.
pub fn is_root() -> bool {
    *IS_ROOT.get_or_init(|| rustix::process::geteuid().is_root())
}

/// Moves this process to a mount namespace of its own, with a user namespace if it takes one. Must be
/// called before there are threads. Without it, faults that need a disk are skipped.
pub fn isolate() -> io::Result<()> {
    let (user, group) = (rustix::process::geteuid(), rustix::process::getegid());
    let kinds = match is_root() {
        true => libc::CLONE_NEWNS,
        false => libc::CLONE_NEWNS | libc::CLONE_NEWUSER,
    };
    // SAFETY: takes no memory of ours, and there is only one thread.
    if unsafe { libc::unshare(kinds) } != 0 {
        return Err(io::Error::last_os_error());
    }
    if !is_root() {
        std::fs::write("/proc/self/setgroups", "deny")?;
        std::fs::write("/proc/self/uid_map", format!("0 {} 1", user.as_raw()))?;
        std::fs::write("/proc/self/gid_map", format!("0 {} 1", group.as_raw()))?;
    }
    let private = libc::MS_REC | libc::MS_PRIVATE;
    let none = std::ptr::null();
    // SAFETY: the path ends in zero, and nothing else is read for this kind of call.
    let mounted = unsafe { libc::mount(none, c"/".as_ptr(), none, private, none.cast()) };
    match mounted {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Gives up every capability, if the test wants a server that has none.
pub fn become_plain() {
    if std::env::var_os(PLAIN).is_none() {
        return;
    }
    const VERSION: u32 = 0x2008_0522;
    let header = [VERSION, 0];
    let nothing = [0_u32; 6];
    // SAFETY: both point to as many words as this version of the call reads.
    let done = unsafe { libc::syscall(libc::SYS_capset, header.as_ptr(), nothing.as_ptr()) };
    assert_eq!(done, 0, "capabilities cannot be given up");
}

/// Sets a limit of another process, as the arguments say: its id, the limit, a number.
pub fn limit(arguments: &[String]) -> ExitCode {
    let [pid, resource, number] = arguments else {
        return ExitCode::FAILURE;
    };
    let resource = match resource.as_str() {
        "files" => Resource::Nofile,
        _ => Resource::Nproc,
    };
    // Processes inherit their limits, so the most for one is the most for the other.
    let maximum = getrlimit(resource).maximum;
    let current = number.parse().ok().or(maximum);
    let pid = pid.parse().ok().and_then(Pid::from_raw);
    match prlimit(pid, resource, Rlimit { current, maximum }) {
        // Members of a family come and go.
        Ok(_) | Err(rustix::io::Errno::SRCH) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("no limit could be set: {error}");
            ExitCode::FAILURE
        }
    }
}
