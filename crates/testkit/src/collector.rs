//! A collector of telemetry: keeps what is posted to it, over real HTTP.

use std::io;
use std::sync::Arc;

use parking_lot::Mutex;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

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

async fn serve(stream: TcpStream, status: u16, keep: impl Fn(Posted)) -> io::Result<()> {
    let mut stream = BufReader::new(stream);
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line).await? == 0 {
            return Ok(());
        }
        let path = line.split(' ').nth(1).unwrap_or_default().to_owned();
        let mut headers = Vec::new();
        loop {
            let mut line = String::new();
            stream.read_line(&mut line).await?;
            let Some((name, value)) = line.trim().split_once(':') else {
                break;
            };
            headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
        let length = headers.iter().find(|(name, _)| name == "content-length");
        let length = length.and_then(|(_, value)| value.parse().ok());
        let mut body = vec![0; length.unwrap_or_default()];
        stream.read_exact(&mut body).await?;
        keep(Posted {
            path,
            headers,
            body,
        });
        let answer = format!("HTTP/1.1 {status} X\r\ncontent-length: 0\r\n\r\n");
        stream.write_all(answer.as_bytes()).await?;
    }
}
