//! `gitDiffToRemote`: what a work tree has that the remote has not.

use std::path::Path;

use quipu_rpc::ErrorObject;
use quipu_wire::method::request::GitDiffToRemote;
use quipu_wire::{GitDiffToRemoteParams, GitDiffToRemoteResponse, GitSha};

use super::Handler;
use crate::git_command::{Git, MAX_OUTPUT};
use crate::{Cx, Reply};

/// So many files that git does not know are shown.
const MAX_UNTRACKED: usize = 1000;

impl Handler for GitDiffToRemote {
    async fn handle(cx: Cx, params: GitDiffToRemoteParams, reply: Reply<Self>) {
        let cwd = cx.server.cwd().join(&params.cwd);
        let git = Git::new(cx.server.settings.config.env(), &cwd);
        let answer = diff(&git).await.ok_or_else(|| {
            let cwd = Path::new(&params.cwd);
            ErrorObject::invalid_request(format!(
                "failed to compute git diff to remote for cwd: {cwd:?}"
            ))
        });
        reply.send(answer).await;
    }
}

/// Nothing if there is no repository, no remote, or nothing in common with it.
async fn diff(git: &Git<'_>) -> Option<GitDiffToRemoteResponse> {
    let remote = git
        .text(&["for-each-ref", "--format=%(objectname)", "refs/remotes"])
        .await?;
    let known: Vec<&str> = remote.split_whitespace().collect();
    if known.is_empty() {
        return None;
    }
    // The base of the work tree's commit and a merge of all others: the newest one in common.
    let base = git
        .text(&[&["merge-base", "HEAD"][..], &known].concat())
        .await?;
    let sha = base.split_whitespace().next()?.to_owned();
    let mut diff = git.text(&[&DIFF[..], &[&sha]].concat()).await?;
    let untracked = git
        .text(&["ls-files", "--others", "--exclude-standard", "-z"])
        .await?;
    let files = untracked.split('\0').filter(|file| !file.is_empty());
    for file in files.take(MAX_UNTRACKED) {
        let arguments = [&DIFF[..], &["--no-index", "--", "/dev/null", file]].concat();
        diff.push_str(&git.difference(&arguments).await?);
        if diff.len() > MAX_OUTPUT {
            return None;
        }
    }
    Some(GitDiffToRemoteResponse {
        sha: GitSha(sha),
        diff,
    })
}

/// Programs that a repository names for showing differences are not run.
const DIFF: [&str; 3] = ["diff", "--no-textconv", "--no-ext-diff"];
