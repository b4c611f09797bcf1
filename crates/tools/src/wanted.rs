//! Permissions as a model writes them: its own spelling, and paths as it sees them.

use std::path::{Path, PathBuf};

use quipu_wire::{
    AbsolutePath, AdditionalFileSystemPermissions, AdditionalNetworkPermissions,
    AdditionalPermissionProfile,
};
use serde::Deserialize;

use crate::schema::describe;
use crate::scope::Scope;

/// What a model wants beyond its sandbox.
#[derive(Debug, Deserialize)]
pub(crate) struct Wanted {
    network: Option<AdditionalNetworkPermissions>,
    file_system: Option<Paths>,
}

/// The same where nothing else may be asked for.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct OnlyWanted {
    network: Option<AdditionalNetworkPermissions>,
    file_system: Option<Paths>,
}

#[derive(Debug, Deserialize)]
struct Paths {
    read: Option<Vec<String>>,
    write: Option<Vec<String>>,
}

describe!(Wanted {
    required {}
    optional { network, file_system }
});

describe!(OnlyWanted {
    required {}
    optional { network, file_system }
});

describe!(AdditionalNetworkPermissions {
    required {}
    optional { enabled: "Whether to reach the network." }
});

describe!(Paths {
    required {}
    optional { read: "Paths to read.", write: "Paths to write." }
});

impl From<OnlyWanted> for Wanted {
    fn from(wanted: OnlyWanted) -> Wanted {
        Wanted {
            network: wanted.network,
            file_system: wanted.file_system,
        }
    }
}

impl Wanted {
    /// The same with absolute paths where they really lead, each once, and without what says nothing: the user
    /// is to see that, and a link that is made later must not change it.
    pub fn in_directory(self, cwd: &Path, scope: &Scope) -> AdditionalPermissionProfile {
        let absolute = |paths: Option<Vec<String>>| {
            paths.map(|paths| {
                let mut places = Vec::new();
                for path in paths {
                    let place = place(&path, cwd, scope);
                    let real = quipu_sandbox::real_path(&place).unwrap_or(place);
                    places.extend(AbsolutePath::new(real).filter(|real| !places.contains(real)));
                }
                places
            })
        };
        let files = self
            .file_system
            .map(|paths| AdditionalFileSystemPermissions {
                read: absolute(paths.read),
                write: absolute(paths.write),
                entries: None,
            });
        AdditionalPermissionProfile {
            network: self.network.filter(|network| network.enabled.is_some()),
            file_system: files.filter(|files| files.read.is_some() || files.write.is_some()),
        }
    }
}

/// A path as a shell would take it.
fn place(path: &str, cwd: &Path, scope: &Scope) -> PathBuf {
    let home = scope.env.iter().find(|(name, _)| name == "HOME");
    let in_home = path
        .strip_prefix('~')
        .filter(|rest| rest.is_empty() || rest.starts_with('/'));
    match home.zip(in_home) {
        Some(((_, home), rest)) => PathBuf::from(format!("{home}{rest}")),
        None => cwd.join(path),
    }
}
