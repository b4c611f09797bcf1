//! Permissions beyond the sandbox policy: what a command asks for, and what was granted before.

use quipu_wire::{
    AbsolutePath, AdditionalFileSystemPermissions, AdditionalNetworkPermissions,
    AdditionalPermissionProfile, AskForApproval, GrantedPermissionProfile, PermissionGrantScope,
    RequestPermissionProfile,
};
use serde::{Deserialize, Serialize};

use crate::settings::{Settings, policy_name};

/// What the model wants of the sandbox for one command.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SandboxPermissions {
    /// Nothing: run as the policy says.
    #[default]
    UseDefault,
    /// Run without a sandbox.
    RequireEscalated,
    /// Run in the sandbox, widened by the permissions given along.
    WithAdditionalPermissions,
}

/// Which tool a command came through; one message differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommandTool {
    /// `shell`, `shell_command`, `local_shell`.
    Shell,
    /// `exec_command`.
    ExecCommand,
}

/// What remains of a request for permissions after the checks that need no person.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Wanted {
    /// What still has to be decided.
    pub permissions: SandboxPermissions,
    /// The permissions to add to the sandbox, granted ones included.
    pub profile: Option<AdditionalPermissionProfile>,
}

/// Checks what a command asks of the sandbox; the error is the text for the model.
pub(crate) fn check_wanted(
    asked: SandboxPermissions,
    profile: Option<&AdditionalPermissionProfile>,
    tool: CommandTool,
    settings: &Settings<'_>,
) -> Result<Wanted, String> {
    let granted = settings.grants.all();
    let covered = match (profile, &granted) {
        (Some(profile), Some(granted)) => !is_empty(profile) && covers(granted, profile),
        _ => false,
    };
    let escalates = match tool {
        CommandTool::Shell => asked == SandboxPermissions::RequireEscalated && profile.is_none(),
        CommandTool::ExecCommand => {
            (asked != SandboxPermissions::UseDefault || profile.is_some()) && !covered
        }
    };
    if escalates && *settings.approval_policy != AskForApproval::OnRequest {
        let name = policy_name(settings.approval_policy);
        let verb = match tool {
            CommandTool::Shell => "should not",
            CommandTool::ExecCommand => "cannot",
        };
        return Err(format!(
            "approval policy is {name}; reject command — \
             you {verb} ask for escalated permissions if the approval policy is {name}"
        ));
    }
    if asked != SandboxPermissions::WithAdditionalPermissions && profile.is_none() {
        return Ok(Wanted {
            permissions: asked,
            profile: granted,
        });
    }
    let profile = check_profile(asked, profile, covered, settings)?;
    Ok(Wanted {
        permissions: if covered {
            SandboxPermissions::UseDefault
        } else {
            SandboxPermissions::WithAdditionalPermissions
        },
        // What is covered adds nothing, and a link in it may lead elsewhere by now.
        profile: Some(match granted {
            Some(granted) if covered => granted,
            Some(granted) => merge(profile, &granted),
            None => profile.clone(),
        }),
    })
}

/// The permissions that come with a command, if they may be asked for like this.
///
/// What was granted before (`covered`) needs neither the feature nor a policy that asks.
fn check_profile<'p>(
    asked: SandboxPermissions,
    profile: Option<&'p AdditionalPermissionProfile>,
    covered: bool,
    settings: &Settings<'_>,
) -> Result<&'p AdditionalPermissionProfile, String> {
    let text = if !settings.additional_permissions && !covered {
        "additional permissions are disabled; enable `features.exec_permission_approvals` before \
         using `with_additional_permissions`"
    } else if asked == SandboxPermissions::RequireEscalated {
        "`additional_permissions` requires `sandbox_permissions` set to \
         `with_additional_permissions`"
    } else if *settings.approval_policy != AskForApproval::OnRequest && !covered {
        return Err(format!(
            "approval policy is {}; reject command — you cannot request additional permissions \
             unless the approval policy is OnRequest",
            policy_name(settings.approval_policy)
        ));
    } else {
        match profile {
            None => {
                "missing `additional_permissions`; provide at least one of `network` or \
                 `file_system` when using `with_additional_permissions`"
            }
            Some(profile) if is_empty(profile) => {
                "`additional_permissions` must include at least one requested permission in \
                 `network` or `file_system`"
            }
            Some(profile) => return Ok(profile),
        }
    };
    Err(text.to_owned())
}

