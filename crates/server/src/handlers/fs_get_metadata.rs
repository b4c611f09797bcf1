//! `fs/getMetadata`: what a path leads to.

use std::fs;
use std::io;
use std::time::{SystemTime, UNIX_EPOCH};

use quipu_wire::method::request::FsGetMetadata;
use quipu_wire::{FsGetMetadataParams, FsGetMetadataResponse};

use super::Handler;
use crate::{Cx, Refusal, files};

impl Handler for FsGetMetadata {
    async fn run(_cx: Cx, params: FsGetMetadataParams) -> Result<Self::Result, Refusal> {
        let metadata = files::run(move || {
            let path = params.path.as_path();
            let metadata = fs::metadata(path)?;
            Ok(FsGetMetadataResponse {
                is_directory: metadata.is_dir(),
                is_file: metadata.is_file(),
                is_symlink: fs::symlink_metadata(path)?.is_symlink(),
                created_at_ms: milliseconds(metadata.created()),
                modified_at_ms: milliseconds(metadata.modified()),
            })
        });
        metadata.await
    }
}

/// Unix milliseconds; 0 if the file system does not know.
fn milliseconds(time: io::Result<SystemTime>) -> i64 {
    let since = time
        .ok()
        .and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    since.map_or(0, |since| i64::try_from(since.as_millis()).unwrap_or(0))
}
