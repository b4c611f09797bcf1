//! `quipu demo`: what the server does, shown to a newcomer in a few seconds. Everything is real but the
//! model: a server in this process, a client of it, a sandboxed command, files in a temporary directory.

mod narrator;
mod scenes;

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use quipu_client::wire::{AskForApproval, SandboxMode, ThreadStartParams};
use quipu_client::{Client, Error, Options};
use quipu_config::{Env, Home, Loader, Overrides, SystemPaths};
use quipu_server::{Server, Settings};

use crate::runtime;
use narrator::Narrator;

/// The scripted model, and no directory to write to but the demo's own, so that nothing is left elsewhere.
const SETTINGS: &str = "model_provider = \"offline\"\n[sandbox_workspace_write]\nexclude_slash_tmp = true\nexclude_tmpdir_env_var = true\n";

/// Where programs are on a machine that does not say.
const USUAL_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

pub fn run() -> Result<ExitCode, String> {
    let directory = tempfile::tempdir()
        .map_err(|error| format!("cannot create a temporary directory: {error}"))?;
    let runtime = runtime::make()?;
    let shown = runtime.block_on(show(directory.path()));
    runtime.shutdown_background();
    shown.map(|()| ExitCode::SUCCESS)
}

async fn show(directory: &Path) -> Result<(), String> {
    let narrator = Narrator::new();
    narrator.say("This is Quipu: a server for coding agents, here with a scripted model in the agent's place.");
    workspace(&directory.join("work")).map_err(text)?;
    let server = server(directory)?;
    let client = connect(&server, &narrator).await?;
    let thread = start(&client).await.map_err(text)?;
    scenes::words(&client, &narrator, &thread)
        .await
        .map_err(text)?;
    scenes::work(&client, &narrator, &thread)
        .await
        .map_err(text)?;
    scenes::review(&client, &narrator, &thread)
        .await
        .map_err(text)?;
    scenes::interrupt(&client, &narrator, &thread)
        .await
        .map_err(text)?;

    narrator.say(
        "The server stops, and another one starts with the same home directory. Nothing is lost:",
    );
    client.disconnect().await;
    server.stop().await;
    let server = self::server(directory)?;
    let client = connect(&server, &narrator).await?;
    scenes::resume(&client, &narrator, &thread)
        .await
        .map_err(text)?;
    client.disconnect().await;
    server.stop().await;

    narrator.say("That's the demo. Next steps:");
    narrator.show("a real model:  quipu init               (finds your keys and local servers)");
    narrator.show("one prompt:    quipu exec \"hello\"");
    narrator.show("your client:   start `quipu app-server` where it starts `codex app-server`");
    Ok(())
}

/// A project to work in.
fn workspace(directory: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(directory.join(".git"))?;
    std::fs::write(directory.join("greeting.txt"), "Hello, world!\n")
}

/// A server that knows nothing of this machine but its programs.
fn server(directory: &Path) -> Result<Arc<Server>, String> {
    let home = Home::at(directory.join("home"));
    home.ensure().map_err(text)?;
    std::fs::write(home.config_file(), SETTINGS).map_err(text)?;
    let path = std::env::var("PATH").unwrap_or_else(|_| USUAL_PATH.to_owned());
    let user = directory.display().to_string();
    let env = Env::new(
        [("PATH", path.as_str()), ("HOME", &user)],
        directory.join("work"),
    );
    let system = SystemPaths::in_directory(&directory.join("etc"));
    let config = Loader::with_system_paths(env, home, Overrides::default(), system);
    Ok(Server::new(Settings::new(config)))
}

async fn connect(server: &Arc<Server>, narrator: &Narrator) -> Result<Client, String> {
    let options = Options::connection(server.connect_in_process())
        .client("quipu-demo", env!("CARGO_PKG_VERSION"))
        .handler(narrator.clone());
    Client::connect(options).await.map_err(text)
}

async fn start(client: &Client) -> Result<String, Error> {
    let params = ThreadStartParams {
        approval_policy: Some(AskForApproval::Untrusted),
        sandbox: Some(SandboxMode::WorkspaceWrite),
        ..ThreadStartParams::default()
    };
    Ok(client.start_thread(params).await?.id)
}

fn text(error: impl ToString) -> String {
    error.to_string()
}
