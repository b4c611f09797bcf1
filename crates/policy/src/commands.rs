//! The table: may this command run, must a person be asked, or is it refused.

use std::path::Path;

use quipu_wire::{
    AdditionalPermissionProfile, AskForApproval, CommandExecutionApprovalDecision,
    ExecPolicyAmendment,
};

use crate::amendment;
use crate::command_line::{Canonical, display};
use crate::judge::{Judgement, judge};
use crate::permissions::{CommandTool, SandboxPermissions, Wanted, check_wanted};
use crate::rules::Decision;
use crate::session::{CommandKey, PermissionKey};
use crate::settings::Settings;

/// A command that the model wants to run.
#[derive(Debug, Clone, Copy)]
pub struct CommandRequest<'a> {
    /// The program and its arguments; for a script `[shell, "-c" | "-lc", script]`.
    pub argv: &'a [String],
    /// The working directory.
    pub cwd: &'a Path,
    /// The tool that was called.
    pub tool: CommandTool,
    /// Whether the command gets a terminal.
    pub tty: bool,
    /// What it wants of the sandbox.
    pub permissions: SandboxPermissions,
    /// The permissions that come with [`SandboxPermissions::WithAdditionalPermissions`].
    pub additional_permissions: Option<&'a AdditionalPermissionProfile>,
    /// Why, in the model's words.
    pub justification: Option<&'a str>,
    /// The prefix that the model suggests to allow from now on.
    pub prefix_rule: &'a [String],
}

/// What is to happen with a command.
#[derive(Debug, Clone, PartialEq)]
#[expect(
    clippy::large_enum_variant,
    reason = "a verdict is taken apart where it is made"
)]
pub enum CommandVerdict {
    /// Run it.
    Run(Run),
    /// Ask, and run it as the question says when accepted.
    Ask(Box<CommandQuestion>),
    /// Do not run it; the text is for the model.
    Refuse(String),
    /// It asks for what cannot be asked for, so it is no command to decide about; the text is for the model.
    Misuse(String),
}

/// How a command runs.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// What holds it back.
    pub confinement: Confinement,
    /// Permissions to widen the sandbox by.
    pub additional_permissions: Option<AdditionalPermissionProfile>,
    /// Identifies the command within the session.
    pub key: CommandKey,
    /// The prefix to suggest should the sandbox turn out to be in the way.
    pub retry_amendment: Option<ExecPolicyAmendment>,
}

/// What holds a command back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Confinement {
    /// The sandbox policy, whatever it says.
    Policy,
    /// Nothing: a rule or a person has lifted the sandbox for this command.
    Lifted,
}

/// A question to a person about a command.
#[derive(Debug, Clone, PartialEq)]
pub struct CommandQuestion {
    /// Why it is asked.
    pub reason: Option<String>,
    /// The permissions it wants on top of the sandbox policy.
    pub additional_permissions: Option<AdditionalPermissionProfile>,
    /// A prefix that could be allowed from now on.
    pub proposed_amendment: Option<ExecPolicyAmendment>,
    /// The answers worth offering.
    pub available_decisions: Vec<CommandExecutionApprovalDecision>,
    /// How the command runs once accepted. Its key is what an answer for the session remembers.
    pub run: Run,
}

/// Decides about a command.
#[must_use]
pub fn decide_command(request: &CommandRequest<'_>, settings: &Settings<'_>) -> CommandVerdict {
    let wanted = check_wanted(
        request.permissions,
        request.additional_permissions,
        request.tool,
        settings,
    );
    let wanted = match wanted {
        Ok(wanted) => wanted,
        Err(text) => return CommandVerdict::Misuse(text),
    };
    let judgement = judge(request.argv, request.cwd, wanted.permissions, settings);
    match judgement.decision() {
        Decision::Allow => CommandVerdict::Run(allowed(request, &wanted, &judgement, settings)),
        Decision::Prompt => match cannot_ask(&judgement, settings.approval_policy) {
            Some(text) => CommandVerdict::Refuse(text.to_owned()),
            None => prompted(request, &wanted, &judgement, settings),
        },
        Decision::Forbidden => {
            let line = display(request.argv);
            CommandVerdict::Refuse(match judgement.deciding_rule(Decision::Forbidden) {
                Some(rule) => match &rule.justification {
                    Some(reason) => format!("`{line}` rejected: {reason}"),
                    None => {
                        let prefix = display(&rule.prefix);
                        format!(
                            "`{line}` rejected: policy forbids commands starting with `{prefix}`"
                        )
                    }
                },
                None => format!("`{line}` rejected: blocked by policy"),
            })
        }
    }
}

