//! A collector of telemetry: keeps what is posted to it, over real HTTP.

use std::io;
use std::sync::Arc;

use parking_lot::Mutex;
use serde_json::Value;
use tokio::io::AsyncWriteExt as _;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

use crate::http::read_request;

/// Something that was posted.
#[derive(Debug, Clone)]
pub struct Posted {
    /// The path of the address.
    pub path: String,
    /// Headers, with names in small letters.
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Posted {
    /// The value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.headers.iter();
        headers.find_map(|(key, value)| (key == name).then_some(value.as_str()))
    }

    /// The body as JSON.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }
}

/// A collector on loopback. Dropped, it takes nothing more.
pub struct Collector {
    port: u16,
    posted: Arc<Mutex<Vec<Posted>>>,
    count: watch::Sender<usize>,
    task: tokio::task::JoinHandle<()>,
}

impl Collector {
    /// Starts one that answers with this status.
    pub async fn start(status: u16) -> io::Result<Collector> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let port = listener.local_addr()?.port();
        let posted = Arc::<Mutex<Vec<Posted>>>::default();
        let count = watch::Sender::new(0);
        let (kept, counted) = (Arc::clone(&posted), count.clone());
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (kept, counted) = (Arc::clone(&kept), counted.clone());
                tokio::spawn(async move {
                    // A connection that breaks is the test's own business.
                    serve(stream, status, |it| {
                        let mut kept = kept.lock();
                        kept.push(it);
                        counted.send_replace(kept.len());
                    })
                    .await
                    .ok();
                });
            }
        });
        Ok(Collector {
            port,
            posted,
            count,
            task,
        })
    }

    /// An address of this collector.
    pub fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    /// All that was posted so far.
    pub fn posted(&self) -> Vec<Posted> {
        let posted = self.posted.lock();
        posted.clone()
    }

    /// Waits until so many requests have come.
    pub async fn received(&self, count: usize) {
        let mut seen = self.count.subscribe();
        // The sender is `self`, so waiting cannot fail.
        seen.wait_for(|it| *it >= count).await.ok();
    }
}

impl Drop for Collector {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve(mut stream: TcpStream, status: u16, keep: impl Fn(Posted)) -> io::Result<()> {
    let mut buffer = Vec::new();
    while let Some(request) = read_request(&mut stream, &mut buffer).await? {
        keep(Posted {
            path: request.path,
            headers: request.headers.into_iter().collect(),
            body: request.body,
        });
        let answer = format!("HTTP/1.1 {status} X\r\ncontent-length: 0\r\n\r\n");
        stream.write_all(answer.as_bytes()).await?;
    }
    Ok(())
}
