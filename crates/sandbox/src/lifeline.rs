//! The socket between the server and the supervisor of one command.
//!
//! While it is open the command may live. The kernel closes the server's end however the server
//! dies, so no command outlives it.

use std::{
    io,
    os::{
        fd::{AsFd, OwnedFd},
        unix::net::UnixStream as StdUnixStream,
    },
    sync::Arc,
    time::Duration,
};

use tokio::{
    io::Interest,
    net::UnixStream,
    sync::{Notify, watch},
    time,
};

#[cfg(target_os = "linux")]
use crate::orphans;
use crate::{
    SpawnError,
    fd::{self, StdFds},
    process::State,
    report::{Failure, KILL, Report},
    spec::{Code, Spec},
    stopping, unix, zygote,
};

/// The kernel itself takes about 2 MiB of arguments and environment by default.
const SPEC_LIMIT: usize = 8 * 1024 * 1024;

/// How long a command may take to start before something must be wrong.
const START_PATIENCE: Duration = Duration::from_secs(30);

/// How long a supervisor may take to kill its command before it is killed itself.
const KILL_PATIENCE: Duration = Duration::from_secs(3);

/// The server's end of the lifeline of a started command.
pub(crate) struct Lifeline {
    socket: Arc<UnixStream>,
    supervisor: u32,
    received: Vec<u8>,
    /// The supervisor has ended all there was to end.
    has_left_nothing: bool,
    /// The command's way out.
    pub(crate) gate: Option<OwnedFd>,
}

/// The power to end a command.
#[derive(Clone, Debug)]
pub(crate) struct Killer {
    socket: Arc<UnixStream>,
    pub(crate) supervisor: u32,
    asked: Arc<Notify>,
}

impl Killer {
    /// Asks the supervisor to kill everything, now and without help of the runtime.
    pub(crate) fn kill(&self) {
        // If it cannot be notified it is gone, or it was notified before and has not looked yet.
        if fd::send_now(self.socket.as_fd(), &[KILL]).is_ok() {
            zygote::wake(self.supervisor);
        }
        self.asked.notify_one();
    }
}

/// Why there is no lifeline.
pub(crate) enum StartError {
    /// The supervisor says that nothing was run.
    Failed(Failure),
    /// There is no supervisor.
    Spawn(SpawnError),
}

impl Lifeline {
    /// Forks a supervisor and lets it start the command.
    pub(crate) async fn start(spec: &Spec, stdio: StdFds) -> Result<Self, StartError> {
        let message = message(spec).map_err(StartError::Spawn)?;
        let mut result = Self::try_start(&message, &stdio).await;
        if let Err(error) = &result {
            // The zygote may have died with the message; it is worth a second try.
            tracing::warn!(%error, "cannot start a supervisor; starting another zygote");
            zygote::replace();
            result = Self::try_start(&message, &stdio).await;
        }
        let (lifeline, report) = result.map_err(|source| {
            StartError::Spawn(SpawnError::Start {
                what: "supervisor process",
                source,
            })
        })?;
        match report {
            Report::Failed(failure) => Err(StartError::Failed(failure)),
            _ => Ok(lifeline),
        }
    }

    async fn try_start(message: &[u8], stdio: &StdFds) -> io::Result<(Self, Report)> {
        let (ours, theirs) = StdUnixStream::pair()?;
        zygote::fork_supervisor(&theirs.into())?;
        ours.set_nonblocking(true)?;
        let sent = fd::send_with_fds(ours.as_fd(), message, stdio.each_ref().map(OwnedFd::as_fd))?;
        let mut lifeline = Self {
            socket: Arc::new(UnixStream::from_std(ours)?),
            supervisor: 0,
            received: Vec::new(),
            has_left_nothing: false,
            gate: None,
        };
        let start = async {
            lifeline.send(&message[sent..]).await?;
            lifeline
                .report()
                .await
                .ok_or(io::Error::from(io::ErrorKind::UnexpectedEof))
        };
        let report = time::timeout(START_PATIENCE, start).await??;
        if let Report::Started { supervisor } = report {
            lifeline.supervisor = supervisor;
        }
        Ok((lifeline, report))
    }

