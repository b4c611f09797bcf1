//! A program with its own server: it says hello, and its agent runs a command and applies a patch in the sandbox.
//! State goes to a temporary directory, and the offline model plays the agent.

use std::io::Write as _;

use quipu_embed::Embedded;
use quipu_embed::client::wire::{AskForApproval, SandboxMode, ThreadStartParams};
use quipu_embed::client::{Client, prompt};
use quipu_embed::config::{Env, Home, Loader, Overrides};
use serde_json::json;

const COMMAND: &str = "applypatch <<'EOF'\n*** Begin Patch\n*** Add File: note\n+written in the sandbox\n\
                       *** End Patch\nEOF\ncat note";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    quipu_embed::init();
    tokio::runtime::Runtime::new()?.block_on(run())
}

async fn run() -> Result<(), Box<dyn std::error::Error>> {
    let directory = tempfile::tempdir()?;
    let home = Home::at(directory.path().join("home"));
    home.ensure()?;
    std::fs::write(home.config_file(), "model_provider = \"offline\"\n")?;
    let env = Env::new(std::env::vars(), directory.path());
    let server = Embedded::start(Loader::new(env, home, Overrides::default()));

    let work = directory.path().join("work");
    std::fs::create_dir(&work)?;
    let options = server
        .options()
        .client("embed-example", "1.0")
        .cwd(&work)
        .approval_policy(AskForApproval::Never)
        .sandbox(SandboxMode::WorkspaceWrite);
    let client = Client::connect(options).await?;
    let thread = client.start_thread(ThreadStartParams::default()).await?;
    let call = json!({ "name": "exec_command", "arguments": { "cmd": COMMAND, "login": false } });
    let script = json!({ "script": [{ "calls": [call] }, { "text": "Hello from this process." }] });
    let done = client
        .run_turn(prompt(&thread.id, script.to_string()))
        .await?;
    let note = std::fs::read_to_string(work.join("note"))?;
    write!(std::io::stdout(), "{}\n{note}", done.agent_message)?;
    client.disconnect().await;
    server.stop().await;
    Ok(())
}
