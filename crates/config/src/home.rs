//! The home directory: where configuration, threads and credentials live.
//!
//! It may be shared with the official program, so its layout is theirs; only the default place is ours.

use std::io;
use std::path::{Path, PathBuf};

use crate::env::Env;

/// The length up to which Windows needs no prefix, with room for what lies in a home.
const MAX_PLAIN: usize = 128;

/// The home directory, an absolute path. It need not exist before [`Home::ensure`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Home {
    path: PathBuf,
}

/// Why there is no usable home directory.
#[derive(Debug, thiserror::Error)]
pub enum HomeError {
    /// The variable names something that is not a directory.
    #[error("{variable} points to {path:?}, but that path is not a directory")]
    NotADirectory {
        /// `QUIPU_HOME` or `CODEX_HOME`.
        variable: &'static str,
        /// What it points to.
        path: PathBuf,
    },
    /// Neither of the variables nor `HOME` is set.
    #[error("cannot find a home directory: set QUIPU_HOME to a directory, or HOME")]
    Unknown,
}

impl Home {
    /// `$QUIPU_HOME`, else `$CODEX_HOME`, else the default in the user's own directory, such as `.quipu`.
    /// Nothing is created.
    pub fn resolve(env: &Env, default: &str) -> Result<Self, HomeError> {
        for variable in ["QUIPU_HOME", "CODEX_HOME"] {
            let Some(value) = env.get(variable) else {
                continue;
            };
            let path = env.cwd().join(value);
            return match canonical(&path) {
                Ok(path) if path.is_dir() => Ok(Self { path }),
                Ok(path) => Err(HomeError::NotADirectory { variable, path }),
                Err(_) => Ok(Self { path }),
            };
        }
        let user = env.user_home().ok_or(HomeError::Unknown)?;
        Ok(Self {
            path: env.cwd().join(user).join(default),
        })
    }

    /// A home directory at a known place.
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// The same directory, which must exist, free of links.
    pub fn settled(&self) -> io::Result<Self> {
        canonical(&self.path).map(Self::at)
    }

    /// The directory itself.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The user's configuration file.
    pub fn config_file(&self) -> PathBuf {
        self.path.join("config.toml")
    }

    /// Creates the directory when it is missing, readable by its owner only.
    pub fn ensure(&self) -> io::Result<()> {
        let mut builder = std::fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(&self.path)
    }
}

/// A path free of links. Windows puts a prefix before such paths that few programs understand, and none needs
/// for a path on a disk that is not very long.
fn canonical(path: &Path) -> io::Result<PathBuf> {
    let path = path.canonicalize()?;
    let plain = path.to_str().and_then(|text| text.strip_prefix(r"\\?\"));
    let plain = plain.filter(|it| it.get(1..3) == Some(r":\") && it.len() < MAX_PLAIN);
    Ok(plain.map_or_else(|| path.clone(), PathBuf::from))
}
