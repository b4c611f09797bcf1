//! Plugins: directories of skills, MCP servers, apps and hooks that a marketplace offers. They are installed
//! in the home directory, in the form that all programs of the home share, and are in force while the
//! user's settings switch them on.

mod added;
mod contents;
mod copy;
mod curated;
mod id;
mod install;
mod installed;
mod list;
mod manifest;
mod marketplace;
mod sync;

use std::io;
use std::path::{Path, PathBuf};

pub use added::{
    NewCopy, added_root, check_marketplace_name, copy_of, name_of, parse_source, remove_copy,
};
pub use contents::Contents;
pub use curated::{Fetched, curated_root, has_curated, is_curated_version};
pub use id::PluginId;
pub use install::{Offered, uninstall};
pub use installed::{Plugin, active};
pub use list::{Details, Marketplaces, read};
pub(crate) use manifest::FILE as MANIFEST;
pub use sync::{RemotePlugin, Sync};

/// The name of the version that comes from a directory of this machine.
const VERSION: &str = "local";

/// The name of the provider's own marketplace.
pub const CURATED: &str = "openai-curated";

/// The version of the provider's marketplace that is kept.
fn curated_version(home: &Path) -> Result<String, PluginError> {
    curated::version(home).ok_or_else(|| {
        PluginError::Refused("local curated marketplace sha is not available".to_owned())
    })
}

/// Why a plugin was not installed, read or removed. The texts are those clients know.
#[derive(Debug, thiserror::Error)]
pub enum PluginError {
    /// The caller named something that is not there or not allowed.
    #[error("{0}")]
    Refused(String),
    /// The marketplace's file cannot be used.
    #[error("invalid marketplace file `{}`: {reason}", path.display())]
    Marketplace {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The marketplace's file cannot be read.
    #[error("failed to read marketplace file: {0}")]
    Unreadable(io::Error),
    /// The operating system said no.
    #[error("{0}")]
    Io(#[from] io::Error),
}
