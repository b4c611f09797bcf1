//! Servers that are programs: one message per line over their standard streams.
//!
//! The program belongs to the connection. When the last handle of a client is dropped, its input is closed;
//! what has not ended soon after is killed with all its descendants, and so is everything when this process
//! dies (the sandbox crate sees to that).

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use quipu_sandbox::{Command, Linger, Output, Policy, Process, SpawnError, Stdio, Stream};
use tokio::sync::mpsc;
use tokio::time::timeout;

use crate::error::StartError;
use crate::link::{BackLink, Link};
use crate::session::Session;

/// Messages that may wait for a server to read them.
const QUEUE: usize = 64;
/// The longest message of a server. Results may hold images.
pub(crate) const MAX_MESSAGE: usize = 32 * 1024 * 1024;
pub(crate) const TOO_LONG: &str = "the server sent a message of more than 32 MiB";
/// What a server gets to end by itself.
const GRACE: Duration = Duration::from_secs(2);
/// What is logged of a line of its standard error.
const MAX_LOG_LINE: usize = 4096;
/// Parts of the names of variables that hold secrets.
const SECRET_NAMES: [&str; 4] = ["KEY", "SECRET", "TOKEN", "PASSWORD"];
/// What is shorter is a word rather than a secret.
const SHORTEST_SECRET: usize = 8;

/// A program to start.
#[derive(Clone)]
pub struct Program {
    /// What to run, with its arguments.
    pub argv: Vec<OsString>,
    /// Its whole environment.
    pub env: Vec<(OsString, OsString)>,
    /// Where it starts.
    pub cwd: PathBuf,
    /// Where it is looked up, in the form of `PATH`.
    pub search_path: Option<OsString>,
}

/// Environments hold secrets, so only the command is shown.
impl std::fmt::Debug for Program {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Program")
            .field("argv", &self.argv)
            .field("cwd", &self.cwd)
            .finish_non_exhaustive()
    }
}

/// Starts a program and connects its streams with a session.
pub(crate) async fn connect(program: &Program, session: &Arc<Session>) -> Result<Link, StartError> {
    let mut command = Command::new(program.argv.clone(), &program.cwd, Policy::FullAccess);
    command.env.clone_from(&program.env);
    command.search_path.clone_from(&program.search_path);
    command.stdio = Stdio::Pipes;
    command.linger = Linger::Kill(GRACE);
    let spawned = quipu_sandbox::spawn(command)
        .await
        .map_err(|error| StartError::Spawn(program.why_not(&error)))?;
    let (lines, queue) = mpsc::channel(QUEUE);
    let link = Link::Stdio(lines);
    tokio::spawn(write(spawned.process, queue, Arc::clone(session)));
    let secrets = program.secrets();
    tokio::spawn(read(
        spawned.output,
        Arc::clone(session),
        link.back(),
        secrets,
    ));
    Ok(link)
}

impl Program {
    /// Why it was not started: what was not found, and what the system says.
    fn why_not(&self, error: &SpawnError) -> String {
        if !self.cwd.is_dir() {
            return format!("the directory {} does not exist", self.cwd.display());
        }
        let name = self.argv.first().map(|it| it.to_string_lossy());
        let name = name.unwrap_or_default();
        match std::error::Error::source(error) {
            Some(source) => format!("cannot start `{name}`: {source}"),
            None => error.to_string(),
        }
    }

    /// The values in its environment that must not get into a log, the longest first.
    fn secrets(&self) -> Vec<String> {
        let is_secret = |(name, value): &&(OsString, OsString)| {
            let name = name.to_string_lossy().to_ascii_uppercase();
            value.len() >= SHORTEST_SECRET && SECRET_NAMES.iter().any(|it| name.contains(it))
        };
        let secrets = self.env.iter().filter(is_secret);
        let mut secrets: Vec<String> = secrets
            .map(|(_, value)| value.to_string_lossy().into_owned())
            .collect();
        secrets.sort_by_key(|it| std::cmp::Reverse(it.len()));
        secrets
    }
}

