//! The protocol's sandbox policies as the sandbox crate's.

use std::path::{Path, PathBuf};

use quipu_policy::writable::writable_roots;
use quipu_sandbox::{Grants, Hidden, Network, Policy, Readable, Rules, WorkspaceWrite};
use quipu_wire::{
    AbsolutePath, AdditionalPermissionProfile, NetworkAccess, ReadOnlyAccess, SandboxPolicy,
};

use crate::scope::Scope;

/// What commands may know of the server's home: instructions, skills, programs, and what is worked on
/// there. All else in it, known or not, is the server's own: credentials, settings with tokens, the
/// conversations of all threads, logs.
const PUBLIC: [&str; 11] = [
    "AGENTS.md",
    "AGENTS.override.md",
    "agents",
    "memories",
    "plugins",
    "prompts",
    "rules",
    "skills",
    "tmp/programs",
    "vendor_imports",
    "worktrees",
];

/// What stays out of the reach of commands, whatever their policy makes writable or readable.
#[derive(Clone, Copy)]
pub struct Guarded<'a> {
    /// The server's home, which decides what later commands may do and holds its secrets.
    pub home: &'a Path,
    /// Files with credentials of its user.
    pub credentials: &'a [PathBuf],
    /// What the permission profile denies.
    pub denied: &'a [PathBuf],
    /// Directories whose settings count.
    pub trusted: &'a [PathBuf],
}

/// A policy for commands that work in `cwd`; `tmpdir` is the value of `TMPDIR`.
pub fn policy(
    policy: &SandboxPolicy,
    cwd: &Path,
    tmpdir: Option<&Path>,
    guarded: Guarded<'_>,
) -> Policy {
    let hidden = || hidden(cwd, guarded);
    match policy {
        SandboxPolicy::DangerFullAccess => Policy::FullAccess,
        SandboxPolicy::ExternalSandbox { network_access } => Policy::External {
            network: match network_access {
                NetworkAccess::Enabled => Network::Host,
                _ => Network::Off,
            },
        },
        SandboxPolicy::ReadOnly {
            access,
            network_access,
        } => Policy::ReadOnly {
            readable: readable(access),
            hidden: hidden(),
            network: network(*network_access),
        },
        SandboxPolicy::WorkspaceWrite {
            read_only_access,
            network_access,
            ..
        } => Policy::WorkspaceWrite(WorkspaceWrite {
            workspace: cwd.to_owned(),
            writable_roots: writable_roots(policy, cwd, tmpdir),
            readable: readable(read_only_access),
            hidden: hidden(),
            network: network(*network_access),
            protected_paths: vec![guarded.home.to_owned()],
            trusted: guarded.trusted.to_vec(),
        }),
        // What cannot be understood is held back as much as possible.
        SandboxPolicy::Unrecognized(_) => Policy::ReadOnly {
            readable: Readable::Everything,
            hidden: hidden(),
            network: Network::Off,
        },
    }
}

/// What no command may read, and what none without network may.
pub fn hidden(cwd: &Path, guarded: Guarded<'_>) -> Hidden {
    let home = guarded.home;
    let mut except: Vec<PathBuf> = PUBLIC.map(|name| home.join(name)).to_vec();
    if cwd != home && cwd.starts_with(home) {
        except.push(cwd.to_owned());
    }
    Hidden {
        always: [&[home.to_owned()], guarded.denied].concat(),
        except,
        offline: guarded.credentials.to_vec(),
    }
}

/// Where commands of a turn may read and write, if that is held back at all.
pub(crate) fn rules(scope: &Scope, granted: Option<&AdditionalPermissionProfile>) -> Option<Rules> {
    Rules::resolve(&policy_of(scope), &grants(granted))
}

/// The policy of a turn.
pub(crate) fn policy_of(scope: &Scope) -> Policy {
    let guarded = Guarded {
        home: &scope.home,
        credentials: &scope.credentials,
        denied: &scope.denied,
        trusted: &scope.trusted,
    };
    policy(&scope.sandbox, &scope.cwd, scope.tmpdir.as_deref(), guarded)
}

/// What a user agreed to beyond the policy.
pub(crate) fn grants(profile: Option<&AdditionalPermissionProfile>) -> Grants {
    let Some(profile) = profile else {
        return Grants::default();
    };
    let files = profile.file_system.as_ref();
    let list =
        |paths_of: Option<&Vec<AbsolutePath>>| paths_of.map(|it| paths(it)).unwrap_or_default();
    Grants {
        writable: list(files.and_then(|files| files.write.as_ref())),
        readable: list(files.and_then(|files| files.read.as_ref())),
        network: profile
            .network
            .as_ref()
            .filter(|it| it.enabled == Some(true))
            .map(|_| Network::Internet),
    }
}

fn network(on: bool) -> Network {
    if on { Network::Internet } else { Network::Off }
}

fn readable(access: &ReadOnlyAccess) -> Readable {
    match access {
        ReadOnlyAccess::FullAccess => Readable::Everything,
        ReadOnlyAccess::Restricted {
            include_platform_defaults,
            readable_roots,
        } => Readable::Only {
            roots: paths(readable_roots),
            platform_defaults: *include_platform_defaults,
        },
        ReadOnlyAccess::Unrecognized(_) => Readable::Only {
            roots: Vec::new(),
            platform_defaults: true,
        },
    }
}

fn paths(paths: &[AbsolutePath]) -> Vec<PathBuf> {
    paths.iter().map(|path| path.as_path().to_owned()).collect()
}
