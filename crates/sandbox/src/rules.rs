//! From intent to paths: which real files and folders a policy opens and which it keeps shut.
//!
//! This is the one place that knows the exceptions: folders that steer later commands (`.git`,
//! `.codex` …) stay read-only inside a writable folder, and what `git commit` needs outside a linked
//! worktree becomes writable.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use crate::{
    Grants, Network, Policy, Readable, SpawnError, WorkspaceWrite, git, real_path, roots::Roots,
};

/// Entries directly below a writable folder that stay read-only.
const PROTECTED: [&str; 4] = [".git", ".agents", ".codex", ".quipu"];

/// The one of them that cannot even be created. A project's are read in every folder from its root down
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
        let more_roots = workspace.map(WorkspaceWrite::more_roots);
        let more_roots = more_roots.iter().flatten().chain(&grants.writable);
        let mut roots = names.real_paths(more_roots);
        let folder = workspace.and_then(|policy| names.real_path(&policy.workspace));
        roots.extend(folder.clone().filter(|folder| !roots.contains(folder)));
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
        for above in folder.iter().flat_map(|folder| folder.ancestors().skip(1)) {
            let inside = |root: &PathBuf| above != root && above.starts_with(root);
            if roots.iter().any(inside) && !roots.iter().any(|root| root == above) {
                rules.protect(above, RESERVED, &roots);
            }
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
        let Some(readable) = &self.readable else {
            return true;
        };
        let written = self.entries.iter().filter(|it| it.access == Access::Write);
        let mut open = readable.iter().chain(written.map(|it| &it.path));
        real_path(path).is_ok_and(|path| open.any(|root| path.starts_with(root)))
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
        let nearest = self.entries.iter().rfind(|entry| match entry.access {
            Access::Write => path.starts_with(&entry.path),
            Access::Read | Access::Masked => lies_in(path, &entry.path),
        })?;
        (nearest.access == Access::Write).then_some(&nearest.path)
    }

    /// Whether rules of their own hold somewhere below this path.
    pub(crate) fn has_exception_below(&self, path: &Path) -> bool {
        self.exceptions()
            .any(|other| other != path && other.starts_with(path))
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

    /// Keeps shut what steers later commands, unless it was opened by its own name.
    fn protect(&mut self, folder: &Path, name: &str, opened: &[PathBuf]) {
        let path = folder.join(name);
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
                    self.follow_git_file(folder, opened);
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

    /// The folder behind a `.git` file is as sensitive as a `.git` folder, but a linked worktree
    /// must be able to commit: the parts that only hold history are opened.
    fn follow_git_file(&mut self, root: &Path, opened: &[PathBuf]) {
        let Some(folder) = git::linked_folder(root) else {
            return;
        };
        let Some(worktree) = git::Worktree::find(root, &folder) else {
            self.close(folder);
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
                let folder = it.path.parent();
                folder.is_some_and(|folder| self.writable_root(folder).is_some())
            })
            .collect();
    }

    /// A folder between a writable one and a protected path inside could be moved away, protected
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

impl WorkspaceWrite {
    /// All that this policy makes writable beside the workspace.
    fn more_roots(&self) -> Vec<PathBuf> {
        let mut roots = self.writable_roots.clone();
        if !self.exclude_slash_tmp {
            roots.push(PathBuf::from("/tmp"));
        }
        if !self.exclude_tmpdir_env {
            roots.extend(std::env::var_os("TMPDIR").map(PathBuf::from));
        }
        roots
    }
}

/// The paths that exist, free of links.
fn real_paths<'a>(paths: impl Iterator<Item = &'a PathBuf>) -> Vec<PathBuf> {
    let absolute = paths.filter(|path| path.is_absolute());
    let mut real: Vec<PathBuf> = absolute
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
