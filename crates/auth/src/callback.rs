//! The local page that the browser comes back to.

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
pub(crate) struct Callback {
    listener: TcpListener,
    arriving: JoinSet<Option<HttpRequest>>,
}

impl Callback {
    /// Takes the port. Another login that waits there is asked once to leave.
    pub(crate) async fn bind(port: u16) -> io::Result<Self> {
        let mut asked = false;
        let mut attempt = 0;
        loop {
            match TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await {
                Ok(listener) => {
                    return Ok(Self {
                        listener,
                        arriving: JoinSet::new(),
                    });
                }
                Err(error) if error.kind() == io::ErrorKind::AddrInUse => {
                    attempt += 1;
                    if attempt >= ATTEMPTS {
                        return Err(error);
                    }
                    if !asked {
                        asked = true;
                        // Whoever is there may be something else entirely; then the port stays taken.
                        timeout(EVICTION, evict(port)).await.ok();
                    }
                    sleep(BETWEEN_ATTEMPTS).await;
                }
                Err(error) => return Err(error),
            }
        }
    }

    pub(crate) fn port(&self) -> io::Result<u16> {
        Ok(self.listener.local_addr()?.port())
    }

    /// The next request, in whatever order they are complete.
    pub(crate) async fn request(&mut self) -> HttpRequest {
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
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) body: String,
}

impl Answer {
    /// A line of text.
    pub(crate) fn text(status: u16, text: &str) -> Self {
        Self {
            status,
            headers: Vec::new(),
            body: text.to_owned(),
        }
    }

    /// A page. Nothing of it, nor of its address, is to be kept or passed on.
    pub(crate) fn page(body: String) -> Self {
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
    pub(crate) fn send(self, request: HttpRequest) {
        tokio::spawn(self.deliver(request));
    }

    /// Answers, and waits until the browser has it.
    pub(crate) async fn deliver(self, request: HttpRequest) {
        let headers = self.headers.iter();
        let headers: Vec<_> = headers.map(|(name, value)| (*name, &**value)).collect();
        let response = Response {
            status: self.status,
            headers: &headers,
            body: &self.body,
        };
        if let Err(error) = request.respond(response).await {
            tracing::debug!(%error, "the browser left before its answer");
        }
    }
}
