//! The protocol's sandbox policies as the sandbox crate's.

use std::path::Path;

use quipu_sandbox::{Grants, Network, Policy, Readable, Rules, WorkspaceWrite};
use quipu_wire::{
    AbsolutePath, AdditionalPermissionProfile, NetworkAccess, ReadOnlyAccess, SandboxPolicy,
};

use crate::scope::Scope;

/// A policy for commands that work in `cwd`. The server's `home` decides what later commands may do, so
/// it stays out of their reach.
pub fn policy(policy: &SandboxPolicy, cwd: &Path, home: &Path) -> Policy {
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
            network: network(*network_access),
        },
        SandboxPolicy::WorkspaceWrite {
            writable_roots,
            read_only_access,
            network_access,
            exclude_tmpdir_env_var,
            exclude_slash_tmp,
        } => Policy::WorkspaceWrite(WorkspaceWrite {
            workspace: cwd.to_owned(),
            writable_roots: paths(writable_roots),
            readable: readable(read_only_access),
            network: network(*network_access),
            exclude_tmpdir_env: *exclude_tmpdir_env_var,
            exclude_slash_tmp: *exclude_slash_tmp,
            protected_paths: vec![home.to_owned()],
        }),
        // What cannot be understood is held back as much as possible.
        SandboxPolicy::Unrecognized(_) => Policy::ReadOnly {
            readable: Readable::Everything,
            network: Network::Off,
        },
    }
}

/// Where commands of a turn may read and write, if that is held back at all.
pub(crate) fn rules(scope: &Scope, granted: Option<&AdditionalPermissionProfile>) -> Option<Rules> {
    let policy = policy(&scope.sandbox, &scope.cwd, &scope.home);
    Rules::resolve(&policy, &grants(granted))
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

fn paths(paths: &[AbsolutePath]) -> Vec<std::path::PathBuf> {
    paths.iter().map(|path| path.as_path().to_owned()).collect()
}
