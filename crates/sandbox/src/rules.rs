//! From intent to paths: which real files and directories a policy opens and which it keeps shut.
//!
//! This is the one place that knows the exceptions: directories that steer later commands (`.git`,
//! `.codex` …) stay read-only inside a writable directory, and what `git commit` needs outside a linked
//! worktree becomes writable.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use crate::{Grants, Hidden, Network, Policy, Readable, SpawnError, git, real_path, roots::Roots};

/// Entries directly below a writable directory that stay read-only.
const PROTECTED: [&str; 4] = [".git", ".agents", ".codex", ".quipu"];

/// The one of them that cannot even be created. A project's are read in every directory from its root down
/// to the workspace, so it is shut in all of these.
const RESERVED: &str = ".codex";

/// Where the kernel shows its switches as files. Who opens everything does not mean these.
const SWITCHES: [&str; 2] = ["/proc", "/sys"];

/// What programs need in order to run at all.
const PLATFORM: [&str; 8] = [
    "/bin",
    "/sbin",
    "/usr",
    "/etc",
    "/lib",
    "/lib64",
    "/nix/store",
    "/run/current-system/sw",
];

/// A policy with its paths resolved on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rules {
    pub(crate) network: Network,
    /// `None` if everything may be read.
    pub(crate) readable: Option<Vec<PathBuf>>,
    /// Parents before children; the deepest entry above a path decides.
    pub(crate) entries: Vec<Entry>,
    /// Paths that do not exist and must not be created.
    pub(crate) reserved: Vec<Reserved>,
}

/// One exception from what holds around it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    /// Absolute and free of symbolic links, but for its last part if the access is `Masked`.
    pub path: PathBuf,
    pub access: Access,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    Write,
    Read,
    /// A symbolic link that must not be replaced by something else.
    Masked,
    /// Neither read nor written.
    Hidden,
}

/// A path that must not be created.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Reserved {
    pub path: PathBuf,
    pub directory: bool,
}

impl Rules {
    /// Resolves a policy now; `None` if it restricts nothing. A name that a command may have led astray
    /// opens nothing.
    pub fn resolve(policy: &Policy, grants: &Grants) -> Option<Self> {
        Self::follow(policy, grants, &mut Roots::default())
    }

    /// The rules for a command that is about to run; an error if one of the policy's names may have been
    /// led astray by a command before.
    pub(crate) fn for_command(
        policy: &Policy,
        grants: &Grants,
    ) -> Result<Option<Self>, SpawnError> {
        let mut roots = Roots::default();
        let rules = Self::follow(policy, grants, &mut roots);
        let entries = rules.iter().flat_map(|rules| &rules.entries);
        let opened = entries.filter(|entry| entry.access == Access::Write);
        roots.settle(opened.map(|entry| entry.path.as_path()))?;
        Ok(rules)
    }

    fn follow(policy: &Policy, grants: &Grants, names: &mut Roots) -> Option<Self> {
        let (readable, workspace) = match policy {
            Policy::FullAccess | Policy::External { .. } => return None,
            Policy::ReadOnly { readable, .. } => (readable, None),
            Policy::WorkspaceWrite(policy) => (&policy.readable, Some(policy)),
        };
        let mut rules = Self {
            network: policy.network().or(grants.network.unwrap_or(Network::Off)),
            readable: readable_roots(readable, grants, names),
            entries: Vec::new(),
            reserved: Vec::new(),
        };
        let more_roots = workspace.iter().flat_map(|policy| &policy.writable_roots);
        let more_roots = more_roots.chain(&grants.writable);
        let mut roots = names.real_paths(more_roots);
        let directory = workspace.and_then(|policy| names.real_path(&policy.workspace));
        roots.extend(
            directory
                .clone()
                .filter(|directory| !roots.contains(directory)),
        );
        for root in &roots {
            rules.open(root.clone());
        }
        let protected = workspace.iter().flat_map(|policy| &policy.protected_paths);
        let switches = SWITCHES.map(PathBuf::from);
        let everything = roots.iter().any(|root| root == Path::new("/"));
        let switches = switches.iter().filter(|_| everything);
        for path in real_paths(protected.chain(switches))
            .into_iter()
            .filter(|path| !roots.contains(path))
        {
            rules.close(path);
        }
        for root in &roots {
            for name in PROTECTED {
                rules.protect(root, name, &roots);
            }
        }
        let trusted = workspace.iter().flat_map(|policy| &policy.trusted);
        for directory in real_paths(trusted) {
            let inside = |root: &PathBuf| directory != *root && directory.starts_with(root);
            if roots.iter().any(inside) && !roots.contains(&directory) {
                for name in PROTECTED {
                    rules.protect(&directory, name, &roots);
                }
            }
        }
        for above in directory
            .iter()
            .flat_map(|directory| directory.ancestors().skip(1))
        {
            let inside = |root: &PathBuf| above != root && above.starts_with(root);
            if roots.iter().any(inside) && !roots.iter().any(|root| root == above) {
                rules.protect(above, RESERVED, &roots);
            }
        }
        if let Some(hidden) = policy.hidden() {
            let asked = readable.roots().iter().chain(&grants.readable);
            let named = names.real_paths(asked);
            rules.hide(hidden, &named);
        }
        rules.order();
        rules.pin_ways_to_exceptions();
        Some(rules)
    }

