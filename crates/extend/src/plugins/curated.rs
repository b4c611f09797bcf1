//! Where the provider's marketplace is kept, and how a new version takes the place of an old one.

use std::fs;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use quipu_disk::Target;

use super::marketplace;

/// The directory of what programs of the home fetch.
const FETCHED: &str = ".tmp";
/// How the names of unfinished copies begin.
const UNFINISHED: &str = "quipu-plugins-";
/// A copy this old was left behind by a process that ended.
const STALE: Duration = Duration::from_secs(60 * 60);

/// Where the provider's marketplace is kept, if any program of the home has fetched it.
pub fn curated_root(home: &Path) -> PathBuf {
    home.join(FETCHED).join("plugins")
}

/// Whether any program of the home has fetched the provider's marketplace.
pub fn has_curated(home: &Path) -> bool {
    curated_root(home).join(marketplace::PLACE).is_file()
}

/// Whether a text can be a version of the provider's marketplace.
pub fn is_curated_version(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// The version of the provider's marketplace that is kept.
pub(super) fn version(home: &Path) -> Option<String> {
    let text = quipu_disk::read_text(&version_file(home), 1024).ok()?;
    let text = text.trim();
    is_curated_version(text).then(|| text.to_owned())
}

fn version_file(home: &Path) -> PathBuf {
    home.join(FETCHED).join("plugins.sha")
}

/// A place for a new version of the provider's marketplace. What is there is removed when this is dropped.
#[derive(Debug)]
pub struct Fetched(PathBuf);

impl Fetched {
    /// Prepares to fetch a version; nothing if it is there already.
    pub fn begin(home: &Path, version: &str) -> io::Result<Option<Fetched>> {
        if has_curated(home) && self::version(home).as_deref() == Some(version) {
            return Ok(None);
        }
        let directory = quipu_disk::private_dirs(home, Path::new(FETCHED))?;
        remove_stale(&directory);
        let name = format!("{UNFINISHED}{}", random_name());
        Ok(Some(Fetched(directory.join(name))))
    }

    /// The directory to fetch into. It does not exist yet.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Puts what was fetched in the place of the copy that is there. It must be a marketplace.
    pub fn take(&self, home: &Path, version: &str) -> io::Result<()> {
        if !self.0.join(marketplace::PLACE).is_file() || !is_curated_version(version) {
            let text = format!("the repository has no `{}`", marketplace::PLACE);
            return Err(io::Error::new(io::ErrorKind::InvalidData, text));
        }
        // Other processes that have fetched it wait here, and find that it is there.
        let file = Target::lock(&version_file(home))?;
        if has_curated(home) && self::version(home).as_deref() == Some(version) {
            return Ok(());
        }
        let (root, old) = (curated_root(home), self.0.with_extension("old"));
        match fs::rename(&root, &old) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        fs::rename(&self.0, &root)?;
        // Without its version a copy is fetched again, so this order loses nothing.
        file.replace(format!("{version}\n").as_bytes())?;
        match quipu_disk::remove_tree(&old) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }
}

impl Drop for Fetched {
    fn drop(&mut self) {
        match quipu_disk::remove_tree(&self.0) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                tracing::warn!(path = %self.0.display(), %error, "unfinished copy stays behind");
            }
            _ => {}
        }
    }
}

/// A name that nothing else has.
pub(super) fn random_name() -> String {
    format!("{:016x}", RandomState::new().build_hasher().finish())
}

/// Removes what processes that were killed have left.
fn remove_stale(directory: &Path) {
    let is_stale = |path: &Path| {
        let age = fs::metadata(path).and_then(|it| it.modified());
        age.is_ok_and(|it| {
            SystemTime::now()
                .duration_since(it)
                .is_ok_and(|it| it > STALE)
        })
    };
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let name = entry.file_name();
        if name.to_string_lossy().starts_with(UNFINISHED) && is_stale(&entry.path()) {
            drop(Fetched(entry.path()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(root: &Path, text: &str) {
        let file = root.join(marketplace::PLACE);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }

    #[test]
    fn a_marketplace_takes_the_place_of_the_older_one_and_nothing_else_does() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path();
        let begin = |version| Fetched::begin(home, version).unwrap();
        let shown = || fs::read_to_string(curated_root(home).join(marketplace::PLACE)).unwrap();
        for at in ["1a", "2b"] {
            let fetched = begin(at).unwrap();
            write(fetched.path(), at);
            fetched.take(home, at).unwrap();
            assert_eq!((shown().as_str(), version(home).as_deref()), (at, Some(at)));
            assert!(begin(at).is_none(), "it is there");
        }
        let other = begin("3c").unwrap();
        fs::create_dir_all(other.path()).unwrap();
        assert!(other.take(home, "3c").is_err(), "no marketplace");
        drop(other);
        let misnamed = begin("4d").unwrap();
        write(misnamed.path(), "4d");
        assert!(misnamed.take(home, "../4d").is_err());
        drop(misnamed);
        assert_eq!(shown(), "2b");
        let left = fs::read_dir(home.join(FETCHED)).unwrap().count();
        assert_eq!(left, 2, "the marketplace and its version");
    }

    #[test]
    fn what_a_killed_process_left_is_removed_later() {
        let home = tempfile::tempdir().unwrap();
        let fetched = home.path().join(FETCHED);
        let old = fetched.join(format!("{UNFINISHED}1"));
        let new = fetched.join(format!("{UNFINISHED}2"));
        for path in [&old, &new] {
            fs::create_dir_all(path).unwrap();
        }
        let long_ago = SystemTime::now() - 2 * STALE;
        fs::File::open(&old)
            .unwrap()
            .set_modified(long_ago)
            .unwrap();
        assert!(Fetched::begin(home.path(), "1a").unwrap().is_some());
        assert!(!old.exists() && new.exists());
    }
}
