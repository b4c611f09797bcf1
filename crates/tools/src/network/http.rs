//! The gate as an HTTP proxy: one request or one tunnel per connection.

use std::io;
use std::time::Duration;

use quipu_policy::hosts::Target;
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, copy, copy_bidirectional, sink};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::head::Head;
use super::keeper::{Blocked, Keeper};
use super::upstream::{Route, connect};

/// The longest head of a request, and how long it may take.
const MAX_HEAD: usize = 64 * 1024;
const HEAD_PATIENCE: Duration = Duration::from_secs(30);
/// Methods that only read.
const READING: [&str; 3] = ["GET", "HEAD", "OPTIONS"];

/// A request as the gate needs it.
struct Request {
    head: Head,
    /// What came after the head.
    rest: Vec<u8>,
}

/// Serves one connection.
pub(super) async fn serve(mut client: TcpStream, keeper: &Keeper) -> io::Result<()> {
    let read = timeout(HEAD_PATIENCE, read_request(&mut client)).await;
    let Ok(Some(request)) = read.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into())) else {
        let answer = "HTTP/1.1 400 Bad Request\r\nconnection: close\r\ncontent-length: 0\r\n\r\n";
        return client.write_all(answer.as_bytes()).await;
    };
    let admitted = match check_method(&request.head, keeper) {
        Ok(()) => keeper.admit(&request.head.target).await,
        Err(blocked) => Err(blocked),
    };
    let route = match admitted {
        Ok(route) => route,
        Err(blocked) => {
            return client
                .write_all(&refusal(blocked, &request.head.target))
                .await;
        }
    };
    match connect(&route).await {
        Ok(server) => forward(client, server, &request, &route, keeper).await,
        Err(error) => {
            let text = format!("{} cannot be reached: {error}\n", request.head.target.host);
            let length = text.len();
            let answer = format!(
                "HTTP/1.1 502 Bad Gateway\r\nconnection: close\r\ncontent-type: text/plain\r\n\
                 content-length: {length}\r\n\r\n{text}"
            );
            client.write_all(answer.as_bytes()).await
        }
    }
}

fn check_method(head: &Head, keeper: &Keeper) -> Result<(), Blocked> {
    if !keeper.network.reads_only {
        return Ok(());
    }
    match head.is_tunnel() {
        true => Err(Blocked::Tunnel),
        false if READING.contains(&head.method.as_str()) => Ok(()),
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
    let Request { head, rest } = request;
    let Head {
        method,
        target,
        path,
        headers,
    } = head;
    let (host, port) = (bracketed(&target.host), target.port);
    let shared = !head.is_tunnel() && matches!(route, Route::Proxy(_));
    let body = match shared {
        true => head.body_length(),
        false => Some(0),
    };
    let Some(body) = body else {
        let answer =
            "HTTP/1.1 411 Length Required\r\nconnection: close\r\ncontent-length: 0\r\n\r\n";
        return client.write_all(answer.as_bytes()).await;
    };
    match (head.is_tunnel(), route) {
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
            let mut head = format!(
                "{method} {address} HTTP/1.1\r\nhost: {}\r\n",
                target_host(target)
            );
            for (name, value) in headers {
                head += &format!("{name}: {value}\r\n");
            }
            head += "connection: close\r\n\r\n";
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

/// Reads the head of a request; `None` if it is malformed or no request to a proxy.
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
    Ok(Head::parse(&bytes).map(|head| Request { head, rest }))
}

/// The host and port of a plain request, as its server reads them.
fn target_host(target: &Target) -> String {
    let host = bracketed(&target.host);
    match target.port {
        80 => host,
        port => format!("{host}:{port}"),
    }
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
            "only requests that read are allowed, and those of a tunnel cannot be distinguished",
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
