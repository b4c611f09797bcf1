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
use crate::threads::{self, ThreadSnapshot, from_summary, wire_git};
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
    let status = handle.map_or(ThreadStatus::NotLoaded, |thread| thread.status());
    let change = Change {
        sha,
        branch,
        origin_url,
    };
    blocking(&cx.server, move |server| {
        store(server, id, change, snapshot, status)
    })
    .await?
}

/// What is to be set: absent keeps, `None` clears.
struct Change {
    sha: Option<Option<String>>,
    branch: Option<Option<String>>,
    origin_url: Option<Option<String>>,
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
        (None, Some(snapshot)) => git::info(&snapshot.cwd).unwrap_or_default(),
        (None, None) => return Err(Refusal::ThreadNotFound(id.to_string())),
    };
    let set = GitInfo {
        commit_hash: change.sha.clone().flatten(),
        branch: change.branch.clone().flatten(),
        repository_url: change.origin_url.clone().flatten(),
    };
    let git = GitInfo {
        commit_hash: change.sha.unwrap_or(stored.commit_hash),
        branch: change.branch.unwrap_or(stored.branch),
        repository_url: change.origin_url.unwrap_or(stored.repository_url),
    };
    server.store.set_git(id, &git).map_err(failed)?;
    match server.store.summary(id).map_err(failed)? {
        Some(summary) => Ok(from_summary(summary, status)),
        None => snapshot
            .map(|snapshot| Thread {
                git_info: wire_git(set),
                ..snapshot.thread
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
