//! One request until a provider answers it: credentials, a fresh token after a 401, and the silent
//! retries before a stream opens.

use std::future::{Future as _, poll_fn};
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use bytes::Bytes;
use futures_util::FutureExt as _;
use reqwest::StatusCode;
use reqwest::header::{CONTENT_ENCODING, HeaderMap, HeaderValue};
use tokio::time::{sleep, timeout};

use crate::client::Shared;
use crate::credentials::{Credentials, CredentialsLost, Recovered, Secrets};
use crate::error::ErrorKind;
use crate::failure::Failure;
use crate::format::Transport;
use crate::http::{Call, Endpoint, silence};
use crate::offline::{self, Opening, Playing};
use crate::rate_limits::active_snapshot;
use crate::reach::root_cause;
use crate::refusal::Refusal;
use crate::request::Request;
use crate::responses::socket::Conversation;
use crate::retry::backoff;

/// A longer wait than this is not made in silence.
const LONGEST_SILENCE: Duration = Duration::from_secs(2);
/// How long a refusal may wait for the list of models that it names.
const LIST_PATIENCE: Duration = Duration::from_secs(3);
/// How many models it names.
const NAMED: usize = 10;
/// How many tokens are tried for one request, whatever their source thinks.
const MAX_RECOVERIES: u32 = 3;

/// An answer whose body is still to be read.
pub(crate) struct Answer {
    pub(crate) source: Source,
    pub(crate) headers: HeaderMap,
    pub(crate) secrets: Secrets,
}

/// Where the bytes of an answer come from.
pub(crate) enum Source {
    Http(Box<reqwest::Response>),
    Socket(Box<Conversation>),
    Offline(Playing),
}

impl Source {
    /// The next bytes, or `None` at the end.
    pub(crate) async fn chunk(&mut self) -> Result<Option<Bytes>, Failure> {
        match self {
            Self::Http(response) => response.chunk().await.map_err(|error| lost_body(&error)),
            Self::Socket(conversation) => conversation.chunk().await,
            Self::Offline(playing) => playing.chunk().await.map_err(|why| broken(why.into())),
        }
    }

    /// The next bytes if they have come already. A connection hands over one chunk at a time, and
    /// providers make one of each event, so it is given one turn to hand over another.
    pub(crate) async fn ready_chunk(&mut self) -> Option<Result<Option<Bytes>, Failure>> {
        let response = match self {
            Self::Http(response) => response,
            Self::Socket(conversation) => return conversation.chunk().now_or_never(),
            Self::Offline(_) => return None,
        };
        let mut chunk = pin!(response.chunk());
        let mut had_its_turn = false;
        let ready = poll_fn(|cx| match chunk.as_mut().poll(cx) {
            Poll::Ready(chunk) => Poll::Ready(Some(chunk)),
            Poll::Pending if had_its_turn => Poll::Ready(None),
            Poll::Pending => {
                had_its_turn = true;
                cx.waker().wake_by_ref();
                Poll::Pending
            }
        });
        Some(ready.await?.map_err(|error| lost_body(&error)))
    }
}

fn lost_body(error: &reqwest::Error) -> Failure {
    broken(root_cause(error))
}

fn broken(cause: String) -> Failure {
    Failure {
        cause: Some(format!("broke the connection: {cause}")),
        ..ErrorKind::stream("Transport error: network error: error decoding response body").into()
    }
}

/// Sends a request until it is answered or retries are used up. `attempts` counts the requests
/// sent for one answer.
pub(crate) async fn exchange(
    shared: &Shared,
    request: &Request,
    endpoint: Endpoint,
    body: &Bytes,
    attempts: &mut u32,
) -> Result<Answer, Failure> {
    let mut credentials = current(shared).await?;
    let (mut tries, mut recoveries, mut hope) = (0, 0, true);
    loop {
        let attempt = *attempts;
        *attempts += 1;
        let sent = match shared.provider.wire_api.format().transport {
            Transport::Script => play(shared, request, attempt).await,
            Transport::Http => send(shared, request, endpoint, body, &credentials).await,
        };
        let failure = match sent {
            Ok(Ok(answer)) => return Ok(answer),
            Ok(Err(refusal)) => {
                if refusal.status == StatusCode::UNAUTHORIZED
                    && hope
                    && recoveries < MAX_RECOVERIES
                    && let Some(fresh) = recover(shared, &credentials).await?
                {
                    credentials = fresh.credentials;
                    hope = fresh.more;
                    recoveries += 1;
                    continue;
                }
                let failure = refused(shared, &refusal);
                match refusal.is_unknown_model(&request.model) {
                    true => with_models(shared, request, failure).await,
                    false => failure,
                }
            }
            Err(failure) => failure,
        };
        let wait = failure.kind.retry_after();
        let short = wait.is_none_or(|wait| wait <= LONGEST_SILENCE);
        if !failure.transient || !short || tries >= shared.provider.request_retries() {
            return Err(failure);
        }
        tries += 1;
        sleep(wait.unwrap_or_else(|| backoff(tries))).await;
    }
}

