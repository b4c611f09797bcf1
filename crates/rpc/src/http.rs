//! The HTTP/1.1 side of a websocket listener, and of the page that a browser returns to after a login:
//! one bounded request head in, one answer or an upgrade out. Routes, authentication and texts are for
//! others; this is only the mechanics, and small enough that a web framework would cost more than it saves.

use std::fmt;
use std::io;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;

use crate::connection::Connection;
use crate::websocket::{self, ByteStream};

/// Headers beyond this number are refused.
const MAX_HEADERS: usize = 64;
/// What is read and thrown away after an answer, so that a reset does not overtake it.
const MAX_DISCARDED: u64 = 64 * 1024;

/// Bounds for reading a request head.
#[derive(Clone, Copy, Debug)]
pub struct HeadLimits {
    /// Its size in bytes.
    pub bytes: usize,
    /// How long it may take to come. The same time bounds the writing of an answer.
    pub timeout: Duration,
}

impl Default for HeadLimits {
    fn default() -> Self {
        Self {
            bytes: 16 * 1024,
            timeout: Duration::from_secs(10),
        }
    }
}

/// Why there is no request to answer.
#[derive(Debug, thiserror::Error)]
pub enum HeadError {
    /// The stream failed or ended before the head did.
    #[error("reading the request failed: {0}")]
    Io(#[from] io::Error),
    /// The head did not come in time.
    #[error("no complete request head within {0:?}")]
    TimedOut(Duration),
    /// The head is over its limit.
    #[error("the request head is over {0} bytes")]
    TooLong(usize),
    /// Not HTTP.
    #[error("not an HTTP request: {0}")]
    Malformed(httparse::Error),
}

/// What the client asks.
#[derive(Clone, PartialEq, Eq)]
pub struct Head {
    /// Such as `GET`.
    pub method: String,
    /// The path, without query.
    pub path: String,
    /// What follows the first `?`, as it came. It may be secret.
    pub query: String,
    /// Names in lower case, values as they came.
    pub headers: Vec<(String, Vec<u8>)>,
}

impl Head {
    /// The first header of this name (in lower case).
    pub fn header(&self, name: &str) -> Option<&[u8]> {
        self.headers
            .iter()
            .find(|(it, _)| it == name)
            .map(|(_, value)| value.as_slice())
    }

    /// The words of a header that lists them.
    pub fn words<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a [u8]> {
        self.headers
            .iter()
            .filter(move |(it, _)| it == name)
            .flat_map(|(_, value)| value.split(|byte| *byte == b','))
            .map(<[u8]>::trim_ascii)
    }

    /// Whether a header that lists words contains this one, in any case.
    fn lists(&self, name: &str, word: &str) -> bool {
        self.words(name)
            .any(|it| it.eq_ignore_ascii_case(word.as_bytes()))
    }

    /// The key of a websocket upgrade, or why this request is none.
    pub fn upgrade_key(&self) -> Result<&[u8], NoUpgrade> {
        if self.method != "GET" {
            return Err(NoUpgrade::Method);
        }
        if !self.lists("connection", "upgrade") {
            return Err(NoUpgrade::Connection);
        }
        if !self.lists("upgrade", "websocket") {
            return Err(NoUpgrade::Upgrade);
        }
        let key = self.header("sec-websocket-key").ok_or(NoUpgrade::Key)?;
        if self.header("sec-websocket-version") != Some(b"13") {
            return Err(NoUpgrade::Version);
        }
        Ok(key)
    }
}

/// The query and values of headers may be secret, so only names are shown.
impl fmt::Debug for Head {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.headers.iter().map(|(name, _)| name).collect();
        f.debug_struct("Head")
            .field("method", &self.method)
            .field("path", &self.path)
            .field("headers", &names)
            .finish()
    }
}

/// Why a request is not a websocket upgrade.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoUpgrade {
    /// Not a `GET`.
    #[error("Request method must be `GET`")]
    Method,
    /// `Connection` does not say `upgrade`.
    #[error("Connection header did not include 'upgrade'")]
    Connection,
    /// `Upgrade` does not say `websocket`.
    #[error("`Upgrade` header did not include 'websocket'")]
    Upgrade,
    /// No key.
    #[error("`Sec-WebSocket-Key` header missing")]
    Key,
    /// Not version 13.
    #[error("`Sec-WebSocket-Version` header did not include '13'")]
    Version,
}

impl NoUpgrade {
    /// The HTTP status that says so.
    pub fn status(self) -> u16 {
        match self {
            Self::Method => 405,
            Self::Connection | Self::Upgrade | Self::Key | Self::Version => 400,
        }
    }
}

/// An answer that is not an upgrade.
#[derive(Clone, Copy, Debug)]
pub struct Response<'a> {
    /// The status.
    pub status: u16,
    /// Headers besides length and `connection: close`.
    pub headers: &'a [(&'a str, &'a str)],
    /// Plain text, unless the headers tell another type.
    pub body: &'a str,
}

impl Response<'static> {
    /// A status and nothing else.
    pub fn status(status: u16) -> Self {
        Self {
            status,
            headers: &[],
            body: "",
        }
    }
}

/// A request that waits for its one answer.
pub struct HttpRequest {
    head: Head,
    stream: Box<dyn ByteStream>,
    /// What was read after the head.
    rest: Vec<u8>,
    timeout: Duration,
}

