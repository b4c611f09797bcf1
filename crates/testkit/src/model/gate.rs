//! An answer that stops at a known place until the test says how it goes on, so that a fault can hit
//! that very moment.

use std::time::Duration;

use tokio::sync::{oneshot, watch};

use crate::client::within;

/// Where an answer stops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// Nothing was sent.
    BeforeAnswer,
    /// The pieces of the message were sent, its end was not.
    BeforeEnd,
    /// Everything was sent but the event that says so.
    BeforeCompletion,
}

/// How a stopped answer goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Then {
    /// As if nothing had been.
    Finish,
    /// The connection breaks.
    Cut,
    /// Nothing comes any more.
    Stall,
    /// Bytes without sense, and an end.
    Garbage,
    /// The model reports an error of its own: a status, or an event if the answer has begun.
    Fail,
    /// A page for people, as proxies send it.
    Html,
}

impl Then {
    /// What is sent in the middle of an answer, before it ends.
    pub(super) fn bytes(self) -> &'static [u8] {
        match self {
            Then::Finish | Then::Cut | Then::Stall => b"",
            Then::Garbage => b"data: {\"type\":\"response.\xff\xfe\x00\n\ndata: [[[\n\n\x01\x02:::\n\n",
            Then::Fail => {
                b"event: response.failed\ndata: {\"type\":\"response.failed\",\"response\":{\"id\":\"r\",\
                  \"error\":{\"code\":\"server_error\",\"message\":\"scripted failure\"}}}\n\n"
            }
            Then::Html => PAGE.as_bytes(),
        }
    }
}

pub(super) const PAGE: &str =
    "<!DOCTYPE html>\n<html><head><title>502</title></head>\n\n<body>Bad Gateway</body></html>\n";

/// The test's end of a stopped answer. Dropped, it cuts the connection.
#[derive(Debug)]
pub struct Gate {
    reached: watch::Receiver<bool>,
    then: oneshot::Sender<Then>,
}

impl Gate {
    /// Waits until the answer has come to its stop.
    pub async fn reached(&mut self) {
        let reached = self.reached.wait_for(|reached| *reached);
        drop(within("the stop of an answer", reached).await);
    }

    /// Lets the answer go on.
    pub fn open(self, then: Then) {
        // A server that hung up meanwhile does not care.
        self.then.send(then).ok();
    }
}

/// The model's end.
#[derive(Debug)]
pub(super) struct Stopped {
    pub(super) stop: Stop,
    reached: watch::Sender<bool>,
    then: oneshot::Receiver<Then>,
}

/// The longest time that a forgotten gate holds its connection.
const FORGOTTEN: Duration = Duration::from_secs(120);

impl Stopped {
    pub(super) fn new(stop: Stop) -> (Gate, Stopped) {
        let (reached, is_reached) = watch::channel(false);
        let (open, then) = oneshot::channel();
        let gate = Gate {
            reached: is_reached,
            then: open,
        };
        let stopped = Stopped {
            stop,
            reached,
            then,
        };
        (gate, stopped)
    }

    /// Tells the test that the stop is reached, and waits for its word.
    pub(super) async fn wait(self) -> Then {
        self.reached.send_replace(true);
        match tokio::time::timeout(FORGOTTEN, self.then).await {
            Ok(Ok(then)) => then,
            _ => Then::Cut,
        }
    }
}
