//! Threads as clients see them.

use std::time::{SystemTime, UNIX_EPOCH};

use quipu_journal::{GitInfo as StoredGit, Log, Replay, SessionMeta, Summary};
use quipu_wire::{GitInfo, Thread, ThreadItem, ThreadStatus, UserInput};

use super::session::Session;

/// A stored thread, without its turns.
pub(crate) fn from_summary(summary: Summary, status: ThreadStatus) -> Thread {
    Thread {
        id: summary.id.to_string(),
        session_id: summary.id.to_string(),
        preview: summary.preview,
        ephemeral: false,
        section: None,
        section_entered_at: None,
        project_id: None,
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

/// A thread that was just made.
pub(super) fn new(meta: &SessionMeta, session: &Session, log: Option<&Log>) -> Thread {
    let now = seconds(SystemTime::now());
    Thread {
        id: meta.id.to_string(),
        session_id: meta.id.to_string(),
        preview: String::new(),
        ephemeral: log.is_none(),
        section: None,
        section_entered_at: None,
        project_id: None,
        model_provider: session.provider.id.clone(),
        created_at: now,
        updated_at: now,
        status: ThreadStatus::Idle,
        path: log.map(|log| log.path().to_string_lossy().into_owned()),
        cwd: session.cwd_text(),
        cli_version: meta.cli_version.clone(),
        source: meta.source.clone().into(),
        agent_nickname: meta.agent_nickname.clone(),
        agent_role: meta.agent_role.clone(),
        git_info: None,
        name: None,
        turns: Vec::new(),
    }
}

/// A thread whose rollout lies where the index does not look, idle.
pub(super) fn foreign(replay: &Replay, session: &Session, log: &Log) -> Thread {
    let text = replay
        .turns
        .iter()
        .flat_map(|turn| &turn.items)
        .find_map(|item| match item {
            ThreadItem::UserMessage { content, .. } => {
                content.iter().find_map(|input| match input {
                    UserInput::Text { text, .. } => Some(text.clone()),
                    _ => None,
                })
            }
            _ => None,
        });
    Thread {
        preview: text.unwrap_or_default(),
        ..new(&replay.meta, session, Some(log))
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

/// What clients see of a repository, as it is stored.
pub(crate) fn stored_git(git: GitInfo) -> StoredGit {
    StoredGit {
        commit_hash: git.sha,
        branch: git.branch,
        repository_url: git.origin_url,
    }
}

fn seconds(time: SystemTime) -> i64 {
    time.duration_since(UNIX_EPOCH).map_or(0, |since| {
        i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
    })
}
