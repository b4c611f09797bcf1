//! `exec_command`: a command that may go on while the agent does other things.

mod first_look;
mod session;
mod write_stdin;

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::future::BoxFuture;
use quipu_policy::commands::{CommandRequest, CommandVerdict, Run, decide_command};
use quipu_policy::permissions::{CommandTool, SandboxPermissions};
use quipu_prompt::budget::{self, Budget};
use quipu_wire::{CommandExecutionSource, CommandExecutionStatus};
use serde::Deserialize;

pub(crate) use session::{Session, Sessions};
pub(crate) use write_stdin::WriteStdin;

use crate::apply_patch;
use crate::approval::{Approval, Asked, ask_command};
use crate::call::{Finished, Running};
use crate::command_arguments::{
    JUSTIFICATION, LOGIN, PREFIX_RULE, SANDBOX_PERMISSIONS, WORKDIR, command_schema,
};
use crate::exec::first_look::Launched;
use crate::exec::session::{MANY_SESSIONS, MAX_SESSIONS, pump};
use crate::process::Shown;
use crate::run_command::script_argv;
use crate::schema::describe;
use crate::scope::{Scope, ShellTool};
use crate::spec::Spec;
use crate::tool::{Parallel, Reach, ReportStyle, Tool};
use crate::wanted::Wanted;

const DEFAULT_YIELD: u64 = 10_000;
/// Runs a script if the model asks for a shell that is none.
const FALLBACK_SHELL: &str = if cfg!(windows) {
    "powershell.exe"
} else {
    "/bin/sh"
};
const YIELD: std::ops::RangeInclusive<u64> = 250..=30_000;
const MAX_TOKENS: usize = 10_000;
/// What the model reads about the argument that limits the output.
const OUTPUT_TOKENS: &str = "How much output to return; more is cut in the middle.";

/// Makes programs behave when nobody looks at a terminal.
const PLAIN_TERMINAL: [(&str, &str); 10] = [
    ("NO_COLOR", "1"),
    ("TERM", "dumb"),
    ("LANG", "C.UTF-8"),
    ("LC_CTYPE", "C.UTF-8"),
    ("LC_ALL", "C.UTF-8"),
    ("COLORTERM", ""),
    ("PAGER", "cat"),
    ("GIT_PAGER", "cat"),
    ("GH_PAGER", "cat"),
    ("CODEX_CI", "1"),
];

#[derive(Deserialize)]
struct Arguments {
    cmd: String,
    workdir: Option<String>,
    shell: Option<String>,
    login: Option<bool>,
    #[serde(default)]
    tty: bool,
    yield_time_ms: Option<u64>,
    max_output_tokens: Option<usize>,
    #[serde(default)]
    sandbox_permissions: SandboxPermissions,
    justification: Option<String>,
    #[serde(default)]
    prefix_rule: Vec<String>,
    additional_permissions: Option<Wanted>,
}

describe!(Arguments {
    required { cmd: "The shell command to run." }
    optional {
        workdir: WORKDIR,
        shell: "The shell to run it with; the user's own if left out.",
        login: LOGIN,
        tty: "Whether the command gets a terminal, which programs that talk with their user need.",
        yield_time_ms: "How long to wait for output before the command goes on in the background.",
        max_output_tokens: OUTPUT_TOKENS,
        sandbox_permissions: SANDBOX_PERMISSIONS,
        justification: JUSTIFICATION,
        prefix_rule: PREFIX_RULE,
        additional_permissions,
    }
});

pub(crate) struct ExecCommand;

impl Tool for ExecCommand {
    fn name(&self) -> &'static str {
        "exec_command"
    }

    fn parallel(&self) -> Parallel {
        Parallel::Shared
    }

    fn reach(&self) -> Reach {
        Reach::Command
    }

    fn spec(&self, scope: &Scope) -> Option<Spec> {
        let description =
            "Runs a command and returns its output, or a session ID if it is still running.";
        (scope.shell_tool == ShellTool::Exec).then(|| {
            let schema = command_schema::<Arguments>(scope.features);
            Spec::with_schema(self.name(), description, schema)
        })
    }

    fn accepts(&self, run: &Running) -> bool {
        run.is_function()
    }

    fn run<'a>(&'a self, run: &'a Running) -> BoxFuture<'a, Finished> {
        Box::pin(exec_command(run))
    }

    fn report_style(&self, _scope: &Scope) -> ReportStyle {
        ReportStyle::Text
    }
}

