//! Starting the program where the kernel offers nothing better than fork and exec.

use std::{
    ffi::{CString, OsStr},
    io,
    os::unix::{ffi::OsStrExt, process::CommandExt},
    process::Command,
};

use crate::{
    fd::{StdFds, check},
    report::{Failure, Step},
    spec::Spec,
};

/// What the child takes upon itself before it executes the program: nothing can be enforced here.
pub(crate) enum Lock {
    /// No policy.
    None,
}

/// Starts the program; returns once it runs.
pub(super) fn start(spec: &Spec, stdio: &StdFds, _lock: &Lock) -> Result<libc::pid_t, Failure> {
    let failed = |step| move |error| Failure::new(step, &error);
    std::env::set_current_dir(text(&spec.cwd)).map_err(failed(Step::Cwd))?;
    let mut result = io::Error::from_raw_os_error(libc::ENOENT);
    for program in &spec.programs {
        let mut command = prepare(spec, program);
        let [stdin, stdout, stderr] = stdio.each_ref().map(|fd| fd.try_clone());
        command.stdin(stdin.map_err(failed(Step::Terminal))?);
        command.stdout(stdout.map_err(failed(Step::Terminal))?);
        command.stderr(stderr.map_err(failed(Step::Terminal))?);
        match command.spawn() {
            Ok(child) => return Ok(child.id().cast_signed()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => result = error,
        }
    }
    Err(Failure::new(Step::Program, &result))
}

#[expect(
    clippy::disallowed_methods,
    reason = "this is the place that starts processes"
)]
fn prepare(spec: &Spec, program: &CString) -> Command {
    let mut command = Command::new(text(program));
    command.env_clear();
    if let Some((name, rest)) = spec.argv.split_first() {
        command.arg0(text(name)).args(rest.iter().map(text));
    }
    for variable in &spec.env {
        let bytes = variable.as_bytes();
        if let Some(middle) = bytes.iter().position(|byte| *byte == b'=') {
            let (name, value) = (&bytes[..middle], &bytes[middle + 1..]);
            command.env(OsStr::from_bytes(name), OsStr::from_bytes(value));
        }
    }
    let tty = spec.tty;
    // SAFETY: only system calls between fork and exec.
    unsafe {
        command.pre_exec(move || {
            check(libc::setsid())?;
            if tty {
                check(libc::ioctl(0, libc::TIOCSCTTY.into(), 0))?;
            }
            for signal in 1..32 {
                libc::signal(signal, libc::SIG_DFL);
            }
            let mut none: libc::sigset_t = std::mem::zeroed();
            libc::sigemptyset(&mut none);
            check(libc::sigprocmask(
                libc::SIG_SETMASK,
                &none,
                std::ptr::null_mut(),
            ))
            .map(drop)
        });
    }
    command
}

fn text(string: &CString) -> &OsStr {
    OsStr::from_bytes(string.as_bytes())
}
