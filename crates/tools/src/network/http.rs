//! The gate as an HTTP proxy: one request or one tunnel per connection.

use std::io;
use std::time::Duration;

use quipu_policy::hosts::Target;
use quipu_policy::rules::{NetworkProtocol, normal_host};
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, copy, copy_bidirectional, sink};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::keeper::{Blocked, Keeper};
use super::upstream::{Route, connect};

/// The longest head of a request, and how long it may take.
const MAX_HEAD: usize = 64 * 1024;
const HEAD_PATIENCE: Duration = Duration::from_secs(30);
/// Methods that only read.
const READING: [&str; 3] = ["GET", "HEAD", "OPTIONS"];

/// A request as the gate needs it.
struct Request {
    method: String,
    target: Target,
    /// What follows the host in an absolute address; nothing for a tunnel.
    path: String,
    /// The lines after the first, each with its end.
    headers: String,
    /// What came after the head.
    rest: Vec<u8>,
}

impl Request {
    fn is_tunnel(&self) -> bool {
        self.target.protocol == NetworkProtocol::Https
    }
}

/// Serves one connection.
pub(super) async fn serve(mut client: TcpStream, keeper: &Keeper) -> io::Result<()> {
    let read = timeout(HEAD_PATIENCE, read_request(&mut client)).await;
    let Ok(Some(request)) = read.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into())) else {
        let answer = "HTTP/1.1 400 Bad Request\r\nconnection: close\r\ncontent-length: 0\r\n\r\n";
        return client.write_all(answer.as_bytes()).await;
    };
    let admitted = match check_method(&request, keeper) {
        Ok(()) => keeper.admit(&request.target).await,
        Err(blocked) => Err(blocked),
    };
    let route = match admitted {
        Ok(route) => route,
        Err(blocked) => return client.write_all(&refusal(blocked, &request.target)).await,
    };
    match connect(&route).await {
        Ok(server) => forward(client, server, &request, &route, keeper).await,
        Err(error) => {
            let text = format!("{} cannot be reached: {error}\n", request.target.host);
            let length = text.len();
            let answer = format!(
                "HTTP/1.1 502 Bad Gateway\r\nconnection: close\r\ncontent-type: text/plain\r\n\
                 content-length: {length}\r\n\r\n{text}"
            );
            client.write_all(answer.as_bytes()).await
        }
    }
}

fn check_method(request: &Request, keeper: &Keeper) -> Result<(), Blocked> {
    if !keeper.network.reads_only {
        return Ok(());
    }
    match request.is_tunnel() {
        true => Err(Blocked::Tunnel),
        false if READING.contains(&request.method.as_str()) => Ok(()),
        false => Err(Blocked::Method),
    }
}

async fn forward(
    mut client: TcpStream,
    mut server: TcpStream,
    request: &Request,
    route: &Route,
    keeper: &Keeper,
) -> io::Result<()> {
    let Request {
        method,
        target,
        path,
        headers,
        rest,
    } = request;
    let (host, port) = (bracketed(&target.host), target.port);
    let shared = !request.is_tunnel() && matches!(route, Route::Proxy(_));
    let body = match shared {
        true => body_length(headers),
        false => Some(0),
    };
    let Some(body) = body else {
        let answer =
            "HTTP/1.1 411 Length Required\r\nconnection: close\r\ncontent-length: 0\r\n\r\n";
        return client.write_all(answer.as_bytes()).await;
    };
    match (request.is_tunnel(), route) {
        (true, Route::Direct(_)) => {
            client
                .write_all(b"HTTP/1.1 200 Connection established\r\n\r\n")
                .await?;
        }
        (true, Route::Proxy(_)) => {
            let head = format!("CONNECT {host}:{port} HTTP/1.1\r\nhost: {host}:{port}\r\n\r\n");
            server.write_all(head.as_bytes()).await?;
        }
        (false, route) => {
            let address = match route {
                Route::Direct(_) => path.clone(),
                Route::Proxy(_) => format!("http://{host}:{port}{path}"),
            };
            let head = format!("{method} {address} HTTP/1.1\r\n{headers}connection: close\r\n\r\n");
            server.write_all(head.as_bytes()).await?;
        }
    }
    if keeper.network.reads_only {
        // A request that reads has no body, and another request must not follow unseen.
        copy(&mut server, &mut client).await?;
        return client.shutdown().await;
    }
    if shared {
        return exchange(client, server, rest, body).await;
    }
    server.write_all(rest).await?;
    copy_bidirectional(&mut client, &mut server).await.map(drop)
}

