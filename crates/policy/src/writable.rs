//! Where commands may write. What the model reads, what patches are judged by and what the sandbox enforces all come
//! from here, so that they cannot differ.

use std::path::{Path, PathBuf};

use quipu_wire::SandboxPolicy;

/// The directory for temporary files that every user of a unix system shares.
const SLASH_TMP: &str = "/tmp";

/// The directories that a sandbox policy lets commands write to, for work in `cwd`; `tmpdir` is the value of `TMPDIR`.
///
/// A relative `TMPDIR` means another directory to every command, and a `/tmp` that is not there none, so neither counts.
#[must_use]
pub fn writable_roots(sandbox: &SandboxPolicy, cwd: &Path, tmpdir: Option<&Path>) -> Vec<PathBuf> {
    let SandboxPolicy::WorkspaceWrite {
        writable_roots,
        exclude_tmpdir_env_var,
        exclude_slash_tmp,
        ..
    } = sandbox
    else {
        return Vec::new();
    };
    let roots = writable_roots.iter().map(|root| root.as_path().into());
    let mut roots: Vec<PathBuf> = roots.collect();
    roots.push(cwd.to_owned());
    let slash_tmp = Path::new(SLASH_TMP);
    if cfg!(unix) && !exclude_slash_tmp && slash_tmp.is_dir() {
        roots.push(slash_tmp.to_owned());
    }
    let tmpdir = tmpdir.filter(|path| path.is_absolute() && !exclude_tmpdir_env_var);
    roots.extend(tmpdir.map(Path::to_owned));
    roots
}
