//! Servers that are addresses: streamable HTTP. Each message is posted; answers come as JSON or as a stream
//! of events, and what a server says unasked comes over a stream of its own.

use std::sync::{Arc, Weak};
use std::time::Duration;

use futures_util::future::BoxFuture;
use parking_lot::Mutex;
use quipu_sse::Parser;
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{RequestBuilder, Response, StatusCode, Url};
use tokio::time::timeout;

use crate::error::{Error, StartError};
use crate::http_client;
use crate::link::{BackLink, Link};
use crate::message::Incoming;
use crate::oauth::Grant;
use crate::session::Session;
use crate::stdio::{MAX_MESSAGE, TOO_LONG};

const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const LAST_EVENT: HeaderName = HeaderName::from_static("last-event-id");
/// How much of an error's text is kept.
const MAX_ERROR_TEXT: usize = 500;
/// How often a stream that breaks off is taken up again.
const MAX_RESUMES: usize = 3;
const RESUME_AFTER: Duration = Duration::from_millis(500);
/// How long the goodbye to a server may take.
const GOODBYE: Duration = Duration::from_secs(2);

/// An address and what every request to it carries.
#[derive(Clone)]
pub struct Endpoint {
    /// The address.
    pub url: String,
    /// Headers from the configuration.
    pub headers: Vec<(String, String)>,
    /// The token of the configuration.
    pub bearer: Option<String>,
    /// A login, used where the configuration has no token.
    pub grant: Option<Arc<Grant>>,
    /// A login that somebody else keeps fresh.
    pub login: Option<Arc<dyn TokenSource>>,
    /// More certificate authorities to trust, as a PEM file.
    pub certificates: Option<std::path::PathBuf>,
}

/// Supplies the headers of a login, as they are when a request is sent.
pub trait TokenSource: Send + Sync {
    /// Names in lower case, and values, which are secret.
    fn headers(&self) -> BoxFuture<'_, Vec<(&'static str, String)>>;
}

/// Headers and tokens are secret, so only the address is shown.
impl std::fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Endpoint")
            .field("url", &self.url)
            .finish_non_exhaustive()
    }
}

impl Endpoint {
    /// Whether the configuration says how to authenticate.
    #[must_use]
    pub fn has_token(&self) -> bool {
        let is_authorization = |name: &str| name.eq_ignore_ascii_case("authorization");
        let in_headers = self.headers.iter().any(|(name, _)| is_authorization(name));
        in_headers || self.bearer.is_some() || self.login.is_some()
    }
}

/// A connection to an address.
pub(crate) struct Http {
    client: reqwest::Client,
    url: Url,
    headers: HeaderMap,
    grant: Option<Arc<Grant>>,
    login: Option<Arc<dyn TokenSource>>,
    session: Arc<Session>,
    /// What came to be agreed on: the server's name for the session, the protocol's version, the token.
    agreed: Mutex<HeaderMap>,
    listener: Mutex<Option<tokio::task::AbortHandle>>,
}

/// Prepares a connection; nothing is sent yet.
pub(crate) fn connect(endpoint: &Endpoint, session: &Arc<Session>) -> Result<Link, StartError> {
    let url = Url::parse(&endpoint.url)
        .map_err(|error| StartError::Settings(format!("the url cannot be used: {error}")))?;
    let mut headers = HeaderMap::new();
    let own = endpoint
        .headers
        .iter()
        .map(|(name, value)| (name.as_str(), value.clone()));
    let bearer = endpoint.bearer.iter();
    for (name, value) in own.chain(bearer.map(|it| ("authorization", format!("Bearer {it}")))) {
        let refused = || StartError::Settings(format!("the header `{name}` cannot be sent"));
        let header = HeaderName::from_bytes(name.as_bytes()).map_err(|_| refused())?;
        let mut value = HeaderValue::from_str(&value).map_err(|_| refused())?;
        value.set_sensitive(true);
        headers.insert(header, value);
    }
    Ok(Link::Http(Arc::new(Http {
        client: http_client::build(endpoint.certificates.as_deref())
            .map_err(StartError::Settings)?,
        url,
        headers,
        grant: endpoint.grant.clone().filter(|_| !endpoint.has_token()),
        login: endpoint.login.clone(),
        session: Arc::clone(session),
        agreed: Mutex::default(),
        listener: Mutex::default(),
    })))
}

