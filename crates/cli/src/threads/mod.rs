//! `quipu threads`: looks at, keeps and removes the stored sessions, as any client of the server could.

mod amounts;
pub mod args;
mod costs;
mod export;
mod list;
mod remove;
mod transcript;

use std::process::ExitCode;

use quipu_client::wire::ThreadUnarchiveParams;
use quipu_config::{Env, Loader};

use crate::args::ConfigArgs;
use crate::cmd::app_server;
use crate::exec::thread::{stored, text};
use crate::session;
use args::{IdsArgs, ThreadsArgs, ThreadsCommand};

pub fn run(args: ThreadsArgs, common: &ConfigArgs) -> Result<ExitCode, String> {
    let command = args.command.unwrap_or(ThreadsCommand::List(args.list));
    match command {
        ThreadsCommand::List(args) => list::run(args, None, common),
        ThreadsCommand::Search(args) => list::run(args.list, Some(args.text), common),
        ThreadsCommand::Show(args) => export::show(args, common),
        ThreadsCommand::Export(args) => export::run(args, common),
        ThreadsCommand::Import(args) => export::import(args, common),
        ThreadsCommand::Archive(args) => archive(args, common),
        ThreadsCommand::Unarchive(args) => unarchive(args, common),
        ThreadsCommand::Delete(args) => remove::delete(args, common),
        ThreadsCommand::Gc(args) => remove::gc(&args, common),
    }
}

/// The configuration of a subcommand.
fn config(common: &ConfigArgs, own: &ConfigArgs) -> Result<Loader, String> {
    let overrides = common.overrides(own)?;
    app_server::load(Env::from_process(), overrides)
}

fn archive(args: IdsArgs, common: &ConfigArgs) -> Result<ExitCode, String> {
    session::with_client(config(common, &args.config)?, async |client, _| {
        for name in &args.ids {
            let id = stored(client, name).await?;
            client.archive_thread(id).await.map_err(text)?;
        }
        Ok(ExitCode::SUCCESS)
    })
}

fn unarchive(args: IdsArgs, common: &ConfigArgs) -> Result<ExitCode, String> {
    session::with_client(config(common, &args.config)?, async |client, _| {
        for id in args.ids {
            let params = ThreadUnarchiveParams { thread_id: id };
            client.thread_unarchive(params).await.map_err(text)?;
        }
        Ok(ExitCode::SUCCESS)
    })
}
