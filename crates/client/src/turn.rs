//! Turns and reviews from their start to their end.

use std::pin::Pin;
use std::task::{Context, Poll};

use futures_util::Stream;
use quipu_wire::{
    ReviewStartParams, ThreadItem, ThreadTokenUsage, Turn, TurnStartParams, TurnSteerParams,
    UserInput,
};

use crate::feed::{EventStream, Feed};
use crate::scope::Scope;
use crate::watch::{self, Start, Watched};
use crate::{Cause, Client, Error, Event, Result};

/// What a turn did.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CompletedTurn {
    /// The turn as its end reported it; its status is `completed` or `interrupted`.
    pub turn: Turn,
    /// Its items in the order in which they were completed.
    pub items: Vec<ThreadItem>,
    /// How many items at the front are missing, because there were more than 10,000 or they took
    /// more than 256 MiB.
    pub missed_items: u64,
    /// The text of the last message of the agent; empty if there was none.
    pub agent_message: String,
    /// All that patches changed, as one diff, if they did.
    pub diff: Option<String>,
    /// The tokens that were used, as last reported.
    pub usage: Option<ThreadTokenUsage>,
}

impl CompletedTurn {
    pub(crate) fn new(
        turn: Turn,
        items: Vec<ThreadItem>,
        missed_items: u64,
        diff: Option<String>,
        usage: Option<ThreadTokenUsage>,
    ) -> CompletedTurn {
        let message = items.iter().rev().find_map(|item| match item {
            ThreadItem::AgentMessage { text, .. } => Some(text.clone()),
            _ => None,
        });
        CompletedTurn {
            agent_message: message.unwrap_or_default(),
            turn,
            items,
            missed_items,
            diff,
            usage,
        }
    }
}

/// What a review found.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CompletedReview {
    /// The turn of the review.
    pub turn: Turn,
    /// The review as text, findings included; empty if it was interrupted before.
    pub review_text: String,
}

impl From<CompletedTurn> for CompletedReview {
    fn from(done: CompletedTurn) -> CompletedReview {
        let text = done.items.iter().rev().find_map(|item| match item {
            ThreadItem::ExitedReviewMode { review, .. } => Some(review.clone()),
            _ => None,
        });
        CompletedReview {
            turn: done.turn,
            review_text: text.unwrap_or_default(),
        }
    }
}

/// A turn that says one text to a thread, and leaves all else as it is.
pub fn prompt(thread_id: impl Into<String>, text: impl Into<String>) -> TurnStartParams {
    TurnStartParams {
        thread_id: thread_id.into(),
        input: vec![UserInput::Text {
            text: text.into(),
            text_elements: Vec::new(),
        }],
        ..TurnStartParams::default()
    }
}

impl Client {
    /// Runs a turn to its end. It fails with [`Error::TurnFailed`] if the turn did; a turn that was
    /// interrupted is a result like any other.
    ///
    /// A turn that exceeds a limit of [`Timeouts`](crate::Timeouts) is interrupted and fails with
    /// [`Error::TurnTimedOut`]. If the returned future is dropped, the turn is interrupted too, also
    /// when the server has not answered the request yet.
    pub async fn run_turn(&self, params: TurnStartParams) -> Result<CompletedTurn> {
        let start = Start::Turn(Box::new(params));
        result(watch::begin(self, start, None)).await
    }

    /// Runs a review to its end. Limits, failures and dropping are as for
    /// [`run_turn`](Self::run_turn).
    pub async fn run_review(&self, params: ReviewStartParams) -> Result<CompletedReview> {
        let done = result(watch::begin(self, Start::Review(params), None)).await?;
        Ok(done.into())
    }

    /// Starts a turn whose events can be watched. Returns when the server has accepted it.
    pub async fn stream_turn(&self, params: TurnStartParams) -> Result<TurnStream> {
        let scope = Scope::Thread(params.thread_id.clone());
        self.stream(Start::Turn(Box::new(params)), scope).await
    }

    /// Starts a review whose events can be watched. Returns when the server has accepted it.
    pub async fn stream_review(&self, params: ReviewStartParams) -> Result<TurnStream> {
        self.stream(Start::Review(params), Scope::All).await
    }

    async fn stream(&self, start: Start, scope: Scope) -> Result<TurnStream> {
        let feed = Feed::new(scope, true, self.link.event_buffer);
        let events = EventStream::new(&self.link.hub, feed);
        let mut watched = watch::begin(self, start, Some(events.feed()));
        match (&mut watched.known).await {
            Ok((thread_id, turn)) => Ok(TurnStream {
                client: self.clone(),
                thread_id,
                turn,
                events,
                watched,
            }),
            // A turn that is not accepted has nothing but its error.
            Err(_) => match result(watched).await {
                Err(error) => Err(error),
                Ok(_) => Err(Error::Closed(Cause::Disconnected)),
            },
        }
    }
}

/// What became of a turn. As long as it is waited for, the turn is not interrupted.
async fn result(watched: Watched) -> Result<CompletedTurn> {
    let Watched { done, wanted, .. } = watched;
    let done = done.await;
    drop(wanted);
    // The watching task tells an end unless the runtime goes down.
    done.unwrap_or(Err(Error::Closed(Cause::Disconnected)))
}

/// A running turn: its events one by one, and its result.
///
/// The events are in a bounded stream like any other ([`EventStream`]); the result is complete however
/// slowly they are read. **Dropping it interrupts the turn,** for nobody would watch what it does; use
/// [`detach`](Self::detach) to let it go on.
#[derive(Debug)]
pub struct TurnStream {
    client: Client,
    thread_id: String,
    turn: Turn,
    events: EventStream,
    watched: Watched,
}

impl TurnStream {
    /// The thread in which the turn runs; of a detached review, the new one.
    #[must_use]
    pub fn thread_id(&self) -> &str {
        &self.thread_id
    }

    /// The turn as the server began it.
    #[must_use]
    pub fn turn(&self) -> &Turn {
        &self.turn
    }

    /// The next event, or nothing after `turn/completed`. May be cancelled without loss.
    pub async fn next(&mut self) -> Option<Event> {
        self.events.next().await
    }

    /// Adds input to the turn.
    pub async fn steer(&self, input: Vec<UserInput>) -> Result<()> {
        let params = TurnSteerParams {
            thread_id: self.thread_id.clone(),
            input,
            expected_turn_id: self.turn.id.clone(),
            ..TurnSteerParams::default()
        };
        self.client.turn_steer(params).await?;
        Ok(())
    }

    /// Asks for the turn's early end, which events and result then tell.
    pub async fn interrupt(&self) -> Result<()> {
        self.client
            .interrupt_turn(&self.thread_id, &self.turn.id)
            .await
    }

    /// Waits for the end, whether events are left to be read or not, and tells what the turn did; see
    /// [`Client::run_turn`].
    pub async fn finish(self) -> Result<CompletedTurn> {
        result(self.watched).await
    }

    /// Lets the turn go on without a time limit and without anyone who waits for it. The client's and
    /// the thread's events tell its end.
    pub fn detach(self) {
        // A watching task that is gone has no turn to interrupt.
        self.watched.wanted.send(()).ok();
    }
}

impl Stream for TurnStream {
    type Item = Event;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Event>> {
        Pin::new(&mut self.events).poll_next(cx)
    }
}