impl Http {
    /// Posts a request and brings its answer to the session.
    pub async fn request(self: &Arc<Http>, id: u64, message: Vec<u8>) -> Result<(), Error> {
        let response = self.post(&message).await?;
        if let Some(name) = response.headers().get(&SESSION) {
            self.agree(SESSION, name.clone());
        }
        if is_event_stream(&response) {
            self.follow(response, id).await?;
        } else {
            let body = read_body(response, MAX_MESSAGE).await?;
            self.session.receive(&body, Some(id), &self.back());
        }
        if self.session.is_pending(id) {
            return Err(Error::Http("the answer ended before the result".to_owned()));
        }
        Ok(())
    }

    /// Posts what needs no answer.
    pub async fn notify(&self, message: Vec<u8>) -> Result<(), Error> {
        self.post(&message).await.map(drop)
    }

    /// Remembers something that all later requests say.
    fn agree(&self, name: HeaderName, value: HeaderValue) {
        let mut agreed = self.agreed.lock();
        agreed.insert(name, value);
    }

    pub fn agree_version(&self, version: &str) {
        if let Ok(value) = HeaderValue::from_str(version) {
            self.agree(VERSION, value);
        }
    }

    /// Begins to listen to what the server says unasked. Servers that say nothing refuse, which is fine.
    pub fn listen(self: &Arc<Http>) {
        let task = tokio::spawn(listen(Arc::downgrade(self), Arc::clone(&self.session)));
        let mut listener = self.listener.lock();
        if let Some(before) = listener.replace(task.abort_handle()) {
            before.abort();
        }
    }

    fn agreed(&self) -> HeaderMap {
        self.agreed.lock().clone()
    }

    fn back(self: &Arc<Http>) -> BackLink {
        BackLink::Http(Arc::downgrade(self))
    }

    async fn post(&self, message: &[u8]) -> Result<Response, Error> {
        let build = || {
            let request = self.client.post(self.url.clone());
            request
                .header(CONTENT_TYPE, "application/json")
                .header(ACCEPT, "application/json, text/event-stream")
                .body(message.to_vec())
        };
        let response = self.send(build).await?;
        let status = response.status();
        if status.is_success() {
            return Ok(response);
        }
        if status == StatusCode::NOT_FOUND && self.forget_session() {
            return Err(Error::SessionGone);
        }
        let text = read_body(response, MAX_MESSAGE).await.unwrap_or_default();
        // Some servers send the protocol's own errors with a status of HTTP.
        if let Some(Incoming::Answer {
            outcome: Err(error),
            ..
        }) = Incoming::read(&text)
        {
            return Err(error);
        }
        let text = String::from_utf8_lossy(&text[..text.len().min(MAX_ERROR_TEXT)]).into_owned();
        Err(Error::Http(match text.trim() {
            "" => format!("the server answered with HTTP status {status}"),
            text => format!("the server answered with HTTP status {status}: {text}"),
        }))
    }

    /// Sends a request with all that every request carries; a token that is refused is renewed once.
    async fn send(&self, build: impl Fn() -> RequestBuilder) -> Result<Response, Error> {
        if let Some(login) = &self.login {
            for (name, value) in login.headers().await {
                if let Ok(mut value) = HeaderValue::from_str(&value) {
                    value.set_sensitive(true);
                    self.agree(HeaderName::from_static(name), value);
                }
            }
        }
        let mut token = match &self.grant {
            Some(grant) => grant.token(&self.client).await,
            None => None,
        };
        let mut renewed = false;
        loop {
            if let Some(token) = &token {
                self.agree(AUTHORIZATION, token.header());
            }
            let request = build().headers(self.headers.clone());
            let response = request
                .headers(self.agreed())
                .send()
                .await
                .map_err(|error| Error::Http(http_client::explain(&error, &self.url)))?;
            if response.status() != StatusCode::UNAUTHORIZED {
                return Ok(response);
            }
            let refused = match (&self.grant, token.take()) {
                (Some(grant), Some(refused)) if !renewed => (grant, refused),
                _ => return Err(Error::Unauthorized),
            };
            token = refused.0.renew(&self.client, &refused.1).await;
            renewed = true;
            if token.is_none() {
                return Err(Error::Unauthorized);
            }
        }
    }

