//! The program of the setting `store.workspace_hook`: it makes the working directory of a thread ready on this machine before
//! a turn goes on that another server began.

use std::sync::Arc;

use quipu_sandbox::{Command, Exit, Policy, Spawned};
use tokio::time::timeout;

use crate::Server;

/// How much of what the program prints an error shows, in bytes.
const SHOWN: usize = 2000;

/// What the program makes ready.
pub(super) struct Workspace {
    pub thread_id: String,
    pub turn_id: String,
    pub cwd: String,
}

/// Runs the program, if there is one; an error says why the turn cannot go on.
pub(super) async fn run(server: &Arc<Server>, workspace: Workspace) -> Result<(), String> {
    let settings = server.left_turns.as_ref();
    let Some(settings) = settings.filter(|it| !it.workspace_hook.is_empty()) else {
        return Ok(());
    };
    let facts = [
        ("QUIPU_THREAD_ID", workspace.thread_id),
        ("QUIPU_TURN_ID", workspace.turn_id),
        ("QUIPU_CWD", workspace.cwd),
    ];
    let running = started(server, settings.workspace_hook.clone(), &facts);
    let limit = settings.workspace_hook_timeout;
    let ended = timeout(limit, running).await.unwrap_or_else(|_| {
        let seconds = limit.as_secs();
        Err(format!("it did not end within {seconds} seconds"))
    });
    ended.map_err(|why| {
        let program = &settings.workspace_hook[0];
        format!("The turn cannot go on here: workspace hook `{program}`: {why}")
    })
}

/// Runs a program to its end. It is killed with all that it started if this is dropped.
async fn started(
    server: &Arc<Server>,
    argv: Vec<String>,
    facts: &[(&str, String)],
) -> Result<(), String> {
    // The working directory need not be there yet.
    let mut command = Command::new(argv, server.cwd().to_owned(), Policy::FullAccess);
    let vars = server.settings.config.env().vars();
    let vars = vars.map(|(name, value)| (name.into(), value.into()));
    let facts = facts
        .iter()
        .map(|(name, value)| (name.into(), value.into()));
    command.env = vars.chain(facts).collect();
    let spawned = quipu_sandbox::spawn(command).await;
    let Spawned {
        process,
        mut output,
        ..
    } = spawned.map_err(|error| format!("failed to start: {error}"))?;
    let mut printed = Vec::new();
    while let Some(chunk) = output.next().await {
        printed.extend_from_slice(&chunk.bytes);
        let excess = printed.len().saturating_sub(SHOWN);
        printed.drain(..excess);
    }
    let printed = String::from_utf8_lossy(&printed);
    match process.wait().await {
        Exit::Code(0) => Ok(()),
        Exit::Code(code) => Err(format!("it exited with status {code}: {}", printed.trim())),
        Exit::Signal(signal) => Err(format!(
            "it was ended by signal {signal}: {}",
            printed.trim()
        )),
    }
}
