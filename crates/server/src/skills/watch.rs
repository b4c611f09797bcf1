//! Notifies loaded threads when something changes in the directories of their skills.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};
use std::time::Duration;

use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher as _};
use parking_lot::Mutex;
use tokio::runtime::Handle;
use tokio::sync::Notify;
use tokio::task::JoinHandle;

use crate::Server;
use crate::threads::Message;

/// How long changes are gathered: the author of a skill makes a directory first and then the file.
const GATHER: Duration = Duration::from_millis(100);
/// How long nothing is reported after something was.
const PAUSE: Duration = Duration::from_secs(10);
/// The most directories that are watched.
const MAX_DIRECTORIES: usize = 8192;

/// The directories of all loaded threads.
#[derive(Default)]
pub(crate) struct Watch {
    state: Mutex<State>,
    changes: Arc<Changes>,
}

#[derive(Default)]
struct State {
    watcher: Option<RecommendedWatcher>,
    notifier: Option<JoinHandle<()>>,
    /// How many threads follow each directory.
    directories: HashMap<PathBuf, usize>,
}

/// Directories in which something changed of which threads were not notified yet.
#[derive(Default)]
struct Changes {
    directories: Mutex<HashSet<PathBuf>>,
    some: Notify,
}

/// The directories that one thread follows, until this is dropped.
pub(crate) struct Followed {
    watch: Arc<Watch>,
    directories: Vec<PathBuf>,
}

impl Watch {
    /// Follows directories for a thread. `changed` means that they may have been removed and made again.
    /// To be called where blocking is fine.
    pub fn follow(
        self: &Arc<Self>,
        server: &Arc<Server>,
        directories: Vec<PathBuf>,
        changed: bool,
    ) -> Followed {
        let mut state = self.state.lock();
        if let Err(error) = state.start(server, &self.changes) {
            tracing::warn!(%error, "failed to watch skills");
        }
        let mut followed = Vec::new();
        for directory in directories {
            let known = state.directories.contains_key(&directory);
            if !known && state.directories.len() >= MAX_DIRECTORIES {
                tracing::warn!("too many skill directories; some are not watched");
                break;
            }
            if changed || !known {
                state.watch(&directory);
            }
            *state.directories.entry(directory.clone()).or_default() += 1;
            followed.push(directory);
        }
        Followed {
            watch: Arc::clone(self),
            directories: followed,
        }
    }

    /// Reports changes that were made in directories before they were followed.
    pub fn report(&self, directories: &[PathBuf]) {
        self.changes.add(directories.iter().cloned());
    }
}

impl State {
    fn start(&mut self, server: &Arc<Server>, changes: &Arc<Changes>) -> notify::Result<()> {
        if self.watcher.is_none() {
            let noticed = Arc::clone(changes);
            let watcher = notify::recommended_watcher(move |event| noticed.take(event))?;
            self.watcher = Some(watcher);
            let notifier = notify(Arc::downgrade(server), Arc::clone(changes));
            self.notifier = Some(Handle::current().spawn(notifier));
        }
        Ok(())
    }

    fn watch(&mut self, directory: &Path) {
        let watcher = self.watcher.as_mut();
        let watched = watcher.map(|it| it.watch(directory, RecursiveMode::NonRecursive));
        if let Some(Err(error)) = watched {
            tracing::debug!(%error, "failed to watch skill directory");
        }
    }

    fn unwatch(&mut self, directory: &Path) {
        // A directory that was removed is not watched any more.
        if let Some(Err(error)) = self.watcher.as_mut().map(|it| it.unwatch(directory)) {
            tracing::debug!(%error, "failed to unwatch skill directory");
        }
    }
}

impl Drop for State {
    fn drop(&mut self) {
        if let Some(notifier) = &self.notifier {
            notifier.abort();
        }
    }
}

impl Drop for Followed {
    fn drop(&mut self) {
        let mut state = self.watch.state.lock();
        for directory in &self.directories {
            let Some(threads) = state.directories.get_mut(directory) else {
                continue;
            };
            *threads -= 1;
            if *threads == 0 {
                state.directories.remove(directory);
                state.unwatch(directory);
            }
        }
    }
}

impl Changes {
    /// Called by the watcher's own thread.
    fn take(&self, event: notify::Result<Event>) {
        let event = match event {
            Ok(event) if !matches!(event.kind, EventKind::Access(_)) => event,
            Ok(_) => return,
            Err(error) => return tracing::debug!(%error, "error while watching skills"),
        };
        let parents = event.paths.iter().filter_map(|path| path.parent());
        let parents: Vec<PathBuf> = parents.map(Path::to_owned).collect();
        self.add(parents.into_iter().chain(event.paths));
    }

    fn add(&self, directories: impl Iterator<Item = PathBuf>) {
        self.directories.lock().extend(directories);
        self.some.notify_one();
    }
}

/// Notifies the loaded threads of what changed, now and then.
async fn notify(server: Weak<Server>, changes: Arc<Changes>) {
    loop {
        changes.some.notified().await;
        tokio::time::sleep(GATHER).await;
        let directories = Arc::new(std::mem::take(&mut *changes.directories.lock()));
        let Some(server) = server.upgrade() else {
            return;
        };
        for thread in server.threads.all() {
            let directories = Arc::clone(&directories);
            thread.send(Message::SkillsChanged(directories)).await;
        }
        drop(server);
        tokio::time::sleep(PAUSE).await;
    }
}
