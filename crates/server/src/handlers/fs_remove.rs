//! `fs/remove`: a file, a link, or a directory with all it holds.

use std::fs;
use std::io;
use std::path::Path;

use quipu_wire::method::request::FsRemove;
use quipu_wire::{FsRemoveParams, FsRemoveResponse};

use super::Handler;
use crate::{Cx, Refusal, files};

impl Handler for FsRemove {
    async fn run(_cx: Cx, params: FsRemoveParams) -> Result<Self::Result, Refusal> {
        let removed = files::run(move || {
            let recursive = params.recursive.unwrap_or(true);
            match remove(params.path.as_path(), recursive) {
                Err(error)
                    if error.kind() == io::ErrorKind::NotFound && params.force.unwrap_or(true) => {}
                removed => removed?,
            }
            Ok(FsRemoveResponse {})
        });
        removed.await
    }
}

fn remove(path: &Path, recursive: bool) -> io::Result<()> {
    if !fs::symlink_metadata(path)?.is_dir() {
        fs::remove_file(path)
    } else if recursive {
        quipu_disk::remove_tree(path)
    } else {
        fs::remove_dir(path)
    }
}