    /// Whether a command under these rules may write at this absolute path.
    pub fn can_write(&self, path: &Path) -> bool {
        real_path(path).is_ok_and(|path| self.writable_root(&path).is_some())
    }

    /// Whether a command under these rules may read what is at this absolute path.
    pub fn can_read(&self, path: &Path) -> bool {
        if self.readable.is_none() && !self.entries.iter().any(Entry::is_hidden) {
            return true;
        }
        real_path(path).is_ok_and(|path| match self.nearest(&path) {
            Some(entry) if entry.is_hidden() => false,
            Some(entry) if entry.access == Access::Write => true,
            _ => self.is_readable_root(&path),
        })
    }

    /// Whether the policy lets a resolved path be read, hidden or not.
    fn is_readable_root(&self, path: &Path) -> bool {
        let readable = self.readable.as_ref();
        readable.is_none_or(|roots| roots.iter().any(|root| path.starts_with(root)))
    }

    /// The entry that decides about a resolved path.
    fn nearest(&self, path: &Path) -> Option<&Entry> {
        self.entries.iter().rfind(|entry| match entry.access {
            Access::Write => path.starts_with(&entry.path),
            Access::Read | Access::Masked | Access::Hidden => lies_in(path, &entry.path),
        })
    }

    /// What makes a resolved path writable, if something does.
    pub(crate) fn writable_root(&self, path: &Path) -> Option<&Path> {
        if self
            .reserved
            .iter()
            .any(|reserved| lies_in(path, &reserved.path))
        {
            return None;
        }
        let nearest = self.nearest(path)?;
        (nearest.access == Access::Write).then_some(&nearest.path)
    }

    /// Whether rules of their own hold somewhere below this path.
    pub(crate) fn has_exception_below(&self, path: &Path) -> bool {
        self.exceptions()
            .any(|other| other != path && other.starts_with(path))
    }

    /// Whether something below this path must not be read.
    pub(crate) fn hides_below(&self, path: &Path) -> bool {
        let mut hidden = self.entries.iter().filter(|entry| entry.is_hidden());
        hidden.any(|entry| entry.path != path && entry.path.starts_with(path))
    }

    /// The entries of a directory through which something hidden is reached.
    pub(crate) fn ways_to_hidden(&self, path: &Path) -> impl Iterator<Item = PathBuf> {
        let hidden = self.entries.iter().filter(|entry| entry.is_hidden());
        let below = hidden.filter_map(move |entry| entry.path.strip_prefix(path).ok());
        below.filter_map(move |rest| Some(path.join(rest.components().next()?)))
    }

    /// Whether this very path is hidden.
    pub(crate) fn is_hidden(&self, path: &Path) -> bool {
        let mut hidden = self.entries.iter().filter(|entry| entry.is_hidden());
        hidden.any(|entry| entry.path == path)
    }

