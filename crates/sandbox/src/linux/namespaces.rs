//! The strong jail: user, mount, process, IPC and network namespaces.
//!
//! The supervisor forks once into all of them. The child becomes the first process there, builds the
//! file system view, gives up every privilege and supervises the command; if it ends, the kernel
//! kills all that is left. The parent only waits for that, so that somebody takes leave of it.

use std::{
    fs,
    io::{self, PipeReader, PipeWriter, Read, Write},
    net::{Ipv4Addr, TcpListener},
    os::fd::{AsRawFd, FromRawFd, OwnedFd},
    process::exit,
};

use super::{landlock::Ruleset, mounts, restrict, seccomp::Filter, sys};
use crate::{
    GATE_PORT, Network,
    fd::{StdFds, check},
    helper::{Family, Lifeline, Lock, supervise},
    report::{Failure, Step},
    spec::{Jail, Spec},
};

const ALWAYS: libc::c_int =
    libc::CLONE_NEWUSER | libc::CLONE_NEWNS | libc::CLONE_NEWPID | libc::CLONE_NEWIPC;

pub(super) fn run(lifeline: Lifeline, spec: &Spec, jail: &Jail, stdio: StdFds, landlock: u32) -> ! {
    jail.rules.reserved.iter().for_each(mounts::reserve);
    let network = if has_own_network(jail) {
        libc::CLONE_NEWNET
    } else {
        0
    };
    let forked = io::pipe().and_then(|pipe| Ok((pipe, sys::fork_into(ALWAYS | network)?)));
    match forked {
        Err(error) => lifeline.fail(&Failure::new(Step::Namespaces, &error)),
        Ok(((go, parent_end), None)) => {
            drop(parent_end);
            if go_ahead(go).is_err() {
                exit(1);
            }
            live_inside(lifeline, spec, jail, stdio, landlock)
        }
        Ok(((_, go), Some(child))) => {
            if let Err(error) = map_ids(child) {
                // The child ends when `go` closes without a word.
                lifeline.fail(&Failure::new(Step::IdMap, &error));
            }
            drop((lifeline, stdio));
            wait_for(child, go);
            exit(0);
        }
    }
}

/// Waits until the parent has done its part.
fn go_ahead(mut go: PipeReader) -> io::Result<()> {
    go.read_exact(&mut [0])
}

/// The life of the first process in the namespaces.
fn live_inside(
    mut lifeline: Lifeline,
    spec: &Spec,
    jail: &Jail,
    stdio: StdFds,
    landlock: u32,
) -> ! {
    match build(jail, landlock, &stdio) {
        Ok(gate) => lifeline.gate = gate,
        Err(failure) => lifeline.fail(&failure),
    }
    if spec.programs.is_empty() {
        // It was only asked whether the jail can be built.
        lifeline.started();
        exit(0);
    }
    supervise(
        lifeline,
        spec,
        stdio,
        Family::Namespace,
        &Lock::None,
        || Ok(None),
    )
}

fn has_own_network(jail: &Jail) -> bool {
    matches!(jail.rules.network, Network::Off | Network::Gate)
}

/// Builds the jail around this process; gives the gate that leads out of it, if there is to be one.
fn build(jail: &Jail, landlock: u32, stdio: &StdFds) -> Result<Option<OwnedFd>, Failure> {
    let at = |step| move |error: io::Error| Failure::new(step, &error);
    // If the parent is killed, so is this process and with it all others in the namespace.
    sys::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL as libc::c_ulong)
        .map_err(at(Step::Namespaces))?;
    mounts::build(&jail.rules)?;
    if has_own_network(jail) {
        start_loopback().map_err(at(Step::Loopback))?;
    }
    let gate = match jail.rules.network {
        Network::Gate => Some(TcpListener::bind((Ipv4Addr::LOCALHOST, GATE_PORT))),
        _ => None,
    };
    let gate = gate.transpose().map_err(at(Step::Loopback))?;
    // From here on this process may no more than the command; and the command, which sees it as its
    // parent, may not look into it.
    sys::prctl(libc::PR_SET_DUMPABLE, 0).map_err(at(Step::Capabilities))?;
    restrict::drop_capabilities().map_err(at(Step::Capabilities))?;
    restrict::forbid_new_privileges().map_err(at(Step::Capabilities))?;
    if let Some(ruleset) =
        Ruleset::beside_mounts(&jail.rules, landlock, stdio).map_err(at(Step::Landlock))?
    {
        ruleset.restrict_self().map_err(at(Step::Landlock))?;
    }
    Filter::new(jail).install().map_err(at(Step::Seccomp))?;
    Ok(gate.map(OwnedFd::from))
}

/// Lets the child go on and waits for its end.
fn wait_for(child: libc::pid_t, mut go: PipeWriter) {
    // If the child is gone already, waiting for it is all there is to do.
    go.write_all(&[1]).ok();
    // SAFETY: waits for a child of this process, its status is not wanted.
    while unsafe { libc::waitpid(child, std::ptr::null_mut(), 0) } == -1
        && io::Error::last_os_error().kind() == io::ErrorKind::Interrupted
    {}
}

/// Users keep their ids inside: root all of them, so that files of others look as they are, anybody
/// else just their own.
fn map_ids(child: libc::pid_t) -> io::Result<()> {
    let directory = format!("/proc/{child}");
    if sys::is_root()
        && identity("/proc/self/uid_map")
            .and_then(|map| fs::write(format!("{directory}/uid_map"), map))
            .is_ok()
    {
        return fs::write(
            format!("{directory}/gid_map"),
            identity("/proc/self/gid_map")?,
        );
    }
    // SAFETY: cannot fail.
    let (user, group) = unsafe { (libc::geteuid(), libc::getegid()) };
    fs::write(format!("{directory}/uid_map"), format!("{user} {user} 1"))?;
    fs::write(format!("{directory}/setgroups"), "deny")?;
    fs::write(format!("{directory}/gid_map"), format!("{group} {group} 1"))
}

/// The map that keeps all ids of this namespace as they are.
fn identity(map: &str) -> io::Result<String> {
    let lines = fs::read_to_string(map)?;
    let identity = lines.lines().filter_map(|line| {
        let mut numbers = line.split_ascii_whitespace();
        let (inside, count) = (numbers.next()?, numbers.nth(1)?);
        Some(format!("{inside} {inside} {count}\n"))
    });
    Ok(identity.collect())
}

/// A new network namespace has one interface, the loopback, which is down.
fn start_loopback() -> io::Result<()> {
    // SAFETY: creates a socket; nobody else owns it.
    let socket = unsafe {
        let fd = libc::socket(libc::AF_INET, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0);
        OwnedFd::from_raw_fd(check(fd)?)
    };
    // SAFETY: zeros are a valid request; the kernel reads the name and the flags.
    unsafe {
        let mut request: libc::ifreq = std::mem::zeroed();
        request.ifr_name[0] = b'l' as libc::c_char;
        request.ifr_name[1] = b'o' as libc::c_char;
        request.ifr_ifru.ifru_flags = (libc::IFF_UP | libc::IFF_RUNNING) as libc::c_short;
        check(libc::ioctl(
            socket.as_raw_fd(),
            libc::SIOCSIFFLAGS as _,
            &request,
        ))?;
    }
    Ok(())
}
