//! Skills as requests and threads need them: looked for once, and again when something changed.

mod watch;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use parking_lot::{Mutex, MutexGuard};
use quipu_config::{Loader, Snapshot};
use quipu_extend::skills;

pub(crate) use watch::{Followed, Watch};

/// Directories whose skills are kept.
const KEPT: usize = 64;

/// The skills of all directories that were asked about.
#[derive(Default)]
pub(crate) struct Skills {
    bundled: OnceLock<()>,
    kept: Mutex<HashMap<Location, Kept>>,
    /// Directories of a client that count everywhere.
    extra_roots: Mutex<Vec<PathBuf>>,
    pub watch: Arc<Watch>,
}

/// A directory, and the directories to look in for it besides the usual ones.
type Location = (PathBuf, Vec<PathBuf>);

/// What was found, and with which settings.
struct Kept {
    settings: Arc<Snapshot>,
    skills: Arc<skills::Skills>,
}

impl Skills {
    /// The skills for the directory of these settings. What was found before is given as long as neither
    /// the settings nor anything that was looked at changed, unless `reload` is set.
    pub fn find(
        &self,
        config: &Loader,
        settings: &Arc<Snapshot>,
        mut extra: Vec<PathBuf>,
        reload: bool,
    ) -> Arc<skills::Skills> {
        extra.extend(self.extra_roots().iter().cloned());
        let place = (settings.cwd().to_owned(), extra);
        let kept = self.kept(&place, settings).filter(|_| !reload);
        if let Some(skills) = kept.filter(|skills| skills.is_current()) {
            return skills;
        }
        if settings.skills().bundled {
            self.install_bundled(config);
        }
        let skills = Arc::new(skills::find(settings, config.env(), &place.1));
        let mut kept = self.kept.lock();
        if kept.len() >= KEPT {
            kept.clear();
        }
        let settings = Arc::clone(settings);
        let found = Arc::clone(&skills);
        kept.insert(
            place,
            Kept {
                settings,
                skills: found,
            },
        );
        skills
    }

    /// Sets the directories that count besides the usual ones; `false` if they are as before.
    pub fn set_extra_roots(&self, roots: Vec<PathBuf>) -> bool {
        let mut extra = self.extra_roots();
        let has_changed = *extra != roots;
        *extra = roots;
        has_changed
    }

    fn extra_roots(&self) -> MutexGuard<'_, Vec<PathBuf>> {
        self.extra_roots.lock()
    }

    fn kept(&self, place: &Location, settings: &Arc<Snapshot>) -> Option<Arc<skills::Skills>> {
        let kept = self.kept.lock();
        let kept = kept.get(place)?;
        Arc::ptr_eq(&kept.settings, settings).then(|| Arc::clone(&kept.skills))
    }

    /// Puts the program's own skills into the home directory, once.
    fn install_bundled(&self, config: &Loader) {
        self.bundled.get_or_init(|| {
            if let Err(error) = skills::install_bundled(config.home().path()) {
                tracing::warn!(%error, "failed to install bundled skills");
            }
        });
    }
}
