//! One consumer's events: bounded, the oldest lost first, and the loss reported in its place. Losing the
//! oldest keeps the end of a turn, which is what its consumer must not miss.

use std::collections::VecDeque;
use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use futures_util::Stream;
use parking_lot::Mutex;
use quipu_rpc::Limits;

use crate::event::{Event, Lagged};
use crate::hub::Hub;
use crate::scope::{Place, Scope};

/// The queue between the connection and one consumer.
#[derive(Debug)]
pub(crate) struct Feed(Mutex<State>);

#[derive(Debug)]
struct State {
    scope: Scope,
    /// Whether the scope is still wider than what is wanted, because ids are not known yet.
    is_pending: bool,
    limits: Limits,
    entries: VecDeque<Entry>,
    bytes: usize,
    lagged: Lagged,
    is_over: bool,
    waker: Option<Waker>,
}

#[derive(Debug)]
struct Entry {
    event: Arc<Event>,
    size: usize,
    /// Where it belongs, remembered while the scope is pending.
    place: Option<(Option<String>, Option<String>)>,
}

impl Feed {
    pub fn new(scope: Scope, is_pending: bool, limits: Limits) -> Feed {
        Feed(Mutex::new(State {
            scope,
            is_pending,
            limits,
            entries: VecDeque::new(),
            bytes: 0,
            lagged: Lagged::default(),
            is_over: false,
            waker: None,
        }))
    }

    /// Whether a message about this place is wanted.
    pub fn wants(&self, place: Place<'_>) -> bool {
        let state = self.0.lock();
        !state.is_over && state.scope.covers(place)
    }

    pub fn push(&self, event: &Arc<Event>, size: usize, place: Place<'_>) {
        let mut state = self.0.lock();
        // The scope may have become narrower since the event was wanted.
        if place != Place::default() && !state.scope.covers(place) {
            return;
        }
        let owned = |id: Option<&str>| id.map(str::to_owned);
        let place = state
            .is_pending
            .then(|| (owned(place.thread), owned(place.turn)));
        state.is_over |= !state.is_pending && state.is_end(event);
        state.bytes += size;
        state.entries.push_back(Entry {
            event: Arc::clone(event),
            size,
            place,
        });
        state.shed();
        state.wake();
    }

    /// Keeps only one turn from now on, once it is known which.
    pub fn narrow(&self, scope: &Scope) {
        let mut state = self.0.lock();
        state.scope = scope.clone();
        state.is_pending = false;
        state.entries.retain(|entry| match &entry.place {
            // The end of a turn that is not named.
            Some((None, None)) => true,
            Some((thread, turn)) => scope.covers(Place {
                thread: thread.as_deref(),
                turn: turn.as_deref(),
            }),
            None => true,
        });
        state.bytes = state.entries.iter().map(|entry| entry.size).sum();
        let is_over = state.entries.iter().any(|entry| state.is_end(&entry.event));
        state.is_over |= is_over;
        state.wake();
    }

    /// Tells the end of the connection as the last event.
    pub fn close(&self, event: &Arc<Event>) {
        let mut state = self.0.lock();
        if !state.is_over {
            state.is_over = true;
            state.entries.push_back(Entry {
                event: Arc::clone(event),
                size: 0,
                place: None,
            });
        }
        state.wake();
    }

    fn poll(&self, cx: &mut Context<'_>) -> Poll<Option<Event>> {
        let mut state = self.0.lock();
        if state.lagged.missed > 0 {
            return Poll::Ready(Some(Event::Lagged(std::mem::take(&mut state.lagged))));
        }
        if let Some(entry) = state.entries.pop_front() {
            state.bytes -= entry.size;
            drop(state);
            return Poll::Ready(Some(Arc::unwrap_or_clone(entry.event)));
        }
        if state.is_over {
            return Poll::Ready(None);
        }
        state.waker = Some(cx.waker().clone());
        Poll::Pending
    }
}

impl State {
    /// Whether nothing follows an event in this scope.
    fn is_end(&self, event: &Event) -> bool {
        matches!(self.scope, Scope::Turn { .. }) && event.method() == "turn/completed"
    }

    /// Drops the oldest events beyond the limits, but never the last one.
    fn shed(&mut self) {
        while self.entries.len() > 1
            && (self.entries.len() > self.limits.messages || self.bytes > self.limits.bytes)
        {
            if let Some(lost) = self.entries.pop_front() {
                self.bytes -= lost.size;
                self.lagged.add(&lost.event);
            }
        }
    }

    fn wake(&mut self) {
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }
}

/// Events of a client, a thread or a turn, in the order in which the server sent them, from the
/// moment the stream was made. It ends after [`Event::Closed`]; that of a turn ends after
/// `turn/completed`.
///
/// A stream holds a bounded number of events (see [`Options::event_buffer`]). One that is not read
/// loses the oldest and says so with [`Event::Lagged`]; it never holds up the connection or other
/// streams. It does not keep the connection open.
///
/// [`Options::event_buffer`]: crate::Options::event_buffer
pub struct EventStream {
    feed: Arc<Feed>,
    hub: Arc<Hub>,
}

impl EventStream {
    pub(crate) fn new(hub: &Arc<Hub>, feed: Feed) -> EventStream {
        let feed = Arc::new(feed);
        hub.add_feed(&feed);
        EventStream {
            feed,
            hub: Arc::clone(hub),
        }
    }

    /// The next event, or nothing after the last one. May be cancelled without loss.
    pub async fn next(&mut self) -> Option<Event> {
        poll_fn(|cx| self.feed.poll(cx)).await
    }

    pub(crate) fn feed(&self) -> Arc<Feed> {
        Arc::clone(&self.feed)
    }
}

impl Stream for EventStream {
    type Item = Event;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Event>> {
        self.feed.poll(cx)
    }
}

impl Drop for EventStream {
    fn drop(&mut self) {
        self.hub.remove_feed(&self.feed);
    }
}

impl fmt::Debug for EventStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EventStream").finish_non_exhaustive()
    }
}
