//! Threads as clients see them.

use quipu_journal::{GitInfo as StoredGit, Summary};
use quipu_wire::{GitInfo, Thread, ThreadStatus};

/// A stored thread, without its turns.
pub(crate) fn from_summary(summary: Summary, status: ThreadStatus) -> Thread {
    Thread {
        id: summary.id.to_string(),
        preview: summary.preview,
        ephemeral: false,
        model_provider: summary.provider.unwrap_or_default(),
        created_at: summary.created_at,
        updated_at: summary.updated_at,
        status,
        path: Some(summary.path.to_string_lossy().into_owned()),
        cwd: summary.cwd,
        cli_version: summary.cli_version,
        source: summary.source.into(),
        agent_nickname: summary.agent_nickname,
        agent_role: summary.agent_role,
        git_info: summary.git.and_then(wire_git),
        name: summary.name,
        turns: Vec::new(),
    }
}

pub(crate) fn wire_git(git: StoredGit) -> Option<GitInfo> {
    let StoredGit {
        commit_hash: sha,
        branch,
        repository_url: origin_url,
    } = git;
    let known = sha.is_some() || branch.is_some() || origin_url.is_some();
    known.then_some(GitInfo {
        sha,
        branch,
        origin_url,
    })
}
