//! Where rules and hooks are found.

use std::path::PathBuf;

use quipu_config::{PROJECT_DIRECTORY, SYSTEM_DIRECTORY, Snapshot};

use crate::Server;

/// The directories whose rules and hooks are in force, from the lowest precedence to the highest. Those of a project
/// count if it is trusted.
pub(crate) fn config_directories(server: &Server, snapshot: &Snapshot) -> Vec<PathBuf> {
    let mut directories = vec![PathBuf::from(SYSTEM_DIRECTORY), server.home().to_owned()];
    let trusted = snapshot.project().map(|project| project.trusted.iter());
    let trusted = trusted.into_iter().flatten();
    directories.extend(trusted.map(|directory| directory.join(PROJECT_DIRECTORY)));
    directories
}
