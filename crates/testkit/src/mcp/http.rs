//! The scripted server over HTTP, with a login if wanted.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt as _;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio::task::{JoinHandle, JoinSet};

use super::script::{Act, act, text};
use crate::http::{Request, read_request};

/// How the server behaves.
#[derive(Debug, Clone, Default)]
pub struct HttpOptions {
    /// Answers come as streams of events.
    pub streams: bool,
    /// Requests need the token of a login.
    pub login: bool,
    /// How long tokens are valid, in seconds; an hour if absent.
    pub token_life: Option<u64>,
}

/// An MCP server that lives as long as this value.
#[derive(Debug)]
pub struct McpHttpServer {
    address: SocketAddr,
    state: Arc<State>,
    task: JoinHandle<()>,
}

#[derive(Debug)]
struct State {
    options: HttpOptions,
    base: String,
    requests: Mutex<Vec<Request>>,
    forgets: AtomicBool,
    sessions: AtomicU64,
    tokens: AtomicU64,
    /// Questions that wait for the client's answer, which comes as a request of its own.
    asked: Mutex<Option<oneshot::Sender<Value>>>,
}

impl McpHttpServer {
    /// Starts a server on a free port.
    pub async fn start(options: HttpOptions) -> io::Result<McpHttpServer> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let address = listener.local_addr()?;
        let state = Arc::new(State {
            options,
            base: format!("http://{address}"),
            requests: Mutex::default(),
            forgets: AtomicBool::default(),
            sessions: AtomicU64::default(),
            tokens: AtomicU64::default(),
            asked: Mutex::default(),
        });
        let task = tokio::spawn(accept(listener, Arc::clone(&state)));
        Ok(McpHttpServer {
            address,
            state,
            task,
        })
    }

    /// The address for the configuration.
    pub fn url(&self) -> String {
        format!("http://{}/mcp", self.address)
    }

    /// The next request is told that its session does not exist.
    pub fn forget_session(&self) {
        self.state.forgets.store(true, Ordering::Relaxed);
    }

    /// The requests so far.
    pub fn requests(&self) -> Vec<Request> {
        let requests = self.state.requests.lock();
        requests.clone()
    }
}

impl Drop for McpHttpServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn accept(listener: TcpListener, state: Arc<State>) {
    let mut connections = JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        while connections.try_join_next().is_some() {}
        let state = Arc::clone(&state);
        connections.spawn(async move {
            // A client that goes away ends its connection and nothing else.
            drop(connection(stream, &state).await);
        });
    }
}

async fn connection(mut stream: TcpStream, state: &State) -> io::Result<()> {
    let mut buffer = Vec::new();
    while let Some(request) = read_request(&mut stream, &mut buffer).await? {
        state.requests.lock().push(request.clone());
        state.serve(&mut stream, &request).await?;
    }
    Ok(())
}

impl State {
    async fn serve(&self, stream: &mut TcpStream, request: &Request) -> io::Result<()> {
        let body: Value = serde_json::from_slice(&request.body).unwrap_or_default();
        match (request.method.as_str(), request.path.as_str()) {
            ("POST", "/mcp") => self.message(stream, request, &body).await,
            ("DELETE", "/mcp") => json_answer(stream, 200, "", &json!({})).await,
            ("GET", "/mcp") => json_answer(stream, 405, "", &json!({})).await,
            ("GET", "/.well-known/oauth-authorization-server/mcp") if self.options.login => {
                json_answer(stream, 200, "", &self.metadata()).await
            }
            ("POST", "/register") => {
                json_answer(stream, 201, "", &json!({ "client_id": "client-1" })).await
            }
            ("POST", "/token") => json_answer(stream, 200, "", &self.token()).await,
            _ => json_answer(stream, 404, "", &json!({})).await,
        }
    }

    fn metadata(&self) -> Value {
        let at = |path: &str| format!("{}/{path}", self.base);
        json!({
            "issuer": self.base, "authorization_endpoint": at("authorize"),
            "token_endpoint": at("token"), "registration_endpoint": at("register"),
            "scopes_supported": ["read", " write ", "read"],
        })
    }