/// Passes on one body and the answer. What a command sends after it would be a request to the next proxy,
/// which knows nobody's lists.
async fn exchange(
    mut client: TcpStream,
    mut server: TcpStream,
    rest: &[u8],
    body: u64,
) -> io::Result<()> {
    let early = &rest[..rest.len().min(usize::try_from(body).unwrap_or(usize::MAX))];
    server.write_all(early).await?;
    let (from_client, mut to_client) = client.split();
    let (mut from_server, mut to_server) = server.split();
    let mut body = from_client.take(body - early.len() as u64);
    let sending = copy(&mut body, &mut to_server);
    let receiving = copy(&mut from_server, &mut to_client);
    tokio::try_join!(sending, receiving)?;
    to_client.shutdown().await?;
    // A connection that is closed before all was read may lose the answer.
    let (mut unread, mut nowhere) = (body.into_inner(), sink());
    let read = timeout(HEAD_PATIENCE, copy(&mut unread, &mut nowhere)).await;
    read.map_or(Ok(()), |read| read.map(drop))
}

/// How long the body of a request is; `None` if its head does not say so.
fn body_length(headers: &str) -> Option<u64> {
    let mut length = None;
    for (name, value) in headers.lines().filter_map(|line| line.split_once(':')) {
        if name.trim().eq_ignore_ascii_case("transfer-encoding") {
            return None;
        }
        if name.trim().eq_ignore_ascii_case("content-length") {
            let given: u64 = value.trim().parse().ok()?;
            if length.is_some_and(|other| other != given) {
                return None;
            }
            length = Some(given);
        }
    }
    Some(length.unwrap_or(0))
}

/// Reads the head of a request; `None` if it is none that a proxy gets.
async fn read_request(client: &mut TcpStream) -> io::Result<Option<Request>> {
    let mut bytes = Vec::new();
    let end = loop {
        if let Some(at) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            break at;
        }
        if bytes.len() > MAX_HEAD || client.read_buf(&mut bytes).await? == 0 {
            return Ok(None);
        }
    };
    let rest = bytes.split_off(end + 4);
    let Ok(head) = std::str::from_utf8(&bytes[..end]) else {
        return Ok(None);
    };
    Ok(parse(head, rest))
}

fn parse(head: &str, rest: Vec<u8>) -> Option<Request> {
    let (first, lines) = head.split_once("\r\n").unwrap_or((head, ""));
    let mut words = first.split(' ');
    let (method, address, version) = (words.next()?, words.next()?, words.next()?);
    let is_version = version == "HTTP/1.1" || version == "HTTP/1.0";
    if words.next().is_some() || !is_version || method.is_empty() {
        return None;
    }
    let (authority, path, protocol, port) = if method == "CONNECT" {
        (address, String::new(), NetworkProtocol::Https, 443)
    } else {
        let plain = address.strip_prefix("http://")?;
        let at = plain.find(['/', '?']).unwrap_or(plain.len());
        let (authority, path) = plain.split_at(at);
        let slash = if path.starts_with('/') { "" } else { "/" };
        (
            authority,
            format!("{slash}{path}"),
            NetworkProtocol::Http,
            80,
        )
    };
    Some(Request {
        method: method.to_owned(),
        target: target(authority, protocol, port)?,
        path,
        headers: kept_headers(lines),
        rest,
    })
}

/// The headers that are meant for the server at the other end.
fn kept_headers(lines: &str) -> String {
    let for_proxies = |line: &&str| {
        let name = line.split(':').next().unwrap_or_default();
        [
            "connection",
            "proxy-connection",
            "proxy-authorization",
            "keep-alive",
        ]
        .iter()
        .any(|own| name.trim().eq_ignore_ascii_case(own))
    };
    let lines = lines.split("\r\n").filter(|line| !line.is_empty());
    let kept = lines.filter(|line| !for_proxies(line));
    kept.flat_map(|line| [line, "\r\n"]).collect()
}

/// The target of an authority, `host[:port]`.
pub(super) fn target(authority: &str, protocol: NetworkProtocol, port: u16) -> Option<Target> {
    let host = normal_host(authority).ok()?;
    let after_host = authority
        .rsplit_once(']')
        .map_or(authority, |(_, rest)| rest);
    let port = match after_host.rsplit_once(':') {
        Some((_, text)) => text.parse().ok()?,
        None => port,
    };
    Some(Target {
        host,
        protocol,
        port,
    })
}

