//! `quipu exec`: one run from the shell, on the client library and a server in the same process. It asks
//! nobody: what would need an approval is declined, and the model is told so.

pub mod args;
mod events;
mod job;
mod local;
mod output;
mod prompt;
pub mod reason;
mod review;
pub mod screen;
mod settings;
mod sink;
pub mod stops;
pub mod text;
pub mod thread;

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use quipu_client::wire::{LoginAccountParams, ReviewStartParams, TurnStartParams, UserInput};
use quipu_client::{Client, Error, Event, EventStream, Options, Timeouts, TurnStream};
use quipu_config::settings::ModelSettings;
use quipu_config::{Snapshot, Trust};
use quipu_model::Usable;
use quipu_server::{Server, Source};

use crate::args::ConfigArgs;
use crate::logging::Logging;
use crate::runtime;
use args::ExecArgs;
use job::{Job, Work};
use output::Output;
use stops::Stops;

/// The name under which providers and stored threads know runs of this kind.
const CLIENT_NAME: &str = "codex_exec";
/// What the run shows itself and therefore does not log.
pub const SHOWN: &str = "quipu_server::startup_warnings";
/// How often the line that shows life is drawn.
const TICK: Duration = Duration::from_millis(120);

/// Runs it and says with what code to exit: 0 when the turn completed, 1 when it did not. A run that a
/// signal interrupted ends by that signal, once everything is in order.
pub fn run(args: ExecArgs, common: &ConfigArgs) -> Result<ExitCode, String> {
    let json = args.json();
    let done = run_job(args, common);
    if let (true, Err(error)) = (json, &done) {
        Output::not_begun(error);
    }
    done
}

fn run_job(args: ExecArgs, common: &ConfigArgs) -> Result<ExitCode, String> {
    let color = args.color;
    let mut job = Job::new(args, common)?;
    let (config, found) = settings::load(&mut job)?;
    if !job.anywhere && !may_work_in(&found, &job.cwd) {
        return Err(
            "Not inside a trusted directory and --skip-git-repo-check was not specified.".into(),
        );
    }
    let runtime = runtime::make()?;
    let logging = Logging::start(&config, Some(SHOWN));
    let mut settings = quipu_embed::settings(config);
    settings.source = Source::Exec;
    settings.watch_skills = false;
    let model = found.model();
    let (done, stopped) = runtime.block_on(async {
        let mut stops = Stops::new();
        let server = Server::new(settings);
        let last_message = job.last_message.take();
        let output = Output::new(job.json, color, last_message, Arc::clone(&server));
        let done = serve(&server, &model, job, output, &mut stops).await;
        server.stop().await;
        (done, stops.received)
    });
    runtime.shutdown_background();
    logging.finish();
    if let Some(signal) = stopped {
        stops::die_by(signal);
    }
    done
}

/// A directory under version control can be brought back to what it was; one that the user trusts is theirs
/// to risk.
pub fn may_work_in(found: &Snapshot, cwd: &Path) -> bool {
    let is_repository = |directory: &Path| directory.join(".git").exists();
    cwd.ancestors().any(is_repository) || found.trust() == Some(Trust::Trusted)
}

async fn serve(
    server: &Arc<Server>,
    model: &ModelSettings,
    mut job: Job,
    mut output: Output,
    stops: &mut Stops,
) -> Result<ExitCode, String> {
    let options = Options::connection(server.connect_in_process())
        .client(CLIENT_NAME, env!("CARGO_PKG_VERSION"))
        .timeouts(Timeouts {
            turn_silence: None,
            turn_total: None,
            ..Timeouts::default()
        });
    let (client, notices) = Client::connect_with_events(options)
        .await
        .map_err(|error| error.to_string())?;
    let ready = match log_in(&client, job.api_key.take()).await {
        Ok(()) => find_model(server, model, &job, &mut output),
        Err(error) => Err(thread::text(error)),
    };
    let done = match ready {
        Ok(()) => drive(&client, notices, job, output, stops).await,
        Err(error) => Err(error),
    };
    client.disconnect().await;
    done
}

/// Says which provider answers where none is configured. The offline model answers only if it is asked for:
/// a script must not take its greeting for the work that was wanted.
fn find_model(
    server: &Server,
    model: &ModelSettings,
    job: &Job,
    output: &mut Output,
) -> Result<(), String> {
    if model.provider.is_some() {
        return Ok(());
    }
    let named = job.model.as_ref().or(model.model.as_ref());
    output.notice(choice(server, named)?);
    Ok(())
}

/// Which provider is used where none is configured, and why, with the model that was named for it.
pub fn choice(server: &Server, model: Option<&String>) -> Result<String, String> {
    let choice = server.choose_provider().map_err(|none| none.to_string())?;
    Ok(match model {
        None => choice.to_string(),
        Some(model) => {
            let Usable { provider, access } = choice.taken;
            format!("using {} ({model}): {access}", provider.name)
        }
    })
}

/// Uses a key that was given for this run, if one was, in the place of a stored login.
async fn log_in(client: &Client, api_key: Option<String>) -> Result<(), Error> {
    if let Some(api_key) = api_key {
        let key = LoginAccountParams::ApiKey { api_key };
        client.account_login_start(key).await?;
    }
    Ok(())
}

async fn drive(
    client: &Client,
    mut notices: EventStream,
    job: Job,
    mut output: Output,
    stops: &mut Stops,
) -> Result<ExitCode, String> {
    if let Work::Review(target) = &job.work {
        review::check(client, target, &job.cwd).await?;
    }
    let opened = thread::open(client, &job).await?;
    output.opened(&opened, &job.work);
    tell_noticed(&mut notices, &mut output);
    let started = match job.work {
        Work::Prompt(text) => {
            let images = job.images.into_iter().map(|path| UserInput::LocalImage {
                path: path.display().to_string(),
            });
            let text = UserInput::Text {
                text,
                text_elements: Vec::new(),
            };
            let params = TurnStartParams {
                thread_id: opened.thread.id,
                input: images.chain([text]).collect(),
                output_schema: job.output_schema,
                ..TurnStartParams::default()
            };
            client.stream_turn(params).await
        }
        Work::Review(target) => {
            let params = ReviewStartParams {
                thread_id: opened.thread.id,
                target,
                delivery: None,
            };
            client.stream_review(params).await
        }
    };
    let done = match started {
        Ok(mut turn) => {
            watch(&mut turn, &mut notices, &mut output, stops).await;
            tell_noticed(&mut notices, &mut output);
            turn.finish().await
        }
        Err(error) => Err(error),
    };
    Ok(output.end(done, stops.received.is_some()))
}

/// Reports what has come so far that is not about the turn.
fn tell_noticed(notices: &mut EventStream, output: &mut Output) {
    while let Some(Some(event)) = notices.next().now_or_never() {
        output.noticed(&event);
    }
}

/// Reports what happens until the turn has ended. A signal interrupts the turn; a second one ends the
/// process at once.
async fn watch(
    turn: &mut TurnStream,
    notices: &mut EventStream,
    output: &mut Output,
    stops: &mut Stops,
) {
    let mut ticks = tokio::time::interval(TICK);
    loop {
        tokio::select! {
            event = turn.next() => match event {
                Some(Event::Notification(notification)) => output.notified(&notification),
                Some(Event::Lagged(lagged)) => output.missed(lagged.missed),
                Some(_) => {}
                None => return,
            },
            Some(event) = notices.next() => output.noticed(&event),
            _ = ticks.tick() => output.tick(),
            () = stops.next() => {
                // The end that follows says whether it worked.
                turn.interrupt().await.ok();
            }
        }
    }
}