async fn exec_command(run: &Running) -> Finished {
    let arguments: Arguments = match run.arguments() {
        Ok(arguments) => arguments,
        Err(error) => return error.into(),
    };
    let shell = arguments.shell.as_deref().map(|it| known_shell(run, it));
    let argv = match script_argv(run, &arguments.cmd, arguments.login, shell.as_deref()) {
        Ok(argv) => argv,
        Err(error) => return error.into(),
    };
    let cwd = run.scope.resolve(arguments.workdir.as_deref());
    if let Some(outcome) = apply_patch::intercept(run, &argv, &cwd).await {
        return outcome;
    }
    let shown = Shown::new(run, &argv, &cwd);
    let additional = arguments
        .additional_permissions
        .map(|it| it.in_directory(&cwd, &run.scope));
    let request = CommandRequest {
        argv: &argv,
        cwd: &cwd,
        tool: CommandTool::ExecCommand,
        tty: arguments.tty,
        permissions: arguments.sandbox_permissions,
        additional_permissions: additional.as_ref(),
        justification: arguments.justification.as_deref(),
        prefix_rule: &arguments.prefix_rule,
    };
    let asked = Asked {
        shown: &shown,
        request,
    };
    let how = match allowed(run, asked).await {
        Ok(how) => how,
        Err(refused) => return refused,
    };
    let launched = match first_look::launch(run, asked, how, &PLAIN_TERMINAL).await {
        Ok(launched) => launched,
        Err(refused) => return refused,
    };
    let session = begin(run, shown, launched).await;
    let wait = Duration::from_millis(clamp(
        arguments.yield_time_ms.unwrap_or(DEFAULT_YIELD),
        YIELD,
    ));
    attend(run, &session, wait, arguments.max_output_tokens).await
}

/// The shell that the model means. What is no shell cannot be given a script.
fn known_shell(run: &Running, wanted: &str) -> String {
    let name = Path::new(wanted).file_name().unwrap_or_default();
    let is_shell = ["bash", "sh", "zsh"].iter().any(|known| name == *known);
    let place = if Path::new(wanted).is_absolute() {
        Some(Path::new(wanted).to_owned())
    } else {
        let path = run.scope.env.iter().find(|(key, _)| key == "PATH");
        let directories = path.map(|(_, value)| std::env::split_paths(value).collect::<Vec<_>>());
        let places = directories.into_iter().flatten().map(|it| it.join(wanted));
        places
            .into_iter()
            .find(|it| it.is_absolute() && it.is_file())
    };
    match place.filter(|place| is_shell && place.is_file()) {
        Some(place) => place.to_string_lossy().into_owned(),
        None => FALLBACK_SHELL.to_owned(),
    }
}

/// Makes a process known to the model and to clients.
async fn begin(run: &Running, mut shown: Shown, launched: Launched) -> Arc<Session> {
    let Launched { spawned, written } = launched;
    let id = run.toolbox(|it| it.sessions.free_id()).await;
    shown.process_id = Some(id);
    shown.source = CommandExecutionSource::UnifiedExecStartup;
    run.started(shown.started()).await;
    let session = Arc::new(Session::new(id, shown, spawned.process, &run.scope));
    let added = Arc::clone(&session);
    let count = run.try_toolbox(move |it| it.sessions.insert(added)).await;
    if count.is_none() {
        // The thread is gone: the process must not outlive it.
        session.process.kill();
    }
    if count == Some(MANY_SESSIONS) {
        let text = format!(
            "{MANY_SESSIONS} commands run in the background. Beyond {MAX_SESSIONS} the one used longest ago is ended, so \
             end those that you need no longer."
        );
        run.note(&text).await;
    }
    let following = pump(run.clone(), Arc::clone(&session), written, spawned.output);
    tokio::spawn(following);
    session
}

