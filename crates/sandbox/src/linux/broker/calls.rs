//! Which system calls are asked about, and where their arguments are.
//!
//! The filter and the supervisor read the same table, so they cannot disagree.

use FlagArg::{Argument, Fixed};

/// A path argument: the directory it starts from, if the call names one, and the text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PathArg {
    pub directory: Option<usize>,
    pub text: usize,
}

/// A file argument.
#[derive(Clone, Copy, Debug)]
pub(crate) enum FileArg {
    Descriptor(usize),
    Path(PathArg, Follow),
}

/// Whether a symbolic link at the end of a path is followed.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Follow {
    Always,
    Never,
    /// As this argument says.
    Flags(usize),
}

/// Flags of a call.
#[derive(Clone, Copy, Debug)]
pub(crate) enum FlagArg {
    Argument(usize),
    Fixed(libc::c_int),
}

/// In which form a call has its two times.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(
    not(target_arch = "x86_64"),
    allow(dead_code, reason = "older calls have other forms")
)]
pub(crate) enum TimeForm {
    Seconds,
    Microseconds,
    Nanoseconds,
}

/// Where a call has the process that it signals.
#[derive(Clone, Copy, Debug)]
pub(crate) enum SignalArg {
    Process(usize),
    Thread(usize),
}

/// What a call does, and the positions of its arguments.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Call {
    Open {
        path: PathArg,
        flags: FlagArg,
        mode: usize,
    },
    MakeDirectory {
        path: PathArg,
        mode: usize,
    },
    MakeNode {
        path: PathArg,
        mode: usize,
    },
    Remove {
        path: PathArg,
        flags: FlagArg,
    },
    Rename {
        from: PathArg,
        to: PathArg,
        flags: FlagArg,
    },
    Link {
        from: PathArg,
        to: PathArg,
        flags: FlagArg,
    },
    LinkText {
        text: usize,
        path: PathArg,
    },
    SetLength {
        file: FileArg,
        length: usize,
    },
    SetMode {
        file: FileArg,
        mode: usize,
    },
    SetOwner {
        file: FileArg,
        user: usize,
        group: usize,
    },
    SetTimes {
        file: FileArg,
        times: usize,
        form: TimeForm,
    },
    SetAttribute {
        file: FileArg,
        name: usize,
    },
    RemoveAttribute {
        file: FileArg,
        name: usize,
    },
    Signal(SignalArg),
    /// Sets where and when a thread runs; holds the position of the thread, which is the caller's own if
    /// it is zero.
    Schedule(usize),
}

impl Call {
    /// Whether it changes what Landlock does not govern, or not in all its versions.
    pub(crate) fn is_touch(&self) -> bool {
        matches!(
            self,
            Self::SetMode { .. }
                | Self::SetOwner { .. }
                | Self::SetTimes { .. }
                | Self::SetLength { .. }
                | Self::SetAttribute { .. }
                | Self::RemoveAttribute { .. }
        )
    }

    /// Whether it sends a signal.
    pub(crate) fn is_signal(&self) -> bool {
        matches!(self, Self::Signal(_))
    }
}

const fn at(directory: usize, text: usize) -> PathArg {
    PathArg {
        directory: Some(directory),
        text,
    }
}

const fn file_at(directory: usize, text: usize, follow: Follow) -> FileArg {
    FileArg::Path(at(directory, text), follow)
}

#[cfg(target_arch = "x86_64")]
const fn plain(text: usize) -> PathArg {
    PathArg {
        directory: None,
        text,
    }
}

const fn file(follow: Follow) -> FileArg {
    FileArg::Path(
        PathArg {
            directory: None,
            text: 0,
        },
        follow,
    )
}

const FD: FileArg = FileArg::Descriptor(0);

/// What `creat` means.
#[cfg(target_arch = "x86_64")]
const CREATE: libc::c_int = libc::O_CREAT | libc::O_WRONLY | libc::O_TRUNC;

/// A newer call than the C library's headers know on all platforms.
pub(crate) const SYS_FCHMODAT2: libc::c_long = 452;