    /// Whether something that must not be read lies where the command may write.
    pub(crate) fn hides_in_writable(&self) -> bool {
        let mut written = self.entries.iter().filter(|it| it.access == Access::Write);
        written.any(|entry| self.hides_below(&entry.path))
    }

    /// Whether rules of their own hold at this path or below, so that it must stay where it is.
    pub(crate) fn is_fixed(&self, path: &Path) -> bool {
        self.exceptions().any(|other| other.starts_with(path))
    }

    fn exceptions(&self) -> impl Iterator<Item = &Path> {
        let entries = self.entries.iter().map(|entry| entry.path.as_path());
        entries.chain(self.reserved.iter().map(|reserved| reserved.path.as_path()))
    }

    fn open(&mut self, path: PathBuf) {
        self.entries.push(Entry {
            path,
            access: Access::Write,
        });
    }

    fn close(&mut self, path: PathBuf) {
        self.entries.push(Entry {
            path,
            access: Access::Read,
        });
    }

    /// Hides what no command is to read, and what one without network is not to; `named` is what the
    /// policy itself says may be read.
    fn hide(&mut self, hidden: &Hidden, named: &[PathBuf]) {
        let within = |path: &Path, all: &[PathBuf]| all.iter().any(|it| path.starts_with(it));
        let always = real_paths(hidden.always.iter());
        let mut shown = real_paths(hidden.except.iter());
        if let Some(readable) = &mut self.readable {
            let is_open = |path: &PathBuf| !within(path, &always) || within(path, &shown);
            readable.retain(|path| is_open(path) || always.contains(path));
        }
        self.entries
            .retain(|it| it.access != Access::Write || !always.contains(&it.path));
        let written = self.entries.iter().filter(|it| it.access == Access::Write);
        let opened: Vec<PathBuf> = written.map(|it| it.path.clone()).collect();
        let mut offline = match self.network {
            Network::Off => real_paths(hidden.offline.iter()),
            Network::Gate | Network::Internet | Network::Host => Vec::new(),
        };
        offline.retain(|path| !named.contains(path) && !opened.contains(path));
        let named = named
            .iter()
            .filter(|it| within(it, &offline) && !within(it, &always));
        shown.extend(named.cloned());
        shown.retain(|path| !opened.contains(path));
        // What was to stay read-only in there is not to be read either.
        self.entries.retain(|it| {
            it.access == Access::Write || !within(&it.path, &always) && !within(&it.path, &offline)
        });
        let hidden = always.into_iter().chain(offline);
        let hidden = hidden.map(|path| (path, Access::Hidden));
        for (path, access) in hidden.chain(shown.into_iter().map(|path| (path, Access::Read))) {
            // What cannot be read anyway needs no entry.
            if self.is_readable_root(&path) || within(&path, &opened) {
                self.entries.push(Entry { path, access });
            }
        }
    }

    /// Keeps shut what steers later commands, unless it was opened by its own name.
    fn protect(&mut self, directory: &Path, name: &str, opened: &[PathBuf]) {
        let path = directory.join(name);
        if opened.contains(&path) {
            return;
        }
        match fs::symlink_metadata(&path) {
            Ok(found) if found.is_symlink() => {
                if let Ok(target) = path.canonicalize()
                    && !opened.contains(&target)
                {
                    self.close(target);
                }
                self.entries.push(Entry {
                    path,
                    access: Access::Masked,
                });
            }
            Ok(found) => {
                if name == ".git" && found.is_file() {
                    self.follow_git_file(directory, opened);
                }
                self.close(path);
            }
            Err(error) if name == RESERVED && error.kind() == io::ErrorKind::NotFound => {
                self.reserved.push(Reserved {
                    path,
                    directory: true,
                });
            }
            Err(_) => {}
        }
    }

    /// The directory behind a `.git` file is as sensitive as a `.git` directory, but a linked worktree
    /// must be able to commit: the parts that only hold history are opened.
    fn follow_git_file(&mut self, root: &Path, opened: &[PathBuf]) {
        let Some(directory) = git::linked_directory(root) else {
            return;
        };
        let Some(worktree) = git::Worktree::find(root, &directory) else {
            self.close(directory);
            return;
        };
        if !opened.contains(&worktree.repository) {
            self.close(worktree.repository);
        }
        for path in worktree.history {
            self.open(path);
        }
        for path in worktree.steering {
            if path.exists() {
                self.close(path);
            } else {
                self.reserved.push(Reserved {
                    path,
                    directory: false,
                });
            }
        }
    }

