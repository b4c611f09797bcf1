//! The system calls that no sandboxed command gets.
//!
//! Namespaces and Landlock hold the walls; this filter closes what they leave open (sockets that
//! lead out, kernel interfaces that look past both) and keeps the kernel's more dangerous corners
//! out of reach.

use std::{
    io,
    os::fd::{FromRawFd, OwnedFd, RawFd},
};

use super::{
    bpf::{Program, Rule, Test, Verdict},
    broker::{CALLS, Call, FlagArg},
    landlock::SCOPED_SIGNALS,
    sys,
};
use crate::{Network, capabilities::Backend, rules::Access, spec::Jail};

const DENIED: Verdict = Verdict::Fail(libc::EPERM);
const UNKNOWN: Verdict = Verdict::Fail(libc::ENOSYS);

/// Calls that change the machine, build new views of it, or look past the walls.
const NEVER: &[libc::c_long] = &[
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_open_tree,
    libc::SYS_move_mount,
    libc::SYS_mount_setattr,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_setns,
    libc::SYS_open_by_handle_at,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_kexec_load,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_acct,
    libc::SYS_quotactl,
    libc::SYS_syslog,
    libc::SYS_vhangup,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_clock_adjtime,
    libc::SYS_adjtimex,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_iopl,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_ioperm,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_kexec_file_load,
];

/// System V and POSIX message objects are named apart from files; without a namespace of their own
/// they are shared with the whole machine.
const SHARED_OBJECTS: &[libc::c_long] = &[
    libc::SYS_shmget,
    libc::SYS_shmat,
    libc::SYS_shmctl,
    libc::SYS_semget,
    libc::SYS_semop,
    libc::SYS_semtimedop,
    libc::SYS_semctl,
    libc::SYS_msgget,
    libc::SYS_msgsnd,
    libc::SYS_msgrcv,
    libc::SYS_msgctl,
    libc::SYS_mq_open,
    libc::SYS_mq_unlink,
];

/// Calls that set priorities, and by which numbers they mean a process and a group of them.
const PRIORITIES: &[(libc::c_long, [u32; 2])] = &[
    (libc::SYS_setpriority, [0, 1]),
    (libc::SYS_ioprio_set, [1, 2]),
];

/// Flags of `clone` and `unshare` that make namespaces. The one for time lies where `clone` has the
/// number of a signal, so only `unshare` knows it.
const NEW_NAMESPACES: u32 = (libc::CLONE_NEWNS
    | libc::CLONE_NEWCGROUP
    | libc::CLONE_NEWUTS
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWUSER
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWNET) as u32;
const NEW_TIME_NAMESPACE: u32 = 0x80;

/// The type of a socket without its flags.
const SOCKET_TYPE: u32 = 0xf;

/// Flags of `open` that change something.
const CHANGING_FLAGS: u32 =
    (libc::O_WRONLY | libc::O_RDWR | libc::O_CREAT | libc::O_TRUNC | libc::O_TMPFILE) as u32
        & !(libc::O_DIRECTORY as u32);

/// Flags of `open` by which it makes a file, so that its mode counts.
const MAKING_FLAGS: u32 = (libc::O_CREAT | libc::O_TMPFILE) as u32 & !(libc::O_DIRECTORY as u32);

/// Bits of a mode that lend the rights of a file's owner or group to all who run it. A filter cannot
/// know whether a path leads to a directory, where the second one means less.
const LENDING_BITS: u32 = libc::S_ISUID | libc::S_ISGID;

/// Requests that change what Landlock does not govern: flags of files, and all that is particular to
/// the file system btrfs, but for the two that copy between open files.
const FILE_REQUESTS: [u32; 5] = [
    0x4008_6602,
    0x4004_6602,
    0x4008_7602,
    0x401c_5820,
    0x800c_6613,
];
/// Requests that choose who is signalled about a file; and the operations of `fcntl` that do, and that
/// choose the signal.
const OWNER_REQUESTS: [u32; 2] = [0x8901, 0x8902];
const OWNER_OPERATIONS: [u32; 3] = [libc::F_SETOWN as u32, F_SETSIG, F_SETOWN_EX];
const F_SETSIG: u32 = 10;
const F_SETOWN_EX: u32 = 15;

