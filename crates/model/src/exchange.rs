//! One request until a provider answers it: credentials, a fresh token after a 401, and the silent
//! retries before a stream opens.

use std::sync::Arc;

use bytes::Bytes;
use quipu_wire::RateLimitSnapshot;
use reqwest::StatusCode;
use reqwest::header::HeaderMap;
use tokio::time::sleep;

use crate::client::Shared;
use crate::credentials::{Credentials, Secret};
use crate::error::{ErrorKind, ModelError};
use crate::http::{Call, SendError};
use crate::offline::{self, Opening, Playing};
use crate::provider::WireApi;
use crate::rate_limits::snapshots;
use crate::refusal::Refusal;
use crate::request::Request;
use crate::retry::{LONGEST_WAIT, backoff};

/// An answer whose body is still to be read.
pub(crate) struct Answer {
    pub(crate) source: Source,
    pub(crate) headers: HeaderMap,
    pub(crate) secrets: Vec<Secret>,
}

/// Where the bytes of an answer come from.
pub(crate) enum Source {
    Http(Box<reqwest::Response>),
    Offline(Playing),
}

impl Source {
    /// The next bytes, or `None` at the end.
    pub(crate) async fn chunk(&mut self) -> Result<Option<Bytes>, Failure> {
        let broken = |cause: String| Failure {
            kind: ErrorKind::stream("Transport error: network error: error decoding response body"),
            cause: Some(format!("broke the connection: {cause}")),
            rate_limits: Vec::new(),
        };
        match self {
            Self::Http(response) => response
                .chunk()
                .await
                .map_err(|error| broken(crate::http::root_cause(&error))),
            Self::Offline(playing) => playing.chunk().await.map_err(|why| broken(why.into())),
        }
    }
}

/// Why there is no answer, or no more of it.
pub(crate) struct Failure {
    pub(crate) kind: ErrorKind,
    pub(crate) cause: Option<String>,
    pub(crate) rate_limits: Vec<RateLimitSnapshot>,
}

impl Failure {
    pub(crate) fn into_error(self, provider: &Arc<str>) -> ModelError {
        ModelError {
            kind: self.kind,
            provider: Arc::clone(provider),
            cause: self.cause,
        }
    }
}

impl From<ErrorKind> for Failure {
    fn from(kind: ErrorKind) -> Self {
        Self {
            kind,
            cause: None,
            rate_limits: Vec::new(),
        }
    }
}

impl From<SendError> for Failure {
    fn from(error: SendError) -> Self {
        Self {
            kind: error.kind,
            cause: error.cause,
            rate_limits: Vec::new(),
        }
    }
}

/// Sends a request to a path of the provider until it is answered or retries are used up.
/// `attempts` counts the requests sent for one answer.
pub(crate) async fn exchange(
    shared: &Shared,
    request: &Request,
    path: &str,
    body: &Bytes,
    attempts: &mut u32,
) -> Result<Answer, Failure> {
    let mut credentials = current(shared).await?;
    let mut tries = 0;
    loop {
        let attempt = *attempts;
        *attempts += 1;
        let sent = send(shared, request, path, body, &credentials, attempt).await;
        let (failure, transient) = match sent {
            Ok(Ok(answer)) => return Ok(answer),
            Ok(Err(refusal)) => {
                if refusal.status == StatusCode::UNAUTHORIZED
                    && let Some(fresh) = recover(shared).await?
                {
                    credentials = fresh;
                    continue;
                }
                (refused(shared, &refusal), refusal.status.is_server_error())
            }
            Err(failure) => {
                let transient = failure.cause.is_some() && failure.kind.is_retryable();
                (failure, transient)
            }
        };
        let wait = failure.kind.retry_after();
        let patient = wait.is_none_or(|wait| wait <= LONGEST_WAIT);
        if !transient || !patient || tries >= shared.provider.request_retries() {
            return Err(failure);
        }
        tries += 1;
        sleep(wait.unwrap_or_else(|| backoff(tries))).await;
    }
}

async fn send(
    shared: &Shared,
    request: &Request,
    path: &str,
    body: &Bytes,
    credentials: &Credentials,
    attempt: u32,
) -> Result<Result<Answer, Box<Refusal>>, Failure> {
    if shared.provider.wire_api == WireApi::Offline {
        return Ok(match offline::open(request, attempt).await {
            Opening::Answer(playing, headers) => Ok(Answer {
                source: Source::Offline(playing),
                headers,
                secrets: Vec::new(),
            }),
            Opening::Refused(refusal) => Err(refusal),
        });
    }
    let call = Call::new(&shared.provider, path, credentials, &request.meta)?;
    let patience = shared.provider.idle_timeout();
    let mut response = call
        .send(&shared.http, Some(body.clone()), patience)
        .await?;
    if !response.status().is_success() {
        return Ok(Err(Box::new(call.refusal(response).await)));
    }
    let headers = std::mem::take(response.headers_mut());
    let source = Source::Http(Box::new(response));
    Ok(Ok(Answer {
        source,
        headers,
        secrets: call.secrets,
    }))
}

pub(crate) fn refused(shared: &Shared, refusal: &Refusal) -> Failure {
    let kind = refusal.reason(match shared.provider.wire_api {
        WireApi::Offline => WireApi::Responses,
        wire => wire,
    });
    let rate_limits = match kind {
        ErrorKind::UsageLimit(_) => snapshots(&refusal.headers),
        _ => Vec::new(),
    };
    Failure {
        kind,
        cause: None,
        rate_limits,
    }
}

pub(crate) async fn current(shared: &Shared) -> Result<Credentials, Failure> {
    let credentials = shared.credentials.current().await;
    credentials.map_err(|lost| ErrorKind::Unauthorized(lost.0).into())
}

async fn recover(shared: &Shared) -> Result<Option<Credentials>, Failure> {
    let credentials = shared.credentials.recover().await;
    credentials.map_err(|lost| ErrorKind::Unauthorized(lost.0).into())
}
