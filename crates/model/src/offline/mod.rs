//! The offline model: no network, no key. It plays the script in the prompt through the same
//! reader, retries and errors as a real provider, so a client meets exactly what it would meet
//! there. Without a script it says what it is and how to get a real model.

mod greeting;
pub mod play;

use std::time::Duration;

use bytes::Bytes;
use reqwest::StatusCode;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use tokio::time::sleep;

use crate::catalogue::offline_models;
use crate::format::{Format, Transport};
use crate::history::HistoryItem;
use crate::item::{ContentPart, Item, ItemKind};
use crate::provider::StructuredOutput;
use crate::refusal::Refusal;
use crate::request::Request;
use crate::responses;
use crate::script::{Script, Step, Tokens};
use play::{Ending, Player};

/// How much of an answer comes at once.
const CHUNK: usize = 16 * 1024;

pub(crate) static FORMAT: Format = Format {
    name: "offline",
    transport: Transport::Script,
    path: "responses",
    encode: |_, _, _| Ok(Vec::new()),
    decoder: responses::decoder,
    key_header: None,
    headers: |_| Vec::new(),
    models_query: None,
    models: offline_models,
    structured_output: StructuredOutput::Native,
    is_official: true,
    hides_overflow: false,
    reports_window: false,
};

/// What opening a scripted answer gives.
pub(crate) enum Opening {
    Answer(Playing, HeaderMap),
    Refused(Box<Refusal>),
}

/// An answer being played.
pub(crate) struct Playing {
    player: Player,
    /// A frame whose wait is still to come.
    held: Option<(Duration, Bytes)>,
}

impl Playing {
    /// The next bytes; `Err` when the script breaks the connection. Frames without a wait between
    /// them come together, as they would from a network.
    pub(crate) async fn chunk(&mut self) -> Result<Option<Bytes>, &'static str> {
        // A long script must not keep others from running.
        tokio::task::consume_budget().await;
        let mut chunk = Vec::new();
        while let Some((wait, bytes)) = self.held.take().or_else(|| self.player.next()) {
            if !wait.is_zero() && !chunk.is_empty() {
                self.held = Some((wait, bytes));
                break;
            }
            pause(wait).await;
            chunk.extend_from_slice(&bytes);
            if chunk.len() >= CHUNK {
                break;
            }
        }
        match self.player.ending() {
            _ if !chunk.is_empty() => Ok(Some(chunk.into())),
            Ending::Close => Ok(None),
            Ending::Cut => Err("the script broke the connection"),
            Ending::Stall => std::future::pending().await,
        }
    }
}

/// Waits, unless there is nothing to wait for: even an empty sleep takes a tick of the timer.
async fn pause(wait: Duration) {
    if !wait.is_zero() {
        sleep(wait).await;
    }
}

/// Begins to answer. `attempt` counts from 0 within one request.
pub(crate) async fn open(request: &Request, attempt: u32) -> Opening {
    let step = match scripted(&request.input) {
        Some(Ok(step)) => step,
        Some(Err(reason)) => Step::says(format!("The script cannot be played: {reason}")),
        // Nothing was computed, so nothing is counted.
        None => Step {
            usage: Some(Tokens::NONE),
            ..Step::says(greeting::text().await)
        },
    };
    pause(step.first_wait()).await;
    let headers = headers(&step);
    if let Some(status) = step.failure(attempt) {
        let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let body = step.failure_body();
        return Opening::Refused(Box::new(Refusal {
            status,
            headers,
            url: "offline".into(),
            body,
        }));
    }
    let id = uuid::Uuid::new_v4().simple().to_string();
    let player = Player::new(step, &id, attempt);
    Opening::Answer(Playing { player, held: None }, headers)
}

fn headers(step: &Step) -> HeaderMap {
    let pairs = step.headers.iter().filter_map(|(name, value)| {
        let name = HeaderName::from_bytes(name.as_bytes()).ok()?;
        Some((name, HeaderValue::from_str(value).ok()?))
    });
    pairs.collect()
}

/// The step that the last thing a person said asks for.
fn scripted(history: &[HistoryItem]) -> Option<Result<Step, String>> {
    let mut outputs = 0;
    for item in history.iter().rev() {
        if item.kind().is_call_output() {
            outputs += 1;
        }
        if item.kind() != ItemKind::Message {
            continue;
        }
        let Ok(Item::Message { role, content, .. }) = serde_json::from_str(item.raw().get()) else {
            continue;
        };
        if role != "user" {
            continue;
        }
        let text = joined(content);
        return match Script::find(&text) {
            Some(Ok(script)) => Some(
                script
                    .step_after(outputs)
                    .cloned()
                    .ok_or("it has no steps".into()),
            ),
            Some(Err(reason)) => Some(Err(reason)),
            // Context that the server adds in the user's name is no prompt.
            None if text.starts_with('<') || text.starts_with('#') => continue,
            None => None,
        };
    }
    None
}

fn joined(content: Vec<ContentPart>) -> String {
    let texts = content.into_iter().filter_map(|part| match part {
        ContentPart::InputText { text } | ContentPart::OutputText { text } => Some(text),
        ContentPart::InputImage { .. } => None,
    });
    texts.collect()
}
