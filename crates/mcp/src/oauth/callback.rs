//! The page that the browser comes back to: a listener for one visit, on this machine.

use std::time::Duration;

use reqwest::Url;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;

const MAX_HEAD: usize = 16 * 1024;
const PATIENCE: Duration = Duration::from_secs(10);

/// What the browser brought.
pub(super) enum Visit {
    /// The provider agreed.
    Code(String),
    /// The provider did not; the text is for the user.
    Refused(String),
}

/// Waits for the visit that belongs to this login; others are turned away.
pub(super) async fn wait(
    listener: &TcpListener,
    path: &str,
    state: &str,
) -> std::io::Result<Visit> {
    loop {
        let (mut stream, _) = listener.accept().await?;
        let target = match timeout(PATIENCE, read_target(&mut stream)).await {
            Ok(Ok(target)) => target,
            _ => continue,
        };
        let visit = read(&target, path, state);
        let (status, text) = match &visit {
            Some(Visit::Code(_)) => (
                "200 OK",
                "Authentication complete. You may close this window.",
            ),
            Some(Visit::Refused(text)) => ("400 Bad Request", text.as_str()),
            None => ("400 Bad Request", "Invalid OAuth callback"),
        };
        let answer = format!(
            "HTTP/1.1 {status}\r\nContent-Type: text/plain; charset=UTF-8\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{text}",
            text.len()
        );
        // A browser that does not wait for the page has still brought the code.
        timeout(PATIENCE, stream.write_all(answer.as_bytes()))
            .await
            .map(drop)
            .ok();
        if let Some(visit) = visit {
            return Ok(visit);
        }
    }
}

/// The target of a `GET`; empty for everything else.
async fn read_target(stream: &mut TcpStream) -> std::io::Result<String> {
    let mut head = Vec::new();
    while !head.windows(4).any(|it| it == b"\r\n\r\n") && head.len() < MAX_HEAD {
        if stream.read_buf(&mut head).await? == 0 {
            break;
        }
    }
    let head = String::from_utf8_lossy(&head);
    let mut words = head.lines().next().unwrap_or_default().split(' ');
    Ok(match (words.next(), words.next()) {
        (Some("GET"), Some(target)) => target.to_owned(),
        _ => String::new(),
    })
}

/// Reads a target; `None` if it is not what this login waits for.
fn read(target: &str, path: &str, state: &str) -> Option<Visit> {
    let url = Url::parse("http://localhost").ok()?.join(target).ok()?;
    if url.path() != path {
        return None;
    }
    let member = |name: &str| {
        let mut pairs = url.query_pairs();
        pairs
            .find(|(key, _)| key == name)
            .map(|(_, value)| value.into_owned())
    };
    if let Some(error) = member("error") {
        let text = match member("error_description") {
            Some(why) => format!("OAuth provider returned `{error}`: {why}"),
            None => format!("OAuth provider returned `{error}`"),
        };
        return Some(Visit::Refused(text));
    }
    // Another state is the visit of somebody else, who must not end this login.
    match (member("code"), member("state")) {
        (Some(code), Some(theirs)) if theirs == state => Some(Visit::Code(code)),
        _ => None,
    }
}
