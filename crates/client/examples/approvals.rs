//! The program decides which commands of the agent may run.

use std::io::Write as _;

use quipu_client::wire::{
    AskForApproval, CommandExecutionApprovalDecision as Decision,
    CommandExecutionRequestApprovalParams, SandboxMode, ThreadStartParams,
};
use quipu_client::{Client, Handler, prompt};
use serde_json::json;

mod support;

/// Lets the agent touch what is allowed. Questions of other kinds get their safe defaults.
struct Gatekeeper;

impl Handler for Gatekeeper {
    async fn approve_command(&self, request: CommandExecutionRequestApprovalParams) -> Decision {
        let command = request.command.unwrap_or_default();
        let (word, decision) = match command.contains("allowed") {
            true => ("approved", Decision::Accept),
            false => ("declined", Decision::Decline),
        };
        // An answer is worth more than a line on a closed terminal.
        writeln!(std::io::stdout(), "{word}: {command}").ok();
        decision
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // A server in this process runs commands by starting this program again.
    quipu_sandbox::maybe_run_helper();
    tokio::runtime::Runtime::new()?.block_on(run())
}

async fn run() -> Result<(), Box<dyn std::error::Error>> {
    let place = support::Place::new()?;
    let options = place
        .options()?
        .handler(Gatekeeper)
        .approval_policy(AskForApproval::Untrusted)
        .sandbox(SandboxMode::DangerFullAccess);
    let client = Client::connect(options).await?;
    let thread = client.start_thread(ThreadStartParams::default()).await?;

    let touch = |file: &str| json!({ "name": "shell_command", "arguments": { "command": format!("touch {file}") } });
    let words = support::script(json!([
        { "calls": [touch("allowed")] },
        { "calls": [touch("forbidden")] },
        { "text": "I did what I was let." },
    ]));
    let done = client.run_turn(prompt(&thread.id, words)).await?;
    let exists = |file| place.directory.path().join(file).exists();
    writeln!(
        std::io::stdout(),
        "{}\nallowed exists: {}, forbidden exists: {}",
        done.agent_message,
        exists("allowed"),
        exists("forbidden"),
    )?;
    client.disconnect().await;
    place.leave().await;
    Ok(())
}