/// Operations of `fcntl` by which who can only read a file keeps everybody else from opening it:
/// `F_SETLEASE`, `F_SETDELEG`.
const HOLDING_OPERATIONS: [u32; 2] = [1024, 1040];

const COPY_REQUESTS: [u32; 2] = [0x4004_9409, 0x4020_940d];
const REQUEST_KIND: u32 = 0xff00;
const BTRFS_REQUEST: u32 = 0x9400;

/// Newer ways to do what is asked about under older numbers; callers fall back to those:
/// `setxattrat`, `removexattrat`, `file_setattr`.
const NEWER_TOUCHES: [libc::c_long; 3] = [463, 466, 469];

/// A ready filter.
pub(crate) struct Filter {
    program: Vec<libc::sock_filter>,
    has_questions: bool,
}

impl Filter {
    pub(crate) fn new(jail: &Jail) -> Self {
        let mut program = Program::default();
        for call in NEVER {
            program.decide(*call, &[], DENIED);
        }
        let new = [Test::AnyBit {
            argument: 0,
            bits: NEW_NAMESPACES,
        }];
        let unshared = [Test::AnyBit {
            argument: 0,
            bits: NEW_NAMESPACES | NEW_TIME_NAMESPACE,
        }];
        program.decide(libc::SYS_clone, &[(&new, DENIED)], Verdict::Allow);
        program.decide(libc::SYS_unshare, &[(&unshared, DENIED)], Verdict::Allow);
        // Its flags lie in memory, out of a filter's sight; callers fall back to `clone`.
        program.decide(libc::SYS_clone3, &[], UNKNOWN);
        // Neither are flags and mode of this one; callers fall back to `openat`.
        program.decide(libc::SYS_openat2, &[], UNKNOWN);
        filter_sockets(&mut program, jail);
        filter_requests(&mut program, jail);
        filter_file_operations(&mut program, jail);
        let questions = match jail.backend {
            Backend::Namespaces { .. } => Questions::default(),
            Backend::Landlock { version } => {
                filter_for_landlock(&mut program, version);
                Questions::new(jail, version)
            }
        };
        for (number, call) in CALLS {
            filter_call(&mut program, *number, call, &questions);
        }
        let has_questions = questions.are_asked;
        Self {
            program: program.finish(),
            has_questions,
        }
    }

    /// Whether somebody must answer for the command to get anywhere.
    pub(crate) fn has_questions(&self) -> bool {
        self.has_questions
    }

    /// Puts it in force for this process and all it starts. Returns where its questions arrive.
    pub(crate) fn install(&self) -> io::Result<Option<OwnedFd>> {
        let program = libc::sock_fprog {
            len: self.program.len() as libc::c_ushort,
            filter: self.program.as_ptr().cast_mut(),
        };
        let install = |flags: libc::c_ulong| {
            let (set, program) = (libc::SECCOMP_SET_MODE_FILTER, &raw const program);
            // SAFETY: the kernel reads `len` instructions, which are alive.
            sys::check(unsafe { libc::syscall(libc::SYS_seccomp, set, flags, program) })
        };
        if !self.has_questions {
            return install(0).map(|_| None);
        }
        let ask = libc::SECCOMP_FILTER_FLAG_NEW_LISTENER;
        // Before Linux 5.19 any signal may break off a question and have it asked again.
        let patiently = ask | libc::SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV;
        let fd = install(patiently).or_else(|_| install(ask))?;
        // SAFETY: the descriptor is new.
        Ok(Some(unsafe { OwnedFd::from_raw_fd(fd as RawFd) }))
    }
}

/// What namespaces would have taken care of.
fn filter_for_landlock(program: &mut Program, version: u32) {
    for call in SHARED_OBJECTS {
        program.decide(*call, &[], DENIED);
    }
    for call in NEWER_TOUCHES {
        program.decide(call, &[], UNKNOWN);
    }
    // Limits of other processes.
    program.decide(
        libc::SYS_prlimit64,
        &[(&[equals(0, 0)], Verdict::Allow)],
        DENIED,
    );
    // How much of the machine they get: of this process or its group only.
    for (call, kinds) in PRIORITIES {
        let own = kinds.map(|kind| [equals(0, kind), equals(1, 0)]);
        let own = own.each_ref().map(|tests| (&tests[..], Verdict::Allow));
        program.decide(*call, &own, DENIED);
    }
    if version < SCOPED_SIGNALS {
        program.decide(libc::SYS_pidfd_send_signal, &[], UNKNOWN);
    }
}

