//! A first look at a command that the sandbox may be in the way of. Under policies that ask whether to go
//! on without it, clients see a command only when it is clear that it goes on as it is.

use std::time::Duration;

use quipu_policy::commands::Run;
use quipu_policy::retry::{CommandRetry, after_command_denial, looks_denied};
use quipu_sandbox::{Chunk, Spawned};

use super::{failed, refused};
use crate::approval::{Approval, Asked, ask_command};
use crate::call::{Finished, Running};
use crate::process::{self, Start};

/// How long a command is looked at. One that goes on for longer is not asked about.
const LOOK: Duration = Duration::from_secs(1);
/// The most output that is held back meanwhile.
const MAX_HELD: usize = 64 * 1024;

/// A command that runs, and what it wrote so far.
pub(super) struct Launched {
    pub spawned: Spawned,
    pub written: Vec<Chunk>,
}

/// Starts a command, again without the sandbox if that was in the way and the user agrees.
pub(super) async fn launch(
    run: &Running,
    asked: Asked<'_>,
    mut how: Run,
    env: &[(&str, &str)],
) -> Result<Launched, Finished> {
    let (shown, request) = (asked.shown, asked.request);
    loop {
        let start = Start {
            argv: request.argv,
            cwd: request.cwd,
            how: &how,
            env,
            terminal: request.tty,
        };
        let started = process::spawn(run, start).await;
        let (mut spawned, _) = started.map_err(|error| failed(shown, &error.to_string()))?;
        let retry = after_command_denial(
            &how,
            &run.scope.approval_policy,
            run.agreements().await.approvals(),
        );
        if retry == CommandRetry::Report {
            let written = Vec::new();
            return Ok(Launched { spawned, written });
        }
        let (denied, written) = look(run, &mut spawned).await;
        how = match retry {
            CommandRetry::Again(again) if denied => *again,
            CommandRetry::Ask(question) if denied => {
                match ask_command(run, &question, asked).await {
                    Approval::Granted => question.run,
                    approval => return Err(refused(run, shown, approval).await),
                }
            }
            _ => return Ok(Launched { spawned, written }),
        };
    }
}

/// Whether a command ended soon as if the sandbox had stopped it, and what it wrote.
async fn look(run: &Running, spawned: &mut Spawned) -> (bool, Vec<Chunk>) {
    let Spawned { process, output } = spawned;
    let (mut written, mut held) = (Vec::new(), 0);
    let looking = async {
        while held < MAX_HELD {
            let Some(chunk) = output.next().await else {
                return Some(process::code(process.wait().await));
            };
            held += chunk.bytes.len();
            written.push(chunk);
        }
        None
    };
    let ended = tokio::select! {
        ended = tokio::time::timeout(LOOK, looking) => ended.ok().flatten(),
        () = run.cancel.cancelled() => None,
    };
    let text: Vec<u8> = written.iter().flat_map(|it| it.bytes.clone()).collect();
    let text = String::from_utf8_lossy(&text);
    let denied = ended.is_some_and(|code| looks_denied(code, &[&text]));
    (denied, written)
}
