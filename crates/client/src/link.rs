//! The connection behind a client, shared by its clones and by everything they have begun. It ends
//! when the last of them is gone.

use std::sync::Arc;
use std::time::Duration;

use quipu_rpc::{CallError, Connection, Limits, Notification, Outcome, Peer, PeerOptions};
use serde::Serialize;
use tokio::runtime::Handle;
use tokio::sync::{Semaphore, mpsc, watch};

use crate::child::{Identity, Server};
use crate::dispatch::Dispatch;
use crate::event::{self, Event, LateAnswer};
use crate::handler::Answers;
use crate::hub::Hub;
use crate::observe::Observe;
use crate::questions::Questions;
use crate::{Error, Retry, Timeouts};

/// How long the server may take to close its side after ours.
const LINGER: Duration = Duration::from_secs(2);
/// Answers that are still waited for although nobody does any more.
const MOST_LATE: usize = 1024;

#[derive(Debug)]
pub(crate) struct Link {
    pub peer: Peer,
    pub hub: Arc<Hub>,
    pub timeouts: Timeouts,
    pub retry: Retry,
    pub event_buffer: Limits,
    /// The server, if this client started it.
    pub child: Option<Identity>,
    stop: watch::Sender<bool>,
    late: Arc<Semaphore>,
    runtime: Handle,
}

/// Those to whom what the server sends of its own accord goes first.
pub(crate) struct Callbacks {
    pub handler: Arc<dyn Answers>,
    pub observer: Arc<dyn Observe>,
    pub tap: Option<mpsc::Sender<Notification>>,
}

/// How a connection is dealt with.
pub(crate) struct LinkOptions {
    pub timeouts: Timeouts,
    pub retry: Retry,
    pub event_buffer: Limits,
    pub first_id: i64,
}

impl Drop for Link {
    fn drop(&mut self) {
        self.stop.send_replace(true);
    }
}

impl Link {
    /// Starts the tasks of a connection.
    pub fn start(
        connection: Connection,
        server: Option<Server>,
        callbacks: Callbacks,
        options: LinkOptions,
    ) -> Arc<Link> {
        let LinkOptions {
            timeouts,
            retry,
            event_buffer,
            first_id,
        } = options;
        let options = PeerOptions {
            linger: LINGER,
            first_id,
            ..PeerOptions::default()
        };
        let (peer, inbox) = Peer::start(connection, options);
        let hub = Hub::new();
        let (stop, stopped) = watch::channel(false);
        let child = server.as_ref().and_then(Server::identity);
        let exit = server.map(|server| server.supervise(stopped, timeouts.shutdown));
        let dispatch = Dispatch {
            inbox,
            hub: Arc::clone(&hub),
            questions: Questions::new(Arc::clone(&hub), callbacks.handler, timeouts.handler),
            observer: callbacks.observer,
            tap: callbacks.tap,
            stop: stop.clone(),
            exit,
        };
        tokio::spawn(dispatch.run());
        Arc::new(Link {
            peer,
            hub,
            timeouts,
            retry,
            event_buffer,
            child,
            stop,
            late: Arc::new(Semaphore::new(MOST_LATE)),
            runtime: Handle::current(),
        })
    }

    /// Ends the connection after what is queued was written, and waits until everything is gone.
    pub async fn close(&self) {
        self.peer.close();
        self.stop.send_replace(true);
        self.hub.closed().await;
    }

    /// Sends a request now; the answer is for the one who asked, or for nobody.
    pub fn send<P: Serialize>(self: &Arc<Self>, method: &'static str, params: &P) -> Pending {
        Pending {
            method,
            call: Some(self.peer.call(method, params)),
            link: Arc::clone(self),
        }
    }

    /// Tells the answer to a call that its caller has left, if one comes.
    fn wait_for_late(&self, method: &'static str, call: quipu_rpc::Call) {
        let Ok(permit) = Arc::clone(&self.late).try_acquire_owned() else {
            return tracing::warn!(
                method,
                "too many calls were left; this answer is not reported"
            );
        };
        let hub = Arc::clone(&self.hub);
        let id = call.id();
        self.runtime.spawn(async move {
            let (outcome, size) = match call.await {
                Ok(result) => (Ok(event::json(Some(&result))), result.as_bytes().len()),
                Err(CallError::Rejected(error)) => (Err(error), 0),
                // The end of the connection is reported by itself.
                Err(_) => return,
            };
            drop(permit);
            let answer = LateAnswer {
                method,
                id,
                outcome,
            };
            hub.tell(Event::LateAnswer(answer), size);
        });
    }
}

/// A request that was sent. If it is dropped, its answer is reported as an event.
pub(crate) struct Pending {
    method: &'static str,
    call: Option<quipu_rpc::Call>,
    link: Arc<Link>,
}

impl Pending {
    /// Waits for the answer.
    pub async fn answer(mut self) -> Result<quipu_rpc::RawJson, Error> {
        let Some(call) = &mut self.call else {
            return Err(Error::Closed(self.link.hub.closed().await));
        };
        let outcome: Outcome = call.await;
        self.call = None;
        let method = self.method;
        match outcome {
            Ok(result) => Ok(result),
            Err(CallError::Rejected(error)) => Err(Error::Refused { method, error }),
            Err(CallError::Closed(_)) => Err(Error::Closed(self.link.hub.closed().await)),
            Err(CallError::Full) => Err(Error::Full { method }),
            Err(CallError::TimedOut(limit)) => Err(Error::TimedOut { method, limit }),
            Err(CallError::Unencodable(error)) => Err(Error::Unencodable {
                method,
                error: error.to_string(),
            }),
        }
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        if let Some(call) = self.call.take() {
            self.link.wait_for_late(self.method, call);
        }
    }
}
