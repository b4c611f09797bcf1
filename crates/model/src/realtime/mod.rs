//! Voice conversations with a provider: a websocket over which sound and text go in both directions. Two versions of
//! the protocol are spoken; `protocol.rs` knows what differs.

mod protocol;

use std::collections::VecDeque;
use std::time::Duration;

use bytes::Bytes;
use reqwest::Url;
use reqwest::header::{HeaderName, HeaderValue};
use tokio::sync::mpsc;
use tokio::time::timeout;

use crate::client::Client;
use crate::credentials::Credentials;
use crate::exchange::current;
use crate::failure::Failure;
use crate::http::{Call, Endpoint};
use crate::provider::ProviderConfig;
use crate::request::RequestMeta;
use crate::websocket::{Received, Socket};
use protocol::Protocol;
pub use protocol::{RealtimeAudio, RealtimeEvent, RealtimeInput, RealtimeVersion};

/// How long the provider may take to read what it is sent.
const WRITE_PATIENCE: Duration = Duration::from_secs(30);
const SESSION_HEADER: HeaderName = HeaderName::from_static("x-session-id");

/// What a conversation begins with.
#[derive(Debug, Clone, Default)]
pub struct RealtimeSetup {
    /// Where the provider's voice API is, unless it is where its other APIs are.
    pub base_url: Option<String>,
    /// The voice model, unless the provider chooses.
    pub model: Option<String>,
    /// What the voice model is asked to be and do.
    pub instructions: String,
    /// The name of the session.
    pub session_id: String,
    pub version: RealtimeVersion,
    /// Whether what is said is only written down.
    pub transcribes: bool,
    /// Which client this is for.
    pub originator: String,
}

/// A conversation under way. Dropping it ends it.
pub struct RealtimeSession {
    socket: Socket,
    protocol: Protocol,
    events: VecDeque<RealtimeEvent>,
    over: bool,
}

impl Client {
    /// Begins a conversation. The error says why that failed.
    pub async fn realtime(&self, setup: &RealtimeSetup) -> Result<RealtimeSession, String> {
        let shared = self.shared();
        let credentials = current(shared).await.map_err(text)?;
        let provider = &shared.provider;
        let meta = RequestMeta {
            originator: setup.originator.clone(),
            ..RequestMeta::default()
        };
        // A login is for another API.
        let credentials = match credentials {
            Credentials::ApiKey(key) => Credentials::ApiKey(key),
            Credentials::None | Credentials::ChatGpt { .. } => Credentials::None,
        };
        let call = Call::new(provider, Endpoint::Sample, &credentials, &meta);
        let mut call = call.map_err(|kind| kind.to_string())?;
        if !call.headers.contains_key(reqwest::header::AUTHORIZATION) {
            return Err("realtime conversation requires API key auth".to_owned());
        }
        call.url = url(provider, setup)?;
        let session = HeaderValue::from_str(&setup.session_id)
            .map_err(|_| "the session id cannot be sent in a header".to_owned())?;
        call.headers.insert(SESSION_HEADER, session);
        let opened = Socket::open(&call, &shared.http, provider.connect_timeout()).await;
        let socket = match opened.map_err(text)? {
            Ok((socket, _)) => socket,
            Err(refusal) => {
                let status = refusal.status;
                return Err(format!(
                    "stream disconnected before completion: failed to connect realtime websocket: HTTP error: {status}"
                ));
            }
        };
        let mut session = RealtimeSession {
            socket,
            protocol: Protocol::new(setup.version),
            events: VecDeque::new(),
            over: false,
        };
        let update = protocol::session_update(setup);
        session.socket.send(update).await.map_err(text)?;
        Ok(session)
    }
}

impl RealtimeSession {
    /// The next event, while what arrives in `inputs` is sent. `None` after the end, or when nobody can send any
    /// more. Safe to cancel.
    pub async fn next(
        &mut self,
        inputs: &mut mpsc::Receiver<RealtimeInput>,
    ) -> Option<RealtimeEvent> {
        loop {
            if let Some(event) = self.events.pop_front() {
                return Some(event);
            }
            if self.over {
                return None;
            }
            let messages = tokio::select! {
                received = self.socket.next() => self.receive(received),
                input = inputs.recv() => self.protocol.send(input?),
            };
            for message in messages {
                self.write(message).await;
            }
        }
    }

