//! `fs/readDirectory`: the children of a directory.

use std::fs;

use quipu_wire::method::request::FsReadDirectory;
use quipu_wire::{FsReadDirectoryEntry, FsReadDirectoryParams, FsReadDirectoryResponse};

use super::Handler;
use crate::files::{self, FileError};
use crate::{Cx, Refusal};

impl Handler for FsReadDirectory {
    async fn run(_cx: Cx, params: FsReadDirectoryParams) -> Result<Self::Result, Refusal> {
        let listed = files::run(move || {
            let entries = fs::read_dir(params.path.as_path())?.map(|entry| describe(&entry?));
            Ok(FsReadDirectoryResponse {
                entries: entries.collect::<Result<_, _>>()?,
            })
        });
        listed.await
    }
}

/// A link is described as what it points to, so one that points nowhere fails the listing.
fn describe(entry: &fs::DirEntry) -> Result<FsReadDirectoryEntry, FileError> {
    let mut kind = entry.file_type()?;
    if kind.is_symlink() {
        kind = fs::metadata(entry.path())?.file_type();
    }
    Ok(FsReadDirectoryEntry {
        file_name: entry.file_name().to_string_lossy().into_owned(),
        is_directory: kind.is_dir(),
        is_file: kind.is_file(),
    })
}
