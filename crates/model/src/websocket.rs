//! A websocket to a provider. It begins as a request of the HTTP client, so the proxies, certificate authorities and
//! credentials are those of every other request.

use std::time::Duration;

use bytes::Bytes;
use futures_util::{FutureExt as _, SinkExt as _, StreamExt as _};
use reqwest::header::{
    ACCEPT, CONNECTION, CONTENT_TYPE, HeaderMap, HeaderValue, SEC_WEBSOCKET_KEY,
    SEC_WEBSOCKET_VERSION, UPGRADE, USER_AGENT,
};
use reqwest::{StatusCode, Upgraded};
use tokio::time::timeout;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::handshake::client::generate_key;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
use tokio_tungstenite::tungstenite::protocol::{Role, WebSocketConfig};
use tokio_tungstenite::tungstenite::{Error, Message};

use crate::error::ErrorKind;
use crate::failure::Failure;
use crate::http::{Call, Http};
use crate::refusal::Refusal;

/// The longest message that is read: as much as an event of a stream may have.
const MAX_MESSAGE: usize = 16 * 1024 * 1024;
/// Messages that wait to be written, in bytes. A request must fit.
const MAX_WRITE: usize = 1024 * 1024 * 1024;

/// An open websocket.
pub(crate) struct Socket(WebSocketStream<Upgraded>);

/// What came over a websocket.
pub(crate) enum Received {
    Text(Bytes),
    Binary,
    /// The provider closed the connection as it should.
    Closed,
}

impl Socket {
    /// Opens a websocket at the address of a call. Gives the headers of the answer, or the refusal.
    pub(crate) async fn open(
        call: &Call,
        http: &Http,
        patience: Duration,
    ) -> Result<Result<(Self, HeaderMap), Box<Refusal>>, Failure> {
        let key = generate_key();
        let mut headers = call.headers.clone();
        for name in [ACCEPT, CONTENT_TYPE, USER_AGENT] {
            headers.remove(name);
        }
        headers.insert(CONNECTION, HeaderValue::from_static("Upgrade"));
        headers.insert(UPGRADE, HeaderValue::from_static("websocket"));
        headers.insert(SEC_WEBSOCKET_VERSION, HeaderValue::from_static("13"));
        let sent_key = HeaderValue::from_str(&key).map_err(|_| unusable("the key"))?;
        headers.insert(SEC_WEBSOCKET_KEY, sent_key);
        let asked = call.with_headers(headers);
        let mut response = asked.send(http, None, patience).await?;
        if response.status() != StatusCode::SWITCHING_PROTOCOLS {
            let mut refusal = asked.refusal(response).await;
            refusal.url = socket_url(&refusal.url);
            return Ok(Err(Box::new(refusal)));
        }
        let mut headers = std::mem::take(response.headers_mut());
        let accepted = headers.get("sec-websocket-accept");
        if accepted.map(HeaderValue::as_bytes) != Some(derive_accept_key(key.as_bytes()).as_bytes())
        {
            return Err(unusable("the key of the answer").into());
        }
        call.secrets.hide_in(&mut headers);
        let upgraded = timeout(patience, response.upgrade()).await;
        let upgraded = upgraded
            .map_err(|_| unusable("the answer, which did not come in time"))?
            .map_err(|_| unusable("the connection"))?;
        let config = WebSocketConfig::default()
            .max_message_size(Some(MAX_MESSAGE))
            .max_frame_size(Some(MAX_MESSAGE))
            .max_write_buffer_size(MAX_WRITE);
        let socket = WebSocketStream::from_raw_socket(upgraded, Role::Client, Some(config)).await;
        Ok(Ok((Self(socket), headers)))
    }

    pub(crate) async fn send(&mut self, text: String) -> Result<(), Failure> {
        let sent = self.0.send(Message::text(text)).await;
        sent.map_err(|error| lost(&error))
    }

    /// The next message. Pings are answered on the way.
    pub(crate) async fn next(&mut self) -> Result<Received, Failure> {
        loop {
            match self.0.next().await {
                Some(Ok(Message::Text(text))) => return Ok(Received::Text(text.into())),
                Some(Ok(Message::Binary(_))) => return Ok(Received::Binary),
                Some(Ok(Message::Close(_))) | None => return Ok(Received::Closed),
                Some(Ok(Message::Ping(_) | Message::Pong(_) | Message::Frame(_))) => {}
                Some(Err(error)) => return Err(lost(&error)),
            }
        }
    }

    /// Whether nothing has come since the last answer, in particular no end.
    pub(crate) fn is_idle(&mut self) -> bool {
        loop {
            match self.0.next().now_or_never() {
                None => return true,
                Some(Some(Ok(Message::Ping(_) | Message::Pong(_)))) => {}
                Some(_) => return false,
            }
        }
    }
}

/// The address of a websocket, for people.
fn socket_url(url: &str) -> String {
    match url.strip_prefix("http") {
        Some(rest) => format!("ws{rest}"),
        None => url.to_owned(),
    }
}

fn unusable(what: &str) -> ErrorKind {
    ErrorKind::stream(format!(
        "the provider accepted a websocket, but {what} cannot be used"
    ))
}

fn lost(error: &Error) -> Failure {
    Failure {
        cause: Some("broke the websocket".into()),
        ..ErrorKind::stream(error.to_string()).into()
    }
}