/// What the supervisor is asked about.
#[derive(Default)]
struct Questions {
    are_asked: bool,
    /// Files of which Landlock does not govern everything.
    touches: Option<Verdict>,
    /// Signals that Landlock does not keep inside.
    signals: bool,
    schedules: Option<Verdict>,
    /// Changes in directories that are shut since something in them is.
    changes: bool,
    /// Reading there.
    reads: bool,
}

impl Questions {
    fn new(jail: &Jail, version: u32) -> Self {
        let rules = &jail.rules;
        let mut writable = rules.entries.iter().filter(|it| it.access == Access::Write);
        let changes = writable
            .clone()
            .any(|it| rules.has_exception_below(&it.path));
        let nothing_writable = writable.next().is_none();
        let signals = version < SCOPED_SIGNALS;
        let are_asked = signals || !nothing_writable;
        let unless = |never: bool| if never { DENIED } else { Verdict::Ask };
        Self {
            are_asked,
            touches: Some(unless(nothing_writable)),
            signals,
            schedules: Some(unless(!are_asked)),
            changes,
            reads: rules.hides_in_writable(),
        }
    }

    /// What becomes of a call, unless it is one that passes.
    fn verdict(&self, call: &Call) -> (Option<Test>, Verdict) {
        let ask = |asked: bool| if asked { Verdict::Ask } else { Verdict::Allow };
        match call {
            Call::Schedule(process) => match self.schedules {
                Some(other) => (Some(equals(*process as u32, 0)), other),
                None => (None, Verdict::Allow),
            },
            call if call.is_touch() => (None, self.touches.unwrap_or(Verdict::Allow)),
            call if call.is_signal() => (None, ask(self.signals)),
            Call::Open {
                flags: FlagArg::Argument(flags),
                ..
            } if self.changes && !self.reads => {
                let reading = Test::NoBit {
                    argument: *flags as u32,
                    bits: CHANGING_FLAGS,
                };
                (Some(reading), Verdict::Ask)
            }
            _ => (None, ask(self.changes)),
        }
    }
}