    fn receive(&mut self, received: Result<Received, Failure>) -> Vec<String> {
        let end = match received {
            Ok(Received::Text(text)) => return self.read(&text),
            Ok(Received::Binary) => {
                RealtimeEvent::Failed("unexpected binary realtime websocket event".to_owned())
            }
            Ok(Received::Closed) => RealtimeEvent::Closed,
            Err(failure) => RealtimeEvent::Failed(format!(
                "stream disconnected before completion: failed to read websocket message: {}",
                reason(&failure)
            )),
        };
        self.end(end);
        Vec::new()
    }

    fn read(&mut self, text: &Bytes) -> Vec<String> {
        let (events, messages) = self.protocol.receive(text);
        for event in events {
            match event {
                RealtimeEvent::Failed(_) => self.end(event),
                event => self.events.push_back(event),
            }
        }
        messages
    }

    async fn write(&mut self, message: String) {
        if self.over {
            return;
        }
        let failed = match timeout(WRITE_PATIENCE, self.socket.send(message)).await {
            Ok(Ok(())) => return,
            Ok(Err(failure)) => reason(&failure),
            Err(_) => "the provider does not read what it is sent".to_owned(),
        };
        self.end(RealtimeEvent::Failed(format!(
            "stream disconnected before completion: failed to send websocket message: {failed}"
        )));
    }

    fn end(&mut self, event: RealtimeEvent) {
        self.over = true;
        self.events.push_back(event);
    }
}

impl std::fmt::Debug for RealtimeSession {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("RealtimeSession")
    }
}

/// A failure for people.
fn text(failure: Failure) -> String {
    failure.kind.to_string()
}

/// What went wrong, without what an answer would have been.
fn reason(failure: &Failure) -> String {
    let text = failure.kind.to_string();
    let prefix = "stream disconnected before completion: ";
    text.strip_prefix(prefix).unwrap_or(&text).to_owned()
}

/// The address of the voice API: an API's root or `/v1` is completed, anything else is taken as it is.
fn url(provider: &ProviderConfig, setup: &RealtimeSetup) -> Result<String, String> {
    let base = match &setup.base_url {
        Some(base) => base.as_str(),
        None => provider.address(false)?,
    };
    // The request is one of HTTP until it is upgraded.
    let base = match base.strip_prefix("ws") {
        Some(rest) if rest.starts_with("://") || rest.starts_with("s://") => format!("http{rest}"),
        _ => base.to_owned(),
    };
    let mut url = Url::parse(&base).map_err(|error| {
        format!("the address of the realtime API cannot be used: {error}; set `experimental_realtime_ws_base_url`")
    })?;
    let path = url.path().trim_end_matches('/');
    let path = match path {
        "" => Some("/v1/realtime".to_owned()),
        path if path.ends_with("/v1") => Some(format!("{path}/realtime")),
        _ => None,
    };
    if let Some(path) = path {
        url.set_path(&path);
    }
    let intent = (setup.version == RealtimeVersion::V1).then_some(("intent", "quicksilver"));
    let model = setup.model.as_deref().map(|model| ("model", model));
    let own = provider.query_params.iter().flatten();
    let own = own.map(|(name, value)| (name.as_str(), value.as_str()));
    let parameters: Vec<_> = intent.into_iter().chain(model).chain(own).collect();
    if !parameters.is_empty() {
        url.query_pairs_mut().extend_pairs(parameters);
    }
    Ok(url.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_is_completed_where_it_is_that_of_an_api() {
        let shown = |base: &str, version, model: Option<&str>| {
            let setup = RealtimeSetup {
                base_url: Some(base.to_owned()),
                version,
                model: model.map(str::to_owned),
                ..RealtimeSetup::default()
            };
            url(&ProviderConfig::default(), &setup).unwrap()
        };
        use RealtimeVersion::{V1, V2};
        for (base, version, model, wanted) in [
            (
                "http://h",
                V1,
                None,
                "http://h/v1/realtime?intent=quicksilver",
            ),
            (
                "wss://h/v1/",
                V2,
                Some("m"),
                "https://h/v1/realtime?model=m",
            ),
            ("ws://h/v1", V2, None, "http://h/v1/realtime"),
            (
                "http://h/x/realtime?a=b",
                V1,
                Some("m"),
                "http://h/x/realtime?a=b&intent=quicksilver&model=m",
            ),
            ("http://h/foo", V2, None, "http://h/foo"),
        ] {
            assert_eq!(shown(base, version, model), wanted, "{base}");
        }
    }

    #[test]
    fn an_address_that_is_none_is_refused() {
        let setup = RealtimeSetup {
            base_url: Some("nowhere".to_owned()),
            ..RealtimeSetup::default()
        };
        let error = url(&ProviderConfig::default(), &setup).unwrap_err();
        assert!(
            error.contains("experimental_realtime_ws_base_url"),
            "{error}"
        );
    }
}
