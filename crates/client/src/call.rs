//! One typed request on its way.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use quipu_wire::method::{CLIENT_REQUESTS, Method};
use tokio::time::{Instant, sleep, timeout_at};

use crate::link::{Link, Pending};
use crate::{Error, Result, event, lenient};

/// A request that has been sent, in the order of calls; await it for the answer.
///
/// **Dropping it gives up the answer, not the request.** What was asked for happens all the same: a
/// thread is started, a turn runs. Nothing of that is lost: the answer arrives as
/// [`Event::LateAnswer`](crate::Event::LateAnswer) in the client's [events](crate::Client::events), as
/// does one that comes after the time limit, and what the request brings about is reported by its own
/// events. To undo it, ask for that: `turn/interrupt`, `command/exec/terminate`.
///
/// A request that an overloaded server refused with `-32001` is sent again after a pause (see
/// [`Retry`](crate::Retry)); it then comes after requests that were sent meanwhile. That happens while
/// the call is awaited.
#[must_use = "the request is sent, but its answer is only known when the call is awaited"]
pub struct Call<M: Method>(Stage<M>);

enum Stage<M: Method> {
    Sent(Box<Sent<M>>),
    Awaited(BoxFuture<'static, Result<M::Result>>),
    Over,
}

struct Sent<M: Method> {
    link: Arc<Link>,
    params: M::Params,
    pending: Pending,
    since: Instant,
    limit: Option<Duration>,
}

impl<M: Method> Call<M> {
    pub(crate) fn send(link: &Arc<Link>, params: M::Params) -> Call<M> {
        Call(Stage::Sent(Box::new(Sent {
            pending: link.send(M::NAME, &params),
            since: Instant::now(),
            limit: Some(link.timeouts.request),
            link: Arc::clone(link),
            params,
        })))
    }

    /// Waits for the answer at most this long, counted from the moment of sending, in place of
    /// [`Timeouts::request`](crate::Timeouts::request); `None` waits until the connection ends.
    pub fn timeout(mut self, limit: Option<Duration>) -> Call<M> {
        if let Stage::Sent(sent) = &mut self.0 {
            sent.limit = limit;
        }
        self
    }
}

impl<M: Method> Sent<M> {
    async fn answer(self) -> Result<M::Result> {
        let (since, limit) = (self.since, self.limit);
        let answered = self.answered();
        let Some(limit) = limit else {
            return answered.await;
        };
        match timeout_at(since + limit, answered).await {
            Ok(answer) => answer,
            Err(_) => Err(Error::TimedOut {
                method: M::NAME,
                limit,
            }),
        }
    }

    async fn answered(self) -> Result<M::Result> {
        let Sent {
            link,
            params,
            mut pending,
            ..
        } = self;
        let mut attempt = 0;
        loop {
            let error = match pending.answer().await {
                Ok(result) => {
                    let ty = || lenient::result_of(CLIENT_REQUESTS, M::NAME);
                    return lenient::decode(event::text(Some(&result)), ty).map_err(|error| {
                        Error::Unreadable {
                            method: M::NAME,
                            error: error.to_string(),
                        }
                    });
                }
                Err(error) => error,
            };
            let Some(pause) = link.retry.pause(attempt, &error) else {
                return Err(error);
            };
            tracing::debug!(method = M::NAME, ?pause, "the server is overloaded");
            sleep(pause).await;
            pending = link.send(M::NAME, &params);
            attempt += 1;
        }
    }
}

impl<M: Method + 'static> Future for Call<M> {
    type Output = Result<M::Result>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        if let Stage::Sent(_) = self.0
            && let Stage::Sent(sent) = std::mem::replace(&mut self.0, Stage::Over)
        {
            self.0 = Stage::Awaited(sent.answer().boxed());
        }
        match &mut self.0 {
            Stage::Awaited(answer) => answer.poll_unpin(cx),
            Stage::Sent(_) | Stage::Over => Poll::Pending,
        }
    }
}

impl<M: Method> fmt::Debug for Call<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Call").field(&M::NAME).finish()
    }
}
