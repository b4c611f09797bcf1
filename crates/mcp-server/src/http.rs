//! MCP over streamable HTTP: a message per `POST`, answered by a stream of server-sent events that can be read on with
//! `GET` if it broke.

use std::collections::HashMap;
use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use futures_util::{StreamExt as _, stream};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Full, Limited, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HOST, ORIGIN};
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use parking_lot::Mutex;
use quipu_client::Connect;
use subtle::ConstantTimeEq as _;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

use crate::message;
use crate::session::Session;
use crate::stream::Stream;

/// The path of the endpoint.
const PATH: &str = "/mcp";
/// The longest message.
const MAX_BODY: usize = 16 << 20;
/// Clients at the same time.
const MOST_SESSIONS: usize = 64;
/// Streams of one client that are kept after they are over.
const MOST_STREAMS: usize = 64;
/// Connections at the same time; others wait.
const CONNECTIONS: usize = 256;
/// How long a request head may take.
const HEAD: Duration = Duration::from_secs(15);
/// How often a quiet stream shows that it is alive.
const HEARTBEAT: Duration = Duration::from_secs(15);
const SESSION_ID: &str = "mcp-session-id";

type Body = UnsyncBoxBody<Bytes, Infallible>;

/// How to listen.
pub struct HttpOptions {
    /// The address; port 0 takes a free one.
    pub address: SocketAddr,
    /// What clients must show as bearer token. Needed beyond loopback.
    pub token: Option<String>,
    /// Where relative directories in calls begin; without one, the server decides.
    pub base: Option<PathBuf>,
}

/// Why there is no listener.
#[derive(Debug, thiserror::Error)]
pub enum ListenError {
    /// The address can be reached by others, who must then show a token.
    #[error(
        "{0} can be reached from other machines; give a token with `--http-token-file`, or listen on 127.0.0.1"
    )]
    Open(SocketAddr),
    /// The system refuses.
    #[error("cannot listen on {0}: {1}")]
    Refused(SocketAddr, io::Error),
}

struct Service {
    connect: Connect,
    token: Option<String>,
    base: Option<PathBuf>,
    /// Whether only pages and clients of this machine are to be served.
    is_local: bool,
    sessions: Mutex<HashMap<String, Arc<Client>>>,
    /// Counts requests.
    clock: AtomicU64,
}

/// One MCP client.
struct Client {
    session: tokio::sync::Mutex<Session>,
    /// The request that was the last of this client.
    used: AtomicU64,
    /// In the order in which they were opened.
    streams: Mutex<Vec<(u64, Arc<Stream>)>>,
}

/// Listens until the returned task is dropped or aborted; says where.
pub async fn listen(
    connect: Connect,
    options: HttpOptions,
) -> Result<(SocketAddr, tokio::task::JoinSet<()>), ListenError> {
    let address = options.address;
    if !address.ip().is_loopback() && options.token.is_none() {
        return Err(ListenError::Open(address));
    }
    let refused = |error| ListenError::Refused(address, error);
    let listener = TcpListener::bind(address).await.map_err(refused)?;
    let address = listener.local_addr().map_err(refused)?;
    let service = Arc::new(Service {
        connect,
        token: options.token,
        base: options.base,
        is_local: address.ip().is_loopback(),
        sessions: Mutex::default(),
        clock: AtomicU64::new(0),
    });
    let mut tasks = tokio::task::JoinSet::new();
    tasks.spawn(accept(listener, service));
    Ok((address, tasks))
}

