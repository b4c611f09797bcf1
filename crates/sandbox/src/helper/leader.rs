//! Turning the helper's order into a running program.
//!
//! The child shares the helper's memory until it executes the program, so nothing is copied, and
//! the helper learns at once whether that worked. The child's part runs on a stack of its own and
//! allocates nothing.

use std::{
    cell::Cell,
    ffi::{CStr, CString, c_void},
    io,
    os::{
        fd::{AsFd, AsRawFd, RawFd},
        unix::net::UnixStream,
    },
    ptr,
};

use crate::{
    fd::{self, StdFds, check},
    linux::{landlock::Ruleset, restrict, seccomp::Filter},
    report::{Failure, Step},
    spec::Spec,
};

/// How many signals the kernel has.
const SIGNALS: usize = 64;

/// What the child takes upon itself just before it executes the program.
pub(crate) enum Lock {
    /// Nothing: there is no policy, or the helper has taken it upon itself already.
    None,
    /// Landlock rules and a system call filter; if the filter has questions, the descriptor they
    /// arrive on is sent over the socket.
    Landlock {
        ruleset: Ruleset,
        filter: Filter,
        office: UnixStream,
    },
}

/// Everything the child needs, prepared by the parent.
struct Launch<'a> {
    argv: Vec<*const libc::c_char>,
    env: Vec<*const libc::c_char>,
    programs: &'a [CString],
    cwd: &'a CStr,
    tty: bool,
    stdio: [RawFd; 3],
    lock: &'a Lock,
    failure: Cell<Option<(Step, i32)>>,
}

/// Starts the program; returns once it runs.
pub(super) fn start(spec: &Spec, stdio: &StdFds, lock: &Lock) -> Result<libc::pid_t, Failure> {
    let pointers = |strings: &[CString]| {
        strings
            .iter()
            .map(|string| string.as_ptr())
            .chain([ptr::null()])
            .collect()
    };
    let launch = Launch {
        argv: pointers(&spec.argv),
        env: pointers(&spec.env),
        programs: &spec.programs,
        cwd: &spec.cwd,
        tty: spec.tty,
        stdio: stdio.each_ref().map(|fd| fd.as_raw_fd()),
        lock,
        failure: Cell::new(None),
    };
    let mut stack = vec![0_u128; 4096];
    // SAFETY: the child runs `child_main` on `stack`, which grows downwards from its aligned end.
    // With CLONE_VFORK this thread, the only one, stands still until the child has executed the
    // program or ended, so everything `launch` points at stays alive and unshared.
    let pid = check(unsafe {
        libc::clone(
            child_main,
            stack.as_mut_ptr_range().end.cast(),
            libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD,
            ptr::from_ref(&launch).cast_mut().cast(),
        )
    })
    .map_err(|error| Failure::new(Step::Fork, &error))?;
    match launch.failure.get() {
        None => Ok(pid),
        Some((step, errno)) => Err(Failure {
            step,
            errno,
            detail: Vec::new(),
        }),
    }
}

extern "C" fn child_main(launch: *mut c_void) -> libc::c_int {
    // SAFETY: `start` passes a pointer to a `Launch` that outlives this function.
    let launch = unsafe { &*launch.cast::<Launch<'_>>() };
    let Err((step, error)) = launch.become_program();
    launch
        .failure
        .set(Some((step, error.raw_os_error().unwrap_or(0))));
    // SAFETY: ends the child without running the parent's exit handlers.
    unsafe { libc::_exit(127) }
}

impl Launch<'_> {
    fn become_program(&self) -> Result<std::convert::Infallible, (Step, io::Error)> {
        let at = |step| move |error| (step, error);
        self.take_streams().map_err(at(Step::Terminal))?;
        // SAFETY: `cwd` is a terminated string.
        check(unsafe { libc::chdir(self.cwd.as_ptr()) }).map_err(at(Step::Cwd))?;
        reset_signals();
        // SAFETY: the numbers are those of the system call; all but the first three close on exec.
        check(unsafe {
            libc::syscall(
                libc::SYS_close_range,
                3,
                libc::c_int::MAX,
                libc::CLOSE_RANGE_CLOEXEC,
            )
        } as libc::c_int)
        .map_err(at(Step::Program))?;
        if let Lock::Landlock {
            ruleset,
            filter,
            office,
        } = self.lock
        {
            restrict::drop_capabilities().map_err(at(Step::Capabilities))?;
            restrict::forbid_new_privileges().map_err(at(Step::Capabilities))?;
            ruleset.restrict_self().map_err(at(Step::Landlock))?;
            if let Some(listener) = filter.install().map_err(at(Step::Seccomp))? {
                fd::send_with_fds(office.as_fd(), &[0], [listener.as_fd()])
                    .map_err(at(Step::Seccomp))?;
            }
        }
        Err((Step::Program, self.execute()))
    }

    /// A session of its own, so that no terminal but its own can be typed on; then the streams.
    fn take_streams(&self) -> io::Result<()> {
        // SAFETY: system calls on descriptors of the caller, without memory arguments.
        unsafe {
            check(libc::setsid())?;
            if self.tty {
                check(libc::ioctl(self.stdio[0], libc::TIOCSCTTY, 0))?;
            }
            for (wanted, fd) in (0..).zip(self.stdio) {
                check(libc::dup2(fd, wanted))?;
            }
            // If the supervisor is killed, at least the command itself follows.
            check(libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL))?;
        }
        Ok(())
    }

    /// Tries the candidates in order; a forbidden one is only reported if no other works.
    fn execute(&self) -> io::Error {
        let mut result = io::Error::from_raw_os_error(libc::ENOENT);
        for program in self.programs {
            // SAFETY: terminated strings and null-terminated arrays of them.
            unsafe { libc::execve(program.as_ptr(), self.argv.as_ptr(), self.env.as_ptr()) };
            let error = io::Error::last_os_error();
            match error.raw_os_error() {
                Some(libc::ENOENT | libc::ENOTDIR) => {}
                Some(libc::EACCES) => result = error,
                _ => return error,
            }
        }
        result
    }
}

/// The program starts with no signal blocked or ignored, not even those that the C library keeps to
/// itself.
fn reset_signals() {
    // The default action, no flags, no mask, as the kernel's own structure has them.
    let default = [0_u64; 4];
    // SAFETY: the signal tables are the child's own copy; numbers that may not be changed are
    // refused by the kernel.
    unsafe {
        for signal in 1..=SIGNALS {
            let old = ptr::null_mut::<u64>();
            libc::syscall(
                libc::SYS_rt_sigaction,
                signal,
                default.as_ptr(),
                old,
                SIGNALS / 8,
            );
        }
        let mut none: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&mut none);
        libc::sigprocmask(libc::SIG_SETMASK, &none, ptr::null_mut());
    }
}
