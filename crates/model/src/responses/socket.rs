//! Responses over a websocket. The connection stays open between requests, and the provider remembers the last
//! response on it: a request whose history continues that one sends only what is new. What goes wrong too often
//! goes over HTTP for the rest of the thread.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;
use reqwest::StatusCode;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use serde::Deserialize;
use tokio::sync::{Mutex, OwnedMutexGuard};
use tokio::time::timeout;

use super::encode;
use crate::client::Shared;
use crate::credentials::{Credentials, Secrets};
use crate::error::ErrorKind;
use crate::event::ModelEvent;
use crate::exchange::{Answer, Source, current, recover, refused};
use crate::failure::Failure;
use crate::history::HistoryItem;
use crate::http::{Call, Endpoint};
use crate::refusal::Refusal;
use crate::repair::repaired;
use crate::request::Request;
use crate::websocket::{Received, Socket};

/// The version of this way to ask.
const BETA: (&str, &str) = ("openai-beta", "responses_websockets=2026-02-06");
const TURN_STATE: &str = "x-codex-turn-state";
/// The provider wants the connection to be opened again.
const LIMIT_REACHED: &str = "websocket_connection_limit_reached";
/// How many tokens are tried for one connection.
const MAX_RECOVERIES: u32 = 3;

/// The websocket of one thread, open or not. Make one per thread and clone it into each request.
#[derive(Clone, Default)]
pub struct SocketSlot(Arc<Slot>);

impl std::fmt::Debug for SocketSlot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SocketSlot")
    }
}

#[derive(Default)]
struct Slot {
    open: Arc<Mutex<Option<Box<Open>>>>,
    /// Requests go over HTTP, after too many failures or because the provider wants that.
    off: AtomicBool,
}

struct Open {
    socket: Socket,
    /// Of the answer to the first request.
    headers: HeaderMap,
    secrets: Secrets,
    url: String,
    last: Option<Last>,
}

/// What the provider remembers: the last response and all that led to it.
struct Last {
    response_id: String,
    /// Of everything in a request but its history.
    settings: u64,
    /// How many items of a history it has read and written, and their hash.
    count: usize,
    items: u64,
}

impl SocketSlot {
    /// Closes the connection; the next request opens another.
    pub fn close(&self) {
        // One that is in use is closed or kept by its user.
        if let Ok(mut open) = self.0.open.try_lock() {
            *open = None;
        }
    }

    /// Whether requests go over HTTP.
    pub(crate) fn is_off(&self) -> bool {
        self.0.off.load(Ordering::Relaxed)
    }

    /// Has all later requests sent over HTTP.
    pub(crate) fn switch_off(&self) {
        self.0.off.store(true, Ordering::Relaxed);
        self.close();
    }
}

/// Sends a request over the thread's websocket; `None` if it has to go over HTTP. Nothing is tried twice here,
/// except with a fresh token.
pub(crate) async fn ask(
    shared: &Arc<Shared>,
    request: &Request,
) -> Result<Option<Answer>, Failure> {
    let slot = &request.socket.0;
    let mut place = Arc::clone(&slot.open).lock_owned().await;
    let mut kept = place.take();
    let mut open = match kept.take_if(|open| open.socket.is_idle()) {
        Some(open) => open,
        None => match connect(shared, request).await? {
            Some(open) => open,
            None => return Ok(None),
        },
    };
    let frame = Frame::new(shared, request, open.last.take(), true)?;
    open.socket.send(frame.text).await?;
    let headers = open.headers.clone();
    // The token of a turn is not for the turns after it.
    open.headers.remove(TURN_STATE);
    Ok(Some(Answer {
        headers,
        secrets: open.secrets.clone(),
        source: Source::Socket(Box::new(Conversation {
            place,
            open,
            settings: frame.settings,
            items: frame.items,
            shared: Arc::clone(shared),
            completed: None,
        })),
    }))
}

/// Opens the websocket and has the provider read everything but the history, so that the first turn is answered
/// sooner. What fails here is tried again by the turn.
pub(crate) async fn prewarm(shared: &Shared, request: &Request) {
    let slot = &request.socket;
    let Ok(mut place) = slot.0.open.try_lock() else {
        return;
    };
    if slot.is_off() || place.is_some() {
        return;
    }
    let patience = shared.provider.connect_timeout();
    match timeout(patience, warm_up(shared, request)).await {
        Ok(Ok(open)) => *place = open,
        Ok(Err(failure)) => {
            let reason = failure.kind;
            tracing::debug!(provider = %shared.id, %reason, "failed to prepare a websocket");
        }
        Err(_) => tracing::debug!(provider = %shared.id, "websocket not prepared in time"),
    }
}

