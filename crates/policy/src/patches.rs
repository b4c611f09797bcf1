//! May this patch be applied: where it writes decides.

use std::path::{Path, PathBuf};

use quipu_wire::AskForApproval;

use crate::paths::{inside_any, resolve};
use crate::retry::RETRY_REASON;
use crate::settings::{Settings, confines_files};

/// What is not even created at the top of a writable directory without a question.
const PROTECTED: [&str; 4] = [".git", ".codex", ".agents", ".quipu"];

/// What a person has to say to a patch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PatchVerdict {
    /// Apply it.
    Apply,
    /// Ask; once accepted nothing holds it back.
    Ask(PatchQuestion),
    /// Do not apply it; the text is for the model.
    Refuse(&'static str),
    /// Let it fail at this file, as the patch calls it: a link leads from where it may write to where it
    /// may not.
    Stop(PathBuf),
}

/// A file that a patch writes or removes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PatchFile {
    /// How the patch calls it.
    pub written: PathBuf,
    /// Where it really is, with all links resolved.
    pub path: PathBuf,
}

/// A question to a person about a patch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PatchQuestion {
    /// Why it is asked.
    pub reason: Option<String>,
    /// The files that an answer for the session covers.
    pub files: Vec<PathBuf>,
}

/// Decides about a patch that touches these files, sources and targets of moves alike. `can_write` tells
/// where the sandbox lets commands write: a patch is held back by no less.
#[must_use]
pub fn decide_patch(
    files: &[PatchFile],
    cwd: &Path,
    can_write: impl Fn(&Path) -> bool,
    settings: &Settings<'_>,
) -> PatchVerdict {
    if files.is_empty() {
        return PatchVerdict::Refuse("patch rejected: empty patch");
    }
    let policy = settings.approval_policy;
    let asks_always = matches!(
        policy,
        AskForApproval::Untrusted | AskForApproval::Unrecognized(_)
    );
    let is_free = |path: &Path| {
        can_write(path)
            && (!confines_files(settings.sandbox) || !is_protected(path, settings.writable))
    };
    let held_back = files.iter().find(|file| !is_free(&file.path));
    let real = files.iter().map(|file| file.path.clone()).collect();
    let Some(held_back) = held_back else {
        return if asks_always {
            ask(real, None, settings)
        } else {
            PatchVerdict::Apply
        };
    };
    // What looks as if it stayed inside is not known to leave before a sandbox stops it, which need not be
    // tried.
    let looks_inside =
        |file: &PatchFile| inside_any(&resolve(cwd, &file.written), settings.writable);
    let by_link = held_back.path != resolve(cwd, &held_back.written);
    let looks_free = !asks_always && by_link && files.iter().all(looks_inside);
    let cannot_ask = matches!(
        policy,
        AskForApproval::Never
            | AskForApproval::Granular {
                sandbox_approval: false,
                ..
            }
    );
    match (cannot_ask, looks_free) {
        (true, true) => PatchVerdict::Stop(held_back.written.clone()),
        (true, false) => PatchVerdict::Refuse(
            "patch rejected: writing outside of the project; rejected by user approval settings",
        ),
        (false, _) => {
            let stopped = looks_free || *policy == AskForApproval::OnFailure;
            ask(real, stopped.then(|| RETRY_REASON.to_owned()), settings)
        }
    }
}

fn ask(files: Vec<PathBuf>, reason: Option<String>, settings: &Settings<'_>) -> PatchVerdict {
    if files.iter().all(|file| settings.session.has_file(file)) {
        return PatchVerdict::Apply;
    }
    PatchVerdict::Ask(PatchQuestion { reason, files })
}

fn is_protected(file: &Path, roots: &[PathBuf]) -> bool {
    roots.iter().any(|root| {
        let below = file.strip_prefix(root).ok();
        let first = below.and_then(|below| below.components().next());
        first.is_some_and(|name| PROTECTED.iter().any(|it| name.as_os_str() == *it))
    })
}
