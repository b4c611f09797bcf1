//! `quipu sandbox`: runs a command under a policy, or says what keeps commands inside their policy on this
//! machine. That is found out by building a jail, as the server does, and not by looking at versions.

use std::io::{self, Write as _};
use std::process::ExitCode;
use std::sync::Arc;

use quipu_config::{Env, Feature, LoadRequest, Loader, Snapshot, Table};
use quipu_sandbox::{Capabilities, Exit, Process, Spawned, Stdio, Stream};
use quipu_server::ManagedCommand;
use serde_json::json;
use tokio::io::AsyncReadExt as _;

use super::app_server;
use crate::args::{ConfigArgs, SandboxArgs};

/// Bytes of standard input that are passed on at once.
const PIECE: usize = 64 * 1024;

pub fn run(args: SandboxArgs, common: &ConfigArgs) -> Result<ExitCode, String> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| format!("cannot start: {error}"))?;
    let mut overrides = common.overrides(&args.config)?;
    if args.command.is_empty() {
        let config = app_server::unchecked(Env::from_process(), overrides)?;
        return runtime.block_on(report(&config));
    }
    if let Some(policy) = args.policy {
        let chosen = Table::from_iter([("sandbox_mode".to_owned(), json!(policy.mode()))]);
        let chosen = overrides.add_json(&chosen);
        chosen.map_err(|error| error.to_string())?;
    }
    let config = app_server::load(Env::from_process(), overrides)?;
    let command = quipu_server::configured_command(&config, &args.command)?;
    let done = runtime.block_on(attend(command));
    // Reading standard input may hold a thread that nothing can wake.
    runtime.shutdown_background();
    done
}

/// Says what is in force. Fails where nothing is, so that a script can ask.
async fn report(config: &Loader) -> Result<ExitCode, String> {
    let found = in_force(Some(config)).await?;
    writeln!(io::stdout(), "{found}").map_err(|error| error.to_string())?;
    found.check().map_err(|error| error.to_string())?;
    Ok(ExitCode::SUCCESS)
}

/// What enforces policies on this machine with these settings.
pub async fn in_force(config: Option<&Loader>) -> Result<Capabilities, String> {
    let found = quipu_sandbox::capabilities().await;
    let mut found = found.map_err(|error| error.to_string())?;
    let is_landlock_only = |it: Arc<Snapshot>| it.features().enabled(Feature::UseLegacyLandlock);
    // With files that cannot be read no command runs at all; the machine is the same.
    let settings = config.and_then(|it| it.load(&LoadRequest::default()).ok());
    if settings.is_some_and(is_landlock_only) {
        found.namespaces = Err("switched off by `features.use_legacy_landlock`".to_owned());
    }
    Ok(found)
}

/// Passes input and output on until the command ends.
async fn attend(mut managed: ManagedCommand) -> Result<ExitCode, String> {
    managed.command.stdio = Stdio::Pipes;
    let Spawned {
        process,
        mut output,
    } = managed.spawn().await.map_err(|error| error.to_string())?;
    let passing = async {
        while let Some(chunk) = output.next().await {
            let passed = match chunk.stream {
                Stream::Stdout => io::stdout()
                    .write_all(&chunk.bytes)
                    .and_then(|()| io::stdout().flush()),
                Stream::Stderr => io::stderr().write_all(&chunk.bytes),
            };
            // Nobody reads any more, so the command is not needed.
            if passed.is_err() {
                return process.kill();
            }
        }
    };
    tokio::select! {
        () = passing => {}
        () = feed(&process) => {}
    }
    let code = match process.wait().await {
        Exit::Code(code) => code,
        Exit::Signal(signal) => 128 + signal,
    };
    Ok(ExitCode::from(u8::try_from(code).unwrap_or(u8::MAX)))
}

/// Gives the command what comes in; never ends, as the end of input is not that of the command.
async fn feed(process: &Process) {
    let mut input = tokio::io::stdin();
    let mut bytes = vec![0; PIECE];
    while let Ok(count @ 1..) = input.read(&mut bytes).await {
        if process.write_stdin(&bytes[..count]).await.is_err() {
            break;
        }
    }
    // A command that has closed its input need not be told.
    process.close_stdin().await.ok();
    std::future::pending().await
}
