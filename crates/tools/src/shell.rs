//! `shell`, `shell_command` and `local_shell`: a command that is waited for.

use std::borrow::Cow;
use std::time::Duration;

use quipu_policy::commands::{
    CommandQuestion, CommandRequest, CommandVerdict, Run, decide_command,
};
use quipu_policy::permissions::{CommandTool, SandboxPermissions};
use quipu_policy::retry::{CommandRetry, after_command_denial, looks_denied};
use quipu_policy::texts::COMMAND_REJECTED;
use quipu_prompt::budget;
use quipu_wire::{CommandExecutionStatus, Json};
use serde::{Deserialize, Serialize};

use crate::apply_patch;
use crate::approval::{Approval, Asked, ask_command};
use crate::call::{Finished, Running};
use crate::process::{self, Deltas, Done, Shown, Start};
use crate::scope::Features;
use crate::wanted::Wanted;

/// How long a command may take if the model does not say.
const DEFAULT_TIMEOUT: u64 = 10_000;

/// What the shell tools have in common.
struct Common {
    workdir: Option<String>,
    timeout_ms: Option<u64>,
    sandbox_permissions: SandboxPermissions,
    justification: Option<String>,
    prefix_rule: Vec<String>,
    additional_permissions: Option<Wanted>,
}

/// The arguments of a shell tool, its own and those that all have. One struct, because parts of a struct lose the
/// place of a mistake.
macro_rules! arguments {
    ($name:ident { $($own:ident: $type:ty),+ $(,)? }) => {
        #[derive(Deserialize)]
        struct $name {
            $($own: $type,)+
            workdir: Option<String>,
            #[serde(alias = "timeout")]
            timeout_ms: Option<u64>,
            #[serde(default)]
            sandbox_permissions: SandboxPermissions,
            justification: Option<String>,
            #[serde(default)]
            prefix_rule: Vec<String>,
            additional_permissions: Option<Wanted>,
        }

        impl $name {
            fn split(self) -> ($($type,)+ Common) {
                let common = Common {
                    workdir: self.workdir,
                    timeout_ms: self.timeout_ms,
                    sandbox_permissions: self.sandbox_permissions,
                    justification: self.justification,
                    prefix_rule: self.prefix_rule,
                    additional_permissions: self.additional_permissions,
                };
                ($(self.$own,)+ common)
            }
        }
    };
}

arguments!(Shell { command: Vec<String> });
arguments!(ShellCommand {
    command: String,
    login: Option<bool>,
});

pub(crate) async fn shell(run: &Running) -> Finished {
    match run.arguments().map(Shell::split) {
        Ok((command, common)) => run_command(run, command, common).await,
        Err(error) => error.into(),
    }
}

pub(crate) async fn shell_command(run: &Running) -> Finished {
    let (command, login, common) = match run.arguments().map(ShellCommand::split) {
        Ok(arguments) => arguments,
        Err(error) => return error.into(),
    };
    match script_argv(run, &command, login, None) {
        Ok(argv) => run_command(run, argv, common).await,
        Err(error) => error.into(),
    }
}

pub(crate) async fn local_shell(run: &Running, call: &Json) -> Finished {
    #[derive(Deserialize)]
    struct Call {
        action: Action,
    }
    #[derive(Deserialize)]
    struct Action {
        command: Vec<String>,
        timeout_ms: Option<u64>,
        working_directory: Option<String>,
    }
    let Call { action } = match call.parse() {
        Ok(call) => call,
        Err(error) => return format!("failed to parse function arguments: {error}").into(),
    };
    let common = Common {
        workdir: action.working_directory,
        timeout_ms: action.timeout_ms,
        sandbox_permissions: SandboxPermissions::UseDefault,
        justification: None,
        prefix_rule: Vec::new(),
        additional_permissions: None,
    };
    run_command(run, action.command, common).await
}

/// The words that run a script in the user's shell.
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
    Ok(words(shell, login, script))
}

/// The words that run a script in a shell; PowerShell is known by its name on Windows.
pub(crate) fn words(shell: &str, login: bool, script: &str) -> Vec<String> {
    let is_power_shell = ["powershell.exe", "pwsh.exe"]
        .iter()
        .any(|name| shell.to_ascii_lowercase().ends_with(name));
    let options: &[&str] = match (is_power_shell, login) {
        (true, true) => &["-Command"],
        (true, false) => &["-NoProfile", "-Command"],
        (false, true) => &["-lc"],
        (false, false) => &["-c"],
    };
    let words = [shell].into_iter().chain(options.iter().copied());
    words.chain([script]).map(str::to_owned).collect()
}

async fn run_command(run: &Running, argv: Vec<String>, common: Common) -> Finished {
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
        .map(|it| it.in_folder(&cwd, &run.scope));
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

/// How to run the command again after the sandbox was in its way, if it should be.
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

/// What a command wrote that has ended by itself.
fn response(run: &Running, done: &Done) -> Option<String> {
    let output = String::from_utf8_lossy(&done.all);
    let ended = !done.cancelled && !done.timed_out;
    ended.then(|| budget::middle_with_lines(&output, run.scope.output_budget).into_owned())
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
    if run.answers_in_json() {
        let output = budget::middle_with_lines(&output, budget);
        return json_report(&output, done.exit_code, seconds);
    }
    let short = budget::middle(&output, budget);
    let lines = output.lines().count();
    // Of a script only lines that are missing are told of.
    let is_told = matches!(short, Cow::Owned(_))
        && (run.call.name != "shell_command" || short.lines().count() != lines);
    let total = match is_told {
        true => format!("Total output lines: {lines}\n"),
        false => String::new(),
    };
    format!(
        "Exit code: {}\nWall time: {seconds} seconds\n{total}Output:\n{short}",
        done.exit_code
    )
}

/// The result as models read it that are not offered patches as free text.
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
    use super::words;

    #[test]
    fn each_shell_is_given_a_script_in_its_way() {
        let said = |shell: &str, login| words(shell, login, "x").join(" ");
        assert_eq!(said("/bin/zsh", true), "/bin/zsh -lc x");
        assert_eq!(said("/bin/bash", false), "/bin/bash -c x");
        assert_eq!(said("powershell.exe", true), "powershell.exe -Command x");
        assert_eq!(
            said(r"C:\PowerShell\7\PWSH.EXE", false),
            r"C:\PowerShell\7\PWSH.EXE -NoProfile -Command x"
        );
    }
}
