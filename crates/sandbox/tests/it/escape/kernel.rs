//! Attacks through interfaces of the kernel: mounts, namespaces, devices, exotic calls.

use std::{
    fs::{self, OpenOptions},
    io,
    os::fd::AsRawFd,
};

use super::{Deed, Works, number, property};
use crate::{actor::ROLE, lab::system_call};
use Works::{ForAnybody, ForRoot, Unknown};

pub const ATTACKS: &[(&str, Works, Deed)] = &[
    ("mount", ForRoot, || mount(c"tmpfs", 0)),
    ("remount writable", Unknown, || {
        let flags = libc::MS_REMOUNT | libc::MS_BIND;
        let root = c"/".as_ptr() as usize;
        system_call(libc::SYS_mount, &[0, root, 0, flags as usize, 0])?;
        fs::write(property("OUTSIDE").join("file"), "x")
    }),
    ("unmount", Unknown, || {
        let path = c"/proc".as_ptr() as usize;
        system_call(libc::SYS_umount2, &[path, libc::MNT_DETACH as usize]).map(drop)
    }),
    ("change the root", ForRoot, || {
        system_call(libc::SYS_chroot, &[c"/tmp".as_ptr() as usize]).map(drop)
    }),
    ("new user namespace", ForAnybody, || {
        unshare(libc::CLONE_NEWUSER)
    }),
    ("new mount namespace", ForRoot, || {
        unshare(libc::CLONE_NEWNS)
    }),
    ("new network namespace", ForRoot, || {
        unshare(libc::CLONE_NEWNET)
    }),
    ("clone into a user namespace", ForAnybody, || {
        let flags = libc::CLONE_NEWUSER | libc::SIGCHLD;
        match system_call(libc::SYS_clone, &[flags as usize, 0, 0, 0, 0])? {
            0 => std::process::exit(0),
            _ => Ok(()),
        }
    }),
    ("new namespaces of other kinds", ForRoot, || {
        unshare(libc::CLONE_NEWUTS)
            .or(unshare(libc::CLONE_NEWIPC))
            .or(unshare(libc::CLONE_NEWCGROUP))
    }),
    ("new time namespace", Unknown, || unshare(0x80)),
    ("new process namespace", ForRoot, || {
        unshare(libc::CLONE_NEWPID)
    }),
    ("clone3 into a user namespace", ForAnybody, || {
        let mut arguments = [0_u64; 8];
        arguments[0] = libc::CLONE_NEWUSER as u64;
        arguments[4] = libc::SIGCHLD as u64;
        match system_call(libc::SYS_clone3, &[arguments.as_ptr() as usize, 64])? {
            0 => std::process::exit(0),
            _ => Ok(()),
        }
    }),
    (
        "enter the server's namespaces by its descriptor",
        ForRoot,
        || {
            let fd = system_call(libc::SYS_pidfd_open, &[number("SERVER"), 0])?;
            system_call(libc::SYS_setns, &[fd as usize, libc::CLONE_NEWNS as usize]).map(drop)
        },
    ),
    ("watch the files of others", ForRoot, || {
        let fd = system_call(libc::SYS_fanotify_init, &[0, 0])?;
        // FAN_MARK_ADD | FAN_MARK_FILESYSTEM for FAN_OPEN.
        let at = libc::AT_FDCWD as isize as usize;
        let root = c"/".as_ptr() as usize;
        system_call(
            libc::SYS_fanotify_mark,
            &[fd as usize, 0x101, 0x20, at, root],
        )
        .map(drop)
    }),
    ("read the kernel's log", ForRoot, || {
        let mut log = [0_u8; 64];
        system_call(libc::SYS_syslog, &[3, log.as_mut_ptr() as usize, 64]).map(drop)
    }),
    ("devices that lead to the machine", Unknown, || {
        for name in [
            "mem",
            "kmem",
            "port",
            "kmsg",
            "kvm",
            "fuse",
            "net/tun",
            "loop-control",
            "vsock",
            "vhost-vsock",
            "uinput",
            "tty0",
            "tty1",
            "hpet",
            "sda",
            "vda",
            "mapper/control",
        ] {
            let path = std::path::Path::new("/dev").join(name);
            if OpenOptions::new().write(true).open(path).is_ok() {
                return Ok(());
            }
        }
        Err(io::ErrorKind::NotFound.into())
    }),
    ("set the clock", Unknown, || {
        let mut now = [0_i64; 2];
        let at = now.as_mut_ptr() as usize;
        system_call(libc::SYS_clock_gettime, &[0, at])?;
        system_call(libc::SYS_clock_settime, &[0, at]).map(drop)
    }),
    ("load a module", Unknown, || {
        let at = c"".as_ptr() as usize;
        match system_call(libc::SYS_init_module, &[at, 0, at]) {
            Err(error) if error.raw_os_error() == Some(libc::EPERM) => Err(error),
            _ => Ok(()),
        }
    }),
    ("leave the control group", Unknown, || {
        for directory in [
            "/sys/fs/cgroup",
            "/sys/fs/cgroup/unified",
            "/sys/fs/cgroup/memory",
            "/sys/fs/cgroup/systemd",
        ] {
            let path = std::path::Path::new(directory).join("cgroup.procs");
            if OpenOptions::new().write(true).open(path).is_ok() {
                return Ok(());
            }
        }
        Err(io::ErrorKind::NotFound.into())
    }),
    ("semaphores of the server", ForAnybody, || {
        let set = [number("SEMAPHORES"), 0, libc::SETVAL as usize, 1];
        system_call(libc::SYS_semctl, &set).map(drop)
    }),
    ("message queues of the host", Unknown, || {
        let name = c"quipu-test".as_ptr() as usize;
        let flags = (libc::O_CREAT | libc::O_RDWR) as usize;
        system_call(libc::SYS_mq_open, &[name, flags, 0o600, 0])?;
        system_call(libc::SYS_mq_unlink, &[name])?;
        // With a namespace of one's own nobody else sees it.
        if fs::read_link("/proc/self/ns/ipc")? == property("IPC_NAMESPACE") {
            Ok(())
        } else {
            Err(io::ErrorKind::PermissionDenied.into())
        }
    }),
    ("read keys of the session", ForAnybody, || {
        // KEYCTL_GET_KEYRING_ID of the session's keyring.
        system_call(libc::SYS_keyctl, &[0, -3_isize as usize, 0]).map(drop)
    }),
    ("enter the server's namespaces", ForRoot, || {
        let namespace = fs::File::open(format!("/proc/{}/ns/mnt", number("SERVER")))?;
        system_call(libc::SYS_setns, &[namespace.as_raw_fd() as usize, 0])?;
        fs::write(property("OUTSIDE").join("file"), "x")
    }),
    ("become root by a program", Unknown, become_root),
    ("io_uring", Unknown, || {
        let mut parameters = [0_u64; 32];
        let parameters = parameters.as_mut_ptr() as usize;
        system_call(libc::SYS_io_uring_setup, &[4, parameters]).map(drop)
    }),
    ("userfaultfd", Unknown, || {
        system_call(libc::SYS_userfaultfd, &[1]).map(drop)
    }),
    ("bpf", Unknown, || {
        let mut map = [1_u32, 4, 4, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        system_call(libc::SYS_bpf, &[0, map.as_mut_ptr() as usize, 64]).map(drop)
    }),
    ("perf events", Unknown, || {
        let mut event = [0_u64; 16];
        event[0] = 1 | 128 << 32;
        let event = event.as_mut_ptr() as usize;
        let nobody = usize::MAX;
        system_call(libc::SYS_perf_event_open, &[event, 0, nobody, nobody, 0]).map(drop)
    }),
    ("keys of the session", ForAnybody, || {
        let [kind, name] = [c"user", c"quipu-test"].map(|text| text.as_ptr() as usize);
        let session = -3_isize as usize;
        system_call(libc::SYS_add_key, &[kind, name, name, 1, session]).map(drop)
    }),
    ("shared memory of the server", ForAnybody, || {
        system_call(libc::SYS_shmat, &[number("SHARED_MEMORY"), 0, 0]).map(drop)
    }),
    ("write to a disk", Unknown, || {
        for name in fs::read_dir("/sys/block")?.flatten() {
            let disk = std::path::Path::new("/dev").join(name.file_name());
            if OpenOptions::new().write(true).open(disk).is_ok() {
                return Ok(());
            }
        }
        Err(io::ErrorKind::NotFound.into())
    }),
    ("make a device", ForRoot, || {
        let path = property("WORKSPACE").join("directory/device");
        let path = std::ffi::CString::new(path.as_os_str().as_encoded_bytes())?;
        let (mode, null) = (libc::S_IFCHR as usize | 0o666, 0x103);
        let cwd = libc::AT_FDCWD as isize as usize;
        system_call(
            libc::SYS_mknodat,
            &[cwd, path.as_ptr() as usize, mode, null],
        )
        .map(drop)
    }),
    ("set a kernel parameter", ForRoot, || {
        let path = "/proc/sys/kernel/core_pattern";
        fs::write(path, fs::read(path)?)
    }),
    ("trigger the kernel", Unknown, || {
        OpenOptions::new()
            .write(true)
            .open("/proc/sysrq-trigger")
            .map(drop)
    }),
    ("write to a device's settings", ForRoot, || {
        OpenOptions::new()
            .write(true)
            .open("/sys/kernel/mm/transparent_hugepage/enabled")
            .map(drop)
    }),
    ("set the host's name", Unknown, || {
        let name = c"quipu-test".as_ptr() as usize;
        system_call(libc::SYS_sethostname, &[name, 10]).map(drop)
    }),
    ("calls of another variant", Unknown, || {
        // The x32 number of io_uring_setup would be another way to the same call.
        system_call(0x4000_0000 | libc::SYS_getpid, &[]).map(drop)
    }),
    #[cfg(target_arch = "x86_64")]
    ("calls of another architecture", Unknown, || {
        // SAFETY: the child only asks for its own id, in the way of 32-bit programs.
        unsafe {
            let child = libc::fork();
            if child == 0 {
                std::arch::asm!("int 0x80", inout("eax") 20 => _);
                libc::_exit(0);
            }
            let mut status = 0;
            libc::waitpid(child, &raw mut status, 0);
            if libc::WIFEXITED(status) {
                Ok(())
            } else {
                Err(io::ErrorKind::Unsupported.into())
            }
        }
    }),
    ("a file system of one's own", ForRoot, || {
        system_call(libc::SYS_fsopen, &[c"tmpfs".as_ptr() as usize, 0]).map(drop)
    }),
    ("a new view of the files", ForRoot, || {
        let arguments = [libc::AT_FDCWD as isize as usize, c"/".as_ptr() as usize, 1];
        system_call(libc::SYS_open_tree, &arguments).map(drop)
    }),
];

fn mount(kind: &std::ffi::CStr, flags: usize) -> io::Result<()> {
    let place = std::ffi::CString::new(
        property("WORKSPACE")
            .join("directory")
            .as_os_str()
            .as_encoded_bytes(),
    )?;
    let kind = kind.as_ptr() as usize;
    system_call(
        libc::SYS_mount,
        &[kind, place.as_ptr() as usize, kind, flags, 0],
    )?;
    system_call(libc::SYS_umount2, &[place.as_ptr() as usize, 0]).map(drop)
}

fn unshare(what: libc::c_int) -> io::Result<()> {
    system_call(libc::SYS_unshare, &[what as usize]).map(drop)
}

/// Runs a program that makes its user root; it comes back here.
#[expect(clippy::disallowed_methods, reason = "an attacker runs what it likes")]
fn become_root() -> io::Result<()> {
    if std::env::var_os("SECOND_LIFE").is_some() {
        let root = crate::lab::user_id() == 0;
        return if root {
            Ok(())
        } else {
            Err(io::ErrorKind::PermissionDenied.into())
        };
    }
    let program = property("SETUID_PROGRAM");
    if program.as_os_str().is_empty() {
        return Err(io::ErrorKind::NotFound.into());
    }
    let mut command = std::process::Command::new(program);
    let ended = command
        .env("SECOND_LIFE", "yes")
        .env(ROLE, "become root by a program")
        .status()?;
    if ended.success() {
        Ok(())
    } else {
        Err(io::ErrorKind::PermissionDenied.into())
    }
}
