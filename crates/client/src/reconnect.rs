//! A client that outlives its connections. When one breaks, it makes the next, resumes its threads after the last
//! event that it saw, and sends requests again whose answers were lost. Quipu numbers the events and knows requests by
//! their keys, so nothing is missed and nothing happens twice; with other servers there is no such client.

use std::collections::HashMap;
use std::fmt;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use quipu_rpc::Notification;
use quipu_wire::method::{Method, request};
use quipu_wire::*;
use serde::Deserialize;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;

use crate::scope::Ids;
use crate::{Client, Connect, ConnectError, Error, Event, Result, event};

/// Notifications that may wait to be read. Beyond that the connection is given up; the next one resumes.
const BUFFER: usize = 8192;

/// How often and how fast to connect again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reconnection {
    /// How many attempts may fail in a row: 10.
    pub attempts: u32,
    /// The pause before the second attempt, 100 ms; it doubles each time.
    pub first: Duration,
    /// What the pause does not grow beyond: 10 seconds.
    pub longest: Duration,
}

impl Default for Reconnection {
    fn default() -> Reconnection {
        Reconnection {
            attempts: 10,
            first: Duration::from_millis(100),
            longest: Duration::from_secs(10),
        }
    }
}

/// The number of an event among those of its thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub struct EventNumber {
    /// Larger than that of every earlier event of the thread.
    pub seq: i64,
    /// It was missed, and deltas before it are left out.
    #[serde(default)]
    pub condensed: bool,
}

/// What reaches the reader of a [`Reconnecting`] client.
#[derive(Debug)]
#[non_exhaustive]
#[allow(clippy::large_enum_variant, reason = "most of them are the large one")]
pub enum Arrival {
    /// A notification; those of threads have a number.
    Event {
        /// What happened.
        event: Event,
        /// Its number, unless it is about no thread.
        number: Option<EventNumber>,
    },
    /// A thread was resumed on a new connection.
    Resumed {
        /// The thread.
        thread_id: String,
        /// What follows of what was missed.
        replay: EventReplay,
        /// The thread with its turns, if nothing follows of what was missed.
        thread: Option<Box<Thread>>,
    },
    /// A thread could not be resumed; nothing more comes of it.
    Lost {
        /// The thread.
        thread_id: String,
        /// Why.
        error: Error,
    },
    /// No connection could be made any more; nothing follows.
    Closed(ConnectError),
}

/// A client whose connection is made again when it breaks. Threads that are started, resumed or forked through it are
/// followed until it is dropped.
pub struct Reconnecting {
    shared: Arc<Shared>,
    task: JoinHandle<()>,
}

struct Shared {
    connect: Connect,
    pauses: Reconnection,
    /// The connection, if there is one whose threads are resumed; `None` in between.
    current: watch::Sender<State>,
    threads: Mutex<HashMap<String, Followed>>,
}

#[derive(Clone)]
enum State {
    Connected(Client),
    Connecting,
    Over,
}

/// A thread in use.
#[derive(Clone)]
struct Followed {
    /// The last event that was seen.
    last: i64,
    /// How it was started. A server that dies before the first turn forgets the thread.
    start: Option<ThreadStartParams>,
}

impl Reconnecting {
    /// Connects. Everything that the server says comes to the receiver, in order; it must be read.
    ///
    /// # Errors
    /// If the first connection fails, or is to a server that does not number events.
    pub async fn connect(
        connect: Connect,
        pauses: Reconnection,
    ) -> Result<(Reconnecting, mpsc::Receiver<Arrival>), ConnectError> {
        let (client, tap) = open(&connect).await?;
        let shared = Arc::new(Shared {
            connect,
            pauses,
            current: watch::Sender::new(State::Connected(client.clone())),
            threads: Mutex::default(),
        });
        let (arrivals, receiver) = mpsc::channel(1);
        let keeper = Keeper {
            shared: Arc::clone(&shared),
            arrivals,
        };
        let task = tokio::spawn(keeper.run(client, tap));
        Ok((Reconnecting { shared, task }, receiver))
    }

    /// Starts a thread and follows it.
    ///
    /// # Errors
    /// As the server says, or if there is no connection any more; so for the other requests.
    pub async fn start_thread(&self, mut params: ThreadStartParams) -> Result<ThreadStartResponse> {
        params.idempotency_key.get_or_insert_with(new_key);
        loop {
            let (client, started) = self.once::<request::ThreadStart>(params.clone()).await?;
            let events = started.quipu.as_ref();
            if self.follows(&client, &started.thread.id, events, Some(&params)) {
                return Ok(started);
            }
        }
    }

