//! Configuration: layers, profiles, requirements, and edits that keep comments.
//!
//! Settings come from several files and from flags. A [`Loader`] reads them into a [`Snapshot`], which
//! never changes and knows where every value came from; each consumer takes its own small struct of
//! [`settings`] from it. Files are looked at again only when they changed. Edits go through
//! [`Loader::write`], which never loses what another process wrote.
//!
//! Invariants: nothing here is async, spawns, or talks to the network; a mistake in a file is an error
//! with its place, never a panic; a wrong file leaves the built-in defaults in force.

mod cloud;
mod document;
pub mod edit;
mod env;
mod features;
mod files;
mod home;
mod keypath;
mod layer;
mod limits;
mod load;
mod overrides;
mod project;
mod read;
pub mod requirements;
pub mod schema;
pub mod settings;
mod snapshot;
mod warning;

pub use cloud::{CloudError, CloudErrorKind, CloudLimits};
pub use document::{Mistake, Position, Step, parse as parse_toml};
pub use env::Env;
pub use features::{
    ALIASES, Deprecation, Enablement, EnablementError, Feature, Features, Stage, check_enablement,
};
pub use files::Files;
pub use home::{Home, HomeError};
pub use keypath::{TooManyKeys, split as split_key_path};
pub use layer::{Layer, SourceFile, Stack};
pub use load::{LoadError, LoadRequest, Loader, SYSTEM_DIRECTORY, SystemPaths};
pub use overrides::{OverrideError, Overrides};
pub use project::{PROJECT_DIRECTORY, Project, Trust};
pub use read::ReadError;
pub use settings::PermissionProfile;
pub use snapshot::Snapshot;
pub use warning::StartUp;

/// A table of settings.
pub type Table = serde_json::Map<String, serde_json::Value>;
