//! The local page that the browser returns to.

use std::io;
use std::net::Ipv4Addr;
use std::time::Duration;

use quipu_rpc::http::{HeadLimits, HttpRequest, Response};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

/// Connections whose request is being read. Browsers open some that they do not use.
const MAX_CONNECTIONS: usize = 32;
/// How often a port that is taken is tried.
const ATTEMPTS: u32 = 10;
const BETWEEN_ATTEMPTS: Duration = Duration::from_millis(200);
/// How long another login may take to give the port up.
const EVICTION: Duration = Duration::from_secs(2);

/// Receives requests on a port of loopback.
pub struct Callback {
    listener: TcpListener,
    arriving: JoinSet<Option<HttpRequest>>,
}

impl Callback {
    /// Serves an address that is already bound.
    pub fn new(listener: TcpListener) -> Self {
        Self {
            listener,
            arriving: JoinSet::new(),
        }
    }

    /// Takes a port that programs of this protocol share. Another login that waits there is asked once to
    /// leave.
    pub async fn bind_shared(port: u16) -> io::Result<Self> {
        let mut asked = false;
        let mut attempt = 0;
        loop {
            match TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await {
                Ok(listener) => return Ok(Self::new(listener)),
                Err(error) if error.kind() == io::ErrorKind::AddrInUse => {
                    attempt += 1;
                    if attempt >= ATTEMPTS {
                        return Err(error);
                    }
                    if !asked {
                        asked = true;
                        // It may not be a login at all; then the port stays taken.
                        timeout(EVICTION, evict(port)).await.ok();
                    }
                    sleep(BETWEEN_ATTEMPTS).await;
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// The port it listens on.
    pub fn port(&self) -> io::Result<u16> {
        Ok(self.listener.local_addr()?.port())
    }

    /// The next request, in whatever order they are complete.
    pub async fn request(&mut self) -> HttpRequest {
        loop {
            tokio::select! {
                accepted = self.listener.accept(), if self.arriving.len() < MAX_CONNECTIONS => {
                    match accepted {
                        Ok((stream, _)) => {
                            self.arriving.spawn(read(stream));
                        }
                        // The system is short of something; it may pass.
                        Err(_) => sleep(BETWEEN_ATTEMPTS).await,
                    }
                }
                Some(arrived) = self.arriving.join_next() => {
                    if let Ok(Some(request)) = arrived {
                        return request;
                    }
                }
            }
        }
    }
}

async fn read(stream: TcpStream) -> Option<HttpRequest> {
    HttpRequest::read(stream, HeadLimits::default()).await.ok()
}

async fn evict(port: u16) -> io::Result<()> {
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await?;
    let request =
        format!("GET /cancel HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await?;
    stream.read(&mut [0; 64]).await.map(drop)
}

/// What a browser is answered.
pub struct Answer {
    /// The HTTP status.
    pub status: u16,
    /// Names in lower case.
    pub headers: Vec<(&'static str, String)>,
    /// The content.
    pub body: String,
}

impl Answer {
    /// A line of text.
    pub fn text(status: u16, text: &str) -> Self {
        Self {
            status,
            headers: Vec::new(),
            body: text.to_owned(),
        }
    }

    /// A page. Nothing of it, nor of its address, is to be kept or passed on.
    pub fn page(body: String) -> Self {
        Self {
            status: 200,
            headers: vec![
                ("content-type", "text/html; charset=utf-8".to_owned()),
                ("cache-control", "no-store".to_owned()),
                ("referrer-policy", "no-referrer".to_owned()),
            ],
            body,
        }
    }

    /// Answers, without making anybody wait for the browser.
    pub fn send(self, request: HttpRequest) {
        tokio::spawn(self.deliver(request));
    }

    /// Answers, and waits until the browser has it.
    pub async fn deliver(self, request: HttpRequest) {
        let headers = self.headers.iter();
        let headers: Vec<_> = headers.map(|(name, value)| (*name, &**value)).collect();
        let response = Response {
            status: self.status,
            headers: &headers,
            body: &self.body,
        };
        if let Err(error) = request.respond(response).await {
            tracing::debug!(%error, "browser closed the connection before the answer");
        }
    }
}