    /// Joins a thread and follows it.
    pub async fn resume_thread(&self, params: ThreadResumeParams) -> Result<ThreadResumeResponse> {
        loop {
            let (client, resumed) = self.once::<request::ThreadResume>(params.clone()).await?;
            if self.follows(&client, &resumed.thread.id, resumed.quipu.as_ref(), None) {
                return Ok(resumed);
            }
        }
    }

    /// Copies a thread and follows the copy.
    pub async fn fork_thread(&self, mut params: ThreadForkParams) -> Result<ThreadForkResponse> {
        params.idempotency_key.get_or_insert_with(new_key);
        loop {
            let (client, forked) = self.once::<request::ThreadFork>(params.clone()).await?;
            if self.follows(&client, &forked.thread.id, forked.quipu.as_ref(), None) {
                return Ok(forked);
            }
        }
    }

    /// Starts a turn, once.
    pub async fn start_turn(&self, mut params: TurnStartParams) -> Result<TurnStartResponse> {
        params.idempotency_key.get_or_insert_with(new_key);
        Ok(self.once::<request::TurnStart>(params).await?.1)
    }

    /// Adds input to a turn, once.
    pub async fn steer_turn(&self, mut params: TurnSteerParams) -> Result<TurnSteerResponse> {
        params.idempotency_key.get_or_insert_with(new_key);
        Ok(self.once::<request::TurnSteer>(params).await?.1)
    }

    /// The connection of the moment, for other requests; what was sent on it is not sent again.
    pub async fn client(&self) -> Result<Client> {
        self.shared.connected().await
    }

    /// Sends a request that may be repeated until it is answered; with the connection that it was answered on.
    async fn once<M: Method + 'static>(&self, params: M::Params) -> Result<(Client, M::Result)>
    where
        M::Params: Clone,
    {
        loop {
            let client = self.shared.connected().await?;
            match client.call::<M>(params.clone()).await {
                Err(Error::Closed(_)) => self.shared.left(&client).await,
                answer => return answer.map(|answer| (client, answer)),
            }
        }
    }

    /// Follows a thread from now on; `false` if the connection on which it was opened is not the current one any more. The
    /// next one may not know the thread, so it is to be opened again.
    fn follows(
        &self,
        client: &Client,
        id: &str,
        events: Option<&ThreadEvents>,
        start: Option<&ThreadStartParams>,
    ) -> bool {
        let mut threads = self.shared.threads.lock();
        let last = events.map_or(0, |it| it.seq);
        let new = Followed { last, start: None };
        let known = threads.entry(id.to_owned()).or_insert(new);
        // An event may have been faster than the answer.
        known.last = known.last.max(last);
        known.start = start.cloned().or(known.start.take());
        drop(threads);
        matches!(&*self.shared.current.borrow(), State::Connected(it) if it.is_same(client))
    }
}

impl Drop for Reconnecting {
    fn drop(&mut self) {
        self.task.abort();
        self.shared.current.send_replace(State::Over);
    }
}

impl fmt::Debug for Reconnecting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reconnecting").finish_non_exhaustive()
    }
}

impl Shared {
    async fn connected(&self) -> Result<Client> {
        let mut current = self.current.subscribe();
        let settled = current.wait_for(|it| !matches!(it, State::Connecting));
        match settled.await.as_deref() {
            Ok(State::Connected(client)) => Ok(client.clone()),
            _ => Err(Error::Closed(crate::Cause::Disconnected)),
        }
    }

    /// Waits until a connection that has ended is no longer the current one.
    async fn left(&self, client: &Client) {
        let mut current = self.current.subscribe();
        let is_other = |state: &State| !matches!(state, State::Connected(it) if it.is_same(client));
        // The sender lives as long as `self`, so waiting cannot fail.
        current.wait_for(is_other).await.ok();
    }
}

/// The task that keeps the connection and hands out what comes over it.
struct Keeper {
    shared: Arc<Shared>,
    arrivals: mpsc::Sender<Arrival>,
}

impl Keeper {
    async fn run(self, mut client: Client, mut tap: mpsc::Receiver<Notification>) {
        loop {
            while let Some(notification) = tap.recv().await {
                if !self.deliver(&notification).await {
                    return client.disconnect().await;
                }
            }
            self.shared.current.send_replace(State::Connecting);
            client.disconnect().await;
            match self.reconnect().await {
                Ok(next) => (client, tap) = next,
                Err(error) => {
                    self.shared.current.send_replace(State::Over);
                    // The reader may be gone.
                    self.arrivals.send(Arrival::Closed(error)).await.ok();
                    return;
                }
            }
        }
    }

