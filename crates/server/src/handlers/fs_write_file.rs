//! `fs/writeFile`: a file with this content, all of it or none.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use quipu_wire::method::request::FsWriteFile;
use quipu_wire::{FsWriteFileParams, FsWriteFileResponse};

use super::Handler;
use crate::files::{self, FileError, Source};
use crate::{Cx, Refusal};

impl Handler for FsWriteFile {
    async fn run(_cx: Cx, params: FsWriteFileParams) -> Result<Self::Result, Refusal> {
        let written = files::run(move || {
            let bytes = STANDARD.decode(&params.data_base64).map_err(|error| {
                FileError::Refused(format!(
                    "fs/writeFile requires valid base64 dataBase64: {error}"
                ))
            })?;
            files::replace(params.path.as_path(), Source::Bytes(&bytes))?;
            Ok(FsWriteFileResponse {})
        });
        written.await
    }
}