/// Decides about a call that changes files or processes.
fn filter_call(program: &mut Program, number: libc::c_long, call: &Call, questions: &Questions) {
    let lending = |argument: usize| Test::AnyBit {
        argument: argument as u32,
        bits: LENDING_BITS,
    };
    let lends: Vec<Test> = match *call {
        Call::Open {
            flags: FlagArg::Argument(flags),
            mode,
            ..
        } => {
            let makes = Test::AnyBit {
                argument: flags as u32,
                bits: MAKING_FLAGS,
            };
            vec![makes, lending(mode)]
        }
        Call::Open { mode, .. } | Call::MakeNode { mode, .. } | Call::SetMode { mode, .. } => {
            vec![lending(mode)]
        }
        // The kernel ignores these bits when it makes a directory.
        _ => Vec::new(),
    };
    let (passes, otherwise) = questions.verdict(call);
    let passes: Vec<Test> = passes.into_iter().collect();
    let rules: [Rule<'_>; 2] = [(&lends, DENIED), (&passes, Verdict::Allow)];
    let rules: Vec<Rule<'_>> = rules
        .into_iter()
        .filter(|(tests, _)| !tests.is_empty())
        .collect();
    if !rules.is_empty() || otherwise != Verdict::Allow {
        program.decide(number, &rules, otherwise);
    }
}

/// Whether files that signal their readers could signal somebody outside: the scope of Landlock's rules
/// holds for those signals too, but older versions have none.
fn has_free_signals(jail: &Jail) -> bool {
    matches!(jail.backend, Backend::Landlock { version } if version < SCOPED_SIGNALS)
}

fn filter_file_operations(program: &mut Program, jail: &Jail) {
    let mut denied = HOLDING_OPERATIONS.to_vec();
    if has_free_signals(jail) {
        denied.extend(OWNER_OPERATIONS);
    }
    let tests: Vec<[Test; 1]> = denied.into_iter().map(|it| [equals(1, it)]).collect();
    let rules: Vec<Rule<'_>> = tests.iter().map(|test| (&test[..], DENIED)).collect();
    program.decide(libc::SYS_fcntl, &rules, Verdict::Allow);
}

/// Typing on a terminal that somebody else reads; and changes to files that Landlock overlooks.
fn filter_requests(program: &mut Program, jail: &Jail) {
    let typing = [libc::TIOCSTI, libc::TIOCLINUX].map(|request| [equals(1, request as u32)]);
    let copies = COPY_REQUESTS.map(|request| [equals(1, request)]);
    let files = FILE_REQUESTS.map(|request| [equals(1, request)]);
    let btrfs = [Test::Equals {
        argument: 1,
        mask: REQUEST_KIND,
        value: BTRFS_REQUEST,
    }];
    let owners = OWNER_REQUESTS.map(|request| [equals(1, request)]);
    let mut rules: Vec<Rule<'_>> = typing.iter().map(|test| (&test[..], DENIED)).collect();
    if has_free_signals(jail) {
        rules.extend(owners.iter().map(|test| (&test[..], DENIED)));
    }
    if matches!(jail.backend, Backend::Landlock { .. }) {
        rules.extend(copies.iter().map(|test| (&test[..], Verdict::Allow)));
        rules.extend(files.iter().map(|test| (&test[..], DENIED)));
        rules.push((&btrfs, DENIED));
    }
    program.decide(libc::SYS_ioctl, &rules, Verdict::Allow);
}

/// Sockets are judged when they are made: a unix socket can reach any daemon by its path, so none
/// can be made unless the policy says so. Connected pairs that stay connected are harmless; all other
/// kinds (raw ones, too, are datagram sockets in truth) can be redirected with every message.
fn filter_sockets(program: &mut Program, jail: &Jail) {
    let network = jail.rules.network;
    let family = |family: libc::c_int| equals(0, family as u32);
    let internet = [[family(libc::AF_INET)], [family(libc::AF_INET6)]];
    // Of netlink only the part that lists interfaces and routes.
    let routes = [
        family(libc::AF_NETLINK),
        equals(2, libc::NETLINK_ROUTE as u32),
    ];
    let host = [[family(libc::AF_UNIX)], [family(libc::AF_NETLINK)]];
    let mut allowed: Vec<Rule<'_>> = Vec::new();
    // A private network namespace leads nowhere.
    let private = matches!(jail.backend, Backend::Namespaces { .. });
    if private || network != Network::Off {
        allowed.extend(internet.iter().map(|test| (&test[..], Verdict::Allow)));
        allowed.push((&routes, Verdict::Allow));
    }
    if network == Network::Host {
        allowed.extend(host.iter().map(|test| (&test[..], Verdict::Allow)));
    } else {
        let pairs = [libc::SOCK_STREAM, libc::SOCK_SEQPACKET].map(|kind| {
            let kind = Test::Equals {
                argument: 1,
                mask: SOCKET_TYPE,
                value: kind as u32,
            };
            [family(libc::AF_UNIX), kind]
        });
        let pairs = pairs.each_ref().map(|tests| (&tests[..], Verdict::Allow));
        program.decide(libc::SYS_socketpair, &pairs, DENIED);
    }
    program.decide(libc::SYS_socket, &allowed, DENIED);
}

fn equals(argument: u32, value: u32) -> Test {
    Test::Equals {
        argument,
        mask: u32::MAX,
        value,
    }
}

/// Whether the kernel takes filters.
pub(crate) fn is_available() -> bool {
    let action = libc::SECCOMP_RET_ERRNO;
    // SAFETY: the kernel reads one number.
    let answer = unsafe {
        libc::syscall(
            libc::SYS_seccomp,
            libc::SECCOMP_GET_ACTION_AVAIL,
            0,
            &raw const action,
        )
    };
    answer == 0
}