async fn warm_up(shared: &Shared, request: &Request) -> Result<Option<Box<Open>>, Failure> {
    let Some(mut open) = connect(shared, request).await? else {
        return Ok(None);
    };
    let frame = Frame::new(shared, request, None, false)?;
    open.socket.send(frame.text).await?;
    loop {
        let text = open.next(shared).await?;
        if let Some(response_id) = completed_id(&text) {
            let Items { count, hasher } = frame.items;
            open.last = Some(Last {
                response_id,
                settings: frame.settings,
                count,
                items: hasher.finish(),
            });
            return Ok(Some(open));
        }
    }
}

/// Opens a websocket. `None` if that is not possible but HTTP may be: the provider has none, or something on the
/// way does not let it pass.
async fn connect(shared: &Shared, request: &Request) -> Result<Option<Box<Open>>, Failure> {
    let mut credentials = current(shared).await?;
    let mut recoveries = 0;
    loop {
        let call = upgrade(shared, request, &credentials)?;
        let patience = shared.provider.connect_timeout();
        let refusal = match Socket::open(&call, &shared.http, patience).await {
            Ok(Ok((socket, headers))) => {
                return Ok(Some(Box::new(Open {
                    socket,
                    headers,
                    url: call.url,
                    secrets: call.secrets,
                    last: None,
                })));
            }
            Ok(Err(refusal)) => refusal,
            // Nobody is there now; HTTP says how it fails.
            Err(failure) if matches!(failure.kind, ErrorKind::Unreachable(_)) => return Ok(None),
            Err(failure) => {
                let reason = failure.kind;
                tracing::info!(provider = %shared.id, %reason, "no websocket; using HTTP");
                request.socket.0.off.store(true, Ordering::Relaxed);
                return Ok(None);
            }
        };
        if refusal.status == StatusCode::UNAUTHORIZED
            && recoveries < MAX_RECOVERIES
            && let Some(fresh) = recover(shared, &credentials).await?
        {
            credentials = fresh.credentials;
            recoveries += 1;
            continue;
        }
        if refusal.status.is_client_error() && refusal.status != StatusCode::TOO_MANY_REQUESTS {
            let status = refusal.status;
            tracing::info!(provider = %shared.id, %status, "no websocket; using HTTP");
            request.socket.0.off.store(true, Ordering::Relaxed);
            return Ok(None);
        }
        return Err(Failure {
            transient: false,
            ..refused(shared, &refusal)
        });
    }
}

fn upgrade(
    shared: &Shared,
    request: &Request,
    credentials: &Credentials,
) -> Result<Call, ErrorKind> {
    let provider = &shared.provider;
    let mut call = Call::new(provider, Endpoint::Sample, credentials, &request.meta)?;
    let (name, value) = BETA;
    let (name, value) = (
        HeaderName::from_static(name),
        HeaderValue::from_static(value),
    );
    call.headers.insert(name, value);
    Ok(call)
}

/// A request as it is sent, and what is compared with the next one.
struct Frame {
    text: String,
    settings: u64,
    items: Items,
}

/// The items of a history that the provider knows, and their hash.
#[derive(Clone)]
struct Items {
    count: usize,
    hasher: DefaultHasher,
}

impl Items {
    fn of(history: &[HistoryItem]) -> Self {
        let mut items = Self {
            count: 0,
            hasher: DefaultHasher::new(),
        };
        history.iter().for_each(|item| items.add(item));
        items
    }

    fn add(&mut self, item: &HistoryItem) {
        self.count += 1;
        item.raw().get().hash(&mut self.hasher);
    }
}

impl Frame {
    /// `generates` is whether the model is to answer; otherwise only what is the same for every turn is sent.
    fn new(
        shared: &Shared,
        request: &Request,
        last: Option<Last>,
        generates: bool,
    ) -> Result<Self, Failure> {
        let history = match generates {
            true => repaired(request, &shared.id),
            false => Vec::new(),
        };
        let write = |history: &[HistoryItem], form: encode::Form<'_>| {
            encode::socket_body(request, history, &shared.provider, form).map_err(|error| {
                ErrorKind::Configuration(format!("the request cannot be written as JSON: {error}"))
            })
        };
        let mut hasher = DefaultHasher::new();
        write(&[], encode::Form::default())?.hash(&mut hasher);
        let settings = hasher.finish();
        let last = last.filter(|last| last.settings == settings && last.precedes(&history));
        let known = last.as_ref().map_or(0, |last| last.count);
        let form = encode::Form {
            previous_response_id: last.as_ref().map(|last| last.response_id.as_str()),
            generate: (!generates).then_some(false),
            turn_metadata: request.meta.turn_metadata.as_deref(),
            traceparent: request.meta.traceparent.as_deref(),
        };
        Ok(Self {
            text: write(&history[known..], form)?,
            settings,
            items: Items::of(&history),
        })
    }
}

