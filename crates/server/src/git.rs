//! What is known of a repository without running `git`: its files are read directly. A user that works in a
//! directory can put there what they like, so these files are small, regular and make sense, or are left out.

use std::path::{Component, Path, PathBuf};

use quipu_journal::GitInfo;

/// A file with one line: a commit, a reference, a path.
const MAX_LINE: u64 = 16 * 1024;
const MAX_CONFIG: u64 = 1024 * 1024;
/// Some 250,000 references.
const MAX_PACKED: u64 = 16 * 1024 * 1024;

/// The commit, branch and origin of the repository around a directory, if there is one.
pub(crate) fn info(directory: &Path) -> Option<GitInfo> {
    let git = directory.ancestors().find_map(git_dir)?;
    let common =
        line(&git.join("commondir")).map_or_else(|| git.clone(), |common| git.join(common));
    let head = line(&git.join("HEAD"))?;
    let (branch, commit_hash) = match head.strip_prefix("ref: ") {
        Some(reference) if is_reference(reference) => {
            let branch = reference.strip_prefix("refs/heads/").unwrap_or(reference);
            (Some(branch.to_owned()), commit(&common, reference))
        }
        Some(_) => (None, None),
        None => (None, hash(&head)),
    };
    let info = GitInfo {
        commit_hash,
        branch,
        repository_url: origin(&common),
    };
    (!info.is_empty()).then_some(info)
}

/// The directory behind `.git`, which is a directory or, in a worktree, a file that names one.
fn git_dir(directory: &Path) -> Option<PathBuf> {
    let git = directory.join(".git");
    if git.is_dir() {
        return Some(git);
    }
    let text = line(&git)?;
    let target = text.strip_prefix("gitdir: ")?;
    Some(directory.join(target))
}

fn commit(common: &Path, reference: &str) -> Option<String> {
    if let Some(found) = line(&common.join(reference)).and_then(|it| hash(&it)) {
        return Some(found);
    }
    let packed = quipu_disk::read_text(&common.join("packed-refs"), MAX_PACKED).ok()?;
    let mut lines = packed.lines().filter_map(|line| line.split_once(' '));
    let (found, _) = lines.find(|(_, name)| *name == reference)?;
    hash(found)
}

fn origin(common: &Path) -> Option<String> {
    let config = quipu_disk::read_text(&common.join("config"), MAX_CONFIG).ok()?;
    let section = config.split("[remote \"origin\"]").nth(1)?;
    let lines = section
        .lines()
        .take_while(|line| !line.trim_start().starts_with('['));
    lines
        .filter_map(|line| line.split_once('='))
        .find(|(key, _)| key.trim() == "url")
        .map(|(_, url)| url.trim().to_owned())
}

fn line(path: &Path) -> Option<String> {
    let text = quipu_disk::read_text(path, MAX_LINE).ok()?;
    Some(text.trim().to_owned())
}

/// Whether a reference stays in the repository.
fn is_reference(name: &str) -> bool {
    let parts = || Path::new(name).components();
    name.starts_with("refs/") && parts().all(|part| matches!(part, Component::Normal(_)))
}

/// The name of a commit, if it is one: another file's text is nobody's business.
fn hash(text: &str) -> Option<String> {
    let is_hash = [40, 64].contains(&text.len()) && text.bytes().all(|it| it.is_ascii_hexdigit());
    is_hash.then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    const COMMIT: &str = "422c2b7ab3b3c668038da977e4e93a5fc623169c";

    struct Repository(tempfile::TempDir);

    impl Repository {
        fn new(head: &str) -> Repository {
            let directory = tempfile::tempdir().unwrap();
            fs::create_dir_all(directory.path().join(".git/refs/heads")).unwrap();
            fs::write(directory.path().join(".git/HEAD"), head).unwrap();
            Repository(directory)
        }

        fn git(&self, name: &str) -> PathBuf {
            self.0.path().join(".git").join(name)
        }

        /// The branch and the commit.
        fn known(&self) -> Option<(Option<String>, Option<String>)> {
            info(self.0.path()).map(|it| (it.branch, it.commit_hash))
        }
    }

    fn main_at(commit: Option<&str>) -> Option<(Option<String>, Option<String>)> {
        Some((Some("main".to_owned()), commit.map(str::to_owned)))
    }

    #[test]
    fn a_branch_is_found_loose_and_packed() {
        let repository = Repository::new("ref: refs/heads/main\n");
        assert_eq!(repository.known(), main_at(None));
        let packed = format!("# pack-refs with: peeled\n{COMMIT} refs/heads/main\n^{COMMIT}\n");
        fs::write(repository.git("packed-refs"), packed).unwrap();
        assert_eq!(repository.known(), main_at(Some(COMMIT)));
        let other = COMMIT.replace('4', "5");
        fs::write(repository.git("refs/heads/main"), format!("{other}\n")).unwrap();
        assert_eq!(repository.known(), main_at(Some(&other)));
        let detached = Repository::new(&format!("{COMMIT}\n"));
        assert_eq!(detached.known(), Some((None, Some(COMMIT.to_owned()))));
    }

    #[test]
    fn files_outside_of_the_repository_are_not_reported() {
        let secret = tempfile::NamedTempFile::new().unwrap();
        fs::write(secret.path(), "the secret").unwrap();
        let name = secret.path().display();
        for head in [
            format!("ref: {name}"),
            format!("ref: refs/../../../../../../{name}"),
        ] {
            assert_eq!(Repository::new(&head).known(), None, "{head}");
        }
        let repository = Repository::new("ref: refs/heads/main");
        symlink(secret.path(), repository.git("refs/heads/main")).unwrap();
        assert_eq!(repository.known(), main_at(None));
        fs::remove_file(repository.git("HEAD")).unwrap();
        symlink(secret.path(), repository.git("HEAD")).unwrap();
        assert_eq!(repository.known(), None);
    }

    #[test]
    fn files_without_an_end_are_left_out() {
        for name in [
            "HEAD",
            "commondir",
            "packed-refs",
            "config",
            "refs/heads/main",
        ] {
            for pipe in [true, false] {
                let repository = Repository::new("ref: refs/heads/main");
                let path = repository.git(name);
                fs::remove_file(&path).ok();
                endless(&path, pipe);
                let expected = (name != "HEAD").then(|| main_at(None)).flatten();
                assert_eq!(repository.known(), expected, "{name}");
            }
        }
        for pipe in [true, false] {
            let directory = tempfile::tempdir().unwrap();
            endless(&directory.path().join(".git"), pipe);
            assert_eq!(info(directory.path()), None);
        }
    }

    /// Makes a pipe that nobody writes to, or a file that never ends.
    fn endless(path: &Path, pipe: bool) {
        if pipe {
            let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
            rustix::fs::mkfifoat(rustix::fs::CWD, path, mode).unwrap();
        } else {
            symlink("/dev/zero", path).unwrap();
        }
    }
}
