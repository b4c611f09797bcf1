//! Judges each command of a script by rules first, by the approval policy otherwise.

use std::path::Path;

use quipu_wire::{AskForApproval, SandboxPolicy};

use crate::bash::{Command, Script, parse_script};
use crate::dangerous::is_dangerous;
use crate::permissions::SandboxPermissions;
use crate::rules::{Decision, Place, RuleMatch};
use crate::safe::{is_inert, is_known_safe};
use crate::settings::{Settings, confines_files, confines_reading};

/// The judgement on a whole command line.
#[derive(Debug)]
pub(crate) struct Judgement {
    commands: Vec<Judged>,
    /// The line is more than the commands that were judged.
    complex: bool,
    /// Nothing of that more needs judging, so rules that allow the commands allow the line.
    closed: bool,
}

/// The judgement on one command.
#[derive(Debug)]
struct Judged {
    command: Command,
    rules: Vec<RuleMatch>,
    /// What happens without any rule.
    default: Decision,
    safe: bool,
}

impl Judged {
    fn decision(&self) -> Decision {
        let by_rules = self.rules.iter().map(|rule| rule.decision).max();
        by_rules.unwrap_or(self.default)
    }
}

pub(crate) fn judge(
    argv: &[String],
    cwd: &Path,
    permissions: SandboxPermissions,
    settings: &Settings<'_>,
) -> Judgement {
    let place = Place {
        cwd,
        writable: settings.writable,
    };
    let (commands, complex, closed) = match settings.script_of(argv).map(parse_script) {
        Some(Script::Plain(commands)) => (commands, false, true),
        Some(Script::HereDoc { command, alone }) => (vec![command], true, alone),
        Some(Script::Opaque) | None => (vec![Command::verbatim(argv)], false, true),
    };
    let wants_more = permissions != SandboxPermissions::UseDefault;
    let commands = commands
        .into_iter()
        .map(|command| {
            let mut rules = settings.rules.matches(&command, &place);
            if !closed {
                rules.retain(|rule| rule.decision > Decision::Allow);
            }
            // Looking is what the sandbox grants anyway, unless it also holds back reading.
            let held_back = wants_more && confines_reading(settings.sandbox);
            let safe = !complex && !held_back && is_known_safe(&command);
            Judged {
                default: default_decision(&command, safe, wants_more, settings),
                rules,
                safe,
                command,
            }
        })
        .collect();
    Judgement {
        commands,
        complex,
        closed,
    }
}

fn default_decision(
    command: &Command,
    safe: bool,
    wants_more: bool,
    settings: &Settings<'_>,
) -> Decision {
    let confined = confines_files(settings.sandbox);
    let policy = settings.approval_policy;
    if safe {
        return Decision::Allow;
    }
    if is_dangerous(command) {
        return match policy {
            AskForApproval::Never if confined => Decision::Forbidden,
            AskForApproval::Never => Decision::Allow,
            _ => Decision::Prompt,
        };
    }
    match policy {
        AskForApproval::Never | AskForApproval::OnFailure => Decision::Allow,
        AskForApproval::Untrusted | AskForApproval::Unrecognized(_) => Decision::Prompt,
        AskForApproval::OnRequest | AskForApproval::Granular { .. } => {
            if confined && wants_more {
                Decision::Prompt
            } else {
                Decision::Allow
            }
        }
    }
}

impl Judgement {
    /// The strictest decision over all commands.
    pub(crate) fn decision(&self) -> Decision {
        let decisions = self.commands.iter().map(Judged::decision);
        decisions.max().unwrap_or(Decision::Prompt)
    }

    /// The longest rule behind a decision.
    pub(crate) fn deciding_rule(&self, decision: Decision) -> Option<&RuleMatch> {
        self.commands
            .iter()
            .flat_map(|judged| &judged.rules)
            .filter(|rule| rule.decision == decision)
            .reduce(|best, rule| {
                if rule.prefix.len() > best.prefix.len() {
                    rule
                } else {
                    best
                }
            })
    }

    /// Whether rules allow all that the line does, so that it may run without a sandbox.
    ///
    /// A command that only looks does not stand in the way where looking is free.
    pub(crate) fn lifts_sandbox(&self, sandbox: &SandboxPolicy) -> bool {
        let allowed_by_rule =
            |judged: &Judged| !judged.rules.is_empty() && judged.decision() == Decision::Allow;
        let reading_is_free = !confines_reading(sandbox);
        let only_looks =
            |judged: &Judged| reading_is_free && judged.safe && is_inert(&judged.command);
        self.commands.iter().any(allowed_by_rule)
            && self
                .commands
                .iter()
                .all(|judged| allowed_by_rule(judged) || only_looks(judged))
    }

    /// The first command that runs for lack of a rule.
    pub(crate) fn first_allowed_by_default(&self) -> Option<Vec<String>> {
        self.first_by_default(Decision::Allow)
    }

    /// The first command that is asked about for lack of a rule; none if a rule wants a question.
    pub(crate) fn first_prompted_by_default(&self) -> Option<Vec<String>> {
        if self.deciding_rule(Decision::Prompt).is_some() {
            return None;
        }
        self.first_by_default(Decision::Prompt)
    }

    fn first_by_default(&self, decision: Decision) -> Option<Vec<String>> {
        if self.complex {
            return None;
        }
        self.commands
            .iter()
            .find(|judged| judged.rules.is_empty() && judged.default == decision)
            .map(|judged| judged.command.words.clone())
    }

    /// Whether no rule covers anything here, and one allowing `prefix` would settle all of it.
    pub(crate) fn settled_by(&self, prefix: &[String]) -> bool {
        self.closed
            && self.commands.iter().all(|judged| {
                let covered = judged.command.words.starts_with(prefix);
                judged.rules.is_empty() && (covered || judged.default == Decision::Allow)
            })
    }
}
