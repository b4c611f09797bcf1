//! The second life of the program: started again under another name, it forks the supervisors of
//! commands.
//!
//! The first command of a server starts one *zygote*, a process that does nothing but fork. Each
//! fork becomes the *supervisor* of one command: it has one thread and no runtime, builds the jail,
//! starts the command in it, reports how it ends, and kills everything below it when the lifeline to
//! the server breaks. Forking a small process costs a tenth of starting the program anew.

mod family;
#[cfg(target_os = "linux")]
mod leader;
#[cfg(not(target_os = "linux"))]
#[path = "helper/leader_portable.rs"]
mod leader;
pub(crate) mod process_table;
mod supervise;

use std::{
    io::{self, Read, Write},
    os::{
        fd::{AsFd, BorrowedFd, FromRawFd, OwnedFd},
        unix::net::UnixStream,
    },
    process::exit,
};

pub(crate) use family::Family;
pub(crate) use leader::Lock;
pub(crate) use supervise::{Attendant, supervise};

use crate::{
    fd::{self, StdFds, check},
    report::{Failure, Report, Step},
    spec::{Code, Spec},
};

/// The name (argument zero) under which the program runs as a zygote.
pub(crate) const NAME: &str = "quipu-zygote";

/// Call this first in `main`. In a process that was started to look after commands it does that
/// work and never returns; in all others it does nothing.
pub fn maybe_run_helper() {
    if std::env::args_os().next().is_some_and(|name| name == NAME) {
        run_zygote();
    }
}

/// Forks a supervisor for each lifeline that arrives, until the server is gone.
fn run_zygote() -> ! {
    fd::close_from(3);
    // SAFETY: the server passes its socket as descriptor 0; nothing else here uses it.
    let server = unsafe { OwnedFd::from_raw_fd(0) };
    // Nobody waits for supervisors: the server sees their end on their lifelines.
    set_child_signal(libc::SIG_IGN);
    while let Some(lifeline) = next_lifeline(server.as_fd()) {
        // SAFETY: this process has one thread.
        match check(unsafe { libc::fork() }) {
            Ok(0) => {
                set_child_signal(libc::SIG_DFL);
                match fd::replace(server, lifeline) {
                    Ok(lifeline) => run_supervisor(Lifeline::new(lifeline)),
                    Err(_) => exit(1),
                }
            }
            Ok(_) => {}
            Err(error) => {
                Lifeline::new(lifeline).send(&Report::Failed(Failure::new(Step::Fork, &error)));
            }
        }
    }
    exit(0);
}

/// The next lifeline that the server passes; `None` when it is gone.
fn next_lifeline(server: BorrowedFd<'_>) -> Option<OwnedFd> {
    loop {
        match fd::recv_with_fds(server, &mut [0]) {
            Ok((1, Some([lifeline]))) => return Some(lifeline),
            Ok((1, None)) => {}
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Ok(_) | Err(_) => return None,
        }
    }
}

fn set_child_signal(action: libc::sighandler_t) {
    // SAFETY: sets one of the two predefined actions.
    unsafe { libc::signal(libc::SIGCHLD, action) };
}

fn run_supervisor(mut lifeline: Lifeline) -> ! {
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
        None => supervise(
            lifeline,
            &spec,
            stdio,
            Family::Descendants,
            &Lock::None,
            || Ok(None),
        ),
    }
}

/// A supervisor's end of its lifeline.
pub(crate) struct Lifeline {
    socket: UnixStream,
    /// The process that the server may kill, whatever namespace this end is used in.
    supervisor: u32,
}

impl Lifeline {
    fn new(socket: OwnedFd) -> Self {
        Self {
            socket: socket.into(),
            supervisor: std::process::id(),
        }
    }

    fn receive(&mut self) -> io::Result<(Spec, StdFds)> {
        let mut bytes = vec![0; 64 * 1024];
        let (count, fds) = fd::recv_with_fds(self.socket.as_fd(), &mut bytes)?;
        bytes.truncate(count);
        while bytes.len() < size_of::<u32>() {
            let mut byte = [0];
            self.socket.read_exact(&mut byte)?;
            bytes.extend(byte);
        }
        let size = u32::get(&mut &bytes[..]).unwrap_or(0) as usize;
        let have = bytes.len();
        bytes.resize(size + size_of::<u32>(), 0);
        if let Some(missing) = bytes.get_mut(have..) {
            self.socket.read_exact(missing)?;
        }
        let spec = Spec::get(&mut &bytes[size_of::<u32>()..]);
        spec.zip(fds)
            .ok_or_else(|| io::ErrorKind::InvalidData.into())
    }

    fn send(&mut self, report: &Report) {
        let mut bytes = Vec::new();
        report.put(&mut bytes);
        // If the server is gone there is nobody to tell, and the lifeline says so when it is read.
        self.socket.write_all(&bytes).ok();
    }

    /// Reports that all is in place.
    pub(crate) fn started(&mut self) {
        self.send(&Report::Started {
            supervisor: self.supervisor,
        });
    }

    /// Reports why nothing was run and ends this process.
    pub(crate) fn fail(mut self, failure: &Failure) -> ! {
        self.send(&Report::Failed(failure.clone()));
        exit(1);
    }
}

impl AsFd for Lifeline {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}
