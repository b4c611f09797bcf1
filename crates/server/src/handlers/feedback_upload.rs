//! `feedback/upload`: keeps a report of the user on this machine.

use std::io;
use std::path::{Path, PathBuf};

use quipu_wire::method::request::FeedbackUpload;
use quipu_wire::{FeedbackUploadParams, FeedbackUploadResponse};
use uuid::Uuid;

use super::Handler;
use crate::blocking::blocking;
use crate::{Cx, Refusal, Server, feedback, threads};

impl Handler for FeedbackUpload {
    async fn run(cx: Cx, params: FeedbackUploadParams) -> Result<Self::Result, Refusal> {
        let kept = blocking(&cx.server, move |server| keep(server, &params)).await;
        Ok(finish(kept??).await)
    }
}

/// A report that was written.
struct Kept {
    thread_id: String,
    report: PathBuf,
    /// Where it is to be sent.
    endpoint: Option<String>,
}

/// Sends the report where the user wants it. It is kept in any case, so a failure is only noted.
async fn finish(kept: Kept) -> FeedbackUploadResponse {
    if let Some(endpoint) = &kept.endpoint
        && let Err(error) = feedback::send(&kept.report, endpoint).await
    {
        let path = kept.report.display();
        tracing::warn!(%path, %error, "failed to send report");
    }
    FeedbackUploadResponse {
        thread_id: kept.thread_id,
    }
}

fn keep(server: &Server, params: &FeedbackUploadParams) -> Result<Kept, Refusal> {
    let settings = server.settings.config.load_or_defaults();
    let telemetry = settings.ok().map(|settings| settings.telemetry());
    let Some(telemetry) = telemetry.filter(|telemetry| telemetry.feedback) else {
        let text = "sending feedback is disabled by configuration";
        return Err(Refusal::invalid_request(text));
    };
    let thread = params
        .thread_id
        .as_deref()
        .map(threads::parse_id)
        .transpose()?;
    let mut files: Vec<PathBuf> = Vec::new();
    if let Some(thread) = thread.filter(|_| params.include_logs) {
        files.extend(server.store.find(thread).ok().flatten());
    }
    let rollout = files.first().cloned();
    let open = |path: &Path| match Some(path) == rollout.as_deref() {
        true => server.store.read(path).map_err(io::Error::other),
        false => feedback::open_file(path),
    };
    let extra = params.extra_log_files.iter().flatten();
    files.extend(extra.map(|file| server.cwd().join(file)));
    let thread_id = match thread {
        Some(thread) => thread.to_string(),
        None => format!("no-active-thread-{}", Uuid::now_v7()),
    };
    let directory = server.home().join("feedback");
    match feedback::write(&directory, &thread_id, params, &files, &open) {
        Ok(report) => {
            let path = report.display();
            tracing::info!(%path, "report written");
            Ok(Kept {
                thread_id,
                report,
                endpoint: telemetry.feedback_endpoint,
            })
        }
        Err(error) => Err(Refusal::internal(format!(
            "failed to write the report: {error}"
        ))),
    }
}
