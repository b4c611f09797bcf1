//! Where what the server says is handed out: each message is looked at once, decoded at most once,
//! and given to everyone whom it concerns. Nobody here is ever waited for.

use std::collections::HashMap;
use std::mem;
use std::sync::Arc;

use parking_lot::Mutex;
use quipu_rpc::{Notification, RawJson};
use tokio::sync::watch;

use crate::Cause;
use crate::event::{self, Event};
use crate::feed::Feed;
use crate::record::Recorder;
use crate::scope::{Ids, Place};

/// The listeners of one connection.
#[derive(Debug)]
pub(crate) struct Hub {
    listeners: Mutex<Listeners>,
    closed: watch::Sender<Option<Cause>>,
}

#[derive(Debug, Default)]
struct Listeners {
    feeds: Vec<Arc<Feed>>,
    recorders: Vec<Arc<Recorder>>,
    /// How many questions about a thread wait for their answers.
    questions: HashMap<String, usize>,
}

impl Hub {
    pub fn new() -> Arc<Hub> {
        Arc::new(Hub {
            listeners: Mutex::default(),
            closed: watch::Sender::new(None),
        })
    }

    /// A feed that is added after the end hears of it at once.
    pub fn add_feed(&self, feed: &Arc<Feed>) {
        let mut listeners = self.listeners.lock();
        let closed = self.closed.borrow().clone();
        match closed {
            Some(cause) => feed.close(&Arc::new(Event::Closed(cause))),
            None => listeners.feeds.push(Arc::clone(feed)),
        }
    }

    pub fn remove_feed(&self, feed: &Arc<Feed>) {
        self.listeners
            .lock()
            .feeds
            .retain(|it| !Arc::ptr_eq(it, feed));
    }

    pub fn add_recorder(&self, recorder: &Arc<Recorder>) {
        let mut listeners = self.listeners.lock();
        let closed = self.closed.borrow().clone();
        match closed {
            Some(cause) => recorder.close(&cause),
            None => listeners.recorders.push(Arc::clone(recorder)),
        }
    }

    pub fn remove_recorder(&self, recorder: &Arc<Recorder>) {
        self.listeners
            .lock()
            .recorders
            .retain(|it| !Arc::ptr_eq(it, recorder));
    }

    /// Hands out a notification.
    pub fn notify(&self, notification: &Notification) {
        let listeners = self.listeners.lock();
        if listeners.feeds.is_empty() && listeners.recorders.is_empty() {
            return;
        }
        let ids = Ids::of(event::text(notification.params.as_ref()));
        let place = ids.place();
        // Some servers end a turn without naming it.
        let unnamed_end = notification.method == "turn/completed" && place == Place::default();
        let size = notification
            .params
            .as_ref()
            .map_or(0, |it| it.as_bytes().len());
        let mut decoded = None;
        let mut event =
            || Arc::clone(decoded.get_or_insert_with(|| Arc::new(Event::read(notification))));
        for recorder in listeners.recorders.iter().filter(|it| it.wants(place)) {
            recorder.touch();
            if Recorder::records(&notification.method) {
                recorder.note(&event(), size, place);
            }
        }
        if unnamed_end {
            listeners.recorders.iter().for_each(|it| it.end_unnamed());
        }
        let concerned = |feed: &&Arc<Feed>| unnamed_end || feed.wants(place);
        for feed in listeners.feeds.iter().filter(concerned) {
            feed.push(&event(), size, place);
        }
    }

    /// Hands out an event that is about the connection as a whole.
    pub fn tell(&self, event: Event, size: usize) {
        let event = Arc::new(event);
        let place = Place::default();
        let listeners = self.listeners.lock();
        for feed in listeners.feeds.iter().filter(|it| it.wants(place)) {
            feed.push(&event, size, place);
        }
    }

    /// Notes that a question waits for its answer as long as the guard lives.
    pub fn question(self: &Arc<Self>, params: Option<&RawJson>) -> QuestionGuard {
        let ids = Ids::of(event::text(params));
        let thread = ids.place().thread.unwrap_or_default().to_owned();
        let mut listeners = self.listeners.lock();
        *listeners.questions.entry(thread.clone()).or_default() += 1;
        drop(listeners);
        QuestionGuard {
            hub: Arc::clone(self),
            thread,
        }
    }

    /// Whether a question about a thread waits for its answer.
    pub fn is_asking(&self, thread: &str) -> bool {
        self.listeners.lock().questions.contains_key(thread)
    }

    /// Tells everyone that the connection has ended. The first cause stays.
    pub fn close(&self, cause: &Cause) {
        let listeners = {
            let mut listeners = self.listeners.lock();
            self.closed.send_if_modified(|closed| {
                let is_first = closed.is_none();
                closed.get_or_insert_with(|| cause.clone());
                is_first
            });
            mem::take(&mut *listeners)
        };
        let event = Arc::new(Event::Closed(cause.clone()));
        for feed in listeners.feeds {
            feed.close(&event);
        }
        for recorder in listeners.recorders {
            recorder.close(cause);
        }
    }

    /// Waits for the end of the connection.
    pub async fn closed(&self) -> Cause {
        let mut closed = self.closed.subscribe();
        match closed.wait_for(Option::is_some).await {
            Ok(cause) => cause.clone().unwrap_or(Cause::Disconnected),
            // The sender is a field of what `self` borrows.
            Err(_) => Cause::Disconnected,
        }
    }
}

/// A question that waits for its answer. A turn is not silent meanwhile.
pub(crate) struct QuestionGuard {
    hub: Arc<Hub>,
    thread: String,
}

impl Drop for QuestionGuard {
    fn drop(&mut self) {
        let mut listeners = self.hub.listeners.lock();
        if let Some(count) = listeners.questions.get_mut(&self.thread) {
            *count -= 1;
            if *count == 0 {
                listeners.questions.remove(&self.thread);
            }
        }
        for recorder in &listeners.recorders {
            recorder.touch_thread(&self.thread);
        }
    }
}
