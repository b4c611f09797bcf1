//! Looks for threads whose node died or left in the middle of a turn, and takes them over.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};
use std::time::Duration;

use crate::blocking::blocking;
use crate::{Server, threads};

/// Looks for such threads for as long as the server takes turns, if its settings say that turns go on.
pub(crate) fn watch(server: &Arc<Server>) {
    let server = Arc::downgrade(server);
    tokio::spawn(async move {
        while let Some(pause) = look(&server).await {
            tokio::time::sleep(pause).await;
        }
    });
}

/// Takes over what is there to be taken over; how long to wait until the next look, if there is one.
async fn look(server: &Weak<Server>) -> Option<Duration> {
    let server = server.upgrade()?;
    if server.stopping.load(Ordering::Relaxed) {
        return None;
    }
    let found = blocking(&server, |server| {
        let nodes = server.nodes.as_ref()?;
        let go_on = server.left_turns.as_ref().is_some_and(|it| it.go_on);
        go_on.then(|| (nodes.look, server.store.orphans()))
    });
    let (pause, orphans) = found.await.ok()??;
    match orphans {
        Ok(orphans) => {
            for thread in orphans {
                threads::take_over(&server, thread);
            }
        }
        Err(error) => tracing::warn!(%error, "failed to look for threads to take over"),
    }
    Some(pause)
}
