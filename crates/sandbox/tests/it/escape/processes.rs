//! Attacks on other processes: the server, the supervisor, what they left open.

use std::{fs, io};

use super::{Deed, Works, number};
use crate::lab::system_call;
use Works::{ForAnybody, Unknown};

pub const ATTACKS: &[(&str, Works, Deed)] = &[
    ("signal the server", ForAnybody, || signal(number("SERVER"))),
    ("signal the supervisor", ForAnybody, || match parent() {
        // The first process of a namespace cannot be signalled from inside: the kernel says it was
        // but nothing happens.
        1 => Err(io::ErrorKind::PermissionDenied.into()),
        pid => signal(pid),
    }),
    ("kill the first process", Unknown, || {
        system_call(libc::SYS_kill, &[1, libc::SIGKILL as usize])?;
        // Still alive, so the kill did nothing.
        Err(io::ErrorKind::PermissionDenied.into())
    }),
    ("signal the server by descriptor", ForAnybody, || {
        let fd = system_call(libc::SYS_pidfd_open, &[number("SERVER"), 0])?;
        system_call(libc::SYS_pidfd_send_signal, &[fd as usize, 0, 0, 0]).map(drop)
    }),
    ("trace the server", ForAnybody, || trace(number("SERVER"))),
    ("trace the supervisor", ForAnybody, || trace(parent())),
    ("write the server's memory", ForAnybody, || {
        fs::OpenOptions::new()
            .write(true)
            .open(format!("/proc/{}/mem", number("SERVER")))
            .map(drop)
    }),
    ("write the supervisor's memory", ForAnybody, || {
        fs::OpenOptions::new()
            .write(true)
            .open(format!("/proc/{}/mem", parent()))
            .map(drop)
    }),
    ("take the server's descriptors", ForAnybody, || {
        let fd = system_call(libc::SYS_pidfd_open, &[number("SERVER"), 0])?;
        system_call(libc::SYS_pidfd_getfd, &[fd as usize, 0, 0]).map(drop)
    }),
    ("limit the server", ForAnybody, || {
        let mut limit = [0_u64; 2];
        let files = libc::RLIMIT_NOFILE as usize;
        let limit = limit.as_mut_ptr() as usize;
        system_call(libc::SYS_prlimit64, &[number("SERVER"), files, 0, limit])?;
        system_call(libc::SYS_prlimit64, &[number("SERVER"), files, limit, 0]).map(drop)
    }),
    ("read the server's environment", ForAnybody, || {
        let mut found = false;
        for entry in fs::read_dir("/proc")?.flatten() {
            let text = fs::read(entry.path().join("environ")).unwrap_or_default();
            // Cargo and the test runner put these into the environment of the server.
            found |= text.windows(5).any(|part| part == b"HOME=");
        }
        if found {
            Ok(())
        } else {
            Err(io::ErrorKind::PermissionDenied.into())
        }
    }),
    ("use descriptors of the server", Unknown, || {
        let mut open = Vec::new();
        for fd in 3..4096 {
            if system_call(libc::SYS_fcntl, &[fd, libc::F_GETFD as usize]).is_ok() {
                open.push(fd);
            }
        }
        if open.is_empty() {
            Err(io::ErrorKind::NotFound.into())
        } else {
            Ok(())
        }
    }),
];

fn parent() -> usize {
    crate::actor::supervisor() as usize
}

fn signal(pid: usize) -> io::Result<()> {
    system_call(libc::SYS_kill, &[pid, 0]).map(drop)
}

fn trace(pid: usize) -> io::Result<()> {
    system_call(libc::SYS_ptrace, &[libc::PTRACE_SEIZE as usize, pid, 0, 0]).map(drop)
}
