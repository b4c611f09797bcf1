//! `write_stdin`: types into a command that goes on in the background, or looks at what it wrote.

use std::time::{Duration, Instant};

use futures_util::future::BoxFuture;
use quipu_engine::{ProcessId, ToolDelta, ToolEvent};
use quipu_sandbox::StdinError;
use serde::Deserialize;

use super::{OUTPUT_TOKENS, YIELD, clamp, news_and_forget, patience};
use crate::call::{Finished, Running};
use crate::schema::describe;
use crate::scope::{Scope, ShellTool};
use crate::spec::Spec;
use crate::tool::{Parallel, Reach, Tool};

const DEFAULT_YIELD: u64 = 250;
/// The least time to wait if nothing is typed.
const SHORTEST_POLL: u64 = 5_000;
/// Between typing and reading, so that the answer is there.
const AFTER_WRITE: Duration = Duration::from_millis(100);

#[derive(Deserialize)]
struct Arguments {
    session_id: i32,
    #[serde(default)]
    chars: String,
    yield_time_ms: Option<u64>,
    max_output_tokens: Option<usize>,
}

describe!(Arguments {
    required { session_id: "The session ID that `exec_command` returned." }
    optional {
        chars: "What to type; nothing only looks for new output.",
        yield_time_ms: "How long to wait for output.",
        max_output_tokens: OUTPUT_TOKENS,
    }
});

pub(crate) struct WriteStdin;

impl Tool for WriteStdin {
    fn name(&self) -> &'static str {
        "write_stdin"
    }

    fn parallel(&self) -> Parallel {
        Parallel::Always
    }

    fn reach(&self) -> Reach {
        Reach::Machine
    }

    fn spec(&self, scope: &Scope) -> Option<Spec> {
        let description =
            "Types into a command that is still running, or just waits for more of its output.";
        (scope.shell_tool == ShellTool::Exec)
            .then(|| Spec::function::<Arguments>(self.name(), description))
    }

    fn accepts(&self, run: &Running) -> bool {
        run.is_function()
    }

    fn run<'a>(&'a self, run: &'a Running) -> BoxFuture<'a, Finished> {
        Box::pin(write_stdin(run))
    }
}

async fn write_stdin(run: &Running) -> Finished {
    let arguments: Arguments = match run.arguments() {
        Ok(arguments) => arguments,
        Err(error) => return error.into(),
    };
    let id = u32::try_from(arguments.session_id).ok();
    let id = id.map(ProcessId::new);
    let session = run.toolbox(move |it| it.sessions.get(id?)).await;
    let Some(session) = session else {
        return format!(
            "write_stdin failed: Unknown process id {}",
            arguments.session_id
        )
        .into();
    };
    let typed = !arguments.chars.is_empty();
    if typed && !session.process.stdin_is_open().await {
        return "write_stdin failed: stdin is closed for this session; rerun exec_command with tty=true to keep stdin open".into();
    }
    // Reported first: what is typed may end the process, and with it the item.
    let input = ToolDelta::TerminalInput {
        process_id: session.id,
        stdin: arguments.chars.clone(),
    };
    run.host
        .report(&session.shown.id, ToolEvent::Delta(input))
        .await;
    let wait = wait(run, &arguments);
    let called = Instant::now();
    let mut untyped = arguments.chars.as_bytes();
    let looking = async {
        if typed {
            // A process that does not read makes typing wait.
            let typing = session.process.write_stdin_from(&mut untyped);
            match tokio::time::timeout(wait, typing).await {
                Ok(written) => written?,
                Err(_) => return Ok(Instant::now()),
            }
            tokio::time::sleep(AFTER_WRITE).await;
        }
        let begun = Instant::now();
        patience(run, &session, wait).await;
        Ok(begun)
    };
    let looked: Result<Instant, StdinError> = tokio::select! {
        looked = looking => looked,
        () = run.cancel.cancelled() => return run.aborted(called.elapsed()).into(),
    };
    let begun = match looked {
        Ok(begun) => begun,
        Err(error) => return format!("write_stdin failed: {error}").into(),
    };
    let (news, _) = news_and_forget(run, &session, begun, arguments.max_output_tokens).await;
    let (all, left) = (arguments.chars.len(), untyped.len());
    match left {
        0 => news.into(),
        _ => format!(
            "The process does not read its input: {} of {all} bytes were typed, the rest was not.\n{news}",
            all - left
        )
        .into(),
    }
}

/// How long to wait for output.
fn wait(run: &Running, arguments: &Arguments) -> Duration {
    let asked = arguments.yield_time_ms.unwrap_or(DEFAULT_YIELD);
    Duration::from_millis(match arguments.chars.is_empty() {
        true => {
            let longest = u64::try_from(run.scope.longest_poll.as_millis()).unwrap_or(u64::MAX);
            clamp(asked, SHORTEST_POLL..=longest.max(SHORTEST_POLL))
        }
        false => clamp(asked, YIELD),
    })
}
