//! Whether what holds now allows less than what held before: processes and agents from before must not keep
//! rights that the user has taken back.

use quipu_wire::{AskForApproval, NetworkAccess, ReadOnlyAccess, SandboxPolicy};

/// Whether commands may do less now, or are asked about that were not before.
#[must_use]
pub fn is_narrower(
    (sandbox, approval): (&SandboxPolicy, &AskForApproval),
    (before, approval_before): (&SandboxPolicy, &AskForApproval),
) -> bool {
    let asks_more = *approval == AskForApproval::Untrusted && approval != approval_before;
    asks_more || !covers(sandbox, before)
}

/// Whether `wide` allows everything that `narrow` does.
fn covers(wide: &SandboxPolicy, narrow: &SandboxPolicy) -> bool {
    let network = has_network(wide) || !has_network(narrow);
    network && covers_files(wide, narrow)
}

fn has_network(policy: &SandboxPolicy) -> bool {
    match policy {
        SandboxPolicy::ReadOnly { network_access, .. }
        | SandboxPolicy::WorkspaceWrite { network_access, .. } => *network_access,
        SandboxPolicy::ExternalSandbox { network_access } => {
            *network_access != NetworkAccess::Restricted
        }
        _ => true,
    }
}

fn covers_files(wide: &SandboxPolicy, narrow: &SandboxPolicy) -> bool {
    use SandboxPolicy::{DangerFullAccess, ExternalSandbox, ReadOnly, WorkspaceWrite};
    match (wide, narrow) {
        (DangerFullAccess | ExternalSandbox { .. }, _) => true,
        (
            ReadOnly { access: wide, .. }
            | WorkspaceWrite {
                read_only_access: wide,
                ..
            },
            ReadOnly { access: narrow, .. },
        ) => covers_reads(wide, narrow),
        (
            WorkspaceWrite {
                writable_roots: wide,
                read_only_access: wide_reads,
                exclude_tmpdir_env_var: without_tmpdir,
                exclude_slash_tmp: without_tmp,
                ..
            },
            WorkspaceWrite {
                writable_roots: narrow,
                read_only_access: narrow_reads,
                exclude_tmpdir_env_var,
                exclude_slash_tmp,
                ..
            },
        ) => {
            narrow.iter().all(|root| wide.contains(root))
                && (!without_tmpdir || *exclude_tmpdir_env_var)
                && (!without_tmp || *exclude_slash_tmp)
                && covers_reads(wide_reads, narrow_reads)
        }
        _ => false,
    }
}

fn covers_reads(wide: &ReadOnlyAccess, narrow: &ReadOnlyAccess) -> bool {
    match (wide, narrow) {
        (ReadOnlyAccess::FullAccess, _) => true,
        (
            ReadOnlyAccess::Restricted {
                include_platform_defaults: wide_platform,
                readable_roots: wide,
            },
            ReadOnlyAccess::Restricted {
                include_platform_defaults: narrow_platform,
                readable_roots: narrow,
            },
        ) => (*wide_platform || !narrow_platform) && narrow.iter().all(|root| wide.contains(root)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use quipu_wire::AbsolutePath;

    fn read_only(network_access: bool) -> SandboxPolicy {
        SandboxPolicy::ReadOnly {
            access: ReadOnlyAccess::FullAccess,
            network_access,
        }
    }

    fn workspace(roots: &[&str], network_access: bool) -> SandboxPolicy {
        SandboxPolicy::WorkspaceWrite {
            writable_roots: roots.iter().filter_map(AbsolutePath::new).collect(),
            read_only_access: ReadOnlyAccess::FullAccess,
            network_access,
            exclude_tmpdir_env_var: false,
            exclude_slash_tmp: false,
        }
    }

    #[test]
    fn policies_are_ordered_by_what_they_allow() {
        let ladder = [
            SandboxPolicy::DangerFullAccess,
            workspace(&["/a", "/b"], true),
            workspace(&["/a"], true),
            workspace(&["/a"], false),
            read_only(false),
        ];
        for (step, wide) in ladder.iter().enumerate() {
            for (other, narrow) in ladder.iter().enumerate() {
                assert_eq!(covers(wide, narrow), step <= other, "{wide:?} {narrow:?}");
            }
        }
    }

    #[test]
    fn policies_that_differ_in_both_ways_cover_neither() {
        let pairs = [
            (workspace(&["/a"], false), workspace(&["/b"], false)),
            (read_only(true), workspace(&[], false)),
        ];
        for (one, other) in pairs {
            assert!(!covers(&one, &other) && !covers(&other, &one));
        }
    }

    #[test]
    fn asking_about_every_command_is_narrower() {
        let all = SandboxPolicy::DangerFullAccess;
        let narrower = |now, before| is_narrower((&all, &now), (&all, &before));
        assert!(narrower(AskForApproval::Untrusted, AskForApproval::Never));
        assert!(!narrower(
            AskForApproval::Untrusted,
            AskForApproval::Untrusted
        ));
        assert!(!narrower(AskForApproval::Never, AskForApproval::Untrusted));
    }
}
