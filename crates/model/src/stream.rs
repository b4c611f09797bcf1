//! A model's answer as a stream of events: opens it, reads it, and asks again when it breaks. This
//! is the one place where answers are retried, timed and given up.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context as TaskContext, Poll};
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::FutureExt;
use futures_util::stream::{self, BoxStream, Stream, StreamExt};
use reqwest::header::CONTENT_TYPE;
use tokio::time::{sleep, timeout};

use crate::answer::Body;
use crate::client::Shared;
use crate::credentials::Secrets;
use crate::decoder::{Context, Slots, Step};
use crate::error::ErrorKind;
use crate::event::{ModelEvent, Opened, Retrying};
use crate::exchange::{Answer, Source, exchange};
use crate::failure::Failure;
use crate::history::HistoryItem;
use crate::http::{Endpoint, silence};
use crate::rate_limits::{snapshots, text};
use crate::reach::is_loopback;
use crate::request::Request;
use crate::responses::socket;
use crate::retry::{LONGEST_WAIT, backoff};
use crate::structured::Judge;

/// How long a finished answer may take to say that it is finished, so that its connection can be
/// used again.
const DRAIN: Duration = Duration::from_secs(2);

const BYTES_PER_TOKEN: i64 = 4;

/// From so many events on, no more are waited for before they are handed on.
const BATCH: usize = 256;

/// The events of one answer. Dropping it cancels the request. Read it in a spawned task: there the
/// runtime runs the connection and its reader on one thread, which matters at thousands of deltas.
pub struct ModelStream {
    batches: BoxStream<'static, Vec<ModelEvent>>,
    ready: std::vec::IntoIter<ModelEvent>,
}

impl ModelStream {
    pub(crate) fn new(shared: Arc<Shared>, request: Request) -> Self {
        let driver = Box::new(Driver::new(shared, request));
        let batches = stream::unfold(driver, |mut driver| async move {
            let batch = driver.step().await?;
            Some((batch, driver))
        });
        Self {
            batches: batches.boxed(),
            ready: Vec::new().into_iter(),
        }
    }

    /// The next event; `None` after `Completed` or `Failed`. Safe to cancel: no event is lost.
    pub async fn next(&mut self) -> Option<ModelEvent> {
        StreamExt::next(self).await
    }

    /// The next event if it has already arrived. A reader that drains these before it waits can
    /// treat everything that came in one packet together.
    pub fn next_ready(&mut self) -> Option<ModelEvent> {
        self.ready.next()
    }
}

impl Stream for ModelStream {
    type Item = ModelEvent;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut TaskContext<'_>) -> Poll<Option<Self::Item>> {
        loop {
            if let Some(event) = self.ready.next() {
                return Poll::Ready(Some(event));
            }
            match self.batches.poll_next_unpin(cx) {
                Poll::Ready(Some(batch)) => self.ready = batch.into_iter(),
                Poll::Ready(None) => return Poll::Ready(None),
                Poll::Pending => return Poll::Pending,
            }
        }
    }
}

impl std::fmt::Debug for ModelStream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ModelStream")
    }
}

struct Driver {
    shared: Arc<Shared>,
    request: Arc<Request>,
    /// The request's body; written when it is first sent.
    body: Option<Bytes>,
    phase: Phase,
    retries: u32,
    attempts: u32,
    slots: Slots,
    judge: Judge,
}

#[derive(Default)]
enum Phase {
    Open,
    Wait(Duration),
    Read(Box<Reading>),
    #[default]
    Done,
}

/// An answer being read.
struct Reading {
    source: Source,
    body: Body,
    secrets: Secrets,
    content_type: Option<String>,
    /// Whether the provider closed the stream.
    ended: bool,
}

impl Driver {
    fn new(shared: Arc<Shared>, request: Request) -> Self {
        Self {
            shared,
            request: Arc::new(request),
            body: None,
            phase: Phase::Open,
            retries: 0,
            attempts: 0,
            slots: Slots::default(),
            judge: Judge::default(),
        }
    }

