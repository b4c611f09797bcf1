//! Permissions as a model writes them: its own spelling, and paths as it sees them.

use std::path::Path;

use quipu_wire::{
    AbsolutePath, AdditionalFileSystemPermissions, AdditionalNetworkPermissions,
    AdditionalPermissionProfile,
};
use serde::Deserialize;

/// What a model wants beyond its sandbox.
#[derive(Debug, Deserialize)]
pub(crate) struct Wanted {
    network: Option<AdditionalNetworkPermissions>,
    #[serde(alias = "fileSystem")]
    file_system: Option<Paths>,
}

#[derive(Debug, Deserialize)]
struct Paths {
    read: Option<Vec<String>>,
    write: Option<Vec<String>>,
}

impl Wanted {
    /// The same with absolute paths where they really lead: the user is to see that, and a link that is
    /// made later must not change it.
    pub fn in_folder(self, cwd: &Path) -> AdditionalPermissionProfile {
        let absolute = |paths: Option<Vec<String>>| {
            let real = |path: &String| {
                let path = cwd.join(path);
                AbsolutePath::new(quipu_sandbox::real_path(&path).unwrap_or(path))
            };
            paths.map(|paths| paths.iter().filter_map(real).collect())
        };
        let files = self
            .file_system
            .map(|paths| AdditionalFileSystemPermissions {
                read: absolute(paths.read),
                write: absolute(paths.write),
            });
        AdditionalPermissionProfile {
            network: self.network,
            file_system: files,
        }
    }
}
