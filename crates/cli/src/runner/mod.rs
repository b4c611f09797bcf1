//! `quipu runner`: works through the issues of a tracker, unattended.

pub mod args;
mod demo;
mod dry_run;
mod operator;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use quipu_config::{Env, Overrides};
use quipu_runner::service::{Service, ServiceOptions};

use crate::args::ConfigArgs;
use crate::banner;
use crate::cmd::app_server;
use crate::exec::stops::Stops;
use crate::logging::Logging;
use crate::runtime;
use args::{RunArgs, RunnerArgs, RunnerCommand};

pub fn run(args: RunnerArgs, common: &ConfigArgs) -> Result<ExitCode, String> {
    let mut overrides = Overrides::default();
    common.add_to(&mut overrides)?;
    if !overrides.is_empty() {
        return Err(
            "`-c`, `--enable` and `--disable` have no effect here: agents get their settings from \
                    `codex.command` in the workflow"
                .to_owned(),
        );
    }
    match args.command {
        None if args.run.demo => demo::run(args.run.port, args.run.exit),
        None if args.run.dry_run => dry_run::run(&options(workflow(&args.run))?),
        None => serve(&args.run),
        Some(RunnerCommand::Status { of, json }) => operator::status(&options(&of.workflow)?, json),
        Some(RunnerCommand::Show { issue, of, json }) => {
            operator::show(&options(&of.workflow)?, &issue, json)
        }
        Some(RunnerCommand::Retry { issue, of }) => {
            operator::command(&options(&of.workflow)?, &issue, "retry")
        }
        Some(RunnerCommand::Cancel { issue, of }) => {
            operator::command(&options(&of.workflow)?, &issue, "cancel")
        }
    }
}

fn workflow(args: &RunArgs) -> &Path {
    args.workflow.as_deref().unwrap_or(Path::new("WORKFLOW.md"))
}

/// What a service of this user is started with.
fn options(workflow: &Path) -> Result<ServiceOptions, String> {
    let config = app_server::unchecked(Env::from_process(), Overrides::default())?;
    // A link would give the service other files than its workflow's.
    let workflow = workflow.canonicalize().unwrap_or(workflow.to_owned());
    let options = ServiceOptions::new(&workflow, config.home().path());
    let mut options = options.map_err(|error| error.to_string())?;
    if !in_path("codex", options.env.variables.get("PATH")) {
        options.env.default_command =
            format!("{} app-server --need-model", quoted(&own_program()?));
    }
    Ok(options)
}

fn own_program() -> Result<PathBuf, String> {
    std::env::current_exe().map_err(|error| format!("cannot find this program: {error}"))
}

fn in_path(program: &str, path: Option<&String>) -> bool {
    let path = path.map_or("", String::as_str);
    std::env::split_paths(path).any(|it| it.join(program).is_file())
}

/// A path as one word of a shell.
fn quoted(path: &Path) -> String {
    format!("'{}'", path.display().to_string().replace('\'', r"'\''"))
}

fn serve(args: &RunArgs) -> Result<ExitCode, String> {
    let mut options = options(workflow(args))?;
    options.port = args.port;
    let runtime = runtime::make()?;
    let logging = Logging::start_runner(&options.places.root);
    options.set_log_level = Some(Arc::new(logging.set_runner_level()));
    let served = runtime.block_on(async {
        // Before the service starts, so that a request to stop it is never lost.
        let mut stops = Stops::new();
        let service = Service::start(options).await;
        let service = service.map_err(|error| error.to_string())?;
        if let Some(address) = service.address() {
            banner::say("dashboard:", &format!("http://{address}/"));
        }
        service.run(stops.next()).await;
        Ok(ExitCode::SUCCESS)
    });
    runtime.shutdown_background();
    logging.finish();
    served
}