    /// Parents first; of two entries for one path the later one stays. What is shut inside of what is
    /// shut is dropped; what is open inside of what is open is kept, so that it stays where it is.
    fn order(&mut self) {
        let mut kept: Vec<Entry> = Vec::new();
        self.entries
            .sort_by_key(|entry| entry.path.components().count());
        for entry in std::mem::take(&mut self.entries) {
            kept.retain(|other| other.path != entry.path);
            let above = kept
                .iter()
                .rfind(|other| entry.path.starts_with(&other.path));
            let around = above.map_or(Access::Read, |above| above.access);
            if entry.access != around || entry.access == Access::Write {
                kept.push(entry);
            }
        }
        self.entries = kept;
        // Where nothing can be written, nothing has to be kept from being created.
        let reserved = std::mem::take(&mut self.reserved).into_iter();
        self.reserved = reserved
            .filter(|it| {
                let directory = it.path.parent();
                directory.is_some_and(|directory| self.writable_root(directory).is_some())
            })
            .collect();
    }

    /// A directory between a writable one and a protected path inside could be moved away, protected
    /// path and all, and another be put in its place; entries of their own keep them where they are.
    fn pin_ways_to_exceptions(&mut self) {
        let is_movable = |path: &&Path| self.writable_root(path).is_some_and(|root| root != *path);
        let ways = self.exceptions().flat_map(|path| path.ancestors().skip(1));
        let mut ways: Vec<PathBuf> = ways.filter(is_movable).map(Path::to_path_buf).collect();
        ways.sort();
        ways.dedup();
        for way in ways {
            self.open(way);
        }
        self.entries
            .sort_by_key(|entry| entry.path.components().count());
    }
}

impl Entry {
    pub(crate) fn is_hidden(&self) -> bool {
        self.access == Access::Hidden
    }
}

impl Readable {
    /// What it names.
    fn roots(&self) -> &[PathBuf] {
        match self {
            Self::Everything => &[],
            Self::Only { roots, .. } => roots,
        }
    }
}

/// The paths that exist, free of links.
fn real_paths<'a>(paths: impl Iterator<Item = &'a PathBuf>) -> Vec<PathBuf> {
    let absolute = paths.filter(|path| path.is_absolute());
    // Most do not exist. That is one question to the kernel, where following links is one for each name in the path.
    let mut real: Vec<PathBuf> = absolute
        .filter(|path| path.exists())
        .filter_map(|path| path.canonicalize().ok())
        .collect();
    real.sort();
    real.dedup();
    real
}

fn readable_roots(readable: &Readable, grants: &Grants, names: &mut Roots) -> Option<Vec<PathBuf>> {
    let Readable::Only {
        roots,
        platform_defaults,
    } = readable
    else {
        return None;
    };
    let platform = if *platform_defaults {
        &PLATFORM[..]
    } else {
        &[]
    };
    let platform: Vec<PathBuf> = platform.iter().map(PathBuf::from).collect();
    let asked: Vec<PathBuf> = roots.iter().chain(&grants.readable).cloned().collect();
    let mut all = real_paths(platform.iter());
    all.extend(names.real_paths(asked.iter()));
    // A link is kept beside what it leads to, so that both names work.
    let links = platform.into_iter().chain(asked);
    all.extend(links.filter(|path| path.is_absolute() && path.is_symlink()));
    all.sort_by_key(|path| path.components().count());
    Some(all)
}

/// Whether a path lies at or below a protected one. Some file systems do not mind the case of names,
/// so it does not matter here.
fn lies_in(path: &Path, protected: &Path) -> bool {
    let mut parts = path.components();
    protected.components().all(|expected| {
        let expected = expected.as_os_str();
        parts
            .next()
            .is_some_and(|part| part.as_os_str().eq_ignore_ascii_case(expected))
    })
}