/// A host as it stands in an address.
fn bracketed(host: &str) -> String {
    match host.contains(':') {
        true => format!("[{host}]"),
        false => host.to_owned(),
    }
}

/// What a command is told of a connection that is not let through.
fn refusal(blocked: Blocked, target: &Target) -> Vec<u8> {
    let (error, reason, message) = match blocked {
        Blocked::Denied => (
            "blocked-by-denylist",
            "denied",
            "the host is denied by policy",
        ),
        Blocked::Unknown { .. } => (
            "blocked-by-allowlist",
            "not_allowed",
            "the host is on no list of allowed ones, and nobody allowed it",
        ),
        Blocked::Local => (
            "blocked-by-allowlist",
            "not_allowed_local",
            "addresses of this machine and of private networks are not allowed, nor names that lead nowhere",
        ),
        Blocked::Method => (
            "blocked-by-method-policy",
            "method_not_allowed",
            "only requests that read are allowed",
        ),
        Blocked::Tunnel => (
            "blocked-by-mitm-required",
            "mitm_required",
            "only requests that read are allowed, and those of a tunnel cannot be told",
        ),
    };
    let source = match blocked {
        Blocked::Unknown { asked: true } => "decider",
        _ => "baseline_policy",
    };
    let body = json!({
        "status": "blocked", "host": target.host, "reason": reason, "decision": "deny",
        "source": source, "protocol": target.protocol.name(), "port": target.port,
        "message": format!("Quipu blocked this request: {message}."),
    })
    .to_string();
    let length = body.len();
    let head = format!(
        "HTTP/1.1 403 Forbidden\r\ncontent-type: application/json\r\nx-proxy-error: {error}\r\n\
         connection: close\r\ncontent-length: {length}\r\n\r\n"
    );
    [head, body].concat().into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(head: &str) -> Option<(String, String, u16, String)> {
        let request = parse(head, Vec::new())?;
        let Target { host, port, .. } = request.target;
        Some((request.method, host, port, request.path))
    }

    #[test]
    fn requests_to_a_proxy_name_their_target() {
        let read_as = |method: &str, host: &str, port, path: &str| {
            Some((method.to_owned(), host.to_owned(), port, path.to_owned()))
        };
        let cases = [
            (
                "GET http://X.org HTTP/1.1",
                read_as("GET", "x.org", 80, "/"),
            ),
            (
                "GET http://x.org?q HTTP/1.1",
                read_as("GET", "x.org", 80, "/?q"),
            ),
            (
                "POST http://x.org:81/a?b HTTP/1.0",
                read_as("POST", "x.org", 81, "/a?b"),
            ),
            (
                "CONNECT x.org:443 HTTP/1.1",
                read_as("CONNECT", "x.org", 443, ""),
            ),
            (
                "CONNECT [::1]:22 HTTP/1.1",
                read_as("CONNECT", "::1", 22, ""),
            ),
            ("GET http://[::1]/ HTTP/1.1", read_as("GET", "::1", 80, "/")),
        ];
        for (head, expected) in cases {
            assert_eq!(read(head), expected, "{head}");
        }
        for wrong in [
            "",
            "GET",
            "GET / HTTP/1.1",
            "GET ftp://x.org/ HTTP/1.1",
            "GET http://x.org/ HTTP/2",
            "GET http://a b/ HTTP/1.1",
            "CONNECT x.org:99999 HTTP/1.1",
            "GET http:// HTTP/1.1",
            "GET http://u@x.org/ HTTP/1.1",
            "GET http://*.x.org/ HTTP/1.1",
        ] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn the_length_of_a_body_is_given_or_nothing() {
        for (headers, length) in [
            ("Host: x\r\n", Some(0)),
            ("Content-Length: 7\r\nA: b\r\n", Some(7)),
            ("content-length: 7\r\ncontent-length: 7\r\n", Some(7)),
            ("content-length: 7\r\ncontent-length: 8\r\n", None),
            ("content-length: -1\r\n", None),
            ("content-length: 7\r\nTransfer-Encoding: chunked\r\n", None),
        ] {
            assert_eq!(body_length(headers), length, "{headers}");
        }
    }

    #[test]
    fn headers_for_proxies_stay_here() {
        let lines = "Host: x\r\nProxy-Authorization: secret\r\nConnection: keep-alive\r\nA: b\r\n";
        assert_eq!(kept_headers(lines), "Host: x\r\nA: b\r\n");
    }
}
