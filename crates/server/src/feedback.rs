//! Reports of users. They stay on this machine: each becomes a directory that its author can look through and
//! send to whom they like. Only an address in the user's own settings makes the program send them.

use std::fs::{self, DirBuilder, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use quipu_wire::FeedbackUploadParams;
use serde_json::json;
use uuid::Uuid;

use crate::platform;
use crate::settings::PROTOCOL_VERSION;

/// The most that is copied of one file.
const MAX_ATTACHMENT: u64 = 64 * 1024 * 1024;
/// The most that is sent of all files of a report.
const MAX_SENT: u64 = 32 * 1024 * 1024;
/// How long a report may be under way.
const PATIENCE: Duration = Duration::from_secs(10);
/// The file that says what the report is about.
const REPORT: &str = "report.json";
/// The most files that are copied.
const MAX_ATTACHMENTS: usize = 32;

/// Writes a report into `directory` and gives the report's own directory.
pub(crate) fn write(
    directory: &Path,
    thread_id: &str,
    params: &FeedbackUploadParams,
    files: &[PathBuf],
    open: &dyn Fn(&Path) -> io::Result<Box<dyn Read>>,
) -> io::Result<PathBuf> {
    let report = directory.join(Uuid::now_v7().to_string());
    platform::private_dir(DirBuilder::new().recursive(true)).create(&report)?;
    let mut attachments = Vec::new();
    for (number, file) in files.iter().take(MAX_ATTACHMENTS).enumerate() {
        match attach(&report, number, file, open) {
            Ok(name) => attachments.push(json!({ "file": name, "from": file })),
            Err(error) => {
                let path = file.display();
                tracing::warn!(%path, %error, "failed to add file to report");
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
    let mut file = create(&report.join(REPORT))?;
    serde_json::to_writer_pretty(&mut file, &text)?;
    Ok(report)
}

/// Sends a written report to an address: what it says, and its files as long as there is room.
pub(crate) async fn send(report: &Path, endpoint: &str) -> Result<(), SendError> {
    let directory = report.to_owned();
    let body = tokio::task::spawn_blocking(move || body(&directory)).await;
    let body = body.map_err(io::Error::other)??;
    let client = reqwest::Client::builder()
        .redirect(reqwest::redirect::Policy::none())
        .timeout(PATIENCE)
        .build()?;
    let request = client.post(endpoint);
    let request = request.header("content-type", "application/json");
    request.body(body).send().await?.error_for_status()?;
    Ok(())
}

/// Why a report was not sent.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SendError {
    #[error("{0}")]
    Io(#[from] io::Error),
    /// Addresses may hold keys, so they are not shown.
    #[error("{}", without_url(_0))]
    Http(#[from] reqwest::Error),
}

fn without_url(error: &reqwest::Error) -> String {
    let status = error
        .status()
        .map(|status| format!("the answer was {status}"));
    status.unwrap_or_else(|| match error {
        error if error.is_builder() => "the address is not valid".to_owned(),
        error if error.is_timeout() => "there was no answer in time".to_owned(),
        _ => "the address cannot be reached".to_owned(),
    })
}

fn body(report: &Path) -> io::Result<String> {
    let mut files = Vec::new();
    let mut room = MAX_SENT;
    let mut entries: Vec<_> = fs::read_dir(report)?.flatten().collect();
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let size = entry.metadata()?.len();
        let name = entry.file_name().to_string_lossy().into_owned();
        if name == REPORT || size > room {
            continue;
        }
        room -= size;
        let data = STANDARD.encode(fs::read(entry.path())?);
        files.push(json!({ "name": name, "dataBase64": data }));
    }
    let text = fs::read_to_string(report.join(REPORT))?;
    let text: serde_json::Value = serde_json::from_str(&text)?;
    Ok(json!({ "report": text, "files": files }).to_string())
}

/// Opens a file that is not a rollout.
pub(crate) fn open_file(path: &Path) -> io::Result<Box<dyn Read>> {
    // A pipe or a device could keep us for ever.
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::other("not a file"));
    }
    Ok(Box::new(File::open(path)?))
}

fn attach(
    report: &Path,
    number: usize,
    from: &Path,
    open: &dyn Fn(&Path) -> io::Result<Box<dyn Read>>,
) -> io::Result<String> {
    let name = from.file_name().unwrap_or_default().to_string_lossy();
    let name = format!("{number}-{name}");
    let mut source = open(from)?.take(MAX_ATTACHMENT);
    io::copy(&mut source, &mut create(&report.join(&name))?)?;
    Ok(name)
}

fn create(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.write(true).create_new(true);
    platform::private_file(&mut options).open(path)
}