/// Whether a profile says nothing. Lists without a path say something.
fn is_empty(profile: &AdditionalPermissionProfile) -> bool {
    let network = profile.network.as_ref().and_then(|network| network.enabled);
    let files = profile.file_system.as_ref();
    network.is_none() && files.is_none_or(|files| files.read.is_none() && files.write.is_none())
}

/// The permissions of both, those of `first` first.
#[must_use]
pub fn merge(
    first: &AdditionalPermissionProfile,
    second: &AdditionalPermissionProfile,
) -> AdditionalPermissionProfile {
    let enabled = |profile: &AdditionalPermissionProfile| {
        profile.network.as_ref().and_then(|network| network.enabled)
    };
    let network = match (enabled(first), enabled(second)) {
        (Some(true), _) | (_, Some(true)) => Some(true),
        (first, second) => first.or(second),
    };
    let files = match (&first.file_system, &second.file_system) {
        (Some(first), Some(second)) => Some(AdditionalFileSystemPermissions {
            read: union(first.read.as_ref(), second.read.as_ref()),
            write: union(first.write.as_ref(), second.write.as_ref()),
            entries: None,
        }),
        (first, second) => first.clone().or_else(|| second.clone()),
    };
    AdditionalPermissionProfile {
        network: network.map(|enabled| AdditionalNetworkPermissions {
            enabled: Some(enabled),
        }),
        file_system: files,
    }
}

type Paths = Vec<AbsolutePath>;

fn union(first: Option<&Paths>, second: Option<&Paths>) -> Option<Paths> {
    let (Some(first), Some(second)) = (first, second) else {
        return first.or(second).cloned();
    };
    let mut all = first.clone();
    all.extend(second.iter().filter(|path| !first.contains(path)).cloned());
    Some(all)
}

fn within(path: &AbsolutePath, directories: Option<&Paths>) -> bool {
    directories.is_some_and(|directories| {
        let path = path.as_path();
        directories
            .iter()
            .any(|directory| path.starts_with(directory))
    })
}

/// Whether everything in `wanted` is in `granted`.
fn covers(granted: &AdditionalPermissionProfile, wanted: &AdditionalPermissionProfile) -> bool {
    let enabled = |profile: &AdditionalPermissionProfile| {
        profile.network.as_ref().and_then(|network| network.enabled) == Some(true)
    };
    let granted_files = granted.file_system.as_ref();
    let read = granted_files.and_then(|files| files.read.as_ref());
    let write = granted_files.and_then(|files| files.write.as_ref());
    (!enabled(wanted) || enabled(granted))
        && wanted.file_system.as_ref().is_none_or(|files| {
            let reads = files.read.iter().flatten();
            let writes = files.write.iter().flatten();
            reads
                .into_iter()
                .all(|path| within(path, read) || within(path, write))
                && writes.into_iter().all(|path| within(path, write))
        })
}

/// What remains of an answer when everything that was not requested is dropped.
#[must_use]
pub fn intersect(
    requested: &RequestPermissionProfile,
    answered: &GrantedPermissionProfile,
) -> GrantedPermissionProfile {
    let wanted_network = requested.network.as_ref().and_then(|n| n.enabled) == Some(true);
    let given_network = answered.network.as_ref().and_then(|n| n.enabled) == Some(true);
    let network = (wanted_network && given_network).then_some(AdditionalNetworkPermissions {
        enabled: Some(true),
    });
    let file_system = match (&requested.file_system, &answered.file_system) {
        (Some(wanted), Some(given)) => {
            let keep = |given: Option<&Paths>, wanted: Option<&Paths>| {
                let kept = given?.iter().filter(|path| within(path, wanted));
                Some(kept.cloned().collect::<Paths>()).filter(|kept| !kept.is_empty())
            };
            let read = keep(given.read.as_ref(), wanted.read.as_ref());
            let write = keep(given.write.as_ref(), wanted.write.as_ref());
            let any = read.is_some() || write.is_some();
            any.then_some(AdditionalFileSystemPermissions {
                read,
                write,
                entries: None,
            })
        }
        _ => None,
    };
    GrantedPermissionProfile {
        network,
        file_system,
    }
}

