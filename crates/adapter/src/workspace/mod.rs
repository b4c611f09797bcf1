//! A directory of its own for the agent: copies of what the program mounts, within limits, gone when it
//! is dropped.

mod copy;

use std::fmt::Write as _;
use std::io;
use std::path::{Component, Path, PathBuf};

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use parking_lot::Mutex;
use tempfile::TempDir;

use crate::{Section, digest};

/// Bytes that all mounts of a workspace may have together, if nothing else is said.
const MOST_BYTES: u64 = 64 << 20;

/// Files or a directory of the host that are copied into a workspace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mount {
    host_path: PathBuf,
    mount_path: PathBuf,
    include: Vec<String>,
    exclude: Vec<String>,
    max_bytes: Option<u64>,
}

impl Mount {
    /// Copies a file or directory of the host to a path in the workspace.
    pub fn new(host_path: impl Into<PathBuf>, mount_path: impl Into<PathBuf>) -> Mount {
        Mount {
            host_path: host_path.into(),
            mount_path: mount_path.into(),
            include: Vec::new(),
            exclude: Vec::new(),
            max_bytes: None,
        }
    }

    /// Copies only files whose path in the mount matches this glob, or another that is included. `*` stays
    /// within a directory, `**` does not.
    #[must_use]
    pub fn include(mut self, glob: impl Into<String>) -> Mount {
        self.include.push(glob.into());
        self
    }

    /// Leaves out what matches this glob.
    #[must_use]
    pub fn exclude(mut self, glob: impl Into<String>) -> Mount {
        self.exclude.push(glob.into());
        self
    }

    /// The mount may have so many bytes.
    #[must_use]
    pub fn max_bytes(mut self, most: u64) -> Mount {
        self.max_bytes = Some(most);
        self
    }
}

/// What was copied for a mount.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MountPreview {
    /// What was mounted, with all links resolved.
    pub host_path: PathBuf,
    /// Where it is in the workspace.
    pub mount_path: PathBuf,
    /// The number of files.
    pub files: usize,
    /// Their bytes.
    pub bytes: u64,
    /// The first of them, by path in the mount.
    pub entries: Vec<PathBuf>,
}

