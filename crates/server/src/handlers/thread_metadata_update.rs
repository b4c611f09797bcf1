//! `thread/metadata/update`: what is stored of a thread's repository.

use quipu_journal::GitInfo;
use quipu_wire::method::request::ThreadMetadataUpdate;
use quipu_wire::{
    Thread, ThreadMetadataGitInfoUpdateParams, ThreadMetadataUpdateParams,
    ThreadMetadataUpdateResponse, ThreadStatus,
};
use uuid::Uuid;

use super::Handler;
use crate::blocking::blocking;
use crate::threads::{
    self, Message, ThreadHandle, ThreadSnapshot, from_summary, stored_git, wire_git,
};
use crate::{Cx, Refusal, Server, git};

impl Handler for ThreadMetadataUpdate {
    async fn run(cx: Cx, params: ThreadMetadataUpdateParams) -> Result<Self::Result, Refusal> {
        let thread = update(&cx, params).await;
        thread.map(|thread| ThreadMetadataUpdateResponse { thread })
    }
}

async fn update(cx: &Cx, params: ThreadMetadataUpdateParams) -> Result<Thread, Refusal> {
    let id = threads::parse_id(&params.thread_id)?;
    let change = params.git_info.unwrap_or_default();
    let sha = checked("sha", &change.sha)?;
    let branch = checked("branch", &change.branch)?;
    let origin_url = checked("originUrl", &change.origin_url)?;
    if change == ThreadMetadataGitInfoUpdateParams::default() {
        return Err(Refusal::invalid_request(
            "gitInfo must include at least one field",
        ));
    }
    let handle = cx.server.threads.get(&id.to_string());
    let snapshot = match &handle {
        Some(thread) => thread.snapshot().await,
        None => None,
    };
    if snapshot.as_ref().is_some_and(|snapshot| snapshot.ephemeral) {
        let text = format!("ephemeral thread does not support metadata updates: {id}");
        return Err(Refusal::invalid_request(text));
    }
    let status = handle
        .as_ref()
        .map_or(ThreadStatus::NotLoaded, ThreadHandle::status);
    let change = Change {
        sha,
        branch,
        origin_url,
    };
    let thread = blocking(&cx.server, move |server| {
        store(server, id, change, snapshot, status)
    })
    .await??;
    if let Some(handle) = handle {
        handle.send(Message::SetGit(thread.git_info.clone())).await;
    }
    Ok(thread)
}

/// What is to be set: absent keeps, `None` clears.
#[derive(Clone)]
struct Change {
    sha: Option<Option<String>>,
    branch: Option<Option<String>>,
    origin_url: Option<Option<String>>,
}

impl Change {
    fn over(self, known: GitInfo) -> GitInfo {
        GitInfo {
            commit_hash: self.sha.unwrap_or(known.commit_hash),
            branch: self.branch.unwrap_or(known.branch),
            repository_url: self.origin_url.unwrap_or(known.repository_url),
        }
    }
}

/// Stores the change; the thread as it is then.
fn store(
    server: &Server,
    id: Uuid,
    change: Change,
    snapshot: Option<ThreadSnapshot>,
    status: ThreadStatus,
) -> Result<Thread, Refusal> {
    let failed = |error| {
        Refusal::internal(format!(
            "failed to update thread metadata for {id}: {error}"
        ))
    };
    let summary = server.store.summary(id).map_err(failed)?;
    let stored = match (&summary, &snapshot) {
        (Some(summary), _) => summary.git.clone().unwrap_or_default(),
        // What the repository says is stored with the first turn, and must not be lost by then.
        (None, Some(snapshot)) => {
            let set = snapshot.thread.git_info.clone().map(stored_git);
            let (set, own) = (set.unwrap_or_default(), git::info(&snapshot.cwd));
            let own = own.unwrap_or_default();
            GitInfo {
                commit_hash: set.commit_hash.or(own.commit_hash),
                branch: set.branch.or(own.branch),
                repository_url: set.repository_url.or(own.repository_url),
            }
        }
        (None, None) => return Err(Refusal::ThreadNotFound(id.to_string())),
    };
    let git = change.clone().over(stored);
    server.store.set_git(id, &git).map_err(failed)?;
    match server.store.summary(id).map_err(failed)? {
        Some(summary) => Ok(from_summary(summary, status)),
        // Until the first turn, clients see what was set and nothing of the repository.
        None => snapshot
            .map(|ThreadSnapshot { mut thread, .. }| {
                let shown = thread.git_info.take().map(stored_git).unwrap_or_default();
                thread.git_info = wire_git(change.over(shown));
                thread
            })
            .ok_or_else(|| Refusal::ThreadNotFound(id.to_string())),
    }
}

/// A value to set, trimmed; absent keeps, `null` clears.
fn checked(name: &str, value: &Option<Option<String>>) -> Result<Option<Option<String>>, Refusal> {
    match value {
        Some(Some(text)) if text.trim().is_empty() => Err(Refusal::invalid_request(format!(
            "gitInfo.{name} must not be empty"
        ))),
        Some(Some(text)) => Ok(Some(Some(text.trim().to_owned()))),
        Some(None) => Ok(Some(None)),
        None => Ok(None),
    }
}