    async fn reconnect(&self) -> Result<(Client, mpsc::Receiver<Notification>), ConnectError> {
        let pauses = self.shared.pauses;
        let mut attempt = 0;
        loop {
            let error = match open(&self.shared.connect).await {
                Ok((client, mut tap)) => match self.resume_all(&client, &mut tap).await {
                    Ok(()) => {
                        let state = State::Connected(client.clone());
                        self.shared.current.send_replace(state);
                        return Ok((client, tap));
                    }
                    Err(error) => error.into(),
                },
                Err(error) => error,
            };
            attempt += 1;
            if attempt > pauses.attempts {
                return Err(error);
            }
            tracing::debug!(attempt, %error, "failed to connect again");
            let pause = pauses
                .first
                .saturating_mul(2_u32.saturating_pow(attempt - 1));
            tokio::time::sleep(pause.min(pauses.longest)).await;
        }
    }

    /// Resumes the threads in use; fails only if the connection does.
    async fn resume_all(
        &self,
        client: &Client,
        tap: &mut mpsc::Receiver<Notification>,
    ) -> Result<()> {
        let threads = self.shared.threads.lock().clone();
        for (thread_id, followed) in threads {
            let mut waiting = Vec::new();
            let resumed = {
                let mut resuming = std::pin::pin!(resume(client, &thread_id, &followed));
                loop {
                    tokio::select! {
                        resumed = &mut resuming => break resumed,
                        Some(notification) = tap.recv(), if waiting.len() < BUFFER => {
                            waiting.push(notification);
                        }
                    }
                }
            };
            let arrival = match resumed {
                Err(error @ (Error::Closed(_) | Error::TimedOut { .. })) => return Err(error),
                Err(error) => {
                    self.shared.threads.lock().remove(&thread_id);
                    Arrival::Lost { thread_id, error }
                }
                Ok((events, thread)) => self.resumed(thread_id, &events, thread),
            };
            // The reader may be gone, which the next delivery notices.
            self.arrivals.send(arrival).await.ok();
            for notification in waiting {
                self.deliver(&notification).await;
            }
        }
        Ok(())
    }

    fn resumed(&self, thread_id: String, events: &ThreadEvents, thread: Thread) -> Arrival {
        let replay = events.replay.unwrap_or(EventReplay::Reset);
        let is_reset = replay == EventReplay::Reset;
        if is_reset && let Some(it) = self.shared.threads.lock().get_mut(&thread_id) {
            it.last = events.seq;
        }
        Arrival::Resumed {
            thread_id,
            replay,
            thread: is_reset.then(|| Box::new(thread)),
        }
    }

    /// Hands out a notification, unless it was before; `false` if nobody reads any more.
    async fn deliver(&self, notification: &Notification) -> bool {
        let number: Option<EventNumber> =
            notification.quipu.as_ref().and_then(|it| it.decode().ok());
        if let Some(number) = number {
            let ids = Ids::of(event::text(notification.params.as_ref()));
            let thread = ids.place().thread.unwrap_or_default().to_owned();
            let mut threads = self.shared.threads.lock();
            let known = threads.entry(thread).or_insert(Followed {
                last: 0,
                start: None,
            });
            if number.seq <= known.last {
                return true;
            }
            known.last = number.seq;
        }
        let event = Event::read(notification);
        let arrival = Arrival::Event { event, number };
        self.arrivals.send(arrival).await.is_ok()
    }
}

async fn open(connect: &Connect) -> Result<(Client, mpsc::Receiver<Notification>), ConnectError> {
    let (sender, tap) = mpsc::channel(BUFFER);
    let mut options = connect();
    options.tap = Some(sender);
    let client = Client::connect(options).await?;
    if !client.server().numbers_events {
        client.disconnect().await;
        return Err(ConnectError::NoNumbers);
    }
    Ok((client, tap))
}

/// Resumes a thread after the last event that was seen. One that the server lost before its first turn is started again,
/// under the same id.
async fn resume(
    client: &Client,
    thread_id: &str,
    followed: &Followed,
) -> Result<(ThreadEvents, Thread)> {
    let params = ThreadResumeParams {
        thread_id: thread_id.to_owned(),
        quipu: Some(QuipuResume {
            after: followed.last,
        }),
        ..ThreadResumeParams::default()
    };
    let (events, thread) = match (client.thread_resume(params).await, &followed.start) {
        (Ok(resumed), _) => (resumed.quipu, resumed.thread),
        (Err(Error::Refused { .. }), Some(start)) => {
            let started = client.thread_start(start.clone()).await?;
            // There was nothing to miss.
            let events = started.quipu.map(|it| ThreadEvents {
                replay: Some(EventReplay::Condensed),
                ..it
            });
            (events, started.thread)
        }
        (Err(error), _) => return Err(error),
    };
    let events = events.unwrap_or(ThreadEvents {
        seq: followed.last,
        replay: None,
    });
    Ok((events, thread))
}

/// A key that nobody else has.
fn new_key() -> String {
    // The seeds of new hashers are random.
    let random = || RandomState::new().build_hasher().finish();
    format!("{:016x}{:016x}", random(), random())
}
