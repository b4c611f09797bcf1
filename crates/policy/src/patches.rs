//! May this patch be applied: where it writes decides.

use std::path::{Path, PathBuf};

use quipu_wire::{AskForApproval, SandboxPolicy};

use crate::paths::resolve;
use crate::retry::RETRY_REASON;
use crate::settings::{Settings, confines_files};

/// What is never written to at the top of a writable folder without a question.
const PROTECTED: [&str; 3] = [".git", ".codex", ".agents"];

/// What a person has to say to a patch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PatchVerdict {
    /// Apply it.
    Apply,
    /// Ask; once accepted nothing holds it back.
    Ask(PatchQuestion),
    /// Do not apply it; the text is for the model.
    Refuse(&'static str),
}

/// A question to a person about a patch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PatchQuestion {
    /// Why it is asked.
    pub reason: Option<String>,
    /// The files that an answer for the session covers.
    pub files: Vec<PathBuf>,
}

/// The folders that a sandbox policy lets commands write to.
///
/// `tmpdir` is the value of `TMPDIR`, `slash_tmp` whether `/tmp` is a folder.
#[must_use]
pub fn writable_roots(
    sandbox: &SandboxPolicy,
    cwd: &Path,
    tmpdir: Option<&Path>,
    slash_tmp: bool,
) -> Vec<PathBuf> {
    let SandboxPolicy::WorkspaceWrite {
        writable_roots,
        exclude_tmpdir_env_var,
        exclude_slash_tmp,
        ..
    } = sandbox
    else {
        return Vec::new();
    };
    let mut roots: Vec<PathBuf> = writable_roots
        .iter()
        .map(|root| root.as_path().into())
        .collect();
    roots.push(cwd.to_owned());
    if slash_tmp && !exclude_slash_tmp {
        roots.push(PathBuf::from("/tmp"));
    }
    if let Some(tmpdir) = tmpdir.filter(|path| path.is_absolute() && !exclude_tmpdir_env_var) {
        roots.push(tmpdir.to_owned());
    }
    roots
}

/// Decides about a patch that touches these files, sources and targets of moves alike.
#[must_use]
pub fn decide_patch(files: &[PathBuf], cwd: &Path, settings: &Settings<'_>) -> PatchVerdict {
    if files.is_empty() {
        return PatchVerdict::Refuse("patch rejected: empty patch");
    }
    let files: Vec<PathBuf> = files.iter().map(|file| resolve(cwd, file)).collect();
    let policy = settings.approval_policy;
    let confined = confines_files(settings.sandbox);
    let asks_always = matches!(
        policy,
        AskForApproval::Untrusted | AskForApproval::Unrecognized(_)
    );
    let free = !confined
        || files
            .iter()
            .all(|file| is_writable(file, settings.writable));
    if !asks_always && free {
        return PatchVerdict::Apply;
    }
    if *policy == AskForApproval::OnFailure {
        // The sandbox would stop it, which need not be tried.
        return ask(files, Some(RETRY_REASON.to_owned()), settings);
    }
    let cannot_ask = matches!(
        policy,
        AskForApproval::Never
            | AskForApproval::Granular {
                sandbox_approval: false,
                ..
            }
    );
    if cannot_ask {
        return PatchVerdict::Refuse(
            "patch rejected: writing outside of the project; rejected by user approval settings",
        );
    }
    ask(files, None, settings)
}

fn ask(files: Vec<PathBuf>, reason: Option<String>, settings: &Settings<'_>) -> PatchVerdict {
    if files.iter().all(|file| settings.session.has_file(file)) {
        return PatchVerdict::Apply;
    }
    PatchVerdict::Ask(PatchQuestion { reason, files })
}

fn is_writable(file: &Path, roots: &[PathBuf]) -> bool {
    let inside = roots.iter().any(|root| file.starts_with(root));
    let protected = roots.iter().any(|root| {
        file.strip_prefix(root).is_ok_and(|rest| {
            let first = rest.components().next();
            first.is_some_and(|name| PROTECTED.iter().any(|p| name.as_os_str() == *p))
        })
    });
    inside && !protected
}
