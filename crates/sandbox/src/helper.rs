//! The second life of the program: started again under another name, it forks the supervisors of
//! commands.
//!
//! The first command of a server starts one *zygote*, a process that does nothing but fork. Each
//! fork becomes the *supervisor* of one command: it has one thread and no runtime, builds the jail,
//! starts the command in it, reports how it ends, and kills everything below it when the lifeline to
//! the server breaks. Forking a small process costs a tenth of starting the program again.

mod family;
#[cfg(target_os = "linux")]
mod leader;
#[cfg(not(target_os = "linux"))]
#[path = "helper/leader_portable.rs"]
mod leader;
#[cfg_attr(target_os = "macos", path = "helper/process_table_macos.rs")]
pub(crate) mod process_table;
mod supervise;
mod zygote;

use std::{
    io::{self, Read, Write},
    os::{
        fd::{AsFd, BorrowedFd, OwnedFd},
        unix::net::UnixStream,
    },
    process::exit,
};

pub(crate) use family::Family;
#[cfg(target_os = "linux")]
pub(crate) use family::descendants_of;
pub(crate) use leader::Lock;
#[cfg(target_os = "linux")]
pub(crate) use supervise::Attendant;
pub(crate) use supervise::supervise;

use crate::{
    fd::{self, StdFds},
    report::{Failure, Report, Step},
    spec::{Code, Spec},
};

/// The name (argument zero) under which the program runs as a zygote.
pub(crate) const NAME: &str = "quipu-zygote";

/// Call this first in `main`. In a process that was started to look after commands it does that
/// work and never returns; in all others it does nothing.
pub fn maybe_run_helper() {
    if std::env::args_os().next().is_some_and(|name| name == NAME) {
        zygote::run();
    }
}

/// Somebody may have stopped this process, so that it does not notice the end of the server. The kernel
/// then lets it go on, to do what is left to do.
fn wake_when_parent_ends() {
    #[cfg(target_os = "linux")]
    // SAFETY: this option takes one integer. Without it all works as long as nobody stops us.
    unsafe {
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGCONT)
    };
}

fn run_supervisor(mut lifeline: Lifeline) -> ! {
    wake_when_parent_ends();
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
    /// The command's way out, which the server is given once it runs.
    pub(crate) gate: Option<OwnedFd>,
}

impl Lifeline {
    fn new(socket: OwnedFd) -> Self {
        Self {
            socket: socket.into(),
            supervisor: std::process::id(),
            gate: None,
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
        let mut bytes = Vec::new();
        let supervisor = self.supervisor;
        Report::Started { supervisor }.put(&mut bytes);
        // If the server is gone there is nobody to tell, and the lifeline says so when it is read.
        match self.gate.take() {
            Some(gate) => fd::send_with_fds(self.as_fd(), &bytes, [gate.as_fd()]).map(drop),
            None => self.socket.write_all(&bytes),
        }
        .ok();
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
