//! Which files and directories the names in a policy stand for, and whether a command has had a hand in it.
//!
//! A command can put a symbolic link wherever it may write. On the way to a directory that a policy names,
//! such a link would open to the next command what lies behind it. So links count only where no command
//! of this process could have made them, or if they lead where they led before one could.

use std::{
    collections::BTreeMap,
    io,
    path::{Component, Path, PathBuf},
};

use parking_lot::{Mutex, MutexGuard};

use crate::SpawnError;

/// The kernel follows no more than this either.
const LINK_LIMIT: usize = 40;

/// How many links and directories are remembered.
const MEMORY: usize = 1024;

static SEEN: Mutex<Seen> = Mutex::new(Seen {
    links: BTreeMap::new(),
    opened: Vec::new(),
});

/// What this process remembers of the commands it has started.
struct Seen {
    /// The links that were followed, and what they said.
    links: BTreeMap<PathBuf, PathBuf>,
    /// All that some command could write.
    opened: Vec<PathBuf>,
}

/// The names of one policy.
#[derive(Default)]
pub(crate) struct Roots {
    links: Vec<Link>,
    stray: Option<Stray>,
}

/// A name that may not mean what its author meant.
struct Stray {
    name: PathBuf,
    link: PathBuf,
}

/// A symbolic link: where it is and what it says.
struct Link {
    place: PathBuf,
    target: PathBuf,
}

/// Where a name leads, and the links on the way.
struct Followed {
    real: PathBuf,
    links: Vec<Link>,
}

impl Roots {
    /// What a name stands for; `None` if it is nothing, or not to be trusted.
    pub(crate) fn real_path(&mut self, name: &Path) -> Option<PathBuf> {
        let Followed { real, links } = follow(name).ok()?;
        if links.is_empty() {
            return Some(real);
        }
        // Looked at after the links: what commands could write was noted before they ran.
        let seen = seen();
        if let Some(link) = links.iter().find(|link| !seen.trusts(link)) {
            self.stray.get_or_insert_with(|| Stray {
                name: name.to_path_buf(),
                link: link.place.clone(),
            });
            return None;
        }
        self.links.extend(links);
        Some(real)
    }

    /// What these names stand for, each once.
    pub(crate) fn real_paths<'a>(
        &mut self,
        names: impl Iterator<Item = &'a PathBuf>,
    ) -> Vec<PathBuf> {
        let mut real: Vec<PathBuf> = names.filter_map(|name| self.real_path(name)).collect();
        real.sort();
        real.dedup();
        real
    }

    /// Remembers what a command that is about to run can write; an error if it must not run, since one
    /// of the names leads astray.
    pub(crate) fn settle<'a>(
        self,
        opened: impl Iterator<Item = &'a Path>,
    ) -> Result<(), SpawnError> {
        if let Some(Stray { name, link }) = self.stray {
            return Err(SpawnError::StrayRoot { name, link });
        }
        let mut seen = seen();
        for Link { place, target } in self.links {
            if seen.links.len() >= MEMORY {
                seen.links.clear();
            }
            seen.links.insert(place, target);
        }
        for path in opened {
            if !seen.opened.iter().any(|known| path.starts_with(known)) {
                seen.opened.retain(|known| !known.starts_with(path));
                seen.opened.push(path.to_path_buf());
            }
        }
        if seen.opened.len() > MEMORY {
            seen.opened = vec!["/".into()];
        }
        Ok(())
    }
}

impl Seen {
    fn trusts(&self, link: &Link) -> bool {
        let directory = link.place.parent().unwrap_or(&link.place);
        let could_be_made = self
            .opened
            .iter()
            .any(|opened| directory.starts_with(opened));
        !could_be_made || self.links.get(&link.place) == Some(&link.target)
    }
}

fn seen() -> MutexGuard<'static, Seen> {
    SEEN.lock()
}

/// Follows the links of an absolute path to something that exists.
fn follow(name: &Path) -> io::Result<Followed> {
    if !name.is_absolute() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let mut real = PathBuf::from("/");
    let mut links = Vec::new();
    // What is left of the way, the next part last.
    let mut rest: Vec<PathBuf> = parts(name);
    while let Some(part) = rest.pop() {
        if part.as_os_str() == ".." {
            real.pop();
            continue;
        }
        let place = real.join(part);
        match place.read_link() {
            Ok(target) => {
                if links.len() == LINK_LIMIT {
                    return Err(io::Error::from_raw_os_error(libc::ELOOP));
                }
                if target.is_absolute() {
                    real = PathBuf::from("/");
                }
                rest.extend(parts(&target));
                links.push(Link { place, target });
            }
            // No link.
            Err(error) if error.raw_os_error() == Some(libc::EINVAL) => real = place,
            Err(error) => return Err(error),
        }
    }
    Ok(Followed { real, links })
}

/// The parts of a path that lead somewhere, from the last to the first.
fn parts(path: &Path) -> Vec<PathBuf> {
    path.components()
        .rev()
        .filter(|part| matches!(part, Component::Normal(_) | Component::ParentDir))
        .map(|part| part.as_os_str().into())
        .collect()
}
