//! What a command may touch, said as intent.
//!
//! A [`Policy`] holds no file descriptors and no resolved paths: the same value can be kept for a
//! whole conversation and printed to a person. Paths are resolved when a command is started; one that
//! earlier commands may have led elsewhere by a link is refused then.

use std::path::PathBuf;

/// What a command may read, write and reach.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Policy {
    /// Everything the user may do.
    FullAccess,
    /// Something around this program already confines it; nothing is enforced here.
    External {
        /// What that outer sandbox is said to allow.
        network: Network,
    },
    /// No writes at all, but to a private `/dev/shm`.
    ReadOnly {
        /// What may be read.
        readable: Readable,
        /// What may not be read all the same.
        hidden: Hidden,
        /// What may be reached.
        network: Network,
    },
    /// Writes below a few directories only.
    WorkspaceWrite(WorkspaceWrite),
}

/// The policy for work inside a project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkspaceWrite {
    /// The directory the work happens in. It is writable, but for the `.codex` directories of it and of the
    /// writable directories around it, which cannot even be created: a project's configuration decides what
    /// later commands may do.
    pub workspace: PathBuf,
    /// More directories (or single files) that may be written. Those that do not exist are ignored.
    pub writable_roots: Vec<PathBuf>,
    /// Paths inside those directories that stay read-only all the same, like the server's own home;
    /// beside the directories named `.git`, `.agents`, `.codex` and `.quipu` directly below each.
    pub protected_paths: Vec<PathBuf>,
    /// Directories whose `.codex` counts wherever work happens. Inside a writable one they are protected like it:
    /// `.git`, `.agents`, `.codex` and `.quipu` stay read-only, and a missing `.codex` cannot be created.
    pub trusted: Vec<PathBuf>,
    /// What may be read beside the writable directories.
    pub readable: Readable,
    /// What may not be read all the same.
    pub hidden: Hidden,
    /// What may be reached.
    pub network: Network,
}

impl WorkspaceWrite {
    /// Writes in `workspace`, reads everywhere, no network.
    pub fn new(workspace: impl Into<PathBuf>) -> Self {
        Self {
            workspace: workspace.into(),
            writable_roots: Vec::new(),
            protected_paths: Vec::new(),
            trusted: Vec::new(),
            readable: Readable::Everything,
            hidden: Hidden::default(),
            network: Network::Off,
        }
    }
}

/// What may be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Readable {
    /// Whatever the user may read.
    Everything,
    /// Only these paths and what may be written.
    Only {
        /// Files and directories; those that do not exist are ignored.
        roots: Vec<PathBuf>,
        /// Add the directories that programs need to run at all: `/usr`, `/etc`, `/lib` and the like.
        platform_defaults: bool,
    },
}

/// What a command may not read, whatever else it may. Paths that do not exist are ignored.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hidden {
    /// Hidden from every command, like the stores of the server. Only what the policy makes writable
    /// inside is open.
    pub always: Vec<PathBuf>,
    /// What stays readable inside of those.
    pub except: Vec<PathBuf>,
    /// Hidden from commands without network, unless the policy or a grant names them.
    pub offline: Vec<PathBuf>,
}

/// Where commands behind a gate find it. Their loopback interface is their own, so it is always free.
pub const GATE_PORT: u16 = 3128;

/// What may be reached over sockets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Network {
    /// Nothing outside the sandbox. With namespaces, commands still have a loopback interface of
    /// their own, so that a test can talk to the server it started.
    Off,
    /// Nothing outside the sandbox but what the owner of the command lets through: a process that connects to
    /// [`GATE_PORT`] of the command's own loopback interface arrives at its [`Gate`](crate::Gate). Only
    /// namespaces can enforce this.
    Gate,
    /// Internet sockets as the host has them, but no unix sockets: those lead to programs (container
    /// engines, session managers) that would do outside the sandbox what is forbidden inside.
    Internet,
    /// All sockets of the host, unix sockets included. A reachable daemon may undo the policy.
    Host,
}

/// What one command gets beyond its policy, after somebody agreed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Grants {
    /// Paths that may be written too.
    pub writable: Vec<PathBuf>,
    /// Paths that may be read too.
    pub readable: Vec<PathBuf>,
    /// Raises the network to at least this.
    pub network: Option<Network>,
}

impl Policy {
    /// The same with another reach over the network, where this crate enforces it.
    #[must_use]
    pub fn with_network(mut self, reach: Network) -> Self {
        match &mut self {
            Self::FullAccess | Self::External { .. } => {}
            Self::ReadOnly { network, .. } => *network = reach,
            Self::WorkspaceWrite(policy) => policy.network = reach,
        }
        self
    }

    /// The widest reach over the network this policy allows.
    pub fn network(&self) -> Network {
        match self {
            Self::FullAccess => Network::Host,
            Self::External { network } | Self::ReadOnly { network, .. } => *network,
            Self::WorkspaceWrite(policy) => policy.network,
        }
    }

    /// What a command must not read, if this crate enforces anything.
    pub(crate) fn hidden(&self) -> Option<&Hidden> {
        match self {
            Self::FullAccess | Self::External { .. } => None,
            Self::ReadOnly { hidden, .. } => Some(hidden),
            Self::WorkspaceWrite(policy) => Some(&policy.hidden),
        }
    }

    /// Whether this crate has to enforce anything.
    pub fn is_enforced(&self) -> bool {
        !matches!(self, Self::FullAccess | Self::External { .. })
    }
}

impl Network {
    /// The wider of the two.
    pub fn or(self, other: Self) -> Self {
        match (self, other) {
            (Self::Host, _) | (_, Self::Host) => Self::Host,
            (Self::Internet, _) | (_, Self::Internet) => Self::Internet,
            (Self::Gate, _) | (_, Self::Gate) => Self::Gate,
            (Self::Off, Self::Off) => Self::Off,
        }
    }
}
