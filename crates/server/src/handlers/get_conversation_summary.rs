//! `getConversationSummary`: a stored thread in the words of the first protocol version.

use std::path::Path;

use chrono::{DateTime, SecondsFormat};
use quipu_journal::{Source, Summary};
use quipu_wire::method::request::GetConversationSummary;
use quipu_wire::{
    ConversationGitInfo, ConversationSummary, GetConversationSummaryParams,
    GetConversationSummaryResponse, LegacySessionSource, SessionSource, ThreadId,
};
use uuid::Uuid;

use super::Handler;
use crate::blocking::blocking;
use crate::{Cx, Refusal, Server};

impl Handler for GetConversationSummary {
    async fn run(cx: Cx, params: GetConversationSummaryParams) -> Result<Self::Result, Refusal> {
        let found = blocking(&cx.server, move |server| find(server, &params)).await;
        let summary = found??;
        Ok(GetConversationSummaryResponse { summary })
    }
}

fn find(
    server: &Server,
    params: &GetConversationSummaryParams,
) -> Result<ConversationSummary, Refusal> {
    match params {
        GetConversationSummaryParams::ConversationId(by) => by_id(server, &by.conversation_id.0),
        GetConversationSummaryParams::RolloutPath(by) => {
            by_path(server, &server.home().join(&by.rollout_path))
        }
    }
}

fn by_id(server: &Server, id: &str) -> Result<ConversationSummary, Refusal> {
    // What is no id fits neither kind of parameters, and is refused like something that fits none.
    let id = Uuid::try_parse(id).map_err(|_| {
        let union = "data did not match any variant of untagged enum GetConversationSummaryParams";
        Refusal::invalid_request(format!("Invalid request: {union}"))
    })?;
    let stored = server.store.summary(id).map_err(|error| {
        Refusal::internal(format!("failed to load conversation summary: {error}"))
    })?;
    let summary = stored.ok_or_else(|| {
        Refusal::invalid_request(format!("no rollout found for conversation id {id}"))
    })?;
    let began = in_words(summary.created_at);
    Ok(in_old_words(summary, began))
}

fn by_path(server: &Server, path: &Path) -> Result<ConversationSummary, Refusal> {
    let read = match server.store.summary_at(path) {
        Ok(Some(read)) => Ok(read),
        Ok(None) => Err(format!("rollout at {} is empty", path.display())),
        Err(error) => Err(error.reason()),
    };
    let (summary, began) = read.map_err(|reason| {
        let path = path.display();
        let text = format!("failed to load conversation summary from {path}: {reason}");
        Refusal::internal(text)
    })?;
    Ok(in_old_words(summary, Some(began)))
}

fn in_words(seconds: i64) -> Option<String> {
    let time = DateTime::from_timestamp(seconds, 0)?;
    Some(time.to_rfc3339_opts(SecondsFormat::Secs, true))
}

fn in_old_words(summary: Summary, began: Option<String>) -> ConversationSummary {
    ConversationSummary {
        conversation_id: ThreadId(summary.id.to_string()),
        path: summary.path.to_string_lossy().into_owned(),
        preview: summary.preview,
        timestamp: began,
        updated_at: in_words(summary.updated_at),
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
