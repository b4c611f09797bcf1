//! Runs `git` to read a repository: confined to reading, for a repository's own settings can name
//! programs to run.

use std::path::Path;
use std::time::Duration;

use quipu_config::Loader;
use quipu_config::settings::ShellEnvironment;
use quipu_sandbox::{Command, Exit, Network, Policy, Readable, Stream};
use quipu_tools::{Guarded, hidden_from_commands};
use tokio::time::timeout;

/// How long one command may take.
const PATIENCE: Duration = Duration::from_secs(30);
/// The most output of one command.
pub(crate) const MAX_OUTPUT: usize = 64 * 1024 * 1024;

/// `git` in a directory.
pub(crate) struct Git<'a> {
    config: &'a Loader,
    directory: &'a Path,
}

impl<'a> Git<'a> {
    pub fn new(config: &'a Loader, directory: &'a Path) -> Self {
        Self { config, directory }
    }

    /// What a command says; nothing if it fails.
    pub async fn text(&self, arguments: &[&str]) -> Option<String> {
        let (exit, text) = self.run(arguments).await?;
        (exit == Exit::Code(0)).then_some(text)
    }

    /// What a command says that fails with 1 if there is a difference to show.
    pub async fn difference(&self, arguments: &[&str]) -> Option<String> {
        let (exit, text) = self.run(arguments).await?;
        matches!(exit, Exit::Code(0 | 1)).then_some(text)
    }

    async fn run(&self, arguments: &[&str]) -> Option<(Exit, String)> {
        let argv = ["git"].iter().chain(arguments);
        let guarded = Guarded {
            home: self.config.home().path(),
            credentials: &[],
            denied: &[],
            trusted: &[],
        };
        let policy = Policy::ReadOnly {
            readable: Readable::Everything,
            hidden: hidden_from_commands(self.directory, guarded),
            network: Network::Off,
        };
        let mut command = Command::new(argv, self.directory, policy);
        let secrets = ShellEnvironment::default();
        let vars = self.config.env().vars();
        command.env = vars
            .filter(|(name, _)| !secrets.withholds(name))
            .map(|(name, value)| (name.into(), value.into()))
            .collect();
        command.env.push(("GIT_OPTIONAL_LOCKS".into(), "0".into()));
        let done = timeout(PATIENCE, finish(command)).await;
        done.ok().flatten()
    }
}

/// Runs a command to its end; nothing if it cannot be started or says too much.
async fn finish(command: Command) -> Option<(Exit, String)> {
    let mut spawned = match quipu_sandbox::spawn(command).await {
        Ok(spawned) => spawned,
        Err(error) => {
            tracing::warn!(%error, "failed to run git");
            return None;
        }
    };
    let mut bytes = Vec::new();
    while let Some(chunk) = spawned.output.next().await {
        if chunk.stream == Stream::Stdout {
            bytes.extend_from_slice(&chunk.bytes);
        }
        if bytes.len() > MAX_OUTPUT {
            return None;
        }
    }
    let exit = spawned.process.wait().await;
    Some((exit, String::from_utf8_lossy(&bytes).into_owned()))
}