async fn accept(listener: TcpListener, service: Arc<Service>) {
    let places = Arc::new(Semaphore::new(CONNECTIONS));
    let mut connections = tokio::task::JoinSet::new();
    loop {
        let accepted = listener.accept().await;
        let place = Arc::clone(&places).acquire_owned().await;
        while connections.try_join_next().is_some() {}
        let (Ok((stream, _)), Ok(place)) = (accepted, place) else {
            // Too many open files, say: some will be closed soon.
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        let service = Arc::clone(&service);
        connections.spawn(async move {
            let answer = hyper::service::service_fn(|request| {
                let service = Arc::clone(&service);
                async move { Ok::<_, Infallible>(service.answer(request).await) }
            });
            let served = hyper::server::conn::http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(HEAD)
                .serve_connection(TokioIo::new(stream), answer)
                .await;
            if let Err(error) = served {
                tracing::debug!(%error, "an HTTP connection ended early");
            }
            drop(place);
        });
    }
}

impl Service {
    async fn answer(&self, request: Request<Incoming>) -> Response<Body> {
        if let Some(refusal) = self.refusal(&request) {
            return refusal;
        }
        let id = header(&request, SESSION_ID).map(str::to_owned);
        let client = id
            .as_ref()
            .and_then(|id| self.sessions.lock().get(id).cloned());
        if let Some(client) = &client {
            client.used.store(
                self.clock.fetch_add(1, Ordering::Relaxed),
                Ordering::Relaxed,
            );
        }
        match (request.method().clone(), id, client) {
            (_, Some(_), None) => plain(
                StatusCode::NOT_FOUND,
                "there is no such session; start one with `initialize`",
            ),
            (Method::POST, _, client) => self.post(request, client).await,
            (Method::GET, _, Some(client)) => read_on(&request, &client),
            (Method::DELETE, Some(id), Some(client)) => {
                self.sessions.lock().remove(&id);
                client.session.lock().await.close().await;
                plain(StatusCode::NO_CONTENT, "")
            }
            (Method::GET | Method::DELETE, ..) => plain(
                StatusCode::BAD_REQUEST,
                "the header `Mcp-Session-Id` is missing",
            ),
            _ => plain(StatusCode::METHOD_NOT_ALLOWED, "use POST, GET or DELETE"),
        }
    }

    /// Refuses who may not talk to this server, and what it does not have.
    fn refusal(&self, request: &Request<Incoming>) -> Option<Response<Body>> {
        // A page of another site must not reach a server on this machine, by its own name or another.
        let ours = |authority: &str| {
            let host = authority
                .rsplit_once(':')
                .map_or(authority, |(host, _)| host);
            !self.is_local || ["127.0.0.1", "localhost", "[::1]"].contains(&host)
        };
        let host = header(request, HOST.as_str());
        let origin = header(request, ORIGIN.as_str());
        let of_this_machine =
            |origin: &str| origin.strip_prefix("http://").is_some_and(ours) && self.is_local;
        if !host.is_some_and(ours) || !origin.is_none_or(of_this_machine) {
            let text = "requests of web pages and under other host names are refused";
            return Some(plain(StatusCode::FORBIDDEN, text));
        }
        if let Some(token) = &self.token {
            let given = header(request, AUTHORIZATION.as_str())
                .and_then(|it| it.strip_prefix("Bearer "))
                .unwrap_or_default();
            if !bool::from(given.as_bytes().ct_eq(token.as_bytes())) {
                let mut refusal = plain(StatusCode::UNAUTHORIZED, "a bearer token is needed");
                let value = hyper::header::HeaderValue::from_static("Bearer");
                refusal.headers_mut().insert("www-authenticate", value);
                return Some(refusal);
            }
        }
        match request.uri().path() {
            PATH => None,
            _ => Some(plain(StatusCode::NOT_FOUND, "the endpoint is /mcp")),
        }
    }

    async fn post(
        &self,
        request: Request<Incoming>,
        client: Option<Arc<Client>>,
    ) -> Response<Body> {
        let body = Limited::new(request.into_body(), MAX_BODY).collect().await;
        let Ok(body) = body.map(http_body_util::Collected::to_bytes) else {
            let text = format!("the body did not come whole, or is over {MAX_BODY} bytes");
            return plain(StatusCode::PAYLOAD_TOO_LARGE, &text);
        };
        let (id, client) = match (client, message::read(&body)) {
            (Some(client), Ok(_)) => (None, client),
            (None, Ok(message::Incoming::Request { method, .. })) if method == "initialize" => {
                match self.open() {
                    Some((id, client)) => (Some(id), client),
                    None => {
                        let text = format!("{MOST_SESSIONS} clients are connected; end a session");
                        return plain(StatusCode::SERVICE_UNAVAILABLE, &text);
                    }
                }
            }
            (None, Ok(_)) => {
                let text = "the header `Mcp-Session-Id` is missing; start with `initialize`";
                return plain(StatusCode::BAD_REQUEST, text);
            }
            (_, Err(malformed)) => {
                let error = message::error(&malformed.id, malformed.code, malformed.why, None);
                return json(StatusCode::BAD_REQUEST, &error.to_string());
            }
        };
        let is_request = matches!(message::read(&body), Ok(message::Incoming::Request { .. }));
        let (stream, outlet) = Stream::new();
        client.session.lock().await.receive(&body, &outlet).await;
        drop(outlet);
        if !is_request {
            return plain(StatusCode::ACCEPTED, "");
        }
        let number = client.keep(&stream);
        let mut response = events(number, stream, 0);
        if let Some(id) = id.and_then(|id| id.parse().ok()) {
            response.headers_mut().insert(SESSION_ID, id);
        }
        response
    }

    fn open(&self) -> Option<(String, Arc<Client>)> {
        let mut sessions = self.sessions.lock();
        if sessions.len() >= MOST_SESSIONS {
            // Clients that leave without a word stay until their place is needed.
            let idle = sessions.iter().filter(|(_, it)| it.is_idle());
            let oldest = idle.min_by_key(|(_, it)| it.used.load(Ordering::Relaxed));
            let id = oldest.map(|(id, _)| id.clone())?;
            sessions.remove(&id);
        }
        let id = uuid::Uuid::new_v4().to_string();
        let session = Session::new(Arc::clone(&self.connect), self.base.clone());
        let client = Arc::new(Client {
            session: tokio::sync::Mutex::new(session),
            used: AtomicU64::new(self.clock.fetch_add(1, Ordering::Relaxed)),
            streams: Mutex::default(),
        });
        sessions.insert(id.clone(), Arc::clone(&client));
        Some((id, client))
    }
}

impl Client {
    /// Whether no call is running.
    fn is_idle(&self) -> bool {
        self.streams
            .lock()
            .iter()
            .all(|(_, stream)| stream.is_over())
    }

    /// Keeps a stream so that it can be read on, and forgets the oldest that are over.
    fn keep(&self, stream: &Arc<Stream>) -> u64 {
        let mut streams = self.streams.lock();
        let number = streams.last().map_or(0, |(number, _)| number + 1);
        streams.push((number, Arc::clone(stream)));
        while streams.len() > MOST_STREAMS {
            let Some(oldest) = streams.iter().position(|(_, it)| it.is_over()) else {
                break;
            };
            streams.remove(oldest);
        }
        number
    }
}

/// Goes on with a stream after the event that the client has seen last. Nothing is sent outside the streams of
/// requests, so there is nothing else to read.
fn read_on(request: &Request<Incoming>, client: &Client) -> Response<Body> {
    let Some(last) = header(request, "last-event-id") else {
        let text = "messages are sent only in answers; give `Last-Event-ID` to read one on";
        return plain(StatusCode::METHOD_NOT_ALLOWED, text);
    };
    let number = |text: &str| text.parse::<u64>().ok();
    let last = last
        .split_once('-')
        .and_then(|(stream, seen)| Some((number(stream)?, number(seen)?)));
    let found = last.and_then(|(wanted, seen)| {
        let streams = client.streams.lock();
        let (number, stream) = streams.iter().find(|(number, _)| *number == wanted)?;
        Some((*number, Arc::clone(stream), seen + 1))
    });
    match found {
        Some((number, stream, from)) => events(number, stream, from),
        None => plain(StatusCode::NOT_FOUND, "there is no such event"),
    }
}

/// The messages of a stream as server-sent events.
fn events(number: u64, messages: Arc<Stream>, from: u64) -> Response<Body> {
    let frames = stream::unfold((messages, from), move |(messages, from)| async move {
        let next = tokio::time::timeout(HEARTBEAT, messages.next(from)).await;
        let (text, from) = match next {
            Ok(None) => return None,
            Ok(Some((seq, message))) => {
                (format!("id: {number}-{seq}\ndata: {message}\n\n"), seq + 1)
            }
            Err(_) => (": alive\n\n".to_owned(), from),
        };
        Some((Frame::data(Bytes::from(text)), (messages, from)))
    });
    let body = StreamBody::new(frames.map(Ok::<_, Infallible>));
    let mut response = Response::new(body.boxed_unsync());
    let headers = response.headers_mut();
    headers.insert(
        CONTENT_TYPE,
        hyper::header::HeaderValue::from_static("text/event-stream"),
    );
    headers.insert(
        "cache-control",
        hyper::header::HeaderValue::from_static("no-store"),
    );
    response
}

fn header<'a>(request: &'a Request<Incoming>, name: &str) -> Option<&'a str> {
    request.headers().get(name)?.to_str().ok()
}

fn plain(status: StatusCode, text: &str) -> Response<Body> {
    whole(status, "text/plain; charset=utf-8", text)
}

fn json(status: StatusCode, text: &str) -> Response<Body> {
    whole(status, "application/json", text)
}

fn whole(status: StatusCode, kind: &'static str, text: &str) -> Response<Body> {
    let mut response = Response::new(Full::new(Bytes::from(text.to_owned())).boxed_unsync());
    *response.status_mut() = status;
    if !text.is_empty() {
        let kind = hyper::header::HeaderValue::from_static(kind);
        response.headers_mut().insert(CONTENT_TYPE, kind);
    }
    response
}
