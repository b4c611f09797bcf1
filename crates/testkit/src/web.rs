//! A web server that answers as the test says and keeps what it was asked, over real HTTP.

use std::io;
use std::sync::Arc;

use parking_lot::Mutex;
use serde_json::Value;
use tokio::io::AsyncWriteExt as _;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

use crate::http::{Request, read_request};

/// What is answered.
#[derive(Debug, Clone)]
pub struct Reply {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: String,
}

impl Reply {
    /// A JSON value.
    pub fn json(body: &Value) -> Reply {
        Reply::status(200, &body.to_string())
    }

    /// A body with a status.
    pub fn status(status: u16, body: &str) -> Reply {
        Reply {
            status,
            headers: Vec::new(),
            body: body.to_owned(),
        }
    }

    /// The same with one more header.
    #[must_use]
    pub fn header(mut self, name: &str, value: impl Into<String>) -> Reply {
        self.headers.push((name.to_owned(), value.into()));
        self
    }
}

/// A server on loopback. Dropped, it answers nothing more.
pub struct WebServer {
    port: u16,
    requests: Arc<Mutex<Vec<Request>>>,
    task: JoinHandle<()>,
}

impl WebServer {
    /// Starts one that answers every request with what `answer` makes of it.
    pub async fn start(
        answer: impl Fn(&Request) -> Reply + Send + Sync + 'static,
    ) -> io::Result<WebServer> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let port = listener.local_addr()?.port();
        let requests = Arc::<Mutex<Vec<Request>>>::default();
        let kept = Arc::clone(&requests);
        let answer = Arc::new(answer);
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (kept, answer) = (Arc::clone(&kept), Arc::clone(&answer));
                let answer = move |request: Request| {
                    let reply = answer(&request);
                    let mut kept = kept.lock();
                    kept.push(request);
                    reply
                };
                // A connection that breaks is the test's own business.
                tokio::spawn(async move { serve(stream, answer).await.ok() });
            }
        });
        Ok(WebServer {
            port,
            requests,
            task,
        })
    }

    /// Its address, without a slash at the end.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// What it was asked so far, in order.
    pub fn requests(&self) -> Vec<Request> {
        let requests = self.requests.lock();
        requests.clone()
    }
}

impl Drop for WebServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve(mut stream: TcpStream, answer: impl Fn(Request) -> Reply) -> io::Result<()> {
    let mut buffer = Vec::new();
    while let Some(request) = read_request(&mut stream, &mut buffer).await? {
        let Reply {
            status,
            headers,
            body,
        } = answer(request);
        let headers: String = headers
            .iter()
            .map(|(name, value)| format!("{name}: {value}\r\n"))
            .collect();
        let length = body.len();
        let head =
            format!("HTTP/1.1 {status} scripted\r\n{headers}content-length: {length}\r\n\r\n");
        stream.write_all(format!("{head}{body}").as_bytes()).await?;
    }
    Ok(())
}