    /// The next events, or `None` when the answer is over.
    async fn step(&mut self) -> Option<Vec<ModelEvent>> {
        loop {
            let mut out = Vec::new();
            match std::mem::take(&mut self.phase) {
                Phase::Done => return None,
                Phase::Wait(delay) => {
                    sleep(delay).await;
                    self.phase = Phase::Open;
                }
                Phase::Open => match self.open(&mut out).await {
                    Ok(reading) => self.phase = Phase::Read(reading),
                    Err(failure) => self.fail(failure, &mut out),
                },
                Phase::Read(mut reading) => match reading.more(&self.shared, &mut out).await {
                    Ok(Step::Done) => release(reading.source),
                    Ok(_) => self.phase = Phase::Read(reading),
                    Err(mut failure) => {
                        self.slots = reading.body.decoder.slots();
                        if reading.ended && reading.body.events == 0 {
                            match reading.foreign_type() {
                                Some(content_type) => failure.kind = no_stream(content_type),
                                None => self.suspect_overflow(&mut failure),
                            }
                        }
                        drop(reading);
                        self.fail(failure, &mut out);
                    }
                },
            }
            if !out.is_empty() {
                self.judge_output(&mut out).await;
                return Some(out);
            }
        }
    }

    async fn open(&mut self, out: &mut Vec<ModelEvent>) -> Result<Box<Reading>, Failure> {
        if self.uses_socket()
            && let Some(answer) = socket::ask(&self.shared, &self.request).await?
        {
            self.judge = Judge::default();
            return Ok(Box::new(self.begin(answer, out)));
        }
        let body = match &self.body {
            Some(body) => body.clone(),
            None => self.body.insert(self.shared.encode(&self.request)?).clone(),
        };
        let (shared, request) = (&self.shared, &self.request);
        let answer = exchange(shared, request, Endpoint::Sample, &body, &mut self.attempts).await?;
        self.judge = Judge::default();
        Ok(Box::new(self.begin(answer, out)))
    }

    fn uses_socket(&self) -> bool {
        self.shared.provider.uses_websockets() && !self.request.socket.is_off()
    }

    fn begin(&mut self, answer: Answer, out: &mut Vec<ModelEvent>) -> Reading {
        let format = self.shared.provider.wire_api.format();
        let headers = answer.headers;
        let context = Context {
            provider: Arc::clone(&self.shared.id),
            request: Arc::clone(&self.request),
        };
        let mut decoder = (format.decoder)(context, std::mem::take(&mut self.slots));
        out.push(ModelEvent::Opened(Opened {
            reasoning_included: headers.contains_key("x-reasoning-included"),
            models_etag: text(&headers, "x-models-etag").map(str::to_owned),
        }));
        // Over a websocket they come as events.
        if !matches!(answer.source, Source::Socket(_)) {
            let limits = snapshots(&headers).into_iter().map(Box::new);
            out.extend(limits.map(ModelEvent::RateLimits));
        }
        decoder.headers(&headers, out);
        Reading {
            source: answer.source,
            body: Body::new(decoder),
            secrets: answer.secrets,
            content_type: text(&headers, CONTENT_TYPE.as_str()).map(str::to_owned),
            ended: false,
        }
    }

    /// Local servers of Chat Completions have been seen to close a stream without a word when the prompt
    /// is longer than their context.
    fn suspect_overflow(&self, failure: &mut Failure) {
        let provider = &self.shared.provider;
        let is_local = is_loopback(provider.base_url.as_deref().unwrap_or_default());
        if !provider.wire_api.format().hides_overflow || !is_local {
            return;
        }
        let tokens = self.body.as_ref().map_or(0, Bytes::len) as i64 / BYTES_PER_TOKEN;
        failure.kind = match self.request.context_window {
            Some(window) if tokens > window => ErrorKind::ContextWindowExceeded,
            _ => ErrorKind::Unfinished(format!(
                "the server closed the stream without an answer; if its context is smaller than about \
                 {tokens} tokens, raise it and set `model_context_window`"
            )),
        };
    }

    /// Plans another attempt, or gives up.
    fn fail(&mut self, mut failure: Failure, out: &mut Vec<ModelEvent>) {
        // A new thread would not help.
        let is_first = self.request.input.iter().all(HistoryItem::is_by_user);
        if failure.kind == ErrorKind::ContextWindowExceeded && is_first {
            failure.kind = ErrorKind::PromptTooLong;
        }
        let limits = failure.rate_limits.iter().cloned().map(Box::new);
        out.extend(limits.map(ModelEvent::RateLimits));
        let wait = failure.kind.retry_after();
        let error = self.shared.error(failure);
        let max = self.shared.provider.stream_retries();
        let patient = wait.is_none_or(|wait| wait <= LONGEST_WAIT);
        let uses_socket = self.uses_socket();
        let may_retry = error.kind.is_retryable() && patient;
        if may_retry && self.retries >= max && uses_socket {
            tracing::warn!(provider = %error.provider, %error, "websocket failed; using HTTP");
            self.request.socket.switch_off();
            self.retries = 0;
            self.phase = Phase::Open;
            out.push(ModelEvent::Retrying(Box::new(Retrying {
                attempt: 0,
                max,
                delay: Duration::ZERO,
                error,
                announced: false,
            })));
            return;
        }
        if !may_retry || self.retries >= max {
            tracing::debug!(provider = %error.provider, %error, "a model request failed");
            out.push(ModelEvent::Failed(Box::new(error)));
            return;
        }
        self.retries += 1;
        let delay = wait.unwrap_or_else(|| backoff(self.retries));
        self.phase = Phase::Wait(delay);
        let retrying = Retrying {
            attempt: self.retries,
            max,
            delay,
            error,
            // A websocket that was closed meanwhile is common.
            announced: !(uses_socket && self.retries == 1),
        };
        out.push(ModelEvent::Retrying(Box::new(retrying)));
    }

