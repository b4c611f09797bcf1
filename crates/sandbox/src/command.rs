//! What to run: the argument of [`spawn`](crate::spawn).

use std::{ffi::OsString, fmt, path::PathBuf, time::Duration};

use crate::{Grants, Policy};

/// A process to start. Nothing is inherited from this program but the user's identity.
#[derive(Clone)]
pub struct Command {
    /// The program and its arguments. A program without a slash is looked up in `search_path`.
    pub argv: Vec<OsString>,
    /// Where it starts; a relative path is taken from this program's own directory.
    pub cwd: PathBuf,
    /// Its whole environment.
    pub env: Vec<(OsString, OsString)>,
    /// Where to look the program up, in the form of `PATH`; `PATH` of `env` if this is `None`.
    pub search_path: Option<OsString>,
    /// What it may touch.
    pub policy: Policy,
    /// What it may touch beyond that.
    pub grants: Grants,
    /// What its standard streams are.
    pub stdio: Stdio,
    /// What happens to its descendants when it exits before them.
    pub linger: Linger,
    /// Which kernel mechanism enforces the policy.
    pub enforcement: Enforcement,
}

impl Command {
    /// A command without stdin; its descendants get two seconds after its exit.
    pub fn new<A: Into<OsString>>(
        argv: impl IntoIterator<Item = A>,
        cwd: impl Into<PathBuf>,
        policy: Policy,
    ) -> Self {
        Self {
            argv: argv.into_iter().map(Into::into).collect(),
            cwd: cwd.into(),
            env: Vec::new(),
            search_path: None,
            policy,
            grants: Grants::default(),
            stdio: Stdio::NullStdin,
            linger: Linger::Kill(Duration::from_secs(2)),
            enforcement: Enforcement::Auto,
        }
    }
}

/// Environments hold secrets, so only the names of variables are printed.
impl fmt::Debug for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&OsString> = self.env.iter().map(|(name, _)| name).collect();
        f.debug_struct("Command")
            .field("argv", &self.argv)
            .field("cwd", &self.cwd)
            .field("env", &names)
            .field("policy", &self.policy)
            .field("grants", &self.grants)
            .field("stdio", &self.stdio)
            .field("linger", &self.linger)
            .field("enforcement", &self.enforcement)
            .finish_non_exhaustive()
    }
}

/// The standard streams of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stdio {
    /// Stdin is at its end from the start; stdout and stderr are two pipes.
    NullStdin,
    /// Three pipes.
    Pipes,
    /// Nothing to read, and nobody reads what it writes.
    Null,
    /// A terminal of its own for all three; output arrives as stdout.
    Pty(WindowSize),
}

/// The size of a terminal in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowSize {
    /// Lines.
    pub rows: u16,
    /// Columns.
    pub cols: u16,
}

/// What happens to descendants that outlive the command itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Linger {
    /// They may finish their output for this long, then they are killed.
    Kill(Duration),
    /// They live until the process is killed or dropped.
    Keep,
}

/// Which kernel mechanism enforces a policy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Enforcement {
    /// Namespaces where the kernel allows them, else Landlock, else the command is refused.
    #[default]
    Auto,
    /// Namespaces or nothing, with Landlock in addition where the kernel has it.
    Namespaces,
    /// Namespaces without Landlock, to see what a kernel without it would do.
    OnlyNamespaces,
    /// Landlock or nothing.
    Landlock,
    /// Landlock with no newer interface than this version, to see what an older kernel would do.
    OldLandlock(u32),
}