/// Why there is no workspace. Nothing of it is left behind.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WorkspaceError {
    /// A mount leads out of what is allowed.
    #[error("the workspace must not have `{}`: {why}", path.display())]
    Security {
        /// What was mounted, or a file in it.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// There is more to copy than is allowed.
    #[error("the workspace would exceed {limit} bytes with `{}`; exclude files or raise the limit", path.display())]
    BudgetExceeded {
        /// The file that was one too many.
        path: PathBuf,
        /// The limit.
        limit: u64,
    },
    /// A glob cannot be read.
    #[error("the glob `{glob}` is not valid: {why}")]
    Glob {
        /// The glob.
        glob: String,
        /// What is wrong with it.
        why: String,
    },
    /// A file or directory cannot be read or written.
    #[error("cannot copy `{}`: {source}", path.display())]
    Io {
        /// What was copied.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
}

/// A temporary directory with copies of the mounts, removed when it is dropped.
#[derive(Debug)]
pub struct Workspace {
    directory: Mutex<Option<TempDir>>,
    path: PathBuf,
    previews: Vec<MountPreview>,
    fingerprint: String,
    max_bytes: u64,
}

/// What a workspace is made of.
#[derive(Clone, Debug)]
#[must_use]
pub struct WorkspaceBuilder {
    mounts: Vec<Mount>,
    allowed_roots: Vec<PathBuf>,
    max_bytes: u64,
}

impl Workspace {
    /// A workspace to be made. What is mounted must be within allowed roots; without one nothing is.
    pub fn builder() -> WorkspaceBuilder {
        WorkspaceBuilder {
            mounts: Vec::new(),
            allowed_roots: Vec::new(),
            max_bytes: MOST_BYTES,
        }
    }

    /// The directory.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What was copied, mount by mount.
    #[must_use]
    pub fn previews(&self) -> &[MountPreview] {
        &self.previews
    }

    /// A digest of mounts and limits: equal for workspaces that are made of the same.
    #[must_use]
    pub fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    /// Removes the directory now. Doing it again does nothing.
    pub fn cleanup(&self) -> io::Result<()> {
        let directory = self.directory.lock().take();
        directory.map_or(Ok(()), TempDir::close)
    }

    /// What the model reads about it.
    pub(crate) fn section(&self) -> Section {
        let mut text = String::from(
            "The working directory has copies of these files. Changes to them stay there.\n",
        );
        for mount in &self.previews {
            let MountPreview {
                mount_path,
                files,
                bytes,
                entries,
                ..
            } = mount;
            let noun = if *files == 1 { "file" } else { "files" };
            write!(
                text,
                "\n- `{}`: {files} {noun}, {bytes} bytes",
                mount_path.display()
            )
            .unwrap_or_default();
            for entry in entries {
                write!(text, "\n  - `{}`", entry.display()).unwrap_or_default();
            }
            // A mount that is a file itself has no entries.
            if !entries.is_empty() && entries.len() < *files {
                write!(text, "\n  - and {} more", files - entries.len()).unwrap_or_default();
            }
        }
        write!(text, "\n\nAt most {} bytes were copied.", self.max_bytes).unwrap_or_default();
        Section::new("Workspace", text)
    }
}

impl WorkspaceBuilder {
    /// Adds a mount.
    pub fn mount(mut self, mount: Mount) -> WorkspaceBuilder {
        self.mounts.push(mount);
        self
    }

    /// Allows mounts within this directory of the host.
    pub fn allow_root(mut self, root: impl Into<PathBuf>) -> WorkspaceBuilder {
        self.allowed_roots.push(root.into());
        self
    }

    /// All mounts together may have so many bytes: 64 MiB if not given.
    pub fn max_bytes(mut self, most: u64) -> WorkspaceBuilder {
        self.max_bytes = most;
        self
    }

    /// Checks all mounts, then copies them.
    pub fn build(self) -> Result<Workspace, WorkspaceError> {
        let mut roots = Vec::new();
        for root in &self.allowed_roots {
            roots.push(copy::resolved(root)?);
        }
        let mut sources = Vec::new();
        for mount in &self.mounts {
            sources.push(Source::new(mount, &roots)?);
        }
        let here = Path::new(".");
        let directory = tempfile::tempdir().map_err(|source| io_error(here, source))?;
        let path = copy::resolved(directory.path())?;
        let mut left = self.max_bytes;
        let mut previews = Vec::new();
        for source in &sources {
            let limit = source.mount.max_bytes.unwrap_or(u64::MAX).min(left);
            let preview = source.copy_into(&path, limit)?;
            left -= preview.bytes;
            previews.push(preview);
        }
        Ok(Workspace {
            fingerprint: self.fingerprint(),
            directory: Mutex::new(Some(directory)),
            path,
            previews,
            max_bytes: self.max_bytes,
        })
    }

    fn fingerprint(&self) -> String {
        let mut mounts = self.mounts.clone();
        mounts.sort_by(|a, b| (&a.mount_path, &a.host_path).cmp(&(&b.mount_path, &b.host_path)));
        for mount in &mut mounts {
            mount.include.sort();
            mount.exclude.sort();
        }
        digest::of(format!("{mounts:?} {}", self.max_bytes))
    }
}

/// A mount whose place on the host has been checked.
struct Source<'a> {
    mount: &'a Mount,
    /// With all links resolved.
    host_path: PathBuf,
    include: Option<GlobSet>,
    exclude: GlobSet,
}

impl<'a> Source<'a> {
    fn new(mount: &'a Mount, roots: &[PathBuf]) -> Result<Source<'a>, WorkspaceError> {
        let refused = |why: &str| WorkspaceError::Security {
            path: mount.host_path.clone(),
            why: why.to_owned(),
        };
        let stays = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
        if !mount.mount_path.components().all(stays) {
            return Err(refused(&format!(
                "`{}` leads out of the workspace",
                mount.mount_path.display()
            )));
        }
        let host_path = copy::resolved(&mount.host_path)?;
        if !roots.iter().any(|root| host_path.starts_with(root)) {
            return Err(refused("it is not within an allowed root"));
        }
        Ok(Source {
            mount,
            host_path,
            include: (!mount.include.is_empty())
                .then(|| globs(&mount.include))
                .transpose()?,
            exclude: globs(&mount.exclude)?,
        })
    }
}

fn globs(globs: &[String]) -> Result<GlobSet, WorkspaceError> {
    let mut set = GlobSetBuilder::new();
    for glob in globs {
        let parsed = GlobBuilder::new(glob).literal_separator(true).build();
        set.add(parsed.map_err(|error| invalid(glob, &error))?);
    }
    set.build().map_err(|error| invalid("", &error))
}

fn invalid(glob: &str, error: &globset::Error) -> WorkspaceError {
    let glob = error.glob().unwrap_or(glob).to_owned();
    WorkspaceError::Glob {
        glob,
        why: error.kind().to_string(),
    }
}

fn io_error(path: &Path, source: io::Error) -> WorkspaceError {
    WorkspaceError::Io {
        path: path.to_owned(),
        source,
    }
}
