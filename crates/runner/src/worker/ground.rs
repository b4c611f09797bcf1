//! Where an attempt happens: on this machine, or on another one.

use std::path::Path;
use std::time::Duration;

use crate::config::Config;
use crate::env::Env;
use crate::hook::{self, HookError, Variables};
use crate::leftovers;
use crate::orchestrator::Failure;
use crate::session::Launch;
use crate::ssh::Host;
use crate::workspace::{self, Workspace};

/// The machine that has the workspace.
pub enum Ground {
    /// With the variables that processes get besides those of this one.
    Here(Variables),
    There(Host),
}

impl Ground {
    /// The machine of a name that the orchestrator chose; this one if it chose none.
    pub fn new(host: Option<&str>, config: &Config, env: &Env) -> Result<Ground, Failure> {
        let Some(host) = host else {
            return Ok(Ground::Here(env.variables.clone().into_iter().collect()));
        };
        let host = Host::new(host, config.worker.ssh_config.clone());
        let host = host.map_err(|error| Failure::new("invalid_host", error))?;
        Ok(Ground::There(host))
    }

    /// Finds or makes the workspace of an issue; one that is made is unfinished until [`Ground::finish`].
    pub async fn create(&self, root: &Path, identifier: &str) -> Result<Workspace, Failure> {
        match self {
            Ground::Here(_) => on_disk(root, identifier, workspace::create).await,
            Ground::There(host) => {
                let made = host.create_workspace(root, identifier).await;
                made.map_err(|error| remote(&error))
            }
        }
    }

    /// Says that a workspace that was made is complete.
    pub async fn finish(&self, root: &Path, identifier: &str) -> Result<(), Failure> {
        match self {
            Ground::Here(_) => on_disk(root, identifier, workspace::finish).await,
            Ground::There(host) => {
                let finished = host.finish_workspace(root, identifier).await;
                finished.map_err(|error| remote(&error))
            }
        }
    }

    pub async fn remove(&self, root: &Path, identifier: &str) -> Result<(), Failure> {
        match self {
            Ground::Here(_) => on_disk(root, identifier, workspace::remove).await,
            Ground::There(host) => {
                let removed = host.remove_workspace(root, identifier).await;
                removed.map_err(|error| remote(&error))
            }
        }
    }

    /// Whether a workspace may be used: here its real path must be inside of the root; there it was found so.
    pub fn check(&self, root: &Path, workspace: &Path) -> Result<(), String> {
        match self {
            Ground::Here(_) => {
                let contained = workspace::contained(root, workspace);
                contained.map(drop).map_err(|error| error.to_string())
            }
            Ground::There(_) => Ok(()),
        }
    }

    pub async fn hook(
        &self,
        name: &'static str,
        script: &str,
        workspace: &Path,
        variables: &Variables,
        limit: Duration,
    ) -> Result<(), HookError> {
        match self {
            Ground::Here(own) => {
                let all: Variables = own.iter().chain(variables).cloned().collect();
                hook::run(name, script, workspace, &all, limit).await
            }
            Ground::There(host) => host.hook(name, script, workspace, variables, limit).await,
        }
    }

    /// Ends what an earlier attempt left running, in whose workspace the next one is to work.
    pub async fn end(&self, mark: String) -> Result<(), Failure> {
        match self {
            Ground::Here(_) => {
                leftovers::end([mark].into()).await;
                Ok(())
            }
            Ground::There(host) => {
                let ended = host.end_marked(leftovers::VARIABLE, &mark).await;
                ended.map_err(|error| remote(&error))
            }
        }
    }

    /// The variables of an agent besides those that it inherits.
    pub fn variables(&self) -> &[(String, String)] {
        match self {
            Ground::Here(own) => own,
            Ground::There(_) => &[],
        }
    }

    /// How an agent is started there.
    pub fn launch(&self, command: &str) -> Launch {
        let command = command.to_owned();
        match self {
            Ground::Here(_) => Launch::Shell(command),
            Ground::There(host) => Launch::Ssh {
                host: host.clone(),
                command,
            },
        }
    }
}

/// Does something to a workspace here, apart from what must not wait for a disk.
async fn on_disk<T: Send + 'static>(
    root: &Path,
    identifier: &str,
    work: fn(&Path, &str) -> Result<T, workspace::WorkspaceError>,
) -> Result<T, Failure> {
    let (root, identifier) = (root.to_owned(), identifier.to_owned());
    let done = tokio::task::spawn_blocking(move || work(&root, &identifier)).await;
    done.map_err(unusable)?.map_err(unusable)
}

fn unusable(error: impl std::fmt::Display) -> Failure {
    Failure::new("workspace_error", error)
}

/// What failed on another machine: it could not be reached, or it could not do what it was asked.
fn remote(error: &HookError) -> Failure {
    match error {
        HookError::Unreachable { .. } => error.failure(),
        _ => unusable(error),
    }
}
