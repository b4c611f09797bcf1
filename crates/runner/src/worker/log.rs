//! The log of an attempt: one line of JSON for each thing that its session said, without the single pieces of streams.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::PathBuf;

use serde_json::json;
use tokio::sync::{mpsc, oneshot};

use crate::session::Event;
use crate::time;

/// Lines that may wait to be written; more are left out.
const QUEUE: usize = 512;
/// The longest line.
const MAX_LINE: usize = 256 << 10;

/// What waits to be written.
#[derive(Debug)]
pub enum Message {
    Line(String),
    /// Answered when everything before it is written.
    Flush(oneshot::Sender<()>),
}

/// A log that is being written.
pub struct Log {
    messages: mpsc::Sender<Message>,
}

impl Log {
    /// A log of at most so many bytes; none if that is 0.
    pub fn open(path: PathBuf, max_bytes: usize) -> Log {
        let (messages, waiting) = mpsc::channel(QUEUE);
        tokio::spawn(write(path, max_bytes, waiting));
        Log { messages }
    }

    /// A sender of lines for an observer.
    pub fn sender(&self) -> mpsc::Sender<Message> {
        self.messages.clone()
    }

    /// Waits until everything is written.
    pub async fn flush(&self) {
        let (done, written) = oneshot::channel();
        if self.messages.send(Message::Flush(done)).await.is_ok() {
            // A task that failed has nothing more to write.
            written.await.ok();
        }
    }
}

/// The line of an event; nothing for a piece of a stream.
pub fn line(event: &Event) -> Option<String> {
    if event.method.ends_with("elta") {
        return None;
    }
    let line = json!({
        "at": time::rfc3339(time::now()),
        "event": event.kind.name(),
        "session_id": event.session_id,
        "method": event.method,
        "payload": event.payload,
    });
    let mut line = line.to_string();
    if line.len() > MAX_LINE {
        line = json!({
            "at": time::rfc3339(time::now()),
            "event": event.kind.name(),
            "session_id": event.session_id,
            "method": event.method,
            "left_out": line.len(),
        })
        .to_string();
    }
    line.push('\n');
    Some(line)
}

async fn write(path: PathBuf, max_bytes: usize, mut messages: mpsc::Receiver<Message>) {
    let mut written = 0_usize;
    let mut batch = Vec::new();
    while messages.recv_many(&mut batch, QUEUE).await > 0 {
        let mut text = String::new();
        let mut waiters = Vec::new();
        for message in batch.drain(..) {
            match message {
                Message::Line(line) => {
                    // Once a line does not fit, none does: a log with gaps would mislead.
                    written = line.len().saturating_add(written);
                    if written <= max_bytes {
                        text.push_str(&line);
                    }
                }
                Message::Flush(done) => waiters.push(done),
            }
        }
        if !text.is_empty() {
            append(path.clone(), text).await;
        }
        for done in waiters {
            // The caller may have stopped waiting.
            done.send(()).ok();
        }
    }
}

async fn append(path: PathBuf, text: String) {
    let done = tokio::task::spawn_blocking(move || {
        if let Some(directory) = path.parent() {
            std::fs::create_dir_all(directory)?;
        }
        let mut options = OpenOptions::new();
        options.append(true).create(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        options.open(path)?.write_all(text.as_bytes())
    });
    if let Ok(Err(error)) = done.await {
        tracing::warn!(%error, "attempt log not written");
    }
}
