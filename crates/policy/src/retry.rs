//! What happens when the sandbox was in the way: report, ask to go on without it, or go on.

use quipu_wire::AskForApproval;

use crate::commands::{CommandQuestion, Confinement, Run};
use crate::session::{CommandKey, SessionApprovals};

/// Why a person is asked again.
pub const RETRY_REASON: &str = "command failed; retry without sandbox?";

/// Signal number of a forbidden system call.
const SIGSYS: i32 = 31;

/// Whether the result of a sandboxed command looks as if the sandbox had stopped it.
///
/// The kernel does not say so; programs print what they were told. Timeouts are not denials.
#[must_use]
pub fn looks_denied(exit_code: i32, output: &[&str]) -> bool {
    const SIGNS: [&str; 7] = [
        "operation not permitted",
        "permission denied",
        "read-only file system",
        "seccomp",
        "sandbox",
        "landlock",
        "failed to write file",
    ];
    if exit_code == 0 {
        return false;
    }
    let named = output.iter().any(|text| {
        let text = text.to_ascii_lowercase();
        SIGNS.iter().any(|sign| text.contains(sign))
    });
    named || exit_code == 128 + SIGSYS
}

/// What to do after a denial.
#[derive(Debug, Clone, PartialEq)]
pub enum CommandRetry {
    /// Give the result to the model.
    Report,
    /// Ask, and run again as the question says when accepted.
    Ask(Box<CommandQuestion>),
    /// Run again like this: a person has accepted that for the session.
    Again(Box<Run>),
}

/// Decides about a command that ran as `run` and was denied something.
#[must_use]
pub fn after_command_denial(
    run: &Run,
    policy: &AskForApproval,
    session: &SessionApprovals,
) -> CommandRetry {
    let asks = match policy {
        AskForApproval::Never | AskForApproval::OnRequest => false,
        AskForApproval::Granular {
            sandbox_approval, ..
        } => *sandbox_approval,
        AskForApproval::OnFailure | AskForApproval::Untrusted | AskForApproval::Unrecognized(_) => {
            true
        }
    };
    if !asks || run.confinement == Confinement::Lifted {
        return CommandRetry::Report;
    }
    let again = Run {
        confinement: Confinement::Lifted,
        key: CommandKey {
            lifted: true,
            ..run.key.clone()
        },
        ..run.clone()
    };
    if session.has_command(&again.key) {
        return CommandRetry::Again(Box::new(again));
    }
    CommandRetry::Ask(Box::new(CommandQuestion::new(
        Some(RETRY_REASON.to_owned()),
        run.additional_permissions.clone(),
        run.retry_amendment.clone(),
        again,
    )))
}
