//! `feedback/upload`: keeps a report of the user on this machine.

use std::path::PathBuf;

use quipu_rpc::ErrorObject;
use quipu_wire::method::request::FeedbackUpload;
use quipu_wire::{FeedbackUploadParams, FeedbackUploadResponse};
use uuid::Uuid;

use super::Handler;
use crate::blocking::blocking;
use crate::{Cx, Reply, Server, feedback, threads};

impl Handler for FeedbackUpload {
    async fn handle(cx: Cx, params: FeedbackUploadParams, reply: Reply<Self>) {
        let kept = blocking(&cx.server, move |server| keep(server, &params)).await;
        let answer = kept.and_then(|kept| kept);
        reply
            .send(answer.map(|thread_id| FeedbackUploadResponse { thread_id }))
            .await;
    }
}

fn keep(server: &Server, params: &FeedbackUploadParams) -> Result<String, ErrorObject> {
    let start_up = server.settings.config.start_up();
    let enabled = start_up.is_ok_and(|start_up| start_up.snapshot.telemetry().feedback);
    if !enabled {
        let text = "sending feedback is disabled by configuration";
        return Err(ErrorObject::invalid_request(text));
    }
    let thread = params
        .thread_id
        .as_deref()
        .map(threads::parse_id)
        .transpose()?;
    let mut files: Vec<PathBuf> = Vec::new();
    if let Some(thread) = thread.filter(|_| params.include_logs) {
        files.extend(server.store.find(thread).ok().flatten());
    }
    let extra = params.extra_log_files.iter().flatten();
    files.extend(extra.map(|file| server.cwd().join(file)));
    let thread_id = match thread {
        Some(thread) => thread.to_string(),
        None => format!("no-active-thread-{}", Uuid::now_v7()),
    };
    let folder = server.home().join("feedback");
    match feedback::write(&folder, &thread_id, params, &files) {
        Ok(report) => {
            let path = report.display();
            tracing::info!(%path, "a report was written");
            Ok(thread_id)
        }
        Err(error) => Err(ErrorObject::internal(format!(
            "failed to write the report: {error}"
        ))),
    }
}
