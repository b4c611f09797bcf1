//! What a client should see at once leaves in one write.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use quipu_rpc::Connection;
use quipu_testkit::conversation::Conversation;
use serde_json::{Value, json};
use tokio::io::{AsyncWrite, DuplexStream, duplex, split};

use crate::lab::Lab;
use crate::stage::{input, text};

const LINE: usize = 1 << 20;

/// A stream that remembers what each write had.
struct Recorded {
    stream: tokio::io::WriteHalf<DuplexStream>,
    writes: Arc<Mutex<Vec<String>>>,
}

impl AsyncWrite for Recorded {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let Recorded { stream, writes } = &mut *self;
        // Before the reader of the bytes can look.
        let mut writes = writes.lock().unwrap();
        let written = Pin::new(stream).poll_write(context, bytes);
        if let Poll::Ready(Ok(count)) = &written {
            writes.push(String::from_utf8_lossy(&bytes[..*count]).into_owned());
        }
        written
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

/// Runs a turn many times; the writes in which it ended.
async fn ends(lab: &Lab, steps: Value) -> Vec<String> {
    let (ours, theirs) = duplex(1 << 20);
    let (reader, stream) = split(theirs);
    let writes = Arc::new(Mutex::default());
    let recorded = Recorded {
        stream,
        writes: Arc::clone(&writes),
    };
    lab.serve(Connection::lines(reader, recorded, LINE));
    let (reader, writer) = split(ours);
    let mut client = Conversation::start(Connection::lines(reader, writer, LINE)).await;
    let started = client.call("thread/start", json!({})).await;
    let id = text(&started["thread"]["id"]);
    let prompt = json!({ "script": steps }).to_string();
    for _ in 0..100 {
        client.call("turn/start", input(&id, &prompt)).await;
        client.skip_to("turn/completed").await;
    }
    let writes = std::mem::take(&mut *writes.lock().unwrap());
    let is_end = |it: &String| it.contains("\"turn/completed\"");
    writes.into_iter().filter(is_end).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_status_after_a_turn_leaves_with_its_end() {
    let lab = Lab::new();
    for (steps, status) in [
        (json!([{ "text": "hello" }]), "idle"),
        (json!([{ "fail": 400 }]), "systemError"),
    ] {
        let ends = ends(&lab, steps).await;
        assert_eq!(ends.len(), 100);
        for end in ends {
            let place = |what: &str| end.find(what);
            let status = place(&format!("\"status\":{{\"type\":\"{status}\"}}"));
            assert!(status.is_some(), "the status came before: {end}");
            assert!(status < place("\"turn/completed\""), "{end}");
        }
    }
}
