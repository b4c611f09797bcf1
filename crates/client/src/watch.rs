//! The task that watches one turn: it starts with the request, so that it knows the turn's id whatever
//! becomes of the one who asked; it enforces the time limits whether anybody reads events or not; and
//! it interrupts what nobody wants any more.

use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use quipu_wire::method::{Method as _, request};
use quipu_wire::{
    ReviewStartParams, Turn, TurnError, TurnInterruptParams, TurnStartParams, TurnStatus,
};
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep_until, timeout};

use crate::feed::Feed;
use crate::named::identified;
use crate::record::Recorder;
use crate::scope::Scope;
use crate::{Call, Cause, Client, CompletedTurn, Error, Result, TurnLimit};

/// How long a turn may take to end after it was interrupted for taking too long.
const INTERRUPTED: Duration = Duration::from_secs(10);

/// What begins a turn.
pub(crate) enum Start {
    Turn(Box<TurnStartParams>),
    Review(ReviewStartParams),
}

/// The owner's end of a watched turn.
#[derive(Debug)]
pub(crate) struct Watched {
    /// The thread and the turn; nothing if the server did not accept it.
    pub known: oneshot::Receiver<(String, Turn)>,
    pub done: oneshot::Receiver<Result<CompletedTurn>>,
    /// Dropping it interrupts the turn, sending lets the turn go on unwatched.
    pub wanted: oneshot::Sender<()>,
}

/// The request on its way.
enum Asked {
    Turn {
        thread: String,
        call: Call<request::TurnStart>,
    },
    Review(Call<request::ReviewStart>),
}

/// Sends the request now and watches what comes of it.
pub(crate) fn begin(client: &Client, start: Start, feed: Option<Arc<Feed>>) -> Watched {
    let scope = match &start {
        Start::Turn(params) => Scope::Thread(params.thread_id.clone()),
        Start::Review(_) => Scope::All,
    };
    // Who listens before asking misses nothing.
    let recorder = Arc::new(Recorder::new(scope));
    client.link.hub.add_recorder(&recorder);
    let watch = Watch {
        client: client.clone(),
        recorder,
        feed,
        since: Instant::now(),
    };
    let asked = match start {
        Start::Turn(params) => Asked::Turn {
            thread: params.thread_id.clone(),
            call: client.turn_start(*params),
        },
        Start::Review(params) => Asked::Review(client.review_start(params)),
    };
    let (know, known) = oneshot::channel();
    let (tell, done) = oneshot::channel();
    let (wanted, unwanted) = oneshot::channel();
    tokio::spawn(async move {
        if let Some(result) = watch.run(asked, know, unwanted).await {
            // The owner may have lost interest just now.
            drop(tell.send(result));
        }
    });
    Watched {
        known,
        done,
        wanted,
    }
}

/// The watching side.
struct Watch {
    client: Client,
    recorder: Arc<Recorder>,
    feed: Option<Arc<Feed>>,
    since: Instant,
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.client.link.hub.remove_recorder(&self.recorder);
    }
}

impl Watch {
    /// Watches to the end; nothing if nobody waits for it any more.
    async fn run(
        self,
        asked: Asked,
        know: oneshot::Sender<(String, Turn)>,
        unwanted: oneshot::Receiver<()>,
    ) -> Option<Result<CompletedTurn>> {
        let (thread, turn) = match asked.answer().await {
            Ok(started) => started,
            Err(error) => return Some(Err(error)),
        };
        let scope = Scope::Turn {
            thread: thread.clone(),
            turn: turn.id.clone(),
        };
        self.recorder.narrow(&scope);
        if let Some(feed) = &self.feed {
            feed.narrow(&scope);
        }
        // An owner that is gone is noticed below.
        drop(know.send((thread.clone(), turn.clone())));
        tokio::select! {
            ending = self.recorder.ending(&turn) => Some(result(ending)),
            limit = self.overdue(&thread) => Some(self.stop(&thread, turn, limit).await),
            wanted = unwanted => {
                if wanted.is_err() {
                    self.interrupt(&thread, &turn).await;
                }
                None
            }
        }
    }

    /// Waits until the turn exceeds a limit.
    async fn overdue(&self, thread: &str) -> TurnLimit {
        let limits = self.client.turn_limits;
        loop {
            let total = limits.total.map(TurnLimit::Total);
            let silence = limits.silence.map(TurnLimit::Silence);
            let next = [total, silence]
                .into_iter()
                .flatten()
                .filter_map(|limit| Some((self.deadline(limit)?, limit)))
                .min_by_key(|(at, _)| *at);
            let Some((at, limit)) = next else {
                return pending().await;
            };
            sleep_until(at).await;
            if matches!(limit, TurnLimit::Silence(_)) && self.client.link.hub.is_asking(thread) {
                self.recorder.touch();
            }
            if self.deadline(limit).is_some_and(|at| at <= Instant::now()) {
                return limit;
            }
        }
    }

    /// When a limit is exceeded, as things are; never if it is too far away to tell.
    fn deadline(&self, limit: TurnLimit) -> Option<Instant> {
        match limit {
            TurnLimit::Total(limit) => self.since.checked_add(limit),
            TurnLimit::Silence(limit) => self.recorder.heard().checked_add(limit),
        }
    }

    async fn stop(&self, thread: &str, turn: Turn, limit: TurnLimit) -> Result<CompletedTurn> {
        let ended = async {
            self.interrupt(thread, &turn).await;
            self.recorder.ending(&turn).await
        };
        let outcome = match timeout(INTERRUPTED, ended).await {
            Ok(Ok(done)) => done,
            Ok(Err(cause)) => return Err(Error::Closed(cause)),
            Err(_) => self.recorder.so_far(turn),
        };
        Err(Error::TurnTimedOut {
            limit,
            outcome: Box::new(outcome),
        })
    }

    async fn interrupt(&self, thread: &str, turn: &Turn) {
        let params = TurnInterruptParams {
            thread_id: thread.to_owned(),
            turn_id: turn.id.clone(),
        };
        if let Err(error) = self.client.turn_interrupt(params).await {
            tracing::debug!(%error, "a turn could not be interrupted");
        }
    }
}

impl Asked {
    async fn answer(self) -> Result<(String, Turn)> {
        match self {
            Asked::Turn { thread, call } => {
                let turn = call.await?.turn;
                identified(request::TurnStart::NAME, &turn.id)?;
                Ok((thread, turn))
            }
            Asked::Review(call) => {
                let answer = call.await?;
                identified(request::ReviewStart::NAME, &answer.turn.id)?;
                Ok((answer.review_thread_id, answer.turn))
            }
        }
    }
}

fn result(ending: Result<CompletedTurn, Cause>) -> Result<CompletedTurn> {
    match ending {
        Err(cause) => Err(Error::Closed(cause)),
        Ok(done) if done.turn.status == TurnStatus::Failed => {
            let error = done.turn.error.clone().unwrap_or_else(|| TurnError {
                message: "the server gave no reason".to_owned(),
                codex_error_info: None,
                additional_details: None,
            });
            Err(Error::TurnFailed {
                error,
                outcome: Box::new(done),
            })
        }
        Ok(done) => Ok(done),
    }
}
