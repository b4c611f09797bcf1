//! Runs the scripts of a workflow. Each belongs to this process: it ends with its time limit and with the service,
//! together with everything that it started.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use quipu_sandbox::{Command, Exit, Policy, Spawned};

use crate::orchestrator::Failure;
use crate::ssh::HOST_UNAVAILABLE;

/// The end of the output that errors and logs show.
const SHOWN: usize = 2_000;

/// What a script is run with besides this process's own variables.
pub type Variables = Vec<(String, String)>;

/// How a script failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HookError {
    #[error("the hook {name} took longer than {} ms", limit.as_millis())]
    TimedOut { name: &'static str, limit: Duration },
    #[error("the hook {name} {status}: {output}")]
    Failed {
        name: &'static str,
        status: String,
        /// Its exit code, if it exited.
        code: Option<i32>,
        output: String,
    },
    #[error("{host} cannot be reached: {output}")]
    Unreachable { host: String, output: String },
    #[error("the hook {name} could not be started: {reason}")]
    NotStarted { name: &'static str, reason: String },
}

impl HookError {
    /// What it means for the attempt that it happened in.
    pub(crate) fn failure(&self) -> Failure {
        let code = match self {
            HookError::TimedOut { .. } => "hook_timeout",
            HookError::Unreachable { .. } => HOST_UNAVAILABLE,
            HookError::Failed { .. } | HookError::NotStarted { .. } => "hook_failed",
        };
        Failure::new(code, self)
    }
}

/// Runs a script in a workspace to its end.
pub async fn run(
    name: &'static str,
    script: &str,
    workspace: &Path,
    variables: &Variables,
    limit: Duration,
) -> Result<(), HookError> {
    let argv = ["bash", "-lc", script].map(str::to_owned).to_vec();
    execute(name, argv, workspace, variables, limit)
        .await
        .map(drop)
}

/// Runs a command to its end; the end of what it wrote.
pub(crate) async fn execute(
    name: &'static str,
    argv: Vec<String>,
    directory: &Path,
    variables: &Variables,
    limit: Duration,
) -> Result<String, HookError> {
    let mut command = Command::new(argv, directory, Policy::FullAccess);
    let mut env: BTreeMap<OsString, OsString> = std::env::vars_os().collect();
    env.extend(
        variables
            .iter()
            .map(|(name, value)| (name.into(), value.into())),
    );
    command.env = env.into_iter().collect();
    let running = async {
        let spawned = quipu_sandbox::spawn(command).await;
        let spawned = spawned.map_err(|error| HookError::NotStarted {
            name,
            reason: error.to_string(),
        })?;
        attend(name, spawned).await
    };
    // Dropping the process ends it, with its descendants.
    let done = tokio::time::timeout(limit, running).await;
    done.unwrap_or(Err(HookError::TimedOut { name, limit }))
}

async fn attend(name: &'static str, spawned: Spawned) -> Result<String, HookError> {
    let Spawned {
        process,
        mut output,
    } = spawned;
    let mut tail = Vec::new();
    while let Some(chunk) = output.next().await {
        tail.extend_from_slice(&chunk.bytes);
        if tail.len() > 2 * SHOWN {
            tail.drain(..tail.len() - SHOWN);
        }
    }
    let from = tail.len().saturating_sub(SHOWN);
    let output = String::from_utf8_lossy(&tail[from..]).trim().to_owned();
    let (status, code) = match process.wait().await {
        Exit::Code(0) => return Ok(output),
        Exit::Code(code) => (format!("failed with exit code {code}"), Some(code)),
        Exit::Signal(signal) => (format!("was ended by signal {signal}"), None),
    };
    Err(HookError::Failed {
        name,
        status,
        code,
        output,
    })
}
