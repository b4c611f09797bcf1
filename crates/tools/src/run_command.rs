//! A command that is waited for, whichever tool it was given to.

use std::borrow::Cow;
use std::time::Duration;

use quipu_policy::commands::{
    CommandQuestion, CommandRequest, CommandVerdict, Run, decide_command,
};
use quipu_policy::permissions::{CommandTool, SandboxPermissions};
use quipu_policy::retry::{CommandRetry, after_command_denial, looks_denied};
use quipu_policy::texts::COMMAND_REJECTED;
use quipu_prompt::budget;
use quipu_wire::CommandExecutionStatus;
use serde::Serialize;

use crate::apply_patch;
use crate::approval::{Approval, Asked, ask_command};
use crate::call::{Finished, Running};
use crate::process::{self, Deltas, Done, Shown, Start};
use crate::scope::Features;
use crate::tool::ReportStyle;
use crate::wanted::Wanted;

/// How long a command may take if the model does not say.
const DEFAULT_TIMEOUT: u64 = 10_000;

/// The arguments that the tools for such commands have in common.
#[derive(Default)]
pub(crate) struct Common {
    pub workdir: Option<String>,
    pub timeout_ms: Option<u64>,
    pub sandbox_permissions: SandboxPermissions,
    pub justification: Option<String>,
    pub prefix_rule: Vec<String>,
    pub additional_permissions: Option<Wanted>,
}

/// The arguments, program first, that run a script in the user's shell.
pub(crate) fn script_argv(
    run: &Running,
    script: &str,
    login: Option<bool>,
    shell: Option<&str>,
) -> Result<Vec<String>, String> {
    let Features {
        allow_login_shell: allowed,
        use_profile,
        ..
    } = run.scope.features;
    if login == Some(true) && !allowed {
        return Err(
            "login shell is disabled by config; omit `login` or set it to false.".to_owned(),
        );
    }
    let shell = shell.unwrap_or(&run.scope.shell);
    let login = allowed && (use_profile || login.unwrap_or(true));
    Ok(shell_argv(shell, login, script))
}

/// The arguments, program first, that run a script in a shell; PowerShell is known by its name on Windows.
pub(crate) fn shell_argv(shell: &str, login: bool, script: &str) -> Vec<String> {
    let is_power_shell = ["powershell.exe", "pwsh.exe"]
        .iter()
        .any(|name| shell.to_ascii_lowercase().ends_with(name));
    let options: &[&str] = match (is_power_shell, login) {
        (true, true) => &["-Command"],
        (true, false) => &["-NoProfile", "-Command"],
        (false, true) => &["-lc"],
        (false, false) => &["-c"],
    };
    let argv = [shell].into_iter().chain(options.iter().copied());
    argv.chain([script]).map(str::to_owned).collect()
}

/// Runs a command to its end, if it may run.
pub(crate) async fn run_command(run: &Running, argv: Vec<String>, common: Common) -> Finished {
    if argv.is_empty() {
        let why = "command args are empty";
        let shown = Shown::new(run, &argv, &run.scope.cwd);
        run.started(shown.started()).await;
        run.completed(shown.refused(CommandExecutionStatus::Declined, Some(why)))
            .await;
        return why.into();
    }
    let cwd = run.scope.resolve(common.workdir.as_deref());
    if let Some(outcome) = apply_patch::intercept(run, &argv, &cwd).await {
        return outcome;
    }
    let shown = Shown::new(run, &argv, &cwd);
    let additional = common
        .additional_permissions
        .map(|it| it.in_directory(&cwd, &run.scope));
    let request = CommandRequest {
        argv: &argv,
        cwd: &cwd,
        tool: CommandTool::Shell,
        tty: false,
        permissions: common.sandbox_permissions,
        additional_permissions: additional.as_ref(),
        justification: common.justification.as_deref(),
        prefix_rule: &common.prefix_rule,
    };
    let asked = Asked {
        shown: &shown,
        request,
    };
    let verdict = run
        .agreements()
        .await
        .decide(&run.scope, |settings| decide_command(&request, settings));
    let how = match verdict {
        CommandVerdict::Misuse(why) => return why.into(),
        CommandVerdict::Refuse(why) => {
            let status = CommandExecutionStatus::Declined;
            run.started(shown.started()).await;
            run.completed(shown.refused(status, Some(&why))).await;
            return why.into();
        }
        CommandVerdict::Run(how) => {
            run.started(shown.started()).await;
            how
        }
        CommandVerdict::Ask(question) => {
            run.started(shown.started()).await;
            match ask(run, &question, asked).await {
                Ok(()) => question.run,
                Err(refused) => return refused,
            }
        }
    };
    let limit = Duration::from_millis(common.timeout_ms.unwrap_or(DEFAULT_TIMEOUT));
    execute(run, asked, how, limit).await
}

/// Asks the user; a refusal completes the item and is the outcome of the call.
async fn ask(run: &Running, question: &CommandQuestion, asked: Asked<'_>) -> Result<(), Finished> {
    let shown = asked.shown;
    let (status, why) = match ask_command(run, question, asked).await {
        Approval::Granted => return Ok(()),
        Approval::Failed => (CommandExecutionStatus::Failed, COMMAND_REJECTED.to_owned()),
        Approval::Declined => (
            CommandExecutionStatus::Declined,
            COMMAND_REJECTED.to_owned(),
        ),
        Approval::Denied(why) => (CommandExecutionStatus::Declined, why),
        Approval::Cancelled => {
            run.completed(shown.refused(CommandExecutionStatus::Declined, None))
                .await;
            return Err(Finished::ending(COMMAND_REJECTED));
        }
    };
    run.completed(shown.refused(status, Some(&why))).await;
    Err(why.into())
}

