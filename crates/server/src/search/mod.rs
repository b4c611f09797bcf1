//! Finding files by a few letters of their path: once, or again and again while somebody types.

mod index;
mod rank;
mod rules;
mod session;

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use futures_util::FutureExt as _;
use parking_lot::Mutex;
use quipu_wire::FuzzyFileSearchResult;
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;

use crate::Cx;
use crate::hub::ClientId;
use index::Index;
use rank::{Best, Query};
use session::Session;

pub(crate) use index::Roots;

/// Searches that run at once; each uses all processors.
const AT_ONCE: usize = 2;
/// The most sessions of one client.
const SESSIONS: usize = 32;

/// The searches of all clients.
pub(crate) struct Searches {
    room: Semaphore,
    /// The latest search of each token; an older one stops.
    latest: Mutex<HashMap<Token, Arc<AtomicBool>>>,
    sessions: Mutex<HashMap<String, Session>>,
}

type Token = (ClientId, String);

impl Default for Searches {
    fn default() -> Searches {
        Searches {
            room: Semaphore::new(AT_ONCE),
            latest: Mutex::default(),
            sessions: Mutex::default(),
        }
    }
}

impl Searches {
    /// Searches once. A newer search with the same token ends this one, which then returns what it has.
    /// So does dropping the future, if nobody waits for the results any more.
    pub async fn search(
        &self,
        roots: Roots,
        query: &str,
        token: Option<Token>,
    ) -> Vec<FuzzyFileSearchResult> {
        let current = self.begin(token);
        let (Some(query), Ok(_room)) = (Query::new(query), self.room.acquire().await) else {
            return Vec::new();
        };
        let index = Index::new(roots, Arc::clone(&current.stop));
        let searched = tokio::task::spawn_blocking(move || {
            index.fill();
            let mut best = Best::default();
            best.add(&query, &index.since(0).0, || index.is_stopped());
            best.results(&query, index.roots())
        });
        searched.await.unwrap_or_default()
    }

    fn begin(&self, token: Option<Token>) -> Current<'_> {
        let stop = Arc::<AtomicBool>::default();
        if let Some(token) = token.clone()
            && let Some(older) = self.latest.lock().insert(token, Arc::clone(&stop))
        {
            older.store(true, Ordering::Relaxed);
        }
        Current {
            searches: self,
            token,
            stop,
        }
    }

    /// Starts a session; an older one of the same name ends.
    pub fn open(&self, cx: &Cx, id: String, roots: Roots) {
        let session = Session::start(cx, id.clone(), roots);
        self.sessions.lock().insert(id, session);
        // The client may have left before, and its sessions have been ended before this one was there.
        if cx.client.left().now_or_never().is_some() {
            self.disconnected(cx.client.id);
        }
    }

    /// Whether the client may have one session more.
    pub fn has_room(&self, client: ClientId) -> bool {
        let sessions = self.sessions.lock();
        sessions.values().filter(|it| it.owner() == client).count() < SESSIONS
    }

    /// Gives a session another query, if it is still there.
    pub fn update(&self, id: &str, query: String) {
        if let Some(session) = self.sessions.lock().get(id) {
            session.ask(query);
        }
    }

    pub fn has(&self, id: &str) -> bool {
        self.sessions.lock().contains_key(id)
    }

    /// Ends a session; when the returned task has ended, no more notifications are sent.
    pub fn stop(&self, id: &str) -> Option<JoinHandle<()>> {
        self.sessions.lock().remove(id)?.stop()
    }

    /// Ends the sessions that a client started.
    pub fn disconnected(&self, client: ClientId) {
        self.sessions
            .lock()
            .retain(|_, session| session.owner() != client);
    }
}

/// A search that runs; it stops when this is dropped.
struct Current<'a> {
    searches: &'a Searches,
    token: Option<Token>,
    stop: Arc<AtomicBool>,
}

impl Drop for Current<'_> {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        let Some(token) = &self.token else { return };
        let mut latest = self.searches.latest.lock();
        if latest
            .get(token)
            .is_some_and(|it| Arc::ptr_eq(it, &self.stop))
        {
            latest.remove(token);
        }
    }
}

/// Waits until a stopped session sends no more notifications.
pub(crate) async fn ended(notifier: Option<JoinHandle<()>>) {
    if let Some(notifier) = notifier {
        // It was aborted, which is an error of the task but not of ours.
        notifier.await.ok();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_belongs_to_the_newest_search_of_its_client() {
        let searches = Searches::default();
        let begin =
            |client: u64, token: &str| searches.begin(Some((ClientId(client), token.to_owned())));
        let stopped = |search: &Current<'_>| search.stop.load(Ordering::Relaxed);
        let first = begin(0, "t");
        let others = [begin(1, "t"), begin(0, "u"), searches.begin(None)];
        assert!(!stopped(&first));
        let second = begin(0, "t");
        assert!(stopped(&first) && !stopped(&second));
        drop(first);
        let third = begin(0, "t");
        assert!(
            stopped(&second),
            "the end of the first changes nothing for the second"
        );
        assert!(!stopped(&third) && !others.iter().any(stopped));
    }
}
