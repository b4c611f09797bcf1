//! `fs/watch`: notifies clients of changes. All watches share one watcher of directories.
//!
//! A single file is watched through its directory, so that it can be replaced, removed and created again.
//! A link counts as what it points to as well.

use std::collections::{BTreeSet, HashMap};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher as _};
use parking_lot::Mutex;
use quipu_wire::method::event::FsChanged;
use quipu_wire::{AbsolutePath, FsChangedNotification};
use tokio::runtime::Handle;
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use uuid::Uuid;

use super::FileError;
use super::replace::TEMPORARY;
use crate::hub::{Client, ClientId};

/// How long changes are gathered before clients are notified.
const GATHER: Duration = Duration::from_millis(200);
/// The most paths that are reported at once; beyond that only the watched directory is named.
const PATHS: usize = 4096;
/// The most watches of one client.
const WATCHES: usize = 1024;

/// The watches of all clients.
#[derive(Default)]
pub(crate) struct Watches {
    /// Never locked by the watcher's own thread, which these calls wait for.
    state: Mutex<State>,
    routes: Arc<Mutex<Routes>>,
}

#[derive(Default)]
struct State {
    watcher: Option<RecommendedWatcher>,
    watches: HashMap<(ClientId, String), Watch>,
}

/// One watch of one client.
struct Watch {
    /// The directories that are watched for it, with links resolved.
    directories: Vec<PathBuf>,
    changes: Arc<Changes>,
    notifier: JoinHandle<()>,
}

/// Who wants to know about which directory.
#[derive(Default)]
struct Routes(HashMap<PathBuf, Vec<Interest>>);

struct Interest {
    /// The only name in the directory that counts; all and the directory itself if there is none.
    name: Option<OsString>,
    changes: Arc<Changes>,
}

/// Changes of which the client was not notified yet.
struct Changes {
    /// The path as the client wrote it.
    watched: PathBuf,
    paths: Mutex<BTreeSet<PathBuf>>,
    some: Notify,
}

impl Watches {
    /// Watches a path for a client and returns the name of the watch: the client's, if it gave one. To be called where
    /// blocking is fine.
    pub fn add(
        &self,
        client: &Arc<Client>,
        path: &Path,
        name: Option<String>,
        runtime: &Handle,
    ) -> Result<String, FileError> {
        let mut state = self.state.lock();
        let own = state
            .watches
            .keys()
            .filter(|(owner, _)| *owner == client.id);
        if own.count() >= WATCHES {
            let text = format!("a connection may have {WATCHES} watches; end some with fs/unwatch");
            return Err(FileError::Refused(text));
        }
        let id = name.unwrap_or_else(|| Uuid::now_v7().to_string());
        if state.watches.contains_key(&(client.id, id.clone())) {
            let text = format!("watchId already exists: {id}");
            return Err(FileError::Refused(text));
        }
        let changes = Arc::new(Changes {
            watched: path.to_owned(),
            paths: Mutex::default(),
            some: Notify::new(),
        });
        let mut directories = Vec::new();
        for (directory, name) in places(path) {
            state.watch(&directory, &self.routes)?;
            let interest = Interest {
                name,
                changes: Arc::clone(&changes),
            };
            self.routes
                .lock()
                .0
                .entry(directory.clone())
                .or_default()
                .push(interest);
            directories.push(directory);
        }
        let notifier = runtime.spawn(notify_changes(
            Arc::clone(client),
            id.clone(),
            Arc::clone(&changes),
        ));
        let watch = Watch {
            directories,
            changes,
            notifier,
        };
        state.watches.insert((client.id, id.clone()), watch);
        Ok(id)
    }

    /// Ends a watch, if the client has it; when the returned task has ended, no more notifications are sent.
    pub fn remove(&self, client: ClientId, id: &str) -> Option<JoinHandle<()>> {
        let mut state = self.state.lock();
        let watch = state.watches.remove(&(client, id.to_owned()))?;
        Some(state.end(watch, &self.routes))
    }

    /// Ends all watches of a client.
    pub fn disconnected(&self, client: ClientId) {
        let mut state = self.state.lock();
        let ended: Vec<_> = state
            .watches
            .extract_if(|(owner, _), _| *owner == client)
            .collect();
        for (_, watch) in ended {
            state.end(watch, &self.routes);
        }
    }
}

