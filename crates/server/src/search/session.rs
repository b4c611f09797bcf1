//! A search that lives while somebody types: the directories are walked once, each query is answered from
//! what was found so far, and again as more is found.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use quipu_wire::method::event;
use quipu_wire::{
    FuzzyFileSearchResult, FuzzyFileSearchSessionCompletedNotification,
    FuzzyFileSearchSessionUpdatedNotification,
};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use super::index::{Index, Roots};
use super::rank::{Best, Query};
use crate::Cx;
use crate::hub::ClientId;

/// How often results are reported while the directories are still being walked.
const TICK: Duration = Duration::from_millis(10);

/// A running session. It ends when dropped.
pub(crate) struct Session {
    owner: ClientId,
    query: watch::Sender<String>,
    stop: Arc<AtomicBool>,
    notifier: Option<JoinHandle<()>>,
}

impl Session {
    /// Starts to walk the directories and to notify all clients of what is found.
    pub fn start(cx: &Cx, id: String, roots: Roots) -> Session {
        let stop = Arc::<AtomicBool>::default();
        let index = Arc::new(Index::new(roots, Arc::clone(&stop)));
        let walked = Arc::clone(&index);
        tokio::task::spawn_blocking(move || walked.fill());
        let (query, queries) = watch::channel(String::new());
        let notifier = Notifier {
            cx: cx.clone(),
            id,
            index,
            queries,
        };
        Session {
            owner: cx.client.id,
            query,
            stop,
            notifier: Some(tokio::spawn(notifier.run())),
        }
    }

    /// The client that started it.
    pub fn owner(&self) -> ClientId {
        self.owner
    }

    /// Asks another query; the one before is not answered any further.
    pub fn ask(&self, query: String) {
        self.query.send_replace(query);
    }

    /// Ends the session; when the returned task has ended, no more notifications are sent.
    pub fn stop(mut self) -> Option<JoinHandle<()>> {
        self.halt();
        self.notifier.take()
    }

    fn halt(&self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(notifier) = &self.notifier {
            notifier.abort();
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.halt();
    }
}

/// Answers the queries of one session.
struct Notifier {
    cx: Cx,
    id: String,
    index: Arc<Index>,
    queries: watch::Receiver<String>,
}

impl Notifier {
    /// Answers each query until a newer one comes. The first is empty.
    async fn run(mut self) {
        loop {
            let query = self.queries.borrow_and_update().clone();
            self.answer(query).await;
            if self.queries.changed().await.is_err() {
                return;
            }
        }
    }

    /// Notifies clients of what fits a query as it is found, then that this is all; or stops when the query is stale.
    async fn answer(&self, text: String) {
        let query = Query::new(&text).map(Arc::new);
        let mut best = Best::default();
        let mut ranked = 0;
        let mut sent: Option<Vec<FuzzyFileSearchResult>> = None;
        loop {
            let (blocks, complete) = self.index.since(ranked);
            ranked += blocks.len();
            let mut files = Vec::new();
            if let Some(query) = &query {
                let found = self.rank(Arc::clone(query), best, blocks).await;
                let Some(found) = found else { return };
                (best, files) = found;
            }
            if self.is_stale() {
                return;
            }
            let news = sent.as_ref().is_none_or(|sent| *sent != files);
            if news && (complete || !files.is_empty()) {
                self.notify(&text, files.clone()).await;
                sent = Some(files);
            }
            if complete {
                return self.tell_complete().await;
            }
            tokio::time::sleep(TICK).await;
        }
    }

    fn is_stale(&self) -> bool {
        self.queries.has_changed().unwrap_or(true)
    }

    /// Adds blocks to the best entries and returns these with their results; `None` after a defect.
    async fn rank(
        &self,
        query: Arc<Query>,
        mut best: Best,
        blocks: Vec<super::index::Block>,
    ) -> Option<(Best, Vec<FuzzyFileSearchResult>)> {
        let index = Arc::clone(&self.index);
        let queries = self.queries.clone();
        let ranked = tokio::task::spawn_blocking(move || {
            best.add(&query, &blocks, || queries.has_changed().unwrap_or(true));
            let files = best.results(&query, index.roots());
            (best, files)
        });
        ranked.await.ok()
    }

    async fn notify(&self, query: &str, files: Vec<FuzzyFileSearchResult>) {
        let params = FuzzyFileSearchSessionUpdatedNotification {
            session_id: self.id.clone(),
            query: query.to_owned(),
            files,
        };
        let hub = &self.cx.server.hub;
        hub.broadcast::<event::FuzzyFileSearchSessionUpdated>(&params)
            .await;
    }

    async fn tell_complete(&self) {
        let params = FuzzyFileSearchSessionCompletedNotification {
            session_id: self.id.clone(),
        };
        let hub = &self.cx.server.hub;
        hub.broadcast::<event::FuzzyFileSearchSessionCompleted>(&params)
            .await;
    }
}
