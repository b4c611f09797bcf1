//! Plugins: directories of skills, servers and apps that a marketplace offers. They can be installed and
//! removed, in the form that all programs of the home share; nothing uses them yet.

mod id;
mod install;
mod marketplace;

use std::io;
use std::path::PathBuf;

pub use id::PluginId;
pub use install::{Installed, install, uninstall};

/// Why a plugin was not installed or removed. The texts are those clients know.
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
    /// The operating system said no.
    #[error("{0}")]
    Io(#[from] io::Error),
}
