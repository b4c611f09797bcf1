//! `quipu` alone, and `quipu chat`: a conversation in the terminal.

use std::io::{IsTerminal as _, stdin, stdout};
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use quipu_chat::ChatOptions;
use quipu_client::{Client, Connect};
use quipu_config::{Env, LoadRequest, Overrides};

use super::{app_server, print};
use crate::args::{ChatArgs, ConfigArgs, PromptArgs};
use crate::exec::stops::Stops;
use crate::exec::thread::stored;
use crate::exec::{SHOWN, choice};
use crate::{frontend, logging, session};

/// How often a server elsewhere is tried at the start, and how long to wait in between.
const ATTEMPTS: u32 = 3;
const PAUSE: Duration = Duration::from_secs(1);

/// The program without a command. Where nobody can chat, it shows its usage.
pub fn run_alone(chat: ChatArgs, config: &ConfigArgs, mut usage: clap::Command) -> ExitCode {
    if !has_terminal() {
        eprintln!("{}", usage.render_help());
        return ExitCode::from(2);
    }
    match run(PromptArgs::default(), chat, config) {
        Ok(code) => code,
        Err(error) => {
            logging::failed(&error);
            ExitCode::FAILURE
        }
    }
}

/// Chats with what was given before and after the command.
pub fn run(args: PromptArgs, before: ChatArgs, common: &ConfigArgs) -> Result<ExitCode, String> {
    let chat = before.extend(args.chat);
    let cwd = chat.cwd.as_ref().map(|it| {
        it.canonicalize()
            .map_err(|error| format!("cannot work in {}: {error}", it.display()))
    });
    let cwd = cwd.transpose()?;
    let is_plain = |name: &str| std::env::var_os(name).is_some_and(|it| !it.is_empty());
    let is_dumb = std::env::var_os("TERM").is_none_or(|it| it == "dumb");
    let colour = !chat.no_color && !is_plain("NO_COLOR") && !is_dumb;
    let config = [common, &args.config];
    let resume = match chat.remote.remote {
        Some(_) => chat.resume,
        None => prepare(&chat, &config, cwd.as_deref())?,
    };
    let address = chat.remote.remote.clone();
    let farewell = frontend::with_server(&chat.remote, &config, Some(SHOWN), async |server| {
        need_terminal()?;
        if let Some(address) = &address {
            reach(address, &server.connect).await?;
        }
        let options = ChatOptions {
            prompt: args.prompt,
            resume,
            model: chat.model,
            cwd: cwd.or(server.base),
            colour,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            address,
        };
        let mut stops = Stops::new();
        tokio::select! {
            done = quipu_chat::run(server.connect, options) => {
                done.map_err(|error| format!("the terminal failed: {error}"))
            }
            () = stops.next() => Ok(Vec::new()),
        }
    })?;
    print::lines(farewell)
}

/// Finds what would keep a conversation from beginning before the screen is in use; returns the id of the one to
/// continue. A server elsewhere has settings and conversations of its own.
fn prepare(
    chat: &ChatArgs,
    given: &[&ConfigArgs],
    cwd: Option<&Path>,
) -> Result<Option<String>, String> {
    need_terminal()?;
    let mut overrides = Overrides::default();
    for config in given {
        config.add_to(&mut overrides)?;
    }
    let config = app_server::unchecked(Env::from_process(), overrides)?;
    let request = LoadRequest {
        cwd: Some(cwd.unwrap_or_else(|| config.env().cwd())),
        ..LoadRequest::default()
    };
    let found = config.load(&request).map_err(|error| error.to_string())?;
    let settings = found.model();
    session::with_client(config, async |client, server| {
        if settings.provider.is_none() {
            let model = chat.model.as_ref().or(settings.model.as_ref());
            eprintln!("{}", choice(server, model)?);
        }
        match chat.resume.as_deref() {
            Some(name) if !name.is_empty() => stored(client, name).await.map(Some),
            other => Ok(other.map(str::to_owned)),
        }
    })
}

/// Connects to a server elsewhere before the screen is in use, so that a wrong address ends the program. A
/// server that is lost later is waited for.
async fn reach(address: &str, connect: &Connect) -> Result<(), String> {
    let mut failures = 0;
    loop {
        let options = connect().client("quipu-chat", env!("CARGO_PKG_VERSION"));
        let error = match Client::connect(options).await {
            Ok(client) => {
                client.disconnect().await;
                return Ok(());
            }
            Err(error) => error.to_string(),
        };
        failures += 1;
        if failures == ATTEMPTS {
            return Err(format!(
                "{address}: {error}; is a server running there? `quipu app-server --listen {address}` starts one"
            ));
        }
        eprintln!(
            "{address}: {error}; trying again ({failures}/{})",
            ATTEMPTS - 1
        );
        tokio::time::sleep(PAUSE).await;
    }
}

fn need_terminal() -> Result<(), String> {
    match has_terminal() {
        true => Ok(()),
        false => Err("the chat needs a terminal; use `exec` to run one prompt without".into()),
    }
}

fn has_terminal() -> bool {
    stdin().is_terminal() && stdout().is_terminal()
}
