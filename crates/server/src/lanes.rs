//! Order among requests. Jobs of one lane run one after the other in the order they were given; lanes do
//! not wait for each other. A lane lives only while it has work.

use std::collections::{HashMap, VecDeque};
use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::Arc;

use futures_util::FutureExt;
use parking_lot::Mutex;
use quipu_wire::method::{Domain, Queue};
use uuid::Uuid;

use crate::hub::ClientId;

/// What the jobs of a lane have in common.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Key {
    Thread(String),
    Connection(ClientId, Queue),
    Process(Domain),
    /// Finding the node that runs a thread.
    Owner(String),
}

impl Key {
    /// The lane of a thread, whichever way its id is spelled.
    pub fn thread(id: &str) -> Key {
        Key::Thread(Uuid::parse_str(id).map_or_else(|_| id.to_owned(), |id| id.to_string()))
    }
}

/// What a request asks to be done.
pub(crate) type Job = Pin<Box<dyn Future<Output = ()> + Send>>;

/// The lanes with work.
#[derive(Clone, Default)]
pub(crate) struct Lanes(Arc<Mutex<HashMap<Key, VecDeque<Job>>>>);

impl Lanes {
    /// Runs a job after the earlier ones of its lane.
    pub fn run(&self, key: Key, job: Job) {
        let mut lanes = self.0.lock();
        if let Some(waiting) = lanes.get_mut(&key) {
            waiting.push_back(job);
            return;
        }
        lanes.insert(key.clone(), VecDeque::new());
        drop(lanes);
        tokio::spawn(self.clone().drive(key, job));
    }

    async fn drive(self, key: Key, first: Job) {
        let mut job = first;
        loop {
            guarded(job).await;
            let mut lanes = self.0.lock();
            let Some(next) = lanes.get_mut(&key).and_then(VecDeque::pop_front) else {
                lanes.remove(&key);
                return;
            };
            drop(lanes);
            job = next;
        }
    }
}

/// Runs a job that belongs to no lane.
pub(crate) fn run_free(job: Job) {
    tokio::spawn(guarded(job));
}

/// A panic ends its request (whose reply, when dropped, answers with an error) and nothing else.
pub(crate) async fn guarded(job: Job) {
    if let Err(panic) = AssertUnwindSafe(job).catch_unwind().await {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text
            .or_else(|| panic.downcast_ref::<&str>().copied())
            .unwrap_or("no message");
        tracing::error!(panic = text, "request handler panicked");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::sync::mpsc;

    #[tokio::test]
    async fn jobs_of_a_lane_keep_their_order_and_other_lanes_pass() {
        let lanes = Lanes::default();
        let (done, mut seen) = mpsc::unbounded_channel();
        let (release, blocked) = tokio::sync::oneshot::channel::<()>();
        let note = |what: &'static str| {
            let done = done.clone();
            async move { done.send(what).unwrap() }
        };
        let first = note("first");
        let slow = async move {
            blocked.await.unwrap();
            first.await;
        };
        lanes.run(Key::thread("a"), Box::pin(slow));
        lanes.run(Key::thread("a"), Box::pin(note("second")));
        lanes.run(Key::thread("b"), Box::pin(note("other")));
        assert_eq!(seen.recv().await, Some("other"));
        release.send(()).unwrap();
        assert_eq!(seen.recv().await, Some("first"));
        assert_eq!(seen.recv().await, Some("second"));
    }

    #[test]
    fn a_thread_has_one_lane_however_its_id_is_spelled() {
        let id = "0199a213-81c0-7800-8aa1-bbab2a035a53";
        for spelling in [id.to_uppercase(), id.replace('-', ""), format!("{{{id}}}")] {
            assert_eq!(Key::thread(&spelling), Key::thread(id));
        }
        assert_ne!(Key::thread("no id"), Key::thread("NO ID"));
    }

    #[tokio::test]
    async fn a_panic_does_not_stop_its_lane() {
        let lanes = Lanes::default();
        let (done, mut seen) = mpsc::unbounded_channel();
        lanes.run(Key::thread("a"), Box::pin(async { panic!("broken") }));
        let after = async move { done.send(()).unwrap() };
        lanes.run(Key::thread("a"), Box::pin(after));
        assert_eq!(seen.recv().await, Some(()));
    }
}
