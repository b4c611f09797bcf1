//! The second life of the program: started again under another name, it becomes the supervisor of
//! one command.
//!
//! A supervisor has one thread and no runtime. It builds the jail, starts the command in it, reports
//! how it ends, and kills everything below it when the lifeline to the server breaks.

mod family;
#[cfg(target_os = "linux")]
mod leader;
#[cfg(not(target_os = "linux"))]
#[path = "helper/leader_portable.rs"]
mod leader;
mod supervise;

use std::{
    io::{self, Read, Write},
    os::{
        fd::{AsFd, FromRawFd, OwnedFd},
        unix::net::UnixStream,
    },
    path::PathBuf,
    process::exit,
};

pub(crate) use family::Family;
pub(crate) use leader::Lock;
pub(crate) use supervise::supervise;

use crate::{
    fd::{self, PASSED},
    report::{Failure, Report, Step},
    spec::{Code, Spec},
};

/// The name (argument zero) under which the program runs as a supervisor.
pub(crate) const NAME: &str = "quipu-supervisor";

/// Call this first in `main`. In a process that was started as a supervisor it does that work and
/// never returns; in all others it does nothing.
pub fn maybe_run_helper() {
    if std::env::args_os().next().is_some_and(|name| name == NAME) {
        run();
    }
}

/// The running program itself, even if its file was replaced meanwhile.
pub(crate) fn executable() -> io::Result<PathBuf> {
    if cfg!(target_os = "linux") {
        Ok("/proc/self/exe".into())
    } else {
        std::env::current_exe()
    }
}

fn run() -> ! {
    fd::close_from(3);
    // SAFETY: the server passes the lifeline as descriptor 0; nothing else here uses it.
    let mut lifeline = Lifeline(UnixStream::from(unsafe { OwnedFd::from_raw_fd(0) }));
    let (spec, stdio) = match lifeline.receive() {
        Ok(order) => order,
        Err(error) => lifeline.fail(&Failure::new(Step::Spec, &error)),
    };
    match &spec.jail {
        #[cfg(target_os = "linux")]
        Some(jail) => crate::linux::run(lifeline, &spec, jail, stdio),
        #[cfg(not(target_os = "linux"))]
        Some(_) => lifeline.fail(&Failure::new(
            Step::Spec,
            &io::ErrorKind::Unsupported.into(),
        )),
        None => supervise(lifeline, &spec, stdio, Family::Descendants, &Lock::None),
    }
}

/// The helper's end of the lifeline.
pub(crate) struct Lifeline(UnixStream);

impl Lifeline {
    fn receive(&mut self) -> io::Result<(Spec, [OwnedFd; PASSED])> {
        let mut bytes = vec![0; 64 * 1024];
        let (count, fds) = fd::recv_with_fds(self.0.as_fd(), &mut bytes)?;
        bytes.truncate(count);
        while bytes.len() < size_of::<u32>() {
            let mut byte = [0];
            self.0.read_exact(&mut byte)?;
            bytes.extend(byte);
        }
        let size = u32::get(&mut &bytes[..]).unwrap_or(0) as usize;
        let have = bytes.len();
        bytes.resize(size + size_of::<u32>(), 0);
        if let Some(missing) = bytes.get_mut(have..) {
            self.0.read_exact(missing)?;
        }
        let spec = Spec::get(&mut &bytes[size_of::<u32>()..]);
        spec.zip(fds)
            .ok_or_else(|| io::ErrorKind::InvalidData.into())
    }

    pub(crate) fn send(&mut self, report: &Report) {
        let mut bytes = Vec::new();
        report.put(&mut bytes);
        // If the server is gone there is nobody to tell, and the lifeline says so when it is read.
        self.0.write_all(&bytes).ok();
    }

    /// Reports why nothing was run and ends the helper.
    pub(crate) fn fail(mut self, failure: &Failure) -> ! {
        self.send(&Report::Failed(failure.clone()));
        exit(1);
    }
}

impl AsFd for Lifeline {
    fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
        self.0.as_fd()
    }
}
