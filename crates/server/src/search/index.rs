//! The paths below some directories, gathered by all processors and readable while it grows.

use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use ignore::{DirEntry, WalkBuilder, WalkState};
use parking_lot::Mutex;

use super::rules;

/// Entries that are published at once.
const BLOCK: usize = 1024;
/// The most entries of one index.
const ENTRIES: usize = 2_000_000;
/// The most threads of one search.
const THREADS: usize = 8;

/// The directories of a search.
pub(crate) struct Roots(Vec<Root>);

struct Root {
    /// As the client wrote it.
    given: String,
    absolute: PathBuf,
}

impl Roots {
    pub fn new(given: Vec<String>, cwd: &Path) -> Roots {
        let root = |given: String| Root {
            absolute: cwd.join(&given),
            given,
        };
        // No name is no directory, and least of all the server's own.
        let named = given.into_iter().filter(|given| !given.is_empty());
        Roots(named.map(root).collect())
    }

    /// A root as the client wrote it.
    pub fn given(&self, index: usize) -> &str {
        &self.0[index].given
    }

    /// The deepest root that holds a path, and the path below it.
    fn locate<'a>(&self, path: &'a Path) -> Option<(usize, &'a Path)> {
        let below = self.0.iter().enumerate().filter_map(|(index, root)| {
            let rest = path.strip_prefix(&root.absolute).ok()?;
            Some((index, rest))
        });
        below.min_by_key(|(_, rest)| rest.as_os_str().len())
    }
}

/// A path that can be found.
pub(crate) struct Entry {
    pub root: usize,
    /// Below the root.
    pub path: Box<str>,
    pub is_directory: bool,
}

/// Some entries; shared, so that they can be ranked while more are gathered.
pub(crate) type Block = Arc<Vec<Entry>>;

/// The paths below the roots.
pub(crate) struct Index {
    roots: Roots,
    blocks: Mutex<Vec<Block>>,
    count: AtomicUsize,
    complete: AtomicBool,
    stop: Arc<AtomicBool>,
}

impl Index {
    /// An empty index, which stops to grow when `stop` is set.
    pub fn new(roots: Roots, stop: Arc<AtomicBool>) -> Index {
        Index {
            roots,
            blocks: Mutex::default(),
            count: AtomicUsize::new(0),
            complete: AtomicBool::new(false),
            stop,
        }
    }

    pub fn roots(&self) -> &Roots {
        &self.roots
    }

    pub fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// The blocks from the given number on, and whether there will be no more.
    pub fn since(&self, number: usize) -> (Vec<Block>, bool) {
        // Asked first: what is complete now has published everything.
        let complete = self.complete.load(Ordering::Acquire);
        let blocks = self.blocks.lock();
        (blocks[number..].to_vec(), complete)
    }

    /// Gathers everything below the roots. Directories that are missing or cannot be read hold nothing.
    pub fn fill(&self) {
        if let Some(walk) = self.walk() {
            walk.build_parallel().run(|| {
                let mut gathered = Gathered::new(self);
                Box::new(move |entry| gathered.take(entry))
            });
        }
        self.complete.store(true, Ordering::Release);
    }

    /// Hidden files count, links are followed; what Git ignores does not count inside a repository.
    fn walk(&self) -> Option<WalkBuilder> {
        let roots = self.roots.0.iter().map(|root| &root.absolute);
        let mut roots = roots.filter(|root| rules::can_be_read_from(root));
        let mut walk = WalkBuilder::new(roots.next()?);
        walk.hidden(false)
            .follow_links(true)
            .require_git(true)
            .filter_entry(|entry| {
                let is_directory = entry.file_type().is_some_and(|kind| kind.is_dir());
                !is_directory || rules::can_be_read(entry.path())
            })
            .threads(threads());
        roots.for_each(|root| {
            walk.add(root);
        });
        Some(walk)
    }
}

/// How many threads a search uses.
pub(super) fn threads() -> usize {
    let available = std::thread::available_parallelism().map_or(1, NonZero::get);
    available.min(THREADS)
}

/// What one thread has found and not published yet.
struct Gathered<'a> {
    index: &'a Index,
    entries: Vec<Entry>,
}

impl<'a> Gathered<'a> {
    fn new(index: &'a Index) -> Gathered<'a> {
        Gathered {
            index,
            entries: Vec::with_capacity(BLOCK),
        }
    }

    fn take(&mut self, found: Result<DirEntry, ignore::Error>) -> WalkState {
        if self.index.is_stopped() {
            return WalkState::Quit;
        }
        let Some(entry) = found.ok().and_then(|found| self.entry(&found)) else {
            return WalkState::Continue;
        };
        self.entries.push(entry);
        if self.entries.len() == BLOCK && !self.publish() {
            return WalkState::Quit;
        }
        WalkState::Continue
    }

    fn entry(&self, found: &DirEntry) -> Option<Entry> {
        let (root, path) = self.index.roots.locate(found.path())?;
        Some(Entry {
            root,
            path: path.to_str()?.into(),
            is_directory: found.file_type().is_some_and(|kind| kind.is_dir()),
        })
    }

    /// Adds what was found to the index; `false` if that is full now.
    fn publish(&mut self) -> bool {
        let entries = std::mem::replace(&mut self.entries, Vec::with_capacity(BLOCK));
        let count = self.index.count.fetch_add(entries.len(), Ordering::Relaxed);
        let mut blocks = self.index.blocks.lock();
        blocks.push(Arc::new(entries));
        count < ENTRIES
    }
}

impl Drop for Gathered<'_> {
    fn drop(&mut self) {
        if !self.entries.is_empty() {
            self.publish();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn index(directory: &Path) -> Index {
        let roots = Roots::new(vec![directory.display().to_string()], Path::new("/"));
        Index::new(roots, Arc::default())
    }

    #[test]
    fn what_was_found_can_be_read_while_more_is_looked_for() {
        let directory = tempfile::tempdir().unwrap();
        for name in ["a", "b", "c"] {
            std::fs::write(directory.path().join(name), "").unwrap();
        }
        let index = index(directory.path());
        let mut gathered = Gathered::new(&index);
        // The directory itself comes first and is one of its own entries.
        for found in index.walk().unwrap().build().take(3) {
            gathered.take(found);
        }
        assert!(gathered.publish());
        let (blocks, complete) = index.since(0);
        let found: usize = blocks.iter().map(|block| block.len()).sum();
        assert!(found >= 2 && !complete, "{found}");
        drop(gathered);
        index.fill();
        let (more, complete) = index.since(blocks.len());
        assert!(complete && !more.is_empty());
    }

    #[test]
    fn a_stopped_walk_ends_without_result() {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join("a"), "").unwrap();
        let index = index(directory.path());
        index.stop.store(true, Ordering::Relaxed);
        index.fill();
        assert!(index.since(0).0.is_empty() && index.since(0).1);
    }
}
