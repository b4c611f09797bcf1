//! A ChatGPT backend over real HTTP on loopback: pages that the test sets, and the MCP server whose tools are those of
//! connected apps. It records every request, and on demand refuses or makes others wait.

mod apps;

use std::collections::HashMap;
use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard};
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt as _;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{oneshot, watch};
use tokio::task::{JoinHandle, JoinSet};

use crate::http::{Request, read_request};
use crate::identity::{claims, jwt};

/// A backend that lives as long as this value.
#[derive(Debug)]
pub struct Backend {
    address: SocketAddr,
    state: Arc<State>,
    task: JoinHandle<()>,
}

#[derive(Debug, Default)]
struct State {
    inner: Mutex<Inner>,
    received: watch::Sender<usize>,
    held: watch::Sender<Option<String>>,
}

#[derive(Debug, Default)]
struct Inner {
    /// What is answered, by method and path without query.
    pages: HashMap<(String, String), (u16, String)>,
    tools: Vec<Value>,
    requests: Vec<Request>,
    /// A question of the MCP server that waits for its answer.
    asked: Option<oneshot::Sender<Value>>,
}

impl Backend {
    /// Starts a backend on a free port. It knows no page yet, and no tool.
    pub async fn start() -> io::Result<Backend> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let address = listener.local_addr()?;
        let state = Arc::new(State::default());
        let task = tokio::spawn(accept(listener, Arc::clone(&state)));
        Ok(Backend {
            address,
            state,
            task,
        })
    }

    /// Its address, for the setting `chatgpt_base_url`.
    pub fn base_url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Writes a ChatGPT login with this plan into a home directory.
    pub fn log_in(&self, home: &Path, plan: &str) -> io::Result<()> {
        let auth = json!({
            "auth_mode": "chatgpt",
            "OPENAI_API_KEY": null,
            "tokens": {
                "id_token": jwt(&claims("user@example.com", plan, "acct-1")),
                "access_token": self.token(),
                "refresh_token": "refresh-secret",
                "account_id": "acct-1",
            },
            "last_refresh": "2026-01-01T00:00:00Z",
        });
        std::fs::write(home.join("auth.json"), auth.to_string())
    }

    /// The token of that login.
    pub fn token(&self) -> String {
        jwt(&json!({ "exp": 4_000_000_000_i64 }))
    }

    /// What a path answers from now on.
    pub fn set(&self, method: &str, path: &str, status: u16, body: &Value) {
        let key = (method.to_owned(), path.to_owned());
        let body = match body {
            Value::String(text) => text.clone(),
            body => body.to_string(),
        };
        self.lock().pages.insert(key, (status, body));
    }

    /// The tools of connected apps.
    pub fn set_tools(&self, tools: Vec<Value>) {
        self.lock().tools = tools;
    }

    /// Makes requests to this path wait, or none.
    pub fn hold(&self, path: Option<&str>) {
        self.state.held.send_replace(path.map(str::to_owned));
    }

    /// The requests whose path begins like this, in the order they came.
    pub fn requests(&self, path: &str) -> Vec<Request> {
        let inner = self.lock();
        let matching = inner.requests.iter().filter(|it| it.path.starts_with(path));
        matching.cloned().collect()
    }

    /// Waits for so many requests whose path begins like this.
    pub async fn received(&self, path: &str, count: usize) -> Vec<Request> {
        let mut received = self.state.received.subscribe();
        loop {
            received.borrow_and_update();
            let requests = self.requests(path);
            if requests.len() >= count {
                return requests;
            }
            // The sender lives as long as `self`.
            received.changed().await.ok();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.state.lock()
    }
}

impl Drop for Backend {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn accept(listener: TcpListener, state: Arc<State>) {
    let mut connections = JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        let state = Arc::clone(&state);
        connections.spawn(async move {
            // A client that breaks off has seen enough.
            connection(stream, &state).await.ok();
        });
    }
}

async fn connection(mut stream: TcpStream, state: &State) -> io::Result<()> {
    let mut buffer = Vec::new();
    while let Some(request) = read_request(&mut stream, &mut buffer).await? {
        state.lock().requests.push(request.clone());
        state.received.send_modify(|count| *count += 1);
        let path = request
            .path
            .split('?')
            .next()
            .unwrap_or_default()
            .to_owned();
        let mut held = state.held.subscribe();
        // The sender lives as long as the state.
        held.wait_for(|held| held.as_ref() != Some(&path))
            .await
            .ok();
        let key = (request.method.clone(), path);
        let page = state.lock().pages.get(&key).cloned();
        match page {
            Some((status, body)) => answer(&mut stream, status, &body).await?,
            None if key.1 == apps::PATH => state.apps(&mut stream, &request).await?,
            None => answer(&mut stream, 404, r#"{"detail":"there is no such page"}"#).await?,
        }
    }
    Ok(())
}

impl State {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock()
    }
}

async fn answer(stream: &mut TcpStream, status: u16, body: &str) -> io::Result<()> {
    let head = format!(
        "HTTP/1.1 {status} Scripted\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all((head + body).as_bytes()).await
}
