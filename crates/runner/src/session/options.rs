//! What a session is started with.

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use quipu_embed::Embedded;
use serde_json::Value;

use super::{Event, Tool};
use crate::ssh::Host;

/// Who hears of everything that happens in a session, at once and in order. It is called where messages are read,
/// so it must not block.
pub type Observer = Arc<dyn Fn(Event) + Send + Sync>;

/// How a session works. [`SessionOptions::new`] has a default for all but the server and the workspace.
#[derive(Clone)]
pub struct SessionOptions {
    /// How the server is started.
    pub launch: Launch,
    /// The directory that the agent works in: an absolute path, on the host where the server runs.
    pub workspace: PathBuf,
    /// A title for the turns, such as `ABC-1: Fix the door`.
    pub title: Option<String>,
    /// The protocol's `approvalPolicy`; `"never"` if not changed. Only with `"never"` are approvals given.
    pub approval_policy: Value,
    /// The protocol's sandbox of the thread: a mode such as `"workspace-write"`, or a policy object, of which the
    /// thread gets the mode and the turns the rest. The server's configured sandbox if not given.
    pub thread_sandbox: Option<Value>,
    /// The protocol's `sandboxPolicy` of every turn.
    pub turn_sandbox_policy: Option<Value>,
    /// The model; the server's configured one if not given.
    pub model: Option<String>,
    /// Tools that run in this process.
    pub tools: Vec<Arc<dyn Tool>>,
    /// The thread to go on with, in place of a new one.
    pub resume: Option<String>,
    /// Variables to set in the environment of the server, or to remove from it.
    pub environment: Vec<(OsString, Option<OsString>)>,
    /// How long things may take.
    pub limits: Limits,
    /// Who hears of what happens.
    pub observer: Observer,
}

/// How a server is started.
#[derive(Clone, Debug)]
pub enum Launch {
    /// `PROGRAM app-server` as a child process.
    Program(PathBuf),
    /// A command line, such as `codex app-server`, which `bash -lc` runs as a child process.
    Shell(String),
    /// Quipu's server in this very process.
    Embedded(Embedded),
    /// A command line that `bash -lc` runs on another machine.
    Ssh {
        /// The machine.
        host: Host,
        /// The command line.
        command: String,
    },
}

impl fmt::Display for Launch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Launch::Program(program) => write!(f, "{} app-server", program.display()),
            Launch::Shell(command) => f.write_str(command),
            Launch::Embedded(_) => f.write_str("the server in this process"),
            Launch::Ssh { host, command } => write!(f, "{command} on {host}"),
        }
    }
}

/// How long things may take.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// From the start of the server to its answer to `initialize`: 30 seconds.
    pub startup: Duration,
    /// From any other request to its answer: 5 seconds.
    pub response: Duration,
    /// How long nothing may be heard while a turn runs and no local tool does: one hour.
    pub turn_silence: Option<Duration>,
    /// How long a turn may take in all: no limit.
    pub turn_total: Option<Duration>,
    /// How long a local tool may take: one minute.
    pub tool: Duration,
    /// How long a server may take to exit at the end before it is killed: 5 seconds.
    pub shutdown: Duration,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            startup: Duration::from_secs(30),
            response: Duration::from_secs(5),
            turn_silence: Some(Duration::from_secs(3600)),
            turn_total: None,
            tool: Duration::from_secs(60),
            shutdown: Duration::from_secs(5),
        }
    }
}

impl SessionOptions {
    /// A session with this server in this workspace, that approves everything, has no tools and is not watched.
    pub fn new(launch: Launch, workspace: impl Into<PathBuf>) -> SessionOptions {
        SessionOptions {
            launch,
            workspace: workspace.into(),
            title: None,
            approval_policy: Value::from("never"),
            thread_sandbox: None,
            turn_sandbox_policy: None,
            model: None,
            tools: Vec::new(),
            resume: None,
            environment: Vec::new(),
            limits: Limits::default(),
            observer: Arc::new(|_| {}),
        }
    }
}

/// The environment may hold secrets and is not shown.
impl fmt::Debug for SessionOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SessionOptions")
            .field("launch", &self.launch)
            .field("workspace", &self.workspace)
            .field("approval_policy", &self.approval_policy)
            .field("resume", &self.resume)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}
