//! `quipu` alone, and `quipu chat`: a conversation in the terminal.

use std::io::{IsTerminal as _, stdin, stdout};
use std::process::ExitCode;

use quipu_chat::ChatOptions;

use super::print;
use crate::args::{ChatArgs, ConfigArgs, PromptArgs};
use crate::exec::stops::Stops;
use crate::frontend;

/// The program without a command. Where nobody can chat, it shows its usage.
pub fn run_alone(chat: ChatArgs, config: &ConfigArgs, mut usage: clap::Command) -> ExitCode {
    if !has_terminal() {
        eprintln!("{}", usage.render_help());
        return ExitCode::from(2);
    }
    match run(PromptArgs::default(), chat, config) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("Error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Chats with what was given before and after the command.
pub fn run(args: PromptArgs, before: ChatArgs, common: &ConfigArgs) -> Result<ExitCode, String> {
    let chat = before.extend(args.chat);
    let resume = chat.resume;
    let cwd = chat.cwd.map(|it| {
        it.canonicalize()
            .map_err(|error| format!("cannot work in {}: {error}", it.display()))
    });
    let cwd = cwd.transpose()?;
    let is_plain = |name: &str| std::env::var_os(name).is_some_and(|it| !it.is_empty());
    let is_dumb = std::env::var_os("TERM").is_none_or(|it| it == "dumb");
    let colour = !chat.no_color && !is_plain("NO_COLOR") && !is_dumb;
    let config = [common, &args.config];
    let farewell = frontend::with_server(&chat.remote, &config, async |server| {
        if !has_terminal() {
            return Err("the chat needs a terminal; use `exec` to run one prompt without".into());
        }
        let options = ChatOptions {
            prompt: args.prompt,
            resume,
            model: chat.model,
            cwd: cwd.or(server.base),
            colour,
            version: env!("CARGO_PKG_VERSION").to_owned(),
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

fn has_terminal() -> bool {
    stdin().is_terminal() && stdout().is_terminal()
}