/// What to do with a call of `request_permissions`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PermissionsVerdict {
    /// Ask the client.
    Ask,
    /// Answer the model at once that nothing is granted.
    GrantNothing,
    /// Tell the model what is wrong with its call.
    Refuse(String),
}

/// Whether a request for permissions reaches a person.
#[must_use]
pub fn decide_permissions(
    requested: &RequestPermissionProfile,
    policy: &AskForApproval,
) -> PermissionsVerdict {
    if requested.network.is_none() && requested.file_system.is_none() {
        let text = "request_permissions requires at least one permission";
        return PermissionsVerdict::Refuse(text.to_owned());
    }
    match policy {
        AskForApproval::Never
        | AskForApproval::Granular {
            request_permissions: false,
            ..
        } => PermissionsVerdict::GrantNothing,
        _ => PermissionsVerdict::Ask,
    }
}

/// The answer to `request_permissions` as the model reads it.
#[must_use]
pub fn grant_text(granted: &GrantedPermissionProfile, scope: PermissionGrantScope) -> String {
    #[derive(Serialize)]
    struct Answer<'a> {
        permissions: Permissions<'a>,
        scope: &'static str,
    }
    #[derive(Serialize)]
    struct Permissions<'a> {
        network: Option<Network>,
        file_system: Option<Files<'a>>,
    }
    #[derive(Serialize)]
    struct Network {
        enabled: Option<bool>,
    }
    #[derive(Serialize)]
    struct Files<'a> {
        read: Option<&'a Paths>,
        write: Option<&'a Paths>,
    }
    let answer = Answer {
        permissions: Permissions {
            network: granted.network.as_ref().map(|network| Network {
                enabled: network.enabled,
            }),
            file_system: granted.file_system.as_ref().map(|files| Files {
                read: files.read.as_ref(),
                write: files.write.as_ref(),
            }),
        },
        scope: match scope {
            PermissionGrantScope::Turn => "turn",
            PermissionGrantScope::Session => "session",
        },
    };
    serde_json::to_string(&answer).unwrap_or_default()
}

/// Permissions that were granted on request and stay for a while.
#[derive(Debug, Clone, Default)]
pub struct Grants {
    turn: Option<AdditionalPermissionProfile>,
    session: Option<AdditionalPermissionProfile>,
}

impl Grants {
    /// Adds what a person has granted.
    pub fn add(&mut self, granted: &GrantedPermissionProfile, scope: PermissionGrantScope) {
        let profile = AdditionalPermissionProfile {
            network: granted.network.clone(),
            file_system: granted.file_system.clone(),
        };
        if is_empty(&profile) {
            return;
        }
        let kept = match scope {
            PermissionGrantScope::Turn => &mut self.turn,
            PermissionGrantScope::Session => &mut self.session,
        };
        *kept = Some(match kept.take() {
            Some(before) => merge(&before, &profile),
            None => profile,
        });
    }

    /// Forgets what was granted for the turn.
    pub fn end_turn(&mut self) {
        self.turn = None;
    }

    /// Everything granted now.
    #[must_use]
    pub fn all(&self) -> Option<AdditionalPermissionProfile> {
        match (&self.session, &self.turn) {
            (Some(session), Some(turn)) => Some(merge(session, turn)),
            (session, turn) => session.clone().or_else(|| turn.clone()),
        }
    }
}
