//! The messages that answer one HTTP request, kept until they are read, so that a client whose connection broke can
//! read on.

use std::collections::VecDeque;
use std::sync::Arc;

use parking_lot::Mutex;
use serde_json::Value;
use tokio::sync::{Notify, mpsc};

use crate::message::Outlet;

/// Messages that are kept of one stream; the oldest are dropped first.
const MOST: usize = 4096;
/// Messages that may wait to be kept.
const QUEUE: usize = 64;

/// The messages of one request, numbered from 0.
#[derive(Default)]
pub struct Stream {
    kept: Mutex<Kept>,
    changed: Notify,
}

#[derive(Default)]
struct Kept {
    messages: VecDeque<Arc<str>>,
    /// The number of the first one that is kept.
    first: u64,
    is_over: bool,
}

impl Stream {
    /// A stream, and where its messages go; it is over when every copy of that is gone.
    pub fn new() -> (Arc<Stream>, Outlet) {
        let (outlet, mut messages) = mpsc::channel::<Value>(QUEUE);
        let stream = Arc::new(Stream::default());
        let keeper = Arc::clone(&stream);
        tokio::spawn(async move {
            while let Some(message) = messages.recv().await {
                keeper.keep(&message);
            }
            keeper.kept.lock().is_over = true;
            keeper.changed.notify_waiters();
        });
        (stream, outlet)
    }

    fn keep(&self, message: &Value) {
        let mut kept = self.kept.lock();
        kept.messages.push_back(message.to_string().into());
        if kept.messages.len() > MOST {
            kept.messages.pop_front();
            kept.first += 1;
        }
        drop(kept);
        self.changed.notify_waiters();
    }

    /// Whether all messages are there.
    pub fn is_over(&self) -> bool {
        self.kept.lock().is_over
    }

    /// The first message from this number on, with its number; nothing if the stream ends before.
    pub async fn next(&self, from: u64) -> Option<(u64, Arc<str>)> {
        loop {
            let changed = self.changed.notified();
            {
                let kept = self.kept.lock();
                let from = from.max(kept.first);
                let index = usize::try_from(from - kept.first).unwrap_or(usize::MAX);
                if let Some(message) = kept.messages.get(index) {
                    return Some((from, Arc::clone(message)));
                }
                if kept.is_over {
                    return None;
                }
            }
            changed.await;
        }
    }
}
