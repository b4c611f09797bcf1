//! `gitDiffToRemote`: what a work tree has that the remote has not.

use std::path::Path;

use quipu_wire::method::request::GitDiffToRemote;
use quipu_wire::{GitDiffToRemoteParams, GitDiffToRemoteResponse, GitSha};

use super::Handler;
use crate::git_command::{Git, MAX_OUTPUT};
use crate::{Cx, Refusal};

/// So many files that git does not know are shown.
const MAX_UNTRACKED: usize = 1000;

impl Handler for GitDiffToRemote {
    async fn run(cx: Cx, params: GitDiffToRemoteParams) -> Result<Self::Result, Refusal> {
        let cwd = cx.server.cwd().join(&params.cwd);
        let git = Git::new(&cx.server.settings.config, &cwd);
        diff(&git).await.ok_or_else(|| {
            let cwd = Path::new(&params.cwd);
            Refusal::invalid_request(format!(
                "failed to compute git diff to remote for cwd: {cwd:?}"
            ))
        })
    }
}

/// Nothing if there is no repository, no commit, or no remote whose branches are known.
async fn diff(git: &Git<'_>) -> Option<GitDiffToRemoteResponse> {
    let sha = base(git).await?;
    let mut diff = git.text(&[&DIFF[..], &[&sha]].concat()).await?;
    let untracked = git
        .text(&["ls-files", "--others", "--exclude-standard", "-z"])
        .await?;
    let files = untracked.split('\0').filter(|file| !file.is_empty());
    for file in files.take(MAX_UNTRACKED) {
        let whole = ["--binary", "--no-index", "--", "/dev/null", file];
        let arguments = [&DIFF[..], &whole].concat();
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

/// The commit of the remote to compare with: that of the branch of the same name, else one that has all
/// that is committed here, else that of the remote's main branch. What the remote has is taken from the
/// last fetch.
async fn base(git: &Git<'_>) -> Option<String> {
    let refs = "refs/remotes";
    let holding = [
        "for-each-ref",
        "--contains=HEAD",
        "--format=%(refname)",
        refs,
    ];
    let holding = git.text(&holding).await?;
    let branches = Branches::read(git).await?;
    let own = git
        .text(&["symbolic-ref", "--quiet", "--short", "HEAD"])
        .await;
    if let Some(own) = own.and_then(|own| branches.named(own.trim())) {
        return Some(own.commit.clone());
    }
    let main = branches.main();
    let holds = |branch: &&Branch| holding.lines().any(|line| line == branch.full_name);
    let all = main.into_iter().chain(&branches.0);
    if let Some(found) = all.clone().find(holds).or(main) {
        return Some(found.commit.clone());
    }
    // The remote does not say which branch is its main one: the newest that is part of what is here.
    let newest = "--sort=-committerdate";
    let format = "--format=%(objectname)";
    let arguments = ["for-each-ref", "--merged=HEAD", newest, format, refs];
    let merged = git.text(&arguments).await?;
    merged.lines().next().map(str::to_owned)
}

/// The branches of all remotes, `origin` first.
struct Branches(Vec<Branch>);

struct Branch {
    full_name: String,
    /// Without the remote.
    name: String,
    commit: String,
    /// For `HEAD`: the branch it stands for.
    means: Option<String>,
}

impl Branches {
    async fn read(git: &Git<'_>) -> Option<Branches> {
        let remotes = git.text(&["remote"]).await?;
        let mut remotes: Vec<&str> = remotes.lines().collect();
        remotes.sort_by_key(|remote| *remote != "origin");
        let format = "--format=%(refname) %(objectname) %(symref)";
        let refs = git.text(&["for-each-ref", format, "refs/remotes"]).await?;
        let mut branches = Vec::new();
        for remote in remotes {
            let prefix = format!("refs/remotes/{remote}/");
            branches.extend(refs.lines().filter_map(|line| {
                let mut parts = line.splitn(3, ' ');
                let full_name = parts.next()?;
                Some(Branch {
                    full_name: full_name.to_owned(),
                    name: full_name.strip_prefix(&prefix)?.to_owned(),
                    commit: parts.next()?.to_owned(),
                    means: parts.next()?.strip_prefix(&prefix).map(str::to_owned),
                })
            }));
        }
        Some(Branches(branches))
    }

    fn named(&self, name: &str) -> Option<&Branch> {
        self.0.iter().find(|branch| branch.name == name)
    }

    fn main(&self) -> Option<&Branch> {
        let default = self.0.iter().find_map(|branch| branch.means.as_deref());
        let names = default.into_iter().chain(["main", "master"]);
        names.filter_map(|name| self.named(name)).next()
    }
}
