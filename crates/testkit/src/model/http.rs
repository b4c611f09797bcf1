//! As much HTTP/1.1 as a scripted model needs, by hand: a real server library would not break a
//! response in the middle on request.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use bytes::Bytes;
use quipu_model::play::{Ending, Player};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use super::gate::{Stop, Stopped, Then};
use super::socket::{self, SocketReply};
use super::{Reply, State};
use crate::http::read_request;

/// Pieces that need no wait are sent together up to this size.
const BATCH: usize = 64 * 1024;

/// Accepts connections until the listener breaks; ends them all when dropped.
pub(super) async fn accept(listener: TcpListener, state: Arc<State>) {
    let mut connections = JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        while connections.try_join_next().is_some() {}
        let state = Arc::clone(&state);
        connections.spawn(async move {
            // A client that goes away ends its connection and nothing else.
            drop(connection(stream, &state).await);
        });
    }
}

async fn connection(mut stream: TcpStream, state: &State) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let number = state.connections.fetch_add(1, Ordering::Relaxed) + 1;
    let mut buffer = Vec::new();
    while let Some(request) = read_request(&mut stream, &mut buffer).await? {
        if request
            .headers
            .get("upgrade")
            .is_some_and(|it| it == "websocket")
        {
            match state.socket(&request).await {
                SocketReply::Open(answer) => {
                    stream.write_all(answer.as_bytes()).await?;
                    return socket::serve(stream, &request, number, state).await;
                }
                SocketReply::Refuse(status) => {
                    let head = head(status, &BTreeMap::new(), "application/json");
                    let answer = format!("{head}content-length: 2\r\n\r\n{{}}");
                    stream.write_all(answer.as_bytes()).await?;
                    continue;
                }
                SocketReply::Silence => return silence(&mut stream).await,
            }
        }
        match state.reply(&request, number).await {
            Reply::Json {
                status,
                headers,
                body,
            } => {
                let mut out = head(status, &headers, "application/json");
                out.push_str(&format!("content-length: {}\r\n\r\n{body}", body.len()));
                stream.write_all(out.as_bytes()).await?;
            }
            Reply::Stream {
                headers,
                player,
                drips,
                stopped,
            } => {
                let mut out = head(200, &headers, "text/event-stream");
                out.push_str("transfer-encoding: chunked\r\n\r\n");
                stream.write_all(out.as_bytes()).await?;
                let ended = match stopped {
                    Some(stopped) => play_to(stopped, &mut stream, player).await,
                    None => play(&mut stream, player, drips).await,
                };
                let ending = ended.inspect_err(|_| {
                    state.abandoned.send_modify(|count| *count += 1);
                })?;
                if ending == Ending::Cut {
                    return Ok(());
                }
            }
            Reply::Cut => return Ok(()),
            Reply::Silence => return silence(&mut stream).await,
        }
    }
    Ok(())
}

fn head(status: u16, headers: &BTreeMap<String, String>, content_type: &str) -> String {
    let mut out = format!("HTTP/1.1 {status} Scripted\r\n");
    if !headers
        .keys()
        .any(|name| name.eq_ignore_ascii_case("content-type"))
    {
        out.push_str(&format!("content-type: {content_type}\r\n"));
    }
    for (name, value) in headers {
        out.push_str(&format!("{name}: {value}\r\n"));
    }
    out
}

/// Sends an answer. An error means that the client went away first.
async fn play(stream: &mut TcpStream, mut player: Player, drips: bool) -> io::Result<Ending> {
    let mut batch = Vec::new();
    for (wait, bytes) in player.by_ref() {
        if !wait.is_zero() {
            send(stream, &mut batch).await?;
            tokio::time::sleep(wait).await;
        }
        chunk(&mut batch, &bytes);
        if drips || batch.len() >= BATCH {
            send(stream, &mut batch).await?;
        }
    }
    let ending = player.ending();
    match ending {
        Ending::Close => batch.extend_from_slice(b"0\r\n\r\n"),
        Ending::Cut => {}
        Ending::Stall => {
            send(stream, &mut batch).await?;
            silence(stream).await?;
        }
    }
    send(stream, &mut batch).await?;
    Ok(ending)
}

/// Sends an answer up to its stop, and then what the test wants.
async fn play_to(stopped: Stopped, stream: &mut TcpStream, player: Player) -> io::Result<Ending> {
    let mut frames: Vec<Bytes> = player.map(|(_, bytes)| bytes).collect();
    let mut rest = frames.pop().unwrap_or_default();
    let mut batch = Vec::new();
    for frame in frames.iter().filter(|frame| !frame.is_empty()) {
        chunk(&mut batch, frame);
    }
    if stopped.stop == Stop::BeforeCompletion {
        let last = rest.windows(7).rposition(|it| it == b"event: ");
        let begun = rest.split_to(last.unwrap_or(0));
        chunk(&mut batch, &begun);
    }
    send(stream, &mut batch).await?;
    let then = stopped.wait().await;
    match then {
        Then::Finish => chunk(&mut batch, &rest),
        Then::Cut => return Ok(Ending::Cut),
        Then::Stall => silence(stream).await?,
        Then::Garbage | Then::Fail | Then::Html => chunk(&mut batch, then.bytes()),
    }
    batch.extend_from_slice(b"0\r\n\r\n");
    send(stream, &mut batch).await?;
    Ok(Ending::Close)
}

/// Says nothing until the client has had enough.
async fn silence(stream: &mut TcpStream) -> io::Result<()> {
    while stream.read(&mut [0; 64]).await? > 0 {}
    Err(io::ErrorKind::ConnectionAborted.into())
}

/// Adds bytes as a chunk of a body; an empty one would end it.
fn chunk(batch: &mut Vec<u8>, bytes: &[u8]) {
    if !bytes.is_empty() {
        batch.extend_from_slice(format!("{:x}\r\n", bytes.len()).as_bytes());
        batch.extend_from_slice(bytes);
        batch.extend_from_slice(b"\r\n");
    }
}

async fn send(stream: &mut TcpStream, batch: &mut Vec<u8>) -> io::Result<()> {
    stream.write_all(batch).await?;
    batch.clear();
    Ok(())
}
