//! All listeners of a process at once, from their opening to its end.

use std::future;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use tokio::sync::watch;

use super::http::Front;
use super::inherited::Inherited;
use super::slots::Slots;
use super::stop::{ReloadSignal, StopSignals};
use super::unix::Unix;
use super::websocket::WebSocket;
use super::{Entrance, Listen, ListenError, Listening, stdio};
use crate::{Server, nodes};

/// A socket that clients connect to.
enum Listener {
    WebSocket(WebSocket),
    Unix(Unix),
}

/// Serves clients until standard input ends, or a signal or the server says stop. All listeners are open before
/// `announce` is called for each.
pub async fn run(
    server: Arc<Server>,
    places: &[Listen],
    entrance: Entrance,
    mut announce: impl FnMut(&Listening),
) -> Result<(), ListenError> {
    let stop = StopSignals::listen();
    let listeners = open(&server, places, entrance)?;
    for listener in &listeners {
        announce(&listener.place());
    }
    let mut session = places
        .contains(&Listen::Stdio)
        .then(|| stdio::open(&server));
    // The program that started this process waits for its end, often for less than a service manager does.
    let (mut reload, drain) = match session {
        Some(_) => (
            ReloadSignal::never(),
            stdio::DRAIN.min(server.settings.drain),
        ),
        None => (ReloadSignal::listen(), server.settings.drain),
    };
    if places.contains(&Listen::Off) {
        tracing::info!("not listening (`off`); waiting for a signal");
    }
    if !listeners.is_empty() {
        nodes::watch(&server);
    }
    let reloading = watch::Sender::new(false);
    let slots = Slots::new(server.settings.handshake);
    let accepting = listeners
        .iter()
        .map(|it| it.run(&server, &slots, reloading.subscribe()));
    // Boxed, because the compiler gives up on the size of so many futures within each other.
    let accepting = Box::pin(futures_util::future::join_all(accepting));
    tokio::select! {
        _ = async { accepting.await; future::pending::<()>().await } => {}
        () = client(session.as_mut()) => {}
        () = stop.drained(&server, drain) => {}
        () = async {
            reload.next().await;
            reloading.send_replace(true);
            server.stopping.store(true, Ordering::Relaxed);
            tracing::info!("received reload signal; taking no new turns, waiting for running ones");
            server.drain(server.settings.reload).await;
        } => {}
    }
    server.interrupt().await;
    if let Some(session) = session {
        session.close().await;
    }
    server.close().await;
    listeners.into_iter().for_each(Listener::close);
    Ok(())
}

/// Opens all sockets, or none for long: those that are open are closed with the first that cannot be.
fn open(
    server: &Server,
    places: &[Listen],
    entrance: Entrance,
) -> Result<Vec<Listener>, ListenError> {
    let mut inherited = Inherited::take(server.settings.config.env());
    let certificate = entrance.certificate.map(Arc::new);
    let front = Arc::new(Front {
        admission: entrance.admission,
        site: entrance.site,
    });
    let mut listeners = Vec::new();
    for place in places {
        listeners.push(match place {
            Listen::Stdio | Listen::Off => continue,
            Listen::WebSocket(address) => {
                Listener::WebSocket(WebSocket::open(*address, &front, None, &mut inherited)?)
            }
            Listen::Secure(address) => {
                let certificate = certificate.clone();
                let certificate = certificate.ok_or(ListenError::NoCertificate(*address))?;
                let opened = WebSocket::open(*address, &front, Some(certificate), &mut inherited)?;
                Listener::WebSocket(opened)
            }
            Listen::Unix(path) => Listener::Unix(Unix::open(path, &mut inherited)?),
        });
    }
    inherited.finish()?;
    Ok(listeners)
}

/// Serves the client on standard input, if there is one.
async fn client(session: Option<&mut crate::connection::Session>) {
    match session {
        Some(session) => stdio::read(session).await,
        None => future::pending().await,
    }
}

impl Listener {
    fn place(&self) -> Listening {
        match self {
            Listener::WebSocket(it) => it.place(),
            Listener::Unix(it) => it.place(),
        }
    }

    /// Takes in clients. Once the process makes way for another, those of a socket that it shares with it are left
    /// to that one.
    async fn run(&self, server: &Arc<Server>, slots: &Slots, mut reloading: watch::Receiver<bool>) {
        let (accepting, is_inherited) = match self {
            Listener::WebSocket(it) => (
                futures_util::future::Either::Left(it.run(server, slots)),
                it.is_inherited(),
            ),
            Listener::Unix(it) => (
                futures_util::future::Either::Right(it.run(server, slots)),
                it.is_inherited(),
            ),
        };
        tokio::select! {
            () = accepting => {}
            // The sender lives as long as the listeners, so waiting cannot fail.
            _ = reloading.wait_for(|it| *it && is_inherited) => {}
        }
    }

    fn close(self) {
        match self {
            Listener::WebSocket(_) => {}
            Listener::Unix(it) => it.close(),
        }
    }
}