fn allowed(
    request: &CommandRequest<'_>,
    wanted: &Wanted,
    judgement: &Judgement,
    settings: &Settings<'_>,
) -> Run {
    // What was wanted on top needs a person; without one only granted permissions count.
    let additional_permissions = match wanted.permissions {
        SandboxPermissions::UseDefault => wanted.profile.clone(),
        _ => settings.grants.all(),
    };
    Run {
        confinement: if judgement.lifts_sandbox(settings.sandbox) {
            Confinement::Lifted
        } else {
            Confinement::Policy
        },
        additional_permissions,
        key: key(request, wanted, settings),
        retry_amendment: judgement
            .first_allowed_by_default()
            .map(ExecPolicyAmendment),
    }
}

fn prompted(
    request: &CommandRequest<'_>,
    wanted: &Wanted,
    judgement: &Judgement,
    settings: &Settings<'_>,
) -> CommandVerdict {
    let escalated = wanted.permissions == SandboxPermissions::RequireEscalated;
    let proposed_amendment = amendment::propose(request.prefix_rule, judgement);
    let run = Run {
        confinement: if escalated {
            Confinement::Lifted
        } else {
            Confinement::Policy
        },
        additional_permissions: wanted.profile.clone(),
        key: key(request, wanted, settings),
        retry_amendment: proposed_amendment.clone(),
    };
    if settings.session.has_command(&run.key) {
        return CommandVerdict::Run(run);
    }
    let reason = match judgement.deciding_rule(Decision::Prompt) {
        Some(rule) => {
            let line = display(request.argv);
            Some(match &rule.justification {
                Some(reason) => format!("`{line}` requires approval: {reason}"),
                None => format!("`{line}` requires approval by policy"),
            })
        }
        None => request.justification.map(str::to_owned),
    };
    CommandVerdict::Ask(Box::new(CommandQuestion::new(
        reason,
        wanted.profile.clone().filter(|_| !escalated),
        proposed_amendment,
        run,
    )))
}

impl CommandQuestion {
    pub(crate) fn new(
        reason: Option<String>,
        additional_permissions: Option<AdditionalPermissionProfile>,
        proposed_amendment: Option<ExecPolicyAmendment>,
        run: Run,
    ) -> CommandQuestion {
        let mut available_decisions = vec![CommandExecutionApprovalDecision::Accept];
        if let (Some(prefix), None) = (&proposed_amendment, &additional_permissions) {
            available_decisions.push(
                CommandExecutionApprovalDecision::AcceptWithExecpolicyAmendment {
                    execpolicy_amendment: prefix.clone(),
                },
            );
        }
        available_decisions.push(CommandExecutionApprovalDecision::Cancel);
        CommandQuestion {
            reason,
            additional_permissions,
            proposed_amendment,
            available_decisions,
            run,
        }
    }
}

/// Why the policy does not let this be asked.
fn cannot_ask(judgement: &Judgement, policy: &AskForApproval) -> Option<&'static str> {
    let by_rule = judgement.deciding_rule(Decision::Prompt).is_some();
    match policy {
        AskForApproval::Never => {
            Some("approval required by policy, but AskForApproval is set to Never")
        }
        AskForApproval::Granular { rules: false, .. } if by_rule => {
            Some("approval required by policy rule, but AskForApproval::Granular.rules is false")
        }
        AskForApproval::Granular {
            sandbox_approval: false,
            ..
        } if !by_rule => Some(
            "approval required by policy, but AskForApproval::Granular.sandbox_approval is false",
        ),
        _ => None,
    }
}

fn key(request: &CommandRequest<'_>, wanted: &Wanted, settings: &Settings<'_>) -> CommandKey {
    CommandKey {
        command: Canonical::of(request.argv, settings.script_of(request.argv)),
        cwd: request.cwd.to_owned(),
        permissions: wanted.permissions,
        additional: wanted.profile.as_ref().map(PermissionKey::of),
        tty: request.tty,
        lifted: false,
    }
}
