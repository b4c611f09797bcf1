//! `fs/createDirectory`: a directory, with its parents unless told otherwise.

use std::fs;

use quipu_wire::method::request::FsCreateDirectory;
use quipu_wire::{FsCreateDirectoryParams, FsCreateDirectoryResponse};

use super::Handler;
use crate::{Cx, Refusal, files};

impl Handler for FsCreateDirectory {
    async fn run(_cx: Cx, params: FsCreateDirectoryParams) -> Result<Self::Result, Refusal> {
        let created = files::run(move || {
            let path = params.path.as_path();
            if params.recursive.unwrap_or(true) {
                fs::create_dir_all(path)?;
            } else {
                fs::create_dir(path)?;
            }
            Ok(FsCreateDirectoryResponse {})
        });
        created.await
    }
}
