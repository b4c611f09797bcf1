//! A server as a child process: started in a process group of its own, watched, and ended with
//! everything that it started.
//!
//! The rest of the project starts processes through `quipu-sandbox`, which needs a hook at the very
//! start of the program's `main`. A library cannot ask that of those who embed it, so this is the one
//! other place.

use std::collections::VecDeque;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use quipu_rpc::{Connection, Line, Lines};
use tokio::io::AsyncReadExt as _;
use tokio::process::{Child, ChildStderr, Command};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::ServerExit;
use crate::family::Family;
use crate::observe::{self, Observe, Received};
use crate::options::Spawn;
use crate::transport::MESSAGE_LIMIT;

/// How much of standard error is kept.
const STDERR: usize = 8 * 1024;
/// How long standard error may stay open after the end of the process: someone else may hold it.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// A started server. Dropping it kills it and everything that it started.
pub(crate) struct Server {
    child: Child,
    family: Family,
    stderr: Tail,
}

/// Starts the program; the connection is its standard input and output.
#[expect(
    clippy::disallowed_methods,
    reason = "the sandbox needs a hook in `main`, which a library cannot demand; the group is killed on drop"
)]
pub(crate) fn start(
    spawn: &Spawn,
    observer: &Arc<dyn Observe>,
) -> io::Result<(Connection, Server)> {
    let mut command = Command::new(found_from_here(&spawn.program)?);
    command
        .args(&spawn.args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    let mark = Family::mark(&mut command);
    for (name, value) in &spawn.env {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    if let Some(cwd) = &spawn.cwd {
        command.current_dir(cwd);
    }
    let mut child = command.spawn()?;
    let gone = || io::Error::from(io::ErrorKind::NotFound);
    let stdin = child.stdin.take().ok_or_else(gone)?;
    let stdout = child.stdout.take().ok_or_else(gone)?;
    let stderr = Tail::follow(child.stderr.take().ok_or_else(gone)?, Arc::clone(observer));
    let family = Family::new(&child, mark)?;
    let connection = Connection::lines(stdout, stdin, MESSAGE_LIMIT);
    Ok((
        connection,
        Server {
            child,
            family,
            stderr,
        },
    ))
}

/// The program as it is found from where this process works, whatever directory the child is to work in. A
/// bare name is looked for in `PATH`.
fn found_from_here(program: &Path) -> io::Result<PathBuf> {
    match program.components().count() {
        0 | 1 => Ok(program.to_owned()),
        _ => std::path::absolute(program),
    }
}

/// How a child process ended, once it has.
pub(crate) struct Exit(watch::Receiver<Option<Arc<ServerExit>>>);

impl Exit {
    /// Waits for the end. Nothing is reported if the runtime goes down before.
    pub async fn reported(mut self) -> Option<Arc<ServerExit>> {
        let exit = self.0.wait_for(Option::is_some).await.ok()?;
        exit.clone()
    }
}

/// What is known of a server for as long as its connection lives.
#[derive(Debug)]
pub(crate) struct Identity {
    pub pid: u32,
    pub stderr: Kept,
}

impl Server {
    /// Its process; nothing if that is gone already.
    pub fn identity(&self) -> Option<Identity> {
        Some(Identity {
            pid: self.child.id()?,
            stderr: self.stderr.kept.clone(),
        })
    }

    /// Watches the process until its end, which `stop` brings about: its input is closed by then, so
    /// it has `grace` to leave by itself.
    pub fn supervise(self, stop: watch::Receiver<bool>, grace: Duration) -> Exit {
        let (report, reported) = watch::channel(None);
        tokio::spawn(async move {
            if let Some(exit) = self.run(stop, grace).await {
                report.send_replace(Some(Arc::new(exit)));
            }
        });
        Exit(reported)
    }

    async fn run(mut self, mut stop: watch::Receiver<bool>, grace: Duration) -> Option<ServerExit> {
        let stopped = async { stop.wait_for(|stop| *stop).await.map(drop) };
        let status = tokio::select! {
            status = self.child.wait() => status,
            // An error means that nobody is left to say stop, which says it.
            _ = stopped => self.end(grace).await,
        };
        self.family.kill().await;
        let stderr = self.stderr.finish().await;
        match status {
            Ok(status) => Some(ServerExit { status, stderr }),
            Err(error) => {
                tracing::error!(%error, "cannot wait for the server process");
                None
            }
        }
    }

    async fn end(&mut self, grace: Duration) -> io::Result<ExitStatus> {
        self.family.remember();
        if let Ok(status) = timeout(grace, self.child.wait()).await {
            return status;
        }
        tracing::warn!("the server process did not exit and is killed");
        self.family.remember();
        self.child.start_kill()?;
        self.child.wait().await
    }
}

/// Only a runtime that goes down drops a process which still runs, and nothing can be waited for then.
impl Drop for Server {
    fn drop(&mut self) {
        if self.child.id().is_some() {
            self.family.kill_once();
        }
    }
}

/// The end of what a process writes to standard error.
struct Tail {
    kept: Kept,
    reading: JoinHandle<()>,
}

impl Tail {
    fn follow(mut stderr: ChildStderr, observer: Arc<dyn Observe>) -> Tail {
        let kept = Kept::default();
        let keep = kept.clone();
        let reading = tokio::spawn(async move {
            let mut lines = Lines::new(observe::SHOWN);
            let show = |line| {
                if let Line::Text(text) = line {
                    observer.received(Received::Stderr(&observe::beginning(&text)));
                }
            };
            let mut buffer = [0; 4096];
            while let Ok(read @ 1..) = stderr.read(&mut buffer).await {
                keep.add(&buffer[..read]);
                let mut rest = &buffer[..read];
                while let Some(line) = lines.next(&mut rest) {
                    show(line);
                }
            }
            lines.finish().into_iter().for_each(show);
        });
        Tail { kept, reading }
    }

    /// All that there is.
    async fn finish(&mut self) -> String {
        if timeout(LAST_WORDS, &mut self.reading).await.is_err() {
            self.reading.abort();
        }
        self.kept.text()
    }
}

/// The last bytes of a stream.
#[derive(Clone, Debug, Default)]
pub(crate) struct Kept(Arc<Mutex<VecDeque<u8>>>);

impl Kept {
    fn add(&self, bytes: &[u8]) {
        let mut kept = self.0.lock();
        kept.extend(bytes);
        let excess = kept.len().saturating_sub(STDERR);
        kept.drain(..excess);
    }

    /// What is there, cut at a character.
    pub fn text(&self) -> String {
        let kept = self.0.lock();
        let bytes: Vec<u8> = kept.iter().copied().collect();
        let start = match bytes.len() {
            STDERR => bytes.iter().position(|byte| byte & 0xc0 != 0x80),
            _ => None,
        };
        String::from_utf8_lossy(&bytes[start.unwrap_or(0)..]).into_owned()
    }
}