/// Owns the process: writes what is queued, then lets it end.
async fn write(process: Process, mut queue: mpsc::Receiver<Vec<u8>>, session: Arc<Session>) {
    loop {
        let line = tokio::select! {
            line = queue.recv() => line,
            () = session.closed() => None,
        };
        let Some(mut line) = line else { break };
        line.push(b'\n');
        let written = tokio::select! {
            written = process.write_stdin(&line) => written,
            () = session.closed() => break,
        };
        if let Err(error) = written {
            tracing::debug!(server = session.server, %error, "an MCP server reads no more");
            break;
        }
    }
    if let Err(error) = process.close_stdin().await {
        tracing::debug!(server = session.server, %error, "the input of an MCP server was not closed");
    }
    if timeout(GRACE, process.wait()).await.is_err() {
        tracing::debug!(server = session.server, "an MCP server is killed");
    }
    process.kill();
    session.close(None);
}

async fn read(mut output: Output, session: Arc<Session>, back: BackLink, secrets: Vec<String>) {
    let mut lines = Lines::new(MAX_MESSAGE);
    let mut log = Lines::new(MAX_LOG_LINE);
    while let Some(chunk) = output.next().await {
        let fits = match chunk.stream {
            Stream::Stdout => lines.push(&chunk.bytes, |line| session.receive(line, None, &back)),
            Stream::Stderr => {
                log.push(&chunk.bytes, |line| {
                    let mut line = String::from_utf8_lossy(line).into_owned();
                    for secret in &secrets {
                        line = line.replace(secret.as_str(), "[redacted]");
                    }
                    tracing::info!(server = session.server, %line, "an MCP server writes");
                });
                true
            }
        };
        if !fits {
            session.close(Some(TOO_LONG));
        }
    }
    session.close(None);
}

/// Cuts bytes into lines of bounded length.
struct Lines {
    buffer: Vec<u8>,
    limit: usize,
    /// The rest of a line that was too long is thrown away.
    skipping: bool,
}

impl Lines {
    fn new(limit: usize) -> Lines {
        Lines {
            buffer: Vec::new(),
            limit,
            skipping: false,
        }
    }

    /// Gives away the lines that are complete; `false` if one was too long.
    fn push(&mut self, mut bytes: &[u8], mut line: impl FnMut(&[u8])) -> bool {
        let mut fits = true;
        while let Some(end) = bytes.iter().position(|byte| *byte == b'\n') {
            let (head, rest) = (&bytes[..end], &bytes[end + 1..]);
            bytes = rest;
            if self.skipping {
                self.skipping = false;
            } else if self.buffer.is_empty() {
                give(head, &mut line);
            } else {
                self.buffer.extend_from_slice(head);
                give(&self.buffer, &mut line);
            }
            self.buffer.clear();
        }
        if !self.skipping {
            self.buffer.extend_from_slice(bytes);
        }
        if self.buffer.len() > self.limit {
            self.buffer = Vec::new();
            self.skipping = true;
            fits = false;
        }
        fits
    }
}

fn give(line: &[u8], to: &mut impl FnMut(&[u8])) {
    let line = line.trim_ascii();
    if !line.is_empty() {
        to(line);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(chunks: &[&str], limit: usize) -> (Vec<String>, bool) {
        let mut lines = Lines::new(limit);
        let (mut found, mut fits) = (Vec::new(), true);
        for chunk in chunks {
            fits &= lines.push(chunk.as_bytes(), |line| {
                found.push(String::from_utf8_lossy(line).into_owned());
            });
        }
        (found, fits)
    }

    #[test]
    fn lines_are_found_across_chunks() {
        let (found, fits) = cut(&["a\nb", "c\r\n\n", "d"], 100);
        assert_eq!(found, ["a", "bc"]);
        assert!(fits);
    }

    #[test]
    fn a_line_that_is_too_long_is_noticed_and_skipped() {
        let (found, fits) = cut(&["abc", "def", "ghi\nok\n"], 5);
        assert_eq!(found, ["ok"]);
        assert!(!fits);
    }
}
