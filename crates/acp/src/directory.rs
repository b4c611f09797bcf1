//! Directories that an editor names: they must be absolute, and a session's must be there.

use std::path::{Path, PathBuf};

use quipu_client::Client;
use quipu_client::wire::{AbsolutePath, FsGetMetadataParams};
use quipu_rpc::codes;

use crate::error::{Result, invalid, refused};

/// A directory of the editor as text. `name` is that of the parameter.
pub fn absolute(name: &str, path: &Path) -> Result<String> {
    match path.is_absolute() {
        true => Ok(path.display().to_string()),
        false => {
            let path = path.display();
            Err(invalid(format!(
                "{name} must be an absolute path, but is `{path}`"
            )))
        }
    }
}

/// Refuses a directory that the server does not have. The server is asked, because it may run on another machine.
pub async fn check(client: &Client, cwd: &Path) -> Result<()> {
    let text = absolute("cwd", cwd)?;
    let path = AbsolutePath::new(cwd);
    let path = path.ok_or_else(|| invalid(format!("cwd is not UTF-8: `{text}`")))?;
    match client.fs_get_metadata(FsGetMetadataParams { path }).await {
        Ok(found) if found.is_directory => Ok(()),
        Ok(_) => Err(invalid(format!("cwd is not a directory: `{text}`"))),
        Err(quipu_client::Error::Refused { error, .. }) => match error.code {
            // A server without files to show has to judge by itself.
            codes::METHOD_NOT_FOUND => Ok(()),
            _ => Err(invalid(format!(
                "cwd cannot be used: `{text}`: {}",
                error.message
            ))),
        },
        Err(other) => Err(refused(other)),
    }
}

/// The further directories of a session.
pub fn check_further(directories: &[PathBuf]) -> Result<()> {
    directories
        .iter()
        .try_for_each(|it| absolute("additionalDirectories", it).map(drop))
}
