//! Remembers which rollouts this process has written since the index last looked, so that lists by
//! time of change are right without an index write in every turn.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use parking_lot::Mutex;

/// How many paths are remembered; the index looks at everything when there were more.
const CAPACITY: usize = 4096;

/// Paths written to.
#[derive(Debug, Default)]
pub(crate) struct Touched {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    paths: HashSet<PathBuf>,
    overflowed: bool,
}

/// What was written to since the last look.
pub(crate) enum Changes {
    /// These.
    Paths(HashSet<PathBuf>),
    /// More than were remembered.
    Many,
}

impl Touched {
    pub fn add(&self, path: &Path) {
        let mut state = self.state.lock();
        if state.paths.len() >= CAPACITY {
            state.overflowed = true;
            state.paths = HashSet::new();
        }
        if !state.overflowed && !state.paths.contains(path) {
            state.paths.insert(path.to_owned());
        }
    }

    /// Forgets and returns everything.
    pub fn take(&self) -> Changes {
        let state = std::mem::take(&mut *self.state.lock());
        if state.overflowed {
            Changes::Many
        } else {
            Changes::Paths(state.paths)
        }
    }
}
