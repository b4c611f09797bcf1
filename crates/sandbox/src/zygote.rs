//! The server's side of the zygote: started when the first command needs it, and again if it dies.

use std::{
    io,
    os::{
        fd::{AsFd, OwnedFd},
        unix::{net::UnixStream, process::CommandExt},
    },
    path::PathBuf,
    process::{Child, Command, Stdio},
};

use parking_lot::Mutex;

use crate::{fd, helper};

static ZYGOTE: Mutex<Option<Zygote>> = Mutex::new(None);

/// All zygotes there have been. Supervisors are in their sessions, and nobody else.
static IDS: Mutex<Vec<libc::pid_t>> = Mutex::new(Vec::new());

struct Zygote {
    socket: UnixStream,
    child: Child,
}

/// Asks for a supervisor that holds this end of a lifeline.
pub(crate) fn fork_supervisor(lifeline: &OwnedFd) -> io::Result<()> {
    let mut zygote = ZYGOTE.lock();
    if let Some(running) = zygote.as_ref()
        && running.pass(lifeline).is_ok()
    {
        return Ok(());
    }
    forget(zygote.take());
    let new = Zygote::start()?;
    let result = new.pass(lifeline);
    *zygote = Some(new);
    result
}

/// All zygotes there have been.
pub(crate) fn ids() -> Vec<libc::pid_t> {
    IDS.lock().clone()
}

/// Ends a zygote that does not do its work; the next command starts another.
pub(crate) fn replace() {
    forget(ZYGOTE.lock().take());
}

fn forget(zygote: Option<Zygote>) {
    if let Some(mut zygote) = zygote {
        // It may be dead already, which is why it is forgotten.
        zygote.child.kill().ok();
        zygote.child.wait().ok();
    }
}

impl Zygote {
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the place that starts processes"
    )]
    fn start() -> io::Result<Self> {
        #[cfg(target_os = "linux")]
        {
            crate::orphans::adopt();
            crate::linux::cgroup::end_abandoned();
        }
        let (socket, theirs) = UnixStream::pair()?;
        let child = Command::new(executable()?)
            .arg0(helper::NAME)
            .env_clear()
            .stdin(OwnedFd::from(theirs))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        IDS.lock().push(child.id().cast_signed());
        Ok(Self { socket, child })
    }

    fn pass(&self, lifeline: &OwnedFd) -> io::Result<()> {
        wake(self.child.id());
        fd::send_with_fds(self.socket.as_fd(), &[0], [lifeline.as_fd()]).map(drop)
    }
}

/// Lets a helper go on that somebody has stopped.
pub(crate) fn wake(helper: u32) {
    // SAFETY: sends a signal that does nothing to a process that runs.
    unsafe { libc::kill(helper.cast_signed(), libc::SIGCONT) };
}

/// The running program itself, even if its file was replaced meanwhile.
fn executable() -> io::Result<PathBuf> {
    if cfg!(target_os = "linux") {
        Ok("/proc/self/exe".into())
    } else {
        std::env::current_exe()
    }
}
