//! What a review compares must exist: a reviewer that is asked about a branch that nobody has would find
//! nothing, and that would pass for a review.

use std::path::Path;

use quipu_client::Client;
use quipu_client::wire::{CommandExecParams, ReviewTarget};

/// Fails if git knows no commit of the name that the target compares with. Where git itself cannot be run,
/// the reviewer will say so.
pub async fn check(client: &Client, target: &ReviewTarget, cwd: &Path) -> Result<(), String> {
    let (kind, name) = match target {
        ReviewTarget::BaseBranch { branch } => ("branch", branch),
        ReviewTarget::Commit { sha, .. } => ("commit", sha),
        _ => return Ok(()),
    };
    let commit = format!("{name}^{{commit}}");
    let verify = [
        "git",
        "rev-parse",
        "--verify",
        "--quiet",
        "--end-of-options",
        &commit,
    ];
    let params = CommandExecParams {
        command: verify.map(str::to_owned).to_vec(),
        cwd: Some(cwd.display().to_string()),
        ..CommandExecParams::default()
    };
    match client.command_exec(params).await {
        Ok(done) if done.exit_code == 1 => Err(format!(
            "nothing to review: {} has no {kind} `{name}`",
            cwd.display()
        )),
        Ok(done) if done.exit_code == 128 => {
            Err(format!("nothing to review: {}", done.stderr.trim()))
        }
        _ => Ok(()),
    }
}
