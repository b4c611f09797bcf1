//! Attacks on other processes: the server, the supervisor, what they left open.

use std::{fs, io, os::fd::AsRawFd};

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
    ("write the server's memory by a call", ForAnybody, || {
        let (mine, theirs) = ([0_u8; 1], [0_usize, 1]);
        let from = [mine.as_ptr() as usize, 1];
        let arguments = [
            number("SERVER"),
            from.as_ptr() as usize,
            1,
            theirs.as_ptr() as usize,
            1,
            0,
        ];
        // Nothing is at that address; a process that may write there gets that error.
        match system_call(libc::SYS_process_vm_writev, &arguments) {
            Err(error) if error.raw_os_error() != Some(libc::EFAULT) => Err(error),
            _ => Ok(()),
        }
    }),
    ("read the server's memory", ForAnybody, || {
        fs::File::open(format!("/proc/{}/mem", number("SERVER"))).map(drop)
    }),
    ("have the server killed for its memory", ForAnybody, || {
        let path = format!("/proc/{}/oom_score_adj", number("SERVER"));
        fs::write(&path, fs::read(&path)?)
    }),
    (
        "have the supervisor killed for its memory",
        ForAnybody,
        || {
            let path = format!("/proc/{}/oom_score_adj", parent());
            fs::write(&path, fs::read(&path)?)
        },
    ),
    ("stop the supervisor", Unknown, || match parent() {
        1 => Err(io::ErrorKind::PermissionDenied.into()),
        pid => {
            system_call(libc::SYS_kill, &[pid, libc::SIGSTOP as usize])?;
            system_call(libc::SYS_kill, &[pid, libc::SIGCONT as usize]).map(drop)
        }
    }),
    (
        "signal all processes of the server's group",
        ForAnybody,
        || {
            let group = system_call(libc::SYS_getpgid, &[number("SERVER")])?;
            system_call(libc::SYS_kill, &[-group as isize as usize, 0]).map(drop)
        },
    ),
    ("signal a thread of the server", ForAnybody, || {
        let server = number("SERVER");
        system_call(libc::SYS_tgkill, &[server, server, 0]).map(drop)
    }),
    ("queue a signal for the server", ForAnybody, || {
        let mut info = [0_i32; 32];
        info[2] = -1;
        let arguments = [number("SERVER"), 0, info.as_mut_ptr() as usize];
        system_call(libc::SYS_rt_sigqueueinfo, &arguments).map(drop)
    }),
    ("compare descriptors with the server", Unknown, || {
        let own = std::process::id() as usize;
        system_call(libc::SYS_kcmp, &[own, number("SERVER"), 2, 0, 0]).map(drop)
    }),
    ("read the server's open files", ForAnybody, || {
        let open = fs::read_dir(format!("/proc/{}/fd", number("SERVER")))?;
        let first = open.flatten().next().ok_or(io::ErrorKind::NotFound)?;
        fs::read_link(first.path()).map(drop)
    }),
    ("limit the server", ForAnybody, || {
        let mut limit = [0_u64; 2];
        let files = libc::RLIMIT_NOFILE as usize;
        let limit = limit.as_mut_ptr() as usize;
        system_call(libc::SYS_prlimit64, &[number("SERVER"), files, 0, limit])?;
        system_call(libc::SYS_prlimit64, &[number("SERVER"), files, limit, 0]).map(drop)
    }),
    ("set the server's priority", ForAnybody, || {
        let server = number("SERVER");
        // The kernel tells 20 less the priority.
        let current = 20 - system_call(libc::SYS_getpriority, &[0, server])?;
        system_call(libc::SYS_setpriority, &[0, server, current as usize]).map(drop)
    }),
    ("set the server's priority for disks", ForAnybody, || {
        let current = system_call(libc::SYS_ioprio_get, &[1, number("SERVER")])?;
        let arguments = [1, number("SERVER"), current as usize];
        system_call(libc::SYS_ioprio_set, &arguments).map(drop)
    }),
    ("choose the server's processors", ForAnybody, || {
        let mut processors = [0_u64; 128];
        let mut arguments = [number("SERVER"), 1024, processors.as_mut_ptr() as usize];
        let size = system_call(libc::SYS_sched_getaffinity, &arguments)?;
        arguments[1] = size as usize;
        system_call(libc::SYS_sched_setaffinity, &arguments).map(drop)
    }),
    ("schedule the server", ForAnybody, || {
        let priority = 0_i32;
        let arguments = [number("SERVER"), 0, &raw const priority as usize];
        system_call(libc::SYS_sched_setscheduler, &arguments).map(drop)
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

/// Where the kernel does not keep such signals inside, no file may be made to send them.
pub fn signal_by_file() -> io::Result<()> {
    let (reader, _writer) = io::pipe()?;
    let fd = reader.as_raw_fd() as usize;
    let server = number("SERVER") as libc::c_int;
    let set_owner = [fd, libc::F_SETOWN as usize, server as usize];
    let set_signal = [fd, 10, libc::SIGURG as usize];
    let request_owner = [fd, 0x8901, &raw const server as usize];
    let done = [
        system_call(libc::SYS_fcntl, &set_owner),
        system_call(libc::SYS_fcntl, &set_signal),
        system_call(libc::SYS_ioctl, &request_owner),
    ];
    if done.iter().any(Result::is_ok) {
        return Ok(());
    }
    Err(io::ErrorKind::PermissionDenied.into())
}

fn parent() -> usize {
    crate::actor::supervisor() as usize
}

fn signal(pid: usize) -> io::Result<()> {
    system_call(libc::SYS_kill, &[pid, 0]).map(drop)
}

fn trace(pid: usize) -> io::Result<()> {
    system_call(libc::SYS_ptrace, &[libc::PTRACE_SEIZE as usize, pid, 0, 0]).map(drop)
}