/// All calls that are asked about.
pub(crate) const CALLS: &[(libc::c_long, Call)] = &[
    (
        libc::SYS_openat,
        Call::Open {
            path: at(0, 1),
            flags: Argument(2),
            mode: 3,
        },
    ),
    (
        libc::SYS_mkdirat,
        Call::MakeDirectory {
            path: at(0, 1),
            mode: 2,
        },
    ),
    (
        libc::SYS_mknodat,
        Call::MakeNode {
            path: at(0, 1),
            mode: 2,
        },
    ),
    (
        libc::SYS_unlinkat,
        Call::Remove {
            path: at(0, 1),
            flags: Argument(2),
        },
    ),
    (
        libc::SYS_renameat,
        Call::Rename {
            from: at(0, 1),
            to: at(2, 3),
            flags: Fixed(0),
        },
    ),
    (
        libc::SYS_renameat2,
        Call::Rename {
            from: at(0, 1),
            to: at(2, 3),
            flags: Argument(4),
        },
    ),
    (
        libc::SYS_linkat,
        Call::Link {
            from: at(0, 1),
            to: at(2, 3),
            flags: Argument(4),
        },
    ),
    (
        libc::SYS_symlinkat,
        Call::LinkText {
            text: 0,
            path: at(1, 2),
        },
    ),
    (
        libc::SYS_truncate,
        Call::SetLength {
            file: file(Follow::Always),
            length: 1,
        },
    ),
    (libc::SYS_fchmod, Call::SetMode { file: FD, mode: 1 }),
    (
        libc::SYS_fchmodat,
        Call::SetMode {
            file: file_at(0, 1, Follow::Always),
            mode: 2,
        },
    ),
    (
        SYS_FCHMODAT2,
        Call::SetMode {
            file: file_at(0, 1, Follow::Flags(3)),
            mode: 2,
        },
    ),
    (
        libc::SYS_fchown,
        Call::SetOwner {
            file: FD,
            user: 1,
            group: 2,
        },
    ),
    (
        libc::SYS_fchownat,
        Call::SetOwner {
            file: file_at(0, 1, Follow::Flags(4)),
            user: 2,
            group: 3,
        },
    ),
    (
        libc::SYS_utimensat,
        Call::SetTimes {
            file: file_at(0, 1, Follow::Flags(3)),
            times: 2,
            form: TimeForm::Nanoseconds,
        },
    ),
    (
        libc::SYS_setxattr,
        Call::SetAttribute {
            file: file(Follow::Always),
            name: 1,
        },
    ),
    (
        libc::SYS_lsetxattr,
        Call::SetAttribute {
            file: file(Follow::Never),
            name: 1,
        },
    ),
    (
        libc::SYS_fsetxattr,
        Call::SetAttribute { file: FD, name: 1 },
    ),
    (
        libc::SYS_removexattr,
        Call::RemoveAttribute {
            file: file(Follow::Always),
            name: 1,
        },
    ),
    (
        libc::SYS_lremovexattr,
        Call::RemoveAttribute {
            file: file(Follow::Never),
            name: 1,
        },
    ),
    (
        libc::SYS_fremovexattr,
        Call::RemoveAttribute { file: FD, name: 1 },
    ),
    (libc::SYS_kill, Call::Signal(SignalArg::Process(0))),
    (libc::SYS_tkill, Call::Signal(SignalArg::Thread(0))),
    (libc::SYS_tgkill, Call::Signal(SignalArg::Thread(0))),
    (
        libc::SYS_rt_sigqueueinfo,
        Call::Signal(SignalArg::Process(0)),
    ),
    (
        libc::SYS_rt_tgsigqueueinfo,
        Call::Signal(SignalArg::Thread(0)),
    ),
    (libc::SYS_sched_setaffinity, Call::Schedule(0)),
    (libc::SYS_sched_setscheduler, Call::Schedule(0)),
    (libc::SYS_sched_setparam, Call::Schedule(0)),
    (libc::SYS_sched_setattr, Call::Schedule(0)),
    #[cfg(target_arch = "x86_64")]
    (
        libc::SYS_open,
        Call::Open {
            path: plain(0),
            flags: Argument(1),
            mode: 2,
        },
    ),
    #[cfg(target_arch = "x86_64")]
    (
        libc::SYS_creat,
        Call::Open {
            path: plain(0),
            flags: Fixed(CREATE),
            mode: 1,
        },
    ),
    #[cfg(target_arch = "x86_64")]
    (
        libc::SYS_mkdir,
        Call::MakeDirectory {
            path: plain(0),
            mode: 1,
        },
    ),
    #[cfg(target_arch = "x86_64")]
    (
        libc::SYS_mknod,
        Call::MakeNode {
            path: plain(0),
            mode: 1,
        },
    ),
    #[cfg(target_arch = "x86_64")]
    (
        libc::SYS_unlink,
        Call::Remove {
            path: plain(0),
            flags: Fixed(0),
        },
    ),
    #[cfg(target_arch = "x86_64")]
    (
        libc::SYS_rmdir,
        Call::Remove {
            path: plain(0),
            flags: Fixed(libc::AT_REMOVEDIR),
        },
    ),
    #[cfg(target_arch = "x86_64")]
    (
        libc::SYS_rename,
        Call::Rename {
            from: plain(0),
            to: plain(1),
            flags: Fixed(0),
        },
    ),
    #[cfg(target_arch = "x86_64")]
    (
        libc::SYS_link,
        Call::Link {
            from: plain(0),
            to: plain(1),
            flags: Fixed(0),
        },
    ),
    #[cfg(target_arch = "x86_64")]
    (
        libc::SYS_symlink,
        Call::LinkText {
            text: 0,
            path: plain(1),
        },
    ),
    #[cfg(target_arch = "x86_64")]
    (
        libc::SYS_chmod,
        Call::SetMode {
            file: file(Follow::Always),
            mode: 1,
        },
    ),
    #[cfg(target_arch = "x86_64")]
    (
        libc::SYS_chown,
        Call::SetOwner {
            file: file(Follow::Always),
            user: 1,
            group: 2,
        },
    ),
    #[cfg(target_arch = "x86_64")]
    (
        libc::SYS_lchown,
        Call::SetOwner {
            file: file(Follow::Never),
            user: 1,
            group: 2,
        },
    ),
    #[cfg(target_arch = "x86_64")]
    (
        libc::SYS_utime,
        Call::SetTimes {
            file: file(Follow::Always),
            times: 1,
            form: TimeForm::Seconds,
        },
    ),
    #[cfg(target_arch = "x86_64")]
    (
        libc::SYS_utimes,
        Call::SetTimes {
            file: file(Follow::Always),
            times: 1,
            form: TimeForm::Microseconds,
        },
    ),
    #[cfg(target_arch = "x86_64")]
    (
        libc::SYS_futimesat,
        Call::SetTimes {
            file: file_at(0, 1, Follow::Always),
            times: 2,
            form: TimeForm::Microseconds,
        },
    ),
];
