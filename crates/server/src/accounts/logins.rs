//! The ChatGPT login that waits for its user, in a browser or on another device. There is one at a time;
//! each ends with exactly one `account/login/completed`.

use std::sync::Arc;

use parking_lot::Mutex;
use quipu_auth::{BrowserLogin, DeviceLogin, Keep, Login, Record};
use tokio::sync::oneshot;
use uuid::Uuid;

use super::announce;
use crate::Server;
use crate::blocking::blocking;

/// What waits for the user.
pub(crate) enum Attempt {
    Browser(Box<BrowserLogin>),
    Device(DeviceLogin),
}

/// Why a login is given up.
#[derive(Clone, Copy)]
pub(crate) enum Stop {
    /// A client cancelled it, logged out, or logged in otherwise.
    Cancelled,
    /// Another login needs the port.
    Evicted,
}

/// The pending login, if there is one.
#[derive(Default)]
pub(crate) struct Logins {
    pending: Mutex<Option<Pending>>,
    asking: tokio::sync::Mutex<()>,
}

/// A pending login, taken out to be stopped.
pub(crate) struct Pending {
    id: Uuid,
    stop: oneshot::Sender<Stop>,
    over: oneshot::Receiver<()>,
}

impl Pending {
    /// Ends the login, and waits until clients were notified.
    pub async fn stop(self, why: Stop) {
        // Either may have ended already, which is as good.
        self.stop.send(why).ok();
        self.over.await.ok();
    }
}

impl Logins {
    /// Takes the pending login out if it has this id, so that it cannot succeed any more.
    pub fn take(&self, id: Uuid) -> Option<Pending> {
        self.pending.lock().take_if(|pending| pending.id == id)
    }

    /// Held while clients are asked for new tokens.
    pub async fn asking(&self) -> tokio::sync::MutexGuard<'_, ()> {
        self.asking.lock().await
    }
}

/// Gives up the pending login, if there is one.
pub(crate) async fn stop_pending(server: &Server, why: Stop) {
    let pending = server.logins.pending.lock().take();
    if let Some(pending) = pending {
        pending.stop(why).await;
    }
}

/// Waits in the background until a login ends. Call after the client was sent its id.
pub(crate) fn wait_for(server: &Arc<Server>, id: Uuid, attempt: Attempt, keep: Keep) {
    let (stop, stopped) = oneshot::channel();
    let (done, over) = oneshot::channel();
    *server.logins.pending.lock() = Some(Pending { id, stop, over });
    let server = Arc::clone(server);
    tokio::spawn(async move {
        let outcome = outcome(&server, id, attempt, stopped, keep).await;
        announce(&server, Some(id.to_string()), outcome).await;
        // Nobody may be waiting for it.
        done.send(()).ok();
    });
}

async fn outcome(
    server: &Arc<Server>,
    id: Uuid,
    mut attempt: Attempt,
    stopped: oneshot::Receiver<Stop>,
    keep: Keep,
) -> Result<Login, String> {
    let granted = tokio::select! {
        biased;
        why = stopped => Err(attempt.given_up(why.unwrap_or(Stop::Cancelled))),
        granted = attempt.granted(server) => granted,
    };
    // The request that took it out has announced its end.
    let taken = server.logins.take(id).is_none();
    let record = match granted {
        Ok(_) if taken => return Err(attempt.given_up(Stop::Cancelled)),
        granted => granted?,
    };
    let login = record.login();
    let stored = blocking(server, move |server| server.accounts.store(record, keep)).await;
    let stored = stored.unwrap_or_else(|error| Err(std::io::Error::other(error.to_string())));
    let (stored, unusable) = match stored {
        Ok(unusable) => (Ok(()), unusable),
        Err(error) => (Err(error), None),
    };
    attempt.conclude(stored)?;
    super::warn_of_file(server, unusable).await;
    login.ok_or_else(|| "invalid ID token format".to_owned())
}

impl Attempt {
    async fn granted(&mut self, server: &Server) -> Result<Record, String> {
        match self {
            Self::Browser(login) => login.granted(&server.accounts).await,
            Self::Device(login) => login.granted(&server.accounts).await,
        }
    }

    fn conclude(self, stored: std::io::Result<()>) -> Result<(), String> {
        match self {
            Self::Browser(login) => {
                tokio::spawn(login.conclude(stored)?);
                Ok(())
            }
            Self::Device(_) => stored.map_err(|error| error.to_string()),
        }
    }

    fn given_up(&self, why: Stop) -> String {
        let text = match (self, why) {
            (Self::Browser(_), Stop::Evicted) => "Login server error: Login cancelled",
            (Self::Browser(_), Stop::Cancelled) => "Login server error: Login was not completed",
            (Self::Device(_), _) => "Login was not completed",
        };
        text.to_owned()
    }
}
