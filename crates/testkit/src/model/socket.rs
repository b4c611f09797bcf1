//! The scripted model over a websocket: each message asks, and gets the events of an answer as messages.

use std::collections::BTreeMap;
use std::io;

use futures_util::{SinkExt as _, StreamExt as _};
use quipu_model::play::Ending;
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
use tokio_tungstenite::tungstenite::protocol::Role;

use super::{Reply, State};
use crate::http::Request;

/// What becomes of websockets.
#[derive(Debug, Clone, Default)]
pub enum Sockets {
    /// There are none: 426.
    #[default]
    None,
    /// They are refused with this status.
    Refused(u16),
    /// They are never answered.
    Silent,
    /// They open, with these headers.
    Open(BTreeMap<String, String>),
    /// They open, and break at the first request that is to be answered.
    Break,
    /// They open, and each answer comes between messages that are none: text that is no JSON, events that nobody
    /// knows, pings.
    Noisy,
    /// They open, and a message that is no text comes instead of an answer.
    Binary,
    /// They open, and are closed after each answer.
    OneAnswer,
}

/// The answer to a request for a websocket.
pub(super) enum SocketReply {
    Open(String),
    Refuse(u16),
    Silence,
}

impl State {
    pub(super) async fn socket(&self, request: &Request) -> SocketReply {
        let sockets = self.sockets.lock().clone();
        let headers = match sockets {
            Sockets::None => return SocketReply::Refuse(426),
            Sockets::Refused(status) => return SocketReply::Refuse(status),
            Sockets::Silent => return SocketReply::Silence,
            Sockets::Open(headers) => headers,
            _ => BTreeMap::new(),
        };
        let key = request.headers.get("sec-websocket-key");
        let accept = derive_accept_key(key.map_or("", String::as_str).as_bytes());
        let more: String = headers
            .iter()
            .map(|(name, value)| format!("{name}: {value}\r\n"))
            .collect();
        SocketReply::Open(format!(
            "HTTP/1.1 101 Scripted\r\nconnection: upgrade\r\nupgrade: websocket\r\n\
             sec-websocket-accept: {accept}\r\n{more}\r\n"
        ))
    }
}

/// Answers the messages of a websocket until either side ends it.
pub(super) async fn serve(
    stream: TcpStream,
    upgrade: &Request,
    number: u64,
    state: &State,
) -> io::Result<()> {
    let mut socket = WebSocketStream::from_raw_socket(stream, Role::Server, None).await;
    while let Some(Ok(message)) = socket.next().await {
        let Message::Text(text) = message else {
            continue;
        };
        let sockets = state.sockets.lock().clone();
        let request = Request {
            method: "websocket".to_owned(),
            body: text.as_bytes().to_vec(),
            ..upgrade.clone()
        };
        let frames = if is_warm_up(&text) {
            state.record(&request, &serde_json::from_str(&text)?, number);
            vec![json!({ "type": "response.completed", "response": { "id": "warm" } }).to_string()]
        } else {
            if matches!(sockets, Sockets::Break) {
                state.record(&request, &serde_json::from_str(&text)?, number);
                return Ok(());
            }
            let reply = state.reply(&request, number).await;
            let Some(frames) = frames(reply) else {
                return Ok(());
            };
            frames
        };
        for frame in disturbed(&sockets, frames) {
            if socket.send(frame).await.is_err() {
                state.abandoned.send_modify(|count| *count += 1);
                return Ok(());
            }
        }
        if matches!(sockets, Sockets::OneAnswer) && !is_warm_up(&text) {
            drop(socket.close(None).await);
            return Ok(());
        }
    }
    Ok(())
}

fn is_warm_up(text: &str) -> bool {
    serde_json::from_str::<Value>(text).is_ok_and(|request| request["generate"] == false)
}

/// The messages of an answer; `None` if it breaks off at once.
fn frames(reply: Reply) -> Option<Vec<String>> {
    match reply {
        Reply::Json { status, body, .. } => {
            let body: Value = serde_json::from_str(&body).unwrap_or_default();
            let error = json!({ "type": "error", "status": status, "error": body["error"] });
            Some(vec![error.to_string()])
        }
        Reply::Stream { mut player, .. } => {
            let bytes: Vec<u8> = player.by_ref().flat_map(|(_, bytes)| bytes).collect();
            let text = String::from_utf8_lossy(&bytes).into_owned();
            let data = text.lines().filter_map(|line| line.strip_prefix("data: "));
            let frames = data.map(str::to_owned).collect();
            (player.ending() == Ending::Close).then_some(frames)
        }
        Reply::Cut | Reply::Silence => None,
    }
}

fn disturbed(sockets: &Sockets, frames: Vec<String>) -> Vec<Message> {
    if matches!(sockets, Sockets::Binary) {
        return vec![Message::binary(vec![0, 1, 2])];
    }
    let noise = || {
        [
            Message::text("not JSON\nat all"),
            Message::text(r#"{"type":"unheard.of","error":7}"#),
            Message::Ping(vec![1].into()),
        ]
    };
    let texts = frames.into_iter().map(Message::text);
    match sockets {
        Sockets::Noisy => texts
            .flat_map(|text| noise().into_iter().chain([text]))
            .collect(),
        _ => texts.collect(),
    }
}