impl HttpRequest {
    /// Reads one request head from a fresh stream; one that cannot be read is answered here. For
    /// TCP, set `nodelay` before.
    pub async fn read(mut stream: impl ByteStream, limits: HeadLimits) -> Result<Self, HeadError> {
        let timeout = limits.timeout;
        let reading = read_head(&mut stream, limits.bytes);
        let error = match tokio::time::timeout(timeout, reading).await {
            Ok(Ok((head, rest))) => {
                let stream = Box::new(stream);
                return Ok(Self {
                    head,
                    stream,
                    rest,
                    timeout,
                });
            }
            Ok(Err(error)) => error,
            Err(_) => HeadError::TimedOut(timeout),
        };
        let status = match error {
            HeadError::TooLong(_) => 431,
            HeadError::Malformed(_) => 400,
            HeadError::Io(_) | HeadError::TimedOut(_) => return Err(error),
        };
        let text = response_text(&Response::status(status), false);
        if let Err(error) = answer_and_close(&mut stream, &text, timeout).await {
            tracing::debug!(%error, "could not tell a client that its request is unreadable");
        }
        Err(error)
    }

    /// What the client asks.
    pub fn head(&self) -> &Head {
        &self.head
    }

    /// Answers and closes the stream.
    pub async fn respond(mut self, response: Response<'_>) -> io::Result<()> {
        let text = response_text(&response, self.head.method == "HEAD");
        answer_and_close(&mut self.stream, &text, self.timeout).await
    }

    /// Answers with an upgrade, after which the stream carries websocket frames; an unsuitable
    /// request is handed back to be answered. The first of the subprotocols that the client offers too
    /// is agreed on.
    pub async fn upgrade(
        mut self,
        message_limit: usize,
        subprotocols: &[&str],
    ) -> Result<Connection, UpgradeError> {
        let key = match self.head.upgrade_key() {
            Ok(key) => derive_accept_key(key),
            Err(why) => return Err(UpgradeError::Unsuitable { request: self, why }),
        };
        let offered = |name: &&&str| self.head.lists("sec-websocket-protocol", name);
        let agreed = subprotocols.iter().find(offered);
        let agreed = agreed.map(|name| format!("sec-websocket-protocol: {name}\r\n"));
        let text = format!(
            "HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\
             sec-websocket-accept: {key}\r\n{}\r\n",
            agreed.unwrap_or_default()
        );
        let writing = async {
            self.stream.write_all(text.as_bytes()).await?;
            self.stream.flush().await
        };
        match tokio::time::timeout(self.timeout, writing).await {
            Ok(written) => written?,
            Err(late) => return Err(UpgradeError::Io(late.into())),
        }
        Ok(websocket::accepted(self.stream, self.rest, message_limit).await)
    }
}

impl fmt::Debug for HttpRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("HttpRequest").field(&self.head).finish()
    }
}

/// Why there is no websocket.
#[derive(Debug, thiserror::Error)]
pub enum UpgradeError {
    /// The request does not ask for one properly.
    #[error("{why}")]
    Unsuitable {
        /// To be answered.
        request: HttpRequest,
        /// What is wrong with it.
        why: NoUpgrade,
    },
    /// The answer could not be written.
    #[error("answering the upgrade failed: {0}")]
    Io(#[from] io::Error),
}

async fn read_head(
    stream: &mut impl ByteStream,
    limit: usize,
) -> Result<(Head, Vec<u8>), HeadError> {
    let mut read = Vec::with_capacity(1024);
    loop {
        if stream
            .take((limit - read.len()) as u64)
            .read_buf(&mut read)
            .await?
            == 0
        {
            return Err(if read.len() >= limit {
                HeadError::TooLong(limit)
            } else {
                io::Error::from(io::ErrorKind::UnexpectedEof).into()
            });
        }
        if let Some((head, length)) = parse_head(&read)? {
            return Ok((head, read.split_off(length)));
        }
    }
}

async fn answer_and_close(
    stream: &mut (impl AsyncRead + AsyncWrite + Unpin),
    text: &str,
    timeout: Duration,
) -> io::Result<()> {
    let answering = async {
        stream.write_all(text.as_bytes()).await?;
        stream.shutdown().await?;
        let mut rest = stream.take(MAX_DISCARDED);
        tokio::io::copy(&mut rest, &mut tokio::io::sink())
            .await
            .map(drop)
    };
    tokio::time::timeout(timeout, answering)
        .await
        .unwrap_or_else(|late| Err(late.into()))
}

/// The head and its length, or nothing if it is not complete.
fn parse_head(text: &[u8]) -> Result<Option<(Head, usize)>, HeadError> {
    let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
    let mut request = httparse::Request::new(&mut headers);
    let httparse::Status::Complete(length) = request.parse(text).map_err(HeadError::Malformed)?
    else {
        return Ok(None);
    };
    let target = request.path.unwrap_or_default();
    let target = target.split('#').next().unwrap_or_default();
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let headers = request.headers.iter();
    let head = Head {
        method: request.method.unwrap_or_default().to_owned(),
        path: path.to_owned(),
        query: query.to_owned(),
        headers: headers
            .map(|it| (it.name.to_ascii_lowercase(), it.value.to_vec()))
            .collect(),
    };
    Ok(Some((head, length)))
}

fn response_text(response: &Response<'_>, head_only: bool) -> String {
    let reason = match response.status {
        200 => "OK",
        302 => "Found",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        431 => "Request Header Fields Too Large",
        503 => "Service Unavailable",
        _ => "",
    };
    let mut text = format!(
        "HTTP/1.1 {} {reason}\r\nconnection: close\r\n",
        response.status
    );
    let typed = response
        .headers
        .iter()
        .any(|(name, _)| *name == "content-type");
    if !response.body.is_empty() && !typed {
        text.push_str("content-type: text/plain; charset=utf-8\r\n");
    }
    for (name, value) in response.headers {
        text.extend([name, ": ", value, "\r\n"]);
    }
    text.push_str(&format!("content-length: {}\r\n\r\n", response.body.len()));
    if !head_only {
        text.push_str(response.body);
    }
    text
}
