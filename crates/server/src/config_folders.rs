//! Where rules and hooks are found.

use std::path::PathBuf;

use quipu_config::{PROJECT_FOLDER, SYSTEM_FOLDER, Snapshot};

use crate::Server;

/// The directories whose rules and hooks are in force, from the lowest precedence to the highest. Those of a project
/// count if it is trusted.
pub(crate) fn config_folders(server: &Server, snapshot: &Snapshot) -> Vec<PathBuf> {
    let mut folders = vec![PathBuf::from(SYSTEM_FOLDER), server.home().to_owned()];
    let trusted = snapshot.project().map(|project| project.trusted.iter());
    let trusted = trusted.into_iter().flatten();
    folders.extend(trusted.map(|directory| directory.join(PROJECT_FOLDER)));
    folders
}