/// Collects the first output. Until then the process belongs to its call and ends when the turn is
/// interrupted; from then on it goes on in the background.
async fn attend(
    run: &Running,
    session: &Session,
    wait: Duration,
    max_tokens: Option<usize>,
) -> Finished {
    let begun = Instant::now();
    tokio::select! {
        () = run.cancel.cancelled() => {}
        () = patience(run, session, wait) => {}
    }
    // Asked, not heard: an interrupt wakes its listeners one after the other.
    if run.cancel.is_cancelled() {
        session.process.kill();
        session.ended().await;
        forget(run, session).await;
        return run.aborted(begun.elapsed()).into();
    }
    let (news, response) = news_and_forget(run, session, begun, max_tokens).await;
    Finished {
        response,
        ..news.into()
    }
}

/// What a process wrote and how it is, which the model can no longer ask about once it has ended.
async fn news_and_forget(
    run: &Running,
    session: &Session,
    begun: Instant,
    max_tokens: Option<usize>,
) -> (String, Option<String>) {
    let (news, response) = news(session, begun, max_tokens);
    if response.is_some() {
        forget(run, session).await;
    }
    (news, response)
}

/// The model can no longer ask about a process.
async fn forget(run: &Running, session: &Session) {
    let id = session.id;
    run.toolbox(move |it| it.sessions.remove(id)).await;
}

/// Settles whether a command runs; a refusal is the outcome of the call.
async fn allowed(run: &Running, asked: Asked<'_>) -> Result<Run, Finished> {
    let Asked { shown, request } = asked;
    let verdict = run
        .agreements()
        .await
        .decide(&run.scope, |settings| decide_command(&request, settings));
    let question = match verdict {
        CommandVerdict::Run(how) => return Ok(how),
        CommandVerdict::Misuse(why) => return Err(why.into()),
        CommandVerdict::Refuse(why) => return Err(failed(shown, &why).into()),
        CommandVerdict::Ask(question) => question,
    };
    match ask_command(run, &question, asked).await {
        Approval::Granted => Ok(question.run),
        approval => Err(refused(run, shown, approval).await),
    }
}

/// Tells that a command does not run. What a reviewing model is against is never shown as begun.
async fn refused(run: &Running, shown: &Shown, approval: Approval) -> Finished {
    let status = match &approval {
        Approval::Denied(why) => return failed(shown, why).into(),
        Approval::Failed => CommandExecutionStatus::Failed,
        Approval::Granted | Approval::Declined | Approval::Cancelled => {
            CommandExecutionStatus::Declined
        }
    };
    run.started(shown.started()).await;
    run.completed(shown.refused(status, None)).await;
    let text = failed(shown, "rejected by user");
    match approval {
        Approval::Cancelled => Finished::ending(&text),
        _ => text.into(),
    }
}

fn failed(shown: &Shown, why: &str) -> String {
    format!("exec_command failed for `{}`: {why}", shown.command)
}

fn clamp(value: u64, range: std::ops::RangeInclusive<u64>) -> u64 {
    value.clamp(*range.start(), *range.end())
}

/// Waits for the end of a process or of the agent's patience.
async fn patience(run: &Running, session: &Session, wait: Duration) {
    tokio::select! {
        () = session.ended() => {}
        () = run.scope.clock.elapse(wait) => {}
    }
}

/// What a process wrote since it was last asked, and how it is; then only what it wrote, if it has ended.
fn news(session: &Session, begun: Instant, max_tokens: Option<usize>) -> (String, Option<String>) {
    let seconds = begun.elapsed().as_secs_f64();
    let output = session.take_output();
    let exit_code = session.exit_code();
    let state = match exit_code {
        Some(code) => format!("Process exited with code {code}"),
        None => format!("Process running with session ID {}", session.id),
    };
    let chunk: u32 = uuid::Uuid::new_v4().as_fields().0 & 0x00ff_ffff;
    let budget = Budget::Tokens(max_tokens.unwrap_or(MAX_TOKENS));
    let shown = budget::middle_with_lines(&output, budget);
    let news = format!(
        "Command: {}\nChunk ID: {chunk:06x}\nWall time: {seconds:.4} seconds\n{state}\nOriginal token count: {}\nOutput:\n{shown}",
        session.shown.command,
        budget::estimated_tokens(&output),
    );
    (news, exit_code.map(|_| shown.into_owned()))
}