/// An answer, or the provider's reasons not to give one.
type Sent = Result<Answer, Box<Refusal>>;

async fn send(
    shared: &Shared,
    request: &Request,
    endpoint: Endpoint,
    body: &Bytes,
    credentials: &Credentials,
) -> Result<Sent, Failure> {
    let mut call = Call::new(&shared.provider, endpoint, credentials, &request.meta)?;
    let patience = shared.provider.idle_timeout();
    let mut body = body.clone();
    if request.compress
        && endpoint == Endpoint::Sample
        && shared.provider.takes_compressed(credentials)
    {
        body = compressed(body).await?;
        let zstd = HeaderValue::from_static("zstd");
        call.headers.insert(CONTENT_ENCODING, zstd);
    }
    let mut response = call.send(&shared.http, Some(body), patience).await?;
    if !response.status().is_success() {
        return Ok(Err(Box::new(call.refusal(response).await)));
    }
    let mut headers = std::mem::take(response.headers_mut());
    call.secrets.hide_in(&mut headers);
    let source = Source::Http(Box::new(response));
    Ok(Ok(Answer {
        source,
        headers,
        secrets: call.secrets,
    }))
}

/// A body in the Zstandard format. Bodies can be large, so this does not hold up other tasks.
async fn compressed(body: Bytes) -> Result<Bytes, Failure> {
    let compressing = tokio::task::spawn_blocking(move || {
        ruzstd::encoding::compress_to_vec(&*body, ruzstd::encoding::CompressionLevel::Fastest)
    });
    let compressed = compressing.await.map_err(|error| {
        ErrorKind::Configuration(format!("the request could not be compressed: {error}"))
    })?;
    Ok(compressed.into())
}

async fn play(shared: &Shared, request: &Request, attempt: u32) -> Result<Sent, Failure> {
    let patience = shared.provider.idle_timeout();
    let opening = timeout(patience, offline::open(request, attempt)).await;
    Ok(match opening.map_err(|_| silence(patience))? {
        Opening::Answer(playing, headers) => Ok(Answer {
            source: Source::Offline(playing),
            headers,
            secrets: Secrets::default(),
        }),
        Opening::Refused(refusal) => Err(refusal),
    })
}

pub(crate) fn refused(shared: &Shared, refusal: &Refusal) -> Failure {
    let kind = refusal.reason(&shared.provider);
    let rate_limits = match kind {
        ErrorKind::UsageLimit(_) => vec![active_snapshot(&refusal.headers)],
        _ => Vec::new(),
    };
    let cause = match kind {
        // Their messages say whom they come from.
        ErrorKind::UnexpectedStatus(_)
        | ErrorKind::InternalServerError(Some(_))
        | ErrorKind::Unauthorized(_)
        | ErrorKind::UsageLimit(_)
        | ErrorKind::UsageNotIncluded => None,
        _ => Some(format!("answered with {}", refusal.summary())),
    };
    Failure {
        kind,
        cause,
        transient: refusal.status.is_server_error(),
        rate_limits,
    }
}

/// The refusal of a model that does not exist, with the models that do. OpenAI's list has everything that
/// it ever offered, so it would not help.
async fn with_models(shared: &Shared, request: &Request, mut failure: Failure) -> Failure {
    if shared.provider.id == "openai" {
        return failure;
    }
    let Ok(Ok(models)) = timeout(LIST_PATIENCE, shared.models(&request.meta)).await else {
        return failure;
    };
    let mut names: Vec<&str> = models.models.iter().map(|it| it.slug.as_str()).collect();
    if names.is_empty() || names.contains(&request.model.as_str()) {
        return failure;
    }
    let more = names.len().saturating_sub(NAMED);
    names.truncate(NAMED);
    let more = match more {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let hint = format!("set `model` to one of: {}{more}", names.join(", "));
    match &mut failure.kind {
        ErrorKind::UnexpectedStatus(unexpected) => unexpected.hint = Some(hint),
        ErrorKind::BadRequest(text) => text.push_str(&format!("; {hint}")),
        _ => {}
    }
    failure
}

pub(crate) async fn current(shared: &Shared) -> Result<Credentials, Failure> {
    shared.credentials.current().await.map_err(lost)
}

pub(crate) async fn recover(
    shared: &Shared,
    refused: &Credentials,
) -> Result<Option<Recovered>, Failure> {
    shared.credentials.recover(refused).await.map_err(lost)
}

fn lost(lost: CredentialsLost) -> Failure {
    let kind = match lost {
        CredentialsLost::ForGood(reason) => ErrorKind::Unauthorized(reason),
        CredentialsLost::ForNow(reason) => ErrorKind::Credentials(reason),
    };
    kind.into()
}
