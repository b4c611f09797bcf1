//! `getConversationSummary`: a stored thread in the words of the first protocol version.

use std::path::Path;

use chrono::{DateTime, SecondsFormat};
use quipu_journal::{Source, Summary};
use quipu_rpc::ErrorObject;
use quipu_wire::method::request::GetConversationSummary;
use quipu_wire::{
    ConversationGitInfo, ConversationSummary, GetConversationSummaryParams,
    GetConversationSummaryResponse, LegacySessionSource, SessionSource, ThreadId,
};
use uuid::Uuid;

use super::Handler;
use crate::blocking::blocking;
use crate::{Cx, Reply, Server, threads};

impl Handler for GetConversationSummary {
    async fn handle(cx: Cx, params: GetConversationSummaryParams, reply: Reply<Self>) {
        let found = blocking(&cx.server, move |server| find(server, &params)).await;
        let answer = found
            .and_then(|found| found)
            .map(|summary| GetConversationSummaryResponse { summary });
        reply.send(answer).await;
    }
}

fn find(
    server: &Server,
    params: &GetConversationSummaryParams,
) -> Result<ConversationSummary, ErrorObject> {
    let summary = match params {
        GetConversationSummaryParams::ConversationId(by) => {
            let id = threads::parse_id(&by.conversation_id.0)?;
            stored(server, id)?.ok_or_else(|| {
                let text = format!("no rollout found for conversation id {id}");
                ErrorObject::invalid_request(text)
            })?
        }
        GetConversationSummaryParams::RolloutPath(by) => {
            let path = server.home().join(&by.rollout_path);
            let failed = |reason: String| {
                let path = path.display();
                let text = format!("failed to load conversation summary from {path}: {reason}");
                ErrorObject::internal(text)
            };
            path.metadata().map_err(|error| failed(error.to_string()))?;
            let id = id_in(&path)
                .ok_or_else(|| failed("its name is not that of a rollout".to_owned()))?;
            stored(server, id)?.ok_or_else(|| failed("no such thread is stored".to_owned()))?
        }
    };
    Ok(in_old_words(summary))
}

fn stored(server: &Server, id: Uuid) -> Result<Option<Summary>, ErrorObject> {
    server.store.summary(id).map_err(|error| {
        ErrorObject::internal(format!("failed to load conversation summary: {error}"))
    })
}

/// The thread whose rollout has this name: `rollout-<time>-<id>.jsonl`.
fn id_in(path: &Path) -> Option<Uuid> {
    let stem = path.file_stem()?.to_str()?;
    let id = stem.get(stem.len().checked_sub(36)?..)?;
    Uuid::try_parse(id).ok()
}

fn in_old_words(summary: Summary) -> ConversationSummary {
    let time = |seconds: i64, format| {
        let time = DateTime::from_timestamp(seconds, 0)?;
        Some(time.to_rfc3339_opts(format, true))
    };
    ConversationSummary {
        conversation_id: ThreadId(summary.id.to_string()),
        path: summary.path.to_string_lossy().into_owned(),
        preview: summary.preview,
        timestamp: time(summary.created_at, SecondsFormat::Millis),
        updated_at: time(summary.updated_at, SecondsFormat::Secs),
        model_provider: summary.provider.unwrap_or_default(),
        cwd: summary.cwd,
        cli_version: summary.cli_version,
        source: source(summary.source),
        git_info: summary.git.map(|git| ConversationGitInfo {
            sha: git.commit_hash,
            branch: git.branch,
            origin_url: git.repository_url,
        }),
    }
}

fn source(source: Source) -> LegacySessionSource {
    match source {
        Source::Cli => LegacySessionSource::Cli,
        Source::VsCode => LegacySessionSource::VsCode,
        Source::Exec => LegacySessionSource::Exec,
        Source::Mcp => LegacySessionSource::Mcp,
        Source::Custom(name) => LegacySessionSource::Custom(name),
        Source::Unknown => LegacySessionSource::Unknown,
        agent @ Source::SubAgent(_) => match agent.into() {
            SessionSource::SubAgent(reason) => LegacySessionSource::SubAgent(reason),
            _ => LegacySessionSource::Unknown,
        },
    }
}