    /// What ends the command; [`Self::watch`] must be told the same.
    pub(crate) fn killer(&self) -> Killer {
        Killer {
            socket: self.socket.clone(),
            supervisor: self.supervisor,
            asked: Arc::new(Notify::new()),
        }
    }

    async fn send(&self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            self.socket.writable().await?;
            match self.socket.try_write(bytes) {
                Ok(sent) => bytes = &bytes[sent..],
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// The next message; `None` once no process of the command is left. May be dropped without
    /// losing one.
    async fn report(&mut self) -> Option<Report> {
        loop {
            let mut rest = &self.received[..];
            if let Some(report) = Report::get(&mut rest) {
                let used = self.received.len() - rest.len();
                self.received.drain(..used);
                return Some(report);
            }
            self.socket.readable().await.ok()?;
            match self.receive() {
                Ok(count) if count > 0 => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                _ => return None,
            }
        }
    }

    fn receive(&mut self) -> io::Result<usize> {
        let mut bytes = [0; 512];
        let socket = self.socket.as_fd();
        let (count, fds) = self
            .socket
            .try_io(Interest::READABLE, || fd::recv_with_fds(socket, &mut bytes))?;
        self.received.extend_from_slice(&bytes[..count]);
        if let Some([gate]) = fds {
            self.gate = Some(gate);
        }
        Ok(count)
    }

    /// Follows the command to its end.
    pub(crate) async fn watch(mut self, state: watch::Sender<State>, killer: Killer) {
        tokio::select! {
            () = self.follow(&state) => {}
            () = killer.asked.notified() => self.insist(&state).await,
            () = stopping::stopping() => {
                killer.kill();
                self.insist(&state).await;
            }
        }
        #[cfg(target_os = "linux")]
        if !self.has_left_nothing {
            tracing::warn!(
                supervisor = self.supervisor,
                "a supervisor was killed; ending what it leaves behind"
            );
            orphans::end(self.supervisor).await;
        }
        state.send_modify(|state| {
            state.exit.get_or_insert(unix::KILLED);
            state.gone = true;
        });
    }

    async fn follow(&mut self, state: &watch::Sender<State>) {
        while let Some(report) = self.report().await {
            match report {
                Report::Ended { status } => {
                    state.send_modify(|state| state.exit = Some(unix::exit_of(status)));
                }
                Report::Gone => self.has_left_nothing = true,
                Report::Started { .. } | Report::Failed(_) => {}
            }
        }
    }

    /// Waits for the end of a command that is being killed, but not forever.
    async fn insist(&mut self, state: &watch::Sender<State>) {
        if time::timeout(KILL_PATIENCE, self.follow(state))
            .await
            .is_err()
        {
            tracing::warn!(
                supervisor = self.supervisor,
                "a supervisor does not end; killing it"
            );
            // SAFETY: sends a signal; the supervisor still holds the lifeline, so the id is its own.
            unsafe { libc::kill(self.supervisor.cast_signed(), libc::SIGKILL) };
            time::timeout(KILL_PATIENCE, self.follow(state)).await.ok();
        }
    }
}

/// The order for the supervisor, with its length in front.
fn message(spec: &Spec) -> Result<Vec<u8>, SpawnError> {
    let mut message = vec![0; size_of::<u32>()];
    spec.put(&mut message);
    let size = message.len() - size_of::<u32>();
    if size > SPEC_LIMIT {
        return Err(SpawnError::TooLarge {
            bytes: size,
            limit: SPEC_LIMIT,
        });
    }
    message[..size_of::<u32>()].copy_from_slice(&(size as u32).to_le_bytes());
    Ok(message)
}