impl Last {
    /// Whether a history begins with what the provider remembers.
    fn precedes(&self, history: &[HistoryItem]) -> bool {
        history.len() >= self.count
            && Items::of(&history[..self.count]).hasher.finish() == self.items
    }
}

impl Open {
    /// The next event, or the failure that it tells of.
    async fn next(&mut self, shared: &Shared) -> Result<Bytes, Failure> {
        match self.socket.next().await? {
            Received::Text(text) => match self.refusal(&text) {
                Some(refusal) => Err(stated(shared, &refusal)),
                None => Ok(text),
            },
            Received::Binary => Err(ErrorKind::stream("unexpected binary websocket event").into()),
            Received::Closed => {
                let reason = "websocket closed by server before response.completed";
                Err(ErrorKind::stream(reason).into())
            }
        }
    }

    /// What an event says that stands for an answer with an error status.
    fn refusal(&self, text: &[u8]) -> Option<Refusal> {
        #[derive(Deserialize)]
        struct Event {
            #[serde(rename = "type")]
            kind: String,
            #[serde(alias = "status_code")]
            status: Option<u16>,
            headers: Option<serde_json::Map<String, serde_json::Value>>,
        }
        const MARK: &[u8] = br#""error""#;
        if !text.windows(MARK.len()).any(|part| part == MARK) {
            return None;
        }
        let event: Event = serde_json::from_slice(text).ok()?;
        let status = StatusCode::from_u16(event.status?).ok()?;
        if event.kind != "error" || status.is_success() {
            return None;
        }
        let mut headers = HeaderMap::new();
        for (name, value) in event.headers.into_iter().flatten() {
            let value = value
                .as_str()
                .map_or_else(|| value.to_string(), str::to_owned);
            if let (Ok(name), Ok(value)) =
                (HeaderName::try_from(name), HeaderValue::try_from(value))
            {
                headers.insert(name, value);
            }
        }
        self.secrets.hide_in(&mut headers);
        Some(Refusal {
            status,
            headers,
            url: crate::provider::public_url(&self.url),
            body: self
                .secrets
                .redact(String::from_utf8_lossy(text).into_owned()),
        })
    }
}

/// The failure that a refusal in an event means.
fn stated(shared: &Shared, refusal: &Refusal) -> Failure {
    match refusal.code().as_deref() {
        Some(LIMIT_REACHED) => ErrorKind::stream(refusal.message()).into(),
        _ => Failure {
            transient: false,
            ..refused(shared, refusal)
        },
    }
}

fn completed_id(text: &[u8]) -> Option<String> {
    #[derive(Deserialize)]
    struct Event {
        #[serde(rename = "type")]
        kind: String,
        response: Option<Response>,
    }
    #[derive(Deserialize)]
    struct Response {
        id: String,
    }
    let event: Event = serde_json::from_slice(text).ok()?;
    let completed = event.kind == "response.completed";
    event.response.filter(|_| completed).map(|it| it.id)
}

/// An answer that comes over the thread's websocket, which belongs to it until then. Dropped before its end, it
/// closes the connection: nothing else stops the provider.
pub(crate) struct Conversation {
    place: OwnedMutexGuard<Option<Box<Open>>>,
    open: Box<Open>,
    settings: u64,
    items: Items,
    shared: Arc<Shared>,
    completed: Option<String>,
}

impl Conversation {
    /// The next event in the form of an event stream.
    pub(crate) async fn chunk(&mut self) -> Result<Option<Bytes>, Failure> {
        let text = self.open.next(&self.shared).await?;
        Ok(Some(as_event(&text)))
    }

    /// Keeps what the provider knows from now on.
    pub(crate) fn observe(&mut self, events: &[ModelEvent]) {
        for event in events {
            match event {
                ModelEvent::ItemDone { item, .. } => {
                    let item = HistoryItem::new(Arc::clone(&item.raw));
                    if item.readable_by(&self.shared.id) {
                        self.items.add(&item);
                    }
                }
                ModelEvent::Completed(end) => self.completed = Some(end.response_id.clone()),
                _ => {}
            }
        }
    }

    /// The answer is complete: the connection is for the next request.
    pub(crate) fn finish(mut self) {
        self.open.last = self.completed.map(|response_id| Last {
            response_id,
            settings: self.settings,
            count: self.items.count,
            items: self.items.hasher.finish(),
        });
        *self.place = Some(self.open);
    }
}

/// A message as an event of a stream. Lines of one event are joined again by its reader.
fn as_event(text: &[u8]) -> Bytes {
    let mut event = Vec::with_capacity(text.len() + 8);
    for line in text.split(|byte| matches!(byte, b'\n' | b'\r')) {
        event.extend_from_slice(b"data: ");
        event.extend_from_slice(line);
        event.push(b'\n');
    }
    event.push(b'\n');
    event.into()
}
