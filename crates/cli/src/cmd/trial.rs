//! The one request that `quipu init` tries, so that what is wrong shows now. Local servers load their model
//! for it and may read the prompt slowly, so it waits long, and says that it waits.

use std::process::ExitCode;
use std::time::Duration;

use quipu_client::wire::{SandboxMode, ServerNotification, ThreadStartParams};
use quipu_client::{Client, Event, prompt};
use quipu_config::{LoadRequest, Loader};
use tokio::time::{Instant, interval_at, sleep_until};

use crate::exec::thread::text;
use crate::exec::{may_work_in, reason};
use crate::session;

const WORDS: &str = "Answer with the single word: ready";
/// How often a person is reminded that the answer is awaited.
const REMINDER: Duration = Duration::from_secs(5);
/// Characters of the answer that are shown.
const SHOWN: usize = 200;

/// Asks the model something and shows its answer.
pub fn run(config: Loader, limit: Duration) -> Result<ExitCode, String> {
    let next = next_command(&config)?;
    session::with_client(config, async |client, _| {
        let params = ThreadStartParams {
            ephemeral: Some(true),
            sandbox: Some(SandboxMode::ReadOnly),
            ..ThreadStartParams::default()
        };
        let opened = client.thread_start(params).await.map_err(text)?;
        eprintln!("Asking {} ({}) …", opened.model, opened.model_provider);
        let answer = answer(client, &opened.thread.id, limit).await?;
        let shown: String = answer.trim().chars().take(SHOWN).collect();
        eprintln!("It answered: {shown}\nDone. Try: {next}");
        Ok(ExitCode::SUCCESS)
    })
}

/// A command that works in this directory.
fn next_command(config: &Loader) -> Result<String, String> {
    let cwd = config.env().cwd();
    let request = LoadRequest {
        cwd: Some(cwd),
        ..LoadRequest::default()
    };
    let found = config.load(&request).map_err(|error| error.to_string())?;
    let flag = match may_work_in(&found, cwd) {
        true => "",
        false => "--skip-git-repo-check ",
    };
    Ok(format!("quipu exec {flag}\"explain this directory\""))
}

async fn answer(client: &Client, thread: &str, limit: Duration) -> Result<String, String> {
    let failed = |error| format!("the request failed: {}", text(error));
    let mut turn = client
        .stream_turn(prompt(thread, WORDS))
        .await
        .map_err(failed)?;
    let began = Instant::now();
    let mut reminders = interval_at(began + REMINDER, REMINDER);
    loop {
        tokio::select! {
            event = turn.next() => match event {
                Some(Event::Notification(ServerNotification::Error(it))) if it.will_retry => {
                    eprintln!("{}", reason::retry(&it.error));
                }
                Some(_) => {}
                None => return turn.finish().await.map(|it| it.agent_message).map_err(failed),
            },
            _ = reminders.tick() => eprintln!(
                "No answer after {} seconds; waiting for up to {}. A local server may be loading its model.",
                began.elapsed().as_secs(),
                limit.as_secs()
            ),
            () = sleep_until(began + limit) => {
                // The server in this process ends with it.
                turn.interrupt().await.ok();
                return Err(late(limit));
            }
        }
    }
}

fn late(limit: Duration) -> String {
    format!(
        "no answer within {} seconds.\n\
         The configuration is written and can be used. Check that the model server works, or wait longer with\n\
         `quipu init --timeout SECONDS`.",
        limit.as_secs()
    )
}