    fn token(&self) -> Value {
        let number = self.tokens.fetch_add(1, Ordering::Relaxed) + 1;
        json!({
            "access_token": format!("access-{number}"), "token_type": "Bearer",
            "expires_in": self.options.token_life.unwrap_or(3600),
            "refresh_token": format!("refresh-{number}"), "scope": "read write",
        })
    }

    async fn message(
        &self,
        stream: &mut TcpStream,
        request: &Request,
        body: &Value,
    ) -> io::Result<()> {
        let current = format!("Bearer access-{}", self.tokens.load(Ordering::Relaxed));
        if self.options.login && request.headers.get("authorization") != Some(&current) {
            return json_answer(stream, 401, "", &json!({})).await;
        }
        if request.headers.contains_key("mcp-session-id")
            && self.forgets.swap(false, Ordering::Relaxed)
        {
            return json_answer(stream, 404, "", &json!({})).await;
        }
        if body.get("method").is_none() {
            let mut asked = self.asked.lock();
            if let Some(asked) = asked.take() {
                // The one who asked may have gone.
                drop(asked.send(body.clone()));
            }
        }
        if body.get("id").is_none() || body.get("method").is_none() {
            return json_answer(stream, 202, "", &json!({})).await;
        }
        let mut header = String::new();
        if body["method"] == "initialize" {
            let number = self.sessions.fetch_add(1, Ordering::Relaxed) + 1;
            header = format!("mcp-session-id: session-{number}\r\n");
        }
        let method = body["method"].as_str().unwrap_or_default();
        let answer =
            |result: Value| json!({ "jsonrpc": "2.0", "id": body["id"], "result": result });
        match act("", false, method, &body["params"]) {
            Act::Result(result) if self.options.streams => {
                open_stream(stream, &header).await?;
                event(stream, &answer(result)).await?;
                close_stream(stream).await
            }
            Act::Result(result) => json_answer(stream, 200, &header, &answer(result)).await,
            Act::SayFirst(messages, end) => {
                open_stream(stream, &header).await?;
                for message in &messages {
                    event(stream, message).await?;
                }
                event(stream, &answer(text(end))).await?;
                close_stream(stream).await
            }
            Act::Ask(params) => {
                let (asked, answered) = oneshot::channel();
                *self.asked.lock() = Some(asked);
                open_stream(stream, &header).await?;
                let question = json!({
                    "jsonrpc": "2.0", "id": 7, "method": "elicitation/create", "params": params,
                });
                event(stream, &question).await?;
                let back = answered.await.unwrap_or_default();
                event(stream, &answer(text(&back["result"].to_string()))).await?;
                close_stream(stream).await
            }
            Act::Error(code, message) => {
                let error = json!({ "code": code, "message": message });
                let body = json!({ "jsonrpc": "2.0", "id": body["id"], "error": error });
                json_answer(stream, 200, &header, &body).await
            }
            // A connection that breaks off is as near as HTTP comes to a crash.
            _ => Err(io::ErrorKind::ConnectionAborted.into()),
        }
    }
}

async fn json_answer(
    stream: &mut TcpStream,
    status: u16,
    header: &str,
    body: &Value,
) -> io::Result<()> {
    let body = body.to_string();
    let head = format!(
        "HTTP/1.1 {status} Scripted\r\ncontent-type: application/json\r\n{header}content-length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all((head + &body).as_bytes()).await
}

async fn open_stream(stream: &mut TcpStream, header: &str) -> io::Result<()> {
    let head = format!(
        "HTTP/1.1 200 Scripted\r\ncontent-type: text/event-stream\r\n{header}transfer-encoding: chunked\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).await
}

async fn event(stream: &mut TcpStream, message: &Value) -> io::Result<()> {
    let event = format!("event: message\ndata: {message}\n\n");
    let chunk = format!("{:x}\r\n{event}\r\n", event.len());
    stream.write_all(chunk.as_bytes()).await
}

async fn close_stream(stream: &mut TcpStream) -> io::Result<()> {
    stream.write_all(b"0\r\n\r\n").await
}