async fn execute(run: &Running, asked: Asked<'_>, mut how: Run, limit: Duration) -> Finished {
    let (shown, CommandRequest { argv, cwd, .. }) = (asked.shown, asked.request);
    let mut deltas = Deltas::new(run.clone());
    loop {
        let start = Start {
            argv,
            cwd,
            how: &how,
            env: &[],
            terminal: false,
        };
        let done = match process::spawn(run, start).await {
            Ok((spawned, refusals)) => {
                let done = process::wait(run, spawned, limit, &mut deltas).await;
                if refusals.any() && !done.cancelled {
                    let status = CommandExecutionStatus::Declined;
                    run.completed(shown.refused(status, Some(COMMAND_REJECTED)))
                        .await;
                    return COMMAND_REJECTED.into();
                }
                done
            }
            Err(error) => {
                run.completed(
                    shown.refused(CommandExecutionStatus::Failed, Some(&error.to_string())),
                )
                .await;
                return format!("execution error: {error}").into();
            }
        };
        match retry(run, &done, &how, asked).await {
            Some(again) => how = again,
            None => {
                let all = String::from_utf8_lossy(&done.all).into_owned();
                run.completed(shown.ended(done.exit_code, all, done.elapsed))
                    .await;
                return Finished {
                    response: response(run, &done),
                    ..report(run, &done).into()
                };
            }
        }
    }
}

/// How to run the command again after the sandbox stopped it, if it should be.
async fn retry(run: &Running, done: &Done, how: &Run, asked: Asked<'_>) -> Option<Run> {
    let output = String::from_utf8_lossy(&done.all);
    let denied = !done.timed_out && !done.cancelled && looks_denied(done.exit_code, &[&output]);
    if !denied {
        return None;
    }
    let verdict = after_command_denial(
        how,
        &run.scope.approval_policy,
        run.agreements().await.approvals(),
    );
    match verdict {
        CommandRetry::Report => None,
        CommandRetry::Again(again) => Some(*again),
        CommandRetry::Ask(question) => match ask_command(run, &question, asked).await {
            Approval::Granted => Some(question.run),
            _ => None,
        },
    }
}

/// The output of a command that ended by itself.
fn response(run: &Running, done: &Done) -> Option<String> {
    let output = String::from_utf8_lossy(&done.all);
    let ended = !done.cancelled && !done.timed_out;
    ended.then(|| budget::middle_with_lines(&output, run.scope.output_budget).into_owned())
}

/// What the model reads of a command that the user interrupted after so long.
pub(crate) fn aborted(after: Duration) -> String {
    let seconds = after.as_secs_f64();
    format!("Wall time: {seconds:.1} seconds\naborted by user")
}

/// The result as the model reads it.
fn report(run: &Running, done: &Done) -> String {
    let seconds = (done.elapsed.as_secs_f64() * 10.0).round() / 10.0;
    if done.cancelled {
        return run.aborted(done.elapsed);
    }
    let output = String::from_utf8_lossy(&done.all);
    let note = if done.timed_out {
        format!(
            "command timed out after {} milliseconds\n",
            done.elapsed.as_millis()
        )
    } else {
        String::new()
    };
    let output = format!("{note}{output}");
    let budget = run.scope.output_budget;
    let style = run.report_style();
    if style == ReportStyle::Json {
        let output = budget::middle_with_lines(&output, budget);
        return json_report(&output, done.exit_code, seconds);
    }
    let short = budget::middle(&output, budget);
    let lines = output.lines().count();
    let is_counted = matches!(short, Cow::Owned(_))
        && (style != ReportStyle::Script || short.lines().count() != lines);
    let total = match is_counted {
        true => format!("Total output lines: {lines}\n"),
        false => String::new(),
    };
    format!(
        "Exit code: {}\nWall time: {seconds} seconds\n{total}Output:\n{short}",
        done.exit_code
    )
}

/// The result in the style of [`ReportStyle::Json`].
pub(crate) fn json_report(output: &str, exit_code: i32, duration_seconds: f64) -> String {
    #[derive(Serialize)]
    struct Report<'a> {
        output: &'a str,
        metadata: Metadata,
    }
    #[derive(Serialize)]
    struct Metadata {
        exit_code: i32,
        duration_seconds: f64,
    }
    let metadata = Metadata {
        exit_code,
        duration_seconds,
    };
    // Texts and numbers can always be written.
    serde_json::to_string(&Report { output, metadata }).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::shell_argv;

    #[test]
    fn each_shell_is_given_a_script_in_its_way() {
        let said = |shell: &str, login| shell_argv(shell, login, "x").join(" ");
        assert_eq!(said("/bin/zsh", true), "/bin/zsh -lc x");
        assert_eq!(said("/bin/bash", false), "/bin/bash -c x");
        assert_eq!(said("powershell.exe", true), "powershell.exe -Command x");
        assert_eq!(
            said(r"C:\PowerShell\7\PWSH.EXE", false),
            r"C:\PowerShell\7\PWSH.EXE -NoProfile -Command x"
        );
    }
}