impl State {
    /// Starts to watch a directory; again does no harm.
    fn watch(&mut self, directory: &Path, routes: &Arc<Mutex<Routes>>) -> Result<(), FileError> {
        if routes.lock().0.contains_key(directory) {
            return Ok(());
        }
        let failed = |error: notify::Error| match error.kind {
            notify::ErrorKind::Io(error) => FileError::Io(error),
            _ => FileError::Io(std::io::Error::other(error)),
        };
        if self.watcher.is_none() {
            let routes = Arc::clone(routes);
            let route = move |event: notify::Result<Event>| match event {
                Ok(event) => routes.lock().take(&event),
                Err(error) => tracing::warn!(%error, "error while watching files"),
            };
            self.watcher = Some(notify::recommended_watcher(route).map_err(failed)?);
        }
        match &mut self.watcher {
            Some(watcher) => watcher
                .watch(directory, RecursiveMode::NonRecursive)
                .map_err(failed),
            None => Ok(()),
        }
    }

    fn end(&mut self, watch: Watch, routes: &Mutex<Routes>) -> JoinHandle<()> {
        for directory in &watch.directories {
            let mut routes = routes.lock();
            let Some(interests) = routes.0.get_mut(directory) else {
                continue;
            };
            interests.retain(|interest| !Arc::ptr_eq(&interest.changes, &watch.changes));
            if !interests.is_empty() {
                continue;
            }
            routes.0.remove(directory);
            drop(routes);
            // A directory that was removed is not watched any more.
            if let Some(Err(error)) = self.watcher.as_mut().map(|it| it.unwatch(directory)) {
                tracing::debug!(%error, "failed to remove watch");
            }
        }
        watch.notifier.abort();
        watch.notifier
    }
}

/// The directories to watch for a path, and which name in each. A path whose directory is missing has none.
fn places(path: &Path) -> Vec<(PathBuf, Option<OsString>)> {
    let resolved = fs::canonicalize(path).ok();
    if let Some(directory) = resolved.as_ref().filter(|it| it.is_dir()) {
        return vec![(directory.clone(), None)];
    }
    let in_directory = |path: &Path| {
        let directory = fs::canonicalize(path.parent()?).ok()?;
        Some((directory, Some(path.file_name()?.to_owned())))
    };
    let mut places: Vec<_> = in_directory(path).into_iter().collect();
    places.extend(resolved.as_deref().and_then(in_directory));
    places.dedup();
    places
}

impl Routes {
    /// Hands an event to the watches that it concerns.
    fn take(&self, event: &Event) {
        if event.need_rescan() {
            // Events were lost: everything may have changed.
            for interest in self.0.values().flatten() {
                interest.changes.add(interest.changes.watched.clone());
            }
        }
        if matches!(event.kind, EventKind::Access(_)) {
            return;
        }
        for path in &event.paths {
            self.take_path(path);
        }
    }

    fn take_path(&self, path: &Path) {
        let itself = self.0.get(path).into_iter().flatten();
        for interest in itself.filter(|it| it.name.is_none()) {
            interest.changes.add(interest.changes.watched.clone());
        }
        let (Some(directory), Some(name)) = (path.parent(), path.file_name()) else {
            return;
        };
        if name.as_encoded_bytes().starts_with(TEMPORARY.as_bytes()) {
            return;
        }
        for interest in self.0.get(directory).into_iter().flatten() {
            if let Some(changed) = interest.shows(name) {
                interest.changes.add(changed);
            }
        }
    }
}

impl Interest {
    /// How a change of this name in the directory is reported, if it is.
    fn shows(&self, name: &OsStr) -> Option<PathBuf> {
        match &self.name {
            None => Some(self.changes.watched.join(name)),
            Some(own) => (own == name).then(|| self.changes.watched.clone()),
        }
    }
}

impl Changes {
    fn add(&self, path: PathBuf) {
        let mut paths = self.paths.lock();
        if paths.len() < PATHS {
            paths.insert(path);
        } else {
            paths.insert(self.watched.clone());
        }
        self.some.notify_one();
    }
}

/// Notifies a client of changes, until it is aborted.
async fn notify_changes(client: Arc<Client>, watch_id: String, changes: Arc<Changes>) {
    loop {
        changes.some.notified().await;
        tokio::time::sleep(GATHER).await;
        let paths = std::mem::take(&mut *changes.paths.lock());
        let changed_paths: Vec<_> = paths
            .iter()
            .filter_map(|path| AbsolutePath::new(&*path.to_string_lossy()))
            .collect();
        if !changed_paths.is_empty() {
            let params = FsChangedNotification {
                watch_id: watch_id.clone(),
                changed_paths,
            };
            client.notify::<FsChanged>(&params).await;
        }
    }
}
