//! The thread of an evaluation. On a server that other evaluations use too, the thread is left whatever becomes of the
//! evaluation: the server would keep it for as long as the connection lives.

use std::future::IntoFuture;
use std::pin::pin;
use std::time::Duration;

use quipu_client::Client;
use quipu_client::wire::ThreadUnsubscribeParams;
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio::time::timeout;

use crate::adapter::Lease;

/// How long a server may take to open a thread that nobody waits for any more, or to confirm that one was left.
const LEFT: Duration = Duration::from_secs(5);

/// A thread that is open. Dropping it leaves the thread in the background.
pub(crate) struct Visit {
    /// The server and the thread; nothing if the server ends with the evaluation.
    place: Option<(Client, String)>,
}

impl Visit {
    /// Waits for the answer to a request that opens a thread, whose id `id` finds in it. A thread that is opened for
    /// an evaluation that was dropped meanwhile is left at once.
    pub async fn open<T, C>(
        lease: &Lease,
        call: C,
        id: fn(&T) -> &str,
    ) -> quipu_client::Result<(Visit, T)>
    where
        T: Send + 'static,
        C: IntoFuture<Output = quipu_client::Result<T>> + Send + 'static,
        C::IntoFuture: Send,
    {
        if !lease.is_pooled() {
            return Ok((Visit { place: None }, call.await?));
        }
        let client = lease.connected.client.clone();
        let (mut done, opened) = oneshot::channel();
        tokio::spawn(async move {
            let mut answer = pin!(call.into_future());
            let answer = tokio::select! {
                answer = &mut answer => answer,
                // No longer than that, for this keeps the server alive.
                () = done.closed() => match timeout(LEFT, answer).await {
                    Ok(answer) => answer,
                    Err(_) => return,
                },
            };
            let visited = answer.map(|answer| {
                let place = Some((client, id(&answer).to_owned()));
                (Visit { place }, answer)
            });
            // Nobody may wait for it any more: the visit is dropped then, wherever it is.
            drop(done.send(visited));
        });
        match opened.await {
            Ok(visited) => visited,
            // The task sends an answer unless the runtime ends.
            Err(_) => Err(quipu_client::Error::Closed(
                quipu_client::Cause::Disconnected,
            )),
        }
    }

    /// Leaves the thread and waits until the server has confirmed it.
    pub async fn leave(mut self) {
        if let Some(place) = self.place.take() {
            leave(place).await;
        }
    }

    /// Does nothing about the thread: its server is not used again.
    pub fn abandon(mut self) {
        self.place = None;
    }
}

impl Drop for Visit {
    fn drop(&mut self) {
        if let (Some(place), Ok(runtime)) = (self.place.take(), Handle::try_current()) {
            runtime.spawn(leave(place));
        }
    }
}

async fn leave((client, thread_id): (Client, String)) {
    let params = ThreadUnsubscribeParams { thread_id };
    let left = client.thread_unsubscribe(params).timeout(Some(LEFT));
    if let Err(error) = left.await {
        tracing::debug!(%error, "the thread could not be left");
    }
}
