//! `/responses/compact`: a provider that makes histories shorter itself is asked for it, in one request that is
//! not streamed.

use std::panic::AssertUnwindSafe;

use futures_util::FutureExt as _;
use quipu_engine::{ModelEvent, Purpose, SampleId};
use quipu_model::catalogue::ModelInfo;
use quipu_model::{Client as ModelClient, HistoryItem, ModelError, Request};
use quipu_prompt::compaction;
use quipu_wire::{CodexErrorInfo, Json, TurnError};
use tokio::task::JoinHandle;

use super::message::{Message, ThreadHandle};
use super::session::Session;
use crate::fail;

/// How a client recognises what failed.
const FAILED: &str = "Error running remote compact task: ";

/// Whether a request is for a shorter history that the provider makes itself.
pub(super) fn is_meant(session: &Session, purpose: Purpose) -> bool {
    matches!(purpose, Purpose::Compaction { .. }) && session.provider.compacts_remotely()
}

/// The history as far as the model can read it.
pub(super) fn fitted(
    mut history: Vec<HistoryItem>,
    instructions: &str,
    model: &ModelInfo,
) -> Vec<HistoryItem> {
    let window = model.context_window.and_then(|it| u64::try_from(it).ok());
    if let Some(window) = window {
        compaction::fit(&mut history, instructions, window);
    }
    history
}

/// Asks the provider; aborting the task cancels the request.
pub(super) fn start(
    thread: ThreadHandle,
    sample: SampleId,
    model: ModelClient,
    request: Request,
) -> JoinHandle<()> {
    tokio::spawn(async move {
        let asking = async {
            let compacted = model.compact(request).await;
            fail::point("model", "compact");
            compacted
        };
        let event = match AssertUnwindSafe(asking).catch_unwind().await {
            Ok(Ok(items)) => {
                let items = items
                    .iter()
                    .map(|item| Json::try_from((*item.raw).to_owned()));
                ModelEvent::Compacted {
                    items: items.filter_map(Result::ok).collect(),
                }
            }
            Ok(Err(error)) => failed(&error),
            Err(_) => {
                tracing::error!("remote compaction panicked");
                let error = TurnError {
                    message: format!("{FAILED}the answer could not be read"),
                    codex_error_info: Some(CodexErrorInfo::Other),
                    additional_details: None,
                };
                ModelEvent::Failed {
                    error,
                    window_exceeded: false,
                }
            }
        };
        let events = vec![event];
        thread.send(Message::Model { sample, events }).await;
    })
}

fn failed(error: &ModelError) -> ModelEvent {
    ModelEvent::Failed {
        window_exceeded: error.kind.is_overflow(),
        error: TurnError {
            message: format!("{FAILED}{error}"),
            codex_error_info: Some(error.info()),
            additional_details: error.details(),
        },
    }
}