    /// Holds the final message against the schema that was asked for.
    async fn judge_output(&mut self, events: &mut [ModelEvent]) {
        let Some(schema) = self.request.output_schema.as_deref() else {
            return;
        };
        for event in events {
            match event {
                ModelEvent::ItemDone { item, .. } => self.judge.item(item),
                ModelEvent::Completed(end) => end.output_error = self.judge.verdict(schema).await,
                _ => {}
            }
        }
    }
}

impl Reading {
    /// Reads what comes next, and what has come after it already; says whether the answer is complete.
    async fn more(&mut self, shared: &Shared, out: &mut Vec<ModelEvent>) -> Result<Step, Failure> {
        let idle = shared.provider.idle_timeout();
        let Ok(first) = timeout(idle, self.source.chunk()).await else {
            return Err(match self.source {
                Source::Socket(_) => ErrorKind::stream("idle timeout waiting for websocket").into(),
                _ => silence(idle),
            });
        };
        let mut step = self.read(first?, shared, out)?;
        while step != Step::Done
            && out.len() < BATCH
            && let Some(next) = self.source.ready_chunk().await
        {
            step = self.read(next?, shared, out)?;
        }
        Ok(step)
    }

    fn read(
        &mut self,
        chunk: Option<Bytes>,
        shared: &Shared,
        out: &mut Vec<ModelEvent>,
    ) -> Result<Step, Failure> {
        self.ended = chunk.is_none();
        let before = out.len();
        let outcome = match chunk {
            Some(chunk) => self
                .body
                .read(&chunk, shared.provider.response_limit(), out),
            None => self.body.end(out),
        };
        if let Source::Socket(conversation) = &mut self.source {
            conversation.observe(&out[before..]);
        }
        outcome.map_err(|kind| self.explained(kind))
    }

    /// What the answer calls itself, if that is not a stream of events.
    fn foreign_type(&self) -> Option<&str> {
        let content_type = self.content_type.as_deref();
        content_type.filter(|it| !it.contains("event-stream"))
    }

    /// Adds what the stream looked like, for people who must find out what their provider did.
    fn explained(&self, kind: ErrorKind) -> Failure {
        let cause = match (&kind, self.foreign_type()) {
            (ErrorKind::TooLarge(reason), _) => Some(format!("was cut off: {reason}")),
            (_, Some(content_type)) => Some(format!(
                "answered with `{content_type}` instead of an event stream"
            )),
            _ if self.body.events == 0 => Some("sent no event".into()),
            _ if self.body.unreadable > 0 => Some(format!(
                "sent {} events that cannot be read",
                self.body.unreadable
            )),
            _ => Some(format!("failed after {} events", self.body.events)),
        };
        Failure {
            cause,
            ..kind.map_text(|text| self.secrets.redact(text)).into()
        }
    }
}

/// A page of a proxy, which may be gone soon, or the address of something else.
fn no_stream(content_type: &str) -> ErrorKind {
    ErrorKind::stream(format!(
        "the server answered with `{content_type}` instead of an event stream; check the provider's `base_url`"
    ))
}

/// Reads the few bytes that end a finished answer, so that its connection goes back to the pool
/// instead of being closed.
fn release(source: Source) {
    let mut response = match source {
        Source::Http(response) => response,
        Source::Socket(conversation) => return conversation.finish(),
        Source::Offline(_) => return,
    };
    let rest = async move { while let Ok(Some(_)) = response.chunk().await {} };
    let mut rest = Box::pin(timeout(DRAIN, rest));
    if rest.as_mut().now_or_never().is_none() {
        tokio::spawn(rest);
    }
}
