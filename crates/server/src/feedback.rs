//! Reports of users. They stay on this machine: each becomes a folder that its author can look through and
//! send to whom they like.

use std::fs::{self, DirBuilder, File};
use std::io::{self, Read as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use quipu_wire::FeedbackUploadParams;
use serde_json::json;
use uuid::Uuid;

use crate::settings::PROTOCOL_VERSION;

/// The most that is copied of one file.
const MAX_ATTACHMENT: u64 = 64 * 1024 * 1024;
/// The most files that are copied.
const MAX_ATTACHMENTS: usize = 32;

/// Writes a report into `folder` and gives the report's own folder.
pub(crate) fn write(
    folder: &Path,
    thread_id: &str,
    params: &FeedbackUploadParams,
    files: &[PathBuf],
) -> io::Result<PathBuf> {
    let report = folder.join(Uuid::now_v7().to_string());
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(&report)?;
    let mut attachments = Vec::new();
    for (number, file) in files.iter().take(MAX_ATTACHMENTS).enumerate() {
        match attach(&report, number, file) {
            Ok(name) => attachments.push(json!({ "file": name, "from": file })),
            Err(error) => {
                let path = file.display();
                tracing::warn!(%path, %error, "a file is missing in the report");
            }
        }
    }
    let text = json!({
        "threadId": thread_id,
        "classification": params.classification,
        "reason": params.reason,
        "version": env!("CARGO_PKG_VERSION"),
        "protocol": PROTOCOL_VERSION,
        "attachments": attachments,
    });
    let mut file = create(&report.join("report.json"))?;
    serde_json::to_writer_pretty(&mut file, &text)?;
    Ok(report)
}

fn attach(report: &Path, number: usize, from: &Path) -> io::Result<String> {
    // A pipe or a device could keep us for ever.
    if !fs::metadata(from)?.is_file() {
        return Err(io::Error::other("not a file"));
    }
    let name = from.file_name().unwrap_or_default().to_string_lossy();
    let name = format!("{number}-{name}");
    let mut source = File::open(from)?.take(MAX_ATTACHMENT);
    io::copy(&mut source, &mut create(&report.join(&name))?)?;
    Ok(name)
}

fn create(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.write(true).create_new(true).mode(0o600);
    options.open(path)
}
