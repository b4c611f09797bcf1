//! The voice API of a provider: a websocket that the test holds the other end of.

use std::collections::BTreeMap;
use std::io;

use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::Value;
use tokio::io::AsyncWriteExt as _;
use tokio::net::{TcpListener, TcpStream};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
use tokio_tungstenite::tungstenite::protocol::Role;

use crate::http::{Request, read_request};

/// A listener on loopback.
pub struct VoiceServer {
    listener: TcpListener,
    port: u16,
}

impl VoiceServer {
    /// Starts one.
    pub async fn start() -> io::Result<VoiceServer> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let port = listener.local_addr()?.port();
        Ok(VoiceServer { listener, port })
    }

    /// Its address, without a path.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    async fn request(&self) -> io::Result<(TcpStream, Request)> {
        loop {
            let (mut stream, _) = self.listener.accept().await?;
            if let Some(request) = read_request(&mut stream, &mut Vec::new()).await? {
                return Ok((stream, request));
            }
        }
    }

    /// The next conversation.
    pub async fn accept(&self) -> io::Result<Voice> {
        let (mut stream, request) = self.request().await?;
        let key = request.headers.get("sec-websocket-key");
        let accept = derive_accept_key(key.map_or("", String::as_str).as_bytes());
        let answer = format!(
            "HTTP/1.1 101 Scripted\r\nconnection: upgrade\r\nupgrade: websocket\r\n\
             sec-websocket-accept: {accept}\r\n\r\n"
        );
        stream.write_all(answer.as_bytes()).await?;
        Ok(Voice {
            path: request.path,
            headers: request.headers,
            socket: WebSocketStream::from_raw_socket(stream, Role::Server, None).await,
        })
    }

    /// Refuses the next conversation.
    pub async fn refuse(&self, status: u16) -> io::Result<()> {
        let (mut stream, _) = self.request().await?;
        let answer = format!("HTTP/1.1 {status} Scripted\r\ncontent-length: 0\r\n\r\n");
        stream.write_all(answer.as_bytes()).await
    }
}

/// The provider's end of a conversation. Dropped, it breaks off.
pub struct Voice {
    /// The path and query it was opened with.
    pub path: String,
    /// Names in lower case.
    pub headers: BTreeMap<String, String>,
    socket: WebSocketStream<TcpStream>,
}

impl Voice {
    /// Sends a message.
    pub async fn say(&mut self, message: Value) {
        self.say_text(&message.to_string()).await;
    }

    /// The same with any text.
    pub async fn say_text(&mut self, text: &str) {
        // A client that has gone away is the test's own business.
        drop(self.socket.send(Message::text(text)).await);
    }

    /// Sends bytes that are no text.
    pub async fn say_bytes(&mut self, bytes: &[u8]) {
        drop(self.socket.send(Message::binary(bytes.to_vec())).await);
    }

    /// The next message; `None` when the client has gone.
    pub async fn hear(&mut self) -> Option<Value> {
        loop {
            match self.socket.next().await {
                Some(Ok(Message::Text(text))) => return serde_json::from_str(&text).ok(),
                Some(Ok(Message::Close(_)) | Err(_)) | None => return None,
                Some(Ok(_)) => {}
            }
        }
    }

    /// Ends the conversation as it should be.
    pub async fn close(mut self) {
        drop(self.socket.close(None).await);
    }
}