    /// `false` if there was no session to forget.
    fn forget_session(&self) -> bool {
        let mut agreed = self.agreed.lock();
        agreed.remove(&SESSION).is_some()
    }

    /// Reads the stream of an answer, taking it up again where it broke off.
    async fn follow(self: &Arc<Http>, first: Response, id: u64) -> Result<(), Error> {
        let mut response = first;
        for resumes in 0.. {
            let last = drain(response, Some(id), &self.session, &self.back()).await?;
            let Some(last) = last.filter(|_| self.session.is_pending(id)) else {
                break;
            };
            if resumes == MAX_RESUMES {
                break;
            }
            tokio::time::sleep(RESUME_AFTER).await;
            response = match self.get(Some(&last)).await? {
                Some(response) => response,
                None => break,
            };
        }
        Ok(())
    }

    /// Asks for a stream of events; `None` if the server has none.
    async fn get(&self, after: Option<&str>) -> Result<Option<Response>, Error> {
        let build = || {
            let request = self.client.get(self.url.clone());
            let request = request.header(ACCEPT, "text/event-stream");
            match after {
                Some(id) => request.header(LAST_EVENT, id),
                None => request,
            }
        };
        let response = self.send(build).await?;
        let usable = response.status().is_success() && is_event_stream(&response);
        Ok(usable.then_some(response))
    }
}

impl Drop for Http {
    fn drop(&mut self) {
        let listener = self.listener.lock();
        if let Some(listener) = listener.as_ref() {
            listener.abort();
        }
        drop(listener);
        let agreed = self.agreed();
        let Ok(runtime) = tokio::runtime::Handle::try_current() else {
            return;
        };
        if agreed.contains_key(&SESSION) {
            let request = self.client.delete(self.url.clone());
            let request = request.headers(self.headers.clone()).headers(agreed);
            runtime.spawn(async move {
                // A server that does not hear the goodbye ends the session by itself.
                timeout(GOODBYE, request.send()).await.map(drop).ok();
            });
        }
    }
}

async fn listen(http: Weak<Http>, session: Arc<Session>) {
    let mut last = None;
    for _ in 0..=MAX_RESUMES {
        let Some(strong) = http.upgrade() else { return };
        let back = strong.back();
        let Ok(Some(response)) = strong.get(last.as_deref()).await else {
            return;
        };
        drop(strong);
        match drain(response, None, &session, &back).await {
            Ok(id) => last = id.or(last),
            Err(error) => {
                tracing::debug!(server = session.server, %error, "an MCP server's stream ended");
            }
        }
        tokio::time::sleep(RESUME_AFTER).await;
    }
}

/// Gives all events of a stream to the session; the id of the last one is where it could go on.
async fn drain(
    mut response: Response,
    via: Option<u64>,
    session: &Arc<Session>,
    back: &BackLink,
) -> Result<Option<String>, Error> {
    let mut events = Parser::new(MAX_MESSAGE);
    // A stream that breaks off is at its end.
    while let Ok(Some(chunk)) = response.chunk().await {
        events
            .push(&chunk)
            .map_err(|_| Error::Closed(Some(TOO_LONG)))?;
        while let Some(data) = events.next_event() {
            if !data.is_empty() {
                session.receive(data, via, back);
            }
        }
        if via.is_some_and(|id| !session.is_pending(id)) {
            break;
        }
    }
    Ok(events.last_id().map(str::to_owned))
}

fn is_event_stream(response: &Response) -> bool {
    let kind = response.headers().get(CONTENT_TYPE);
    kind.is_some_and(|it| it.as_bytes().starts_with(b"text/event-stream"))
}

/// Reads a body of bounded size.
pub(crate) async fn read_body(mut response: Response, limit: usize) -> Result<Vec<u8>, Error> {
    let mut body = Vec::new();
    loop {
        match response.chunk().await {
            Ok(Some(chunk)) => body.extend_from_slice(&chunk),
            Ok(None) => return Ok(body),
            Err(_) => return Err(Error::Http("the answer broke off".to_owned())),
        }
        if body.len() > limit {
            return Err(Error::Closed(Some(TOO_LONG)));
        }
    }
}
