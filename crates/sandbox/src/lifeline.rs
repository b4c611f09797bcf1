//! The socket between the server and the helper of one command.
//!
//! While it is open the command may live. The kernel closes the server's end however the server
//! dies, so no command outlives it.

use std::{
    io,
    os::{
        fd::{AsFd, OwnedFd},
        unix::net::UnixStream as StdUnixStream,
    },
    time::Duration,
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::UnixStream,
    process::{Child, Command},
    sync::{mpsc, watch},
    time,
};

use crate::{
    SpawnError,
    fd::{self, PASSED},
    helper,
    process::{Exit, State},
    report::{KILL, Report},
    spec::{Code, Spec},
};

/// The kernel itself takes about 2 MiB of arguments and environment by default.
const SPEC_LIMIT: usize = 8 * 1024 * 1024;

/// How long a helper may take to kill what it started before it is killed itself.
const KILL_PATIENCE: Duration = Duration::from_secs(3);

/// A helper that has been told what to run.
pub(crate) struct Lifeline {
    socket: UnixStream,
    helper: Child,
    received: Vec<u8>,
}

impl Lifeline {
    /// Starts a helper and hands it the command and its standard streams.
    pub(crate) async fn start(spec: &Spec, stdio: [OwnedFd; PASSED]) -> Result<Self, SpawnError> {
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

        let failed = |what| move |source| SpawnError::Start { what, source };
        let (ours, theirs) = StdUnixStream::pair().map_err(failed("socket"))?;
        let helper = start_helper(theirs.into()).map_err(failed("helper process"))?;
        ours.set_nonblocking(true).map_err(failed("socket"))?;
        let sent = fd::send_with_fds(
            ours.as_fd(),
            &message,
            stdio.each_ref().map(|fd| fd.as_fd()),
        )
        .map_err(failed("message to the helper"))?;
        drop(stdio);
        let mut socket = UnixStream::from_std(ours).map_err(failed("socket"))?;
        socket
            .write_all(&message[sent..])
            .await
            .map_err(failed("message to the helper"))?;
        Ok(Self {
            socket,
            helper,
            received: Vec::new(),
        })
    }

    pub(crate) fn helper_id(&self) -> u32 {
        self.helper.id().unwrap_or(0)
    }

    /// The next message; `None` once the helper is gone. May be dropped without losing one.
    pub(crate) async fn report(&mut self) -> Option<Report> {
        loop {
            let mut rest = &self.received[..];
            if let Some(report) = Report::get(&mut rest) {
                let used = self.received.len() - rest.len();
                self.received.drain(..used);
                return Some(report);
            }
            match self.socket.read_buf(&mut self.received).await {
                Ok(count) if count > 0 => {}
                _ => return None,
            }
        }
    }

    /// Follows the command to its end, and ends it when asked or when its owner is dropped.
    pub(crate) async fn watch(mut self, state: watch::Sender<State>, mut kill: mpsc::Receiver<()>) {
        loop {
            tokio::select! {
                report = self.report() => match report {
                    Some(Report::Ended { status }) => {
                        state.send_modify(|state| state.exit = Some(Exit::from_status(status)));
                    }
                    Some(_) => {}
                    None => break,
                },
                _ = kill.recv() => {
                    self.end(&state).await;
                    break;
                }
            }
        }
        state.send_modify(|state| {
            state.exit.get_or_insert(Exit::Signal(libc::SIGKILL));
            state.gone = true;
        });
        // The helper has closed its end, so it is a zombie or about to be one.
        if let Err(error) = self.helper.wait().await {
            tracing::warn!(%error, "cannot reap a sandbox helper");
        }
    }

    async fn end(&mut self, state: &watch::Sender<State>) {
        let drain = async {
            // The helper may be gone already; then there is nothing to kill.
            self.socket.write_all(&[KILL]).await.ok();
            while let Some(report) = self.report().await {
                if let Report::Ended { status } = report {
                    state.send_modify(|state| state.exit = Some(Exit::from_status(status)));
                }
            }
        };
        if time::timeout(KILL_PATIENCE, drain).await.is_err() {
            tracing::warn!("a sandbox helper does not end; killing it");
            self.helper.start_kill().ok();
        }
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "this is the place that starts processes"
)]
fn start_helper(socket: OwnedFd) -> io::Result<Child> {
    Command::new(helper::executable()?)
        .arg0(helper::NAME)
        .env_clear()
        .stdin(socket)
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
}
