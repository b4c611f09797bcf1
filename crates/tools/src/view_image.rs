//! `view_image`: the agent looks at a picture.

use std::fmt::Display;
use std::fs::File;
use std::io::{ErrorKind, Read as _};
use std::path::{Path, PathBuf};

use base64::Engine as _;
use quipu_sandbox::Rules;
use quipu_wire::{AbsolutePath, ThreadItem};
use serde::Deserialize;
use serde_json::json;

use crate::call::{Finished, Output, Running};
use crate::sandboxing;
use crate::toolbox::Toolbox;

/// Larger pictures are not sent.
const MAX_BYTES: u64 = 20 * 1024 * 1024;

#[derive(Deserialize)]
struct Arguments {
    path: String,
    detail: Option<String>,
}

pub(crate) async fn view_image(toolbox: &Toolbox, run: &Running) -> Finished {
    if !run.scope.accepts_images {
        return "view_image is not allowed because you do not support image inputs".into();
    }
    let Arguments { path, detail } = match run.arguments() {
        Ok(arguments) => arguments,
        Err(error) => return error.into(),
    };
    if let Some(other) = detail.filter(|detail| detail != "original") {
        return format!(
            "view_image.detail only supports `original`; omit `detail` for default resized behavior, got `{other}`"
        )
        .into();
    }
    let path = run.scope.resolve(Some(&path));
    let path = AbsolutePath::new(&path).map_or(path, |it| it.as_path().to_owned());
    let granted = toolbox.grants().all();
    let rules = sandboxing::rules(&run.scope, granted.as_ref());
    let read = tokio::task::block_in_place(|| read(&path, rules.as_ref()));
    let (kind, bytes) = match read {
        Ok(picture) => picture,
        Err(why) => return why.into(),
    };
    let item = ThreadItem::ImageView {
        id: run.id().to_owned(),
        path: path.to_string_lossy().into_owned(),
    };
    run.started(item.clone()).await;
    run.completed(item).await;
    let data = base64::engine::general_purpose::STANDARD.encode(bytes);
    let part = json!({ "type": "input_image", "image_url": format!("data:{kind};base64,{data}") });
    Output::Parts(vec![part]).into()
}

/// A picture that commands may read too. What is looked at is what was opened: a command may put something
/// else at the path meanwhile.
fn read(path: &Path, rules: Option<&Rules>) -> Result<(&'static str, Vec<u8>), String> {
    let shown = path.display();
    let unlocated = |why: &dyn Display| format!("unable to locate image at `{shown}`: {why}");
    let unusable = |why: &dyn Display| format!("unable to process image at `{shown}`: {why}");
    let can_read = |path: &Path| rules.is_none_or(|rules| rules.can_read(path));
    let hidden = || unlocated(&"it is outside of the folders that may be read");
    if !can_read(path) {
        return Err(hidden());
    }
    let file = quipu_disk::open(path).map_err(|error| match error.kind() {
        ErrorKind::IsADirectory | ErrorKind::Other => format!("image path `{shown}` is not a file"),
        ErrorKind::PermissionDenied => unusable(&error),
        _ => unlocated(&error),
    })?;
    if !can_read(&place_of(&file, path)) {
        return Err(hidden());
    }
    let mut bytes = Vec::new();
    let mut limited = file.take(MAX_BYTES + 1);
    limited
        .read_to_end(&mut bytes)
        .map_err(|error| unusable(&error))?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(unusable(&format_args!(
            "it is larger than {MAX_BYTES} bytes"
        )));
    }
    match kind(&bytes) {
        Some(kind) => Ok((kind, bytes)),
        None => Err(unusable(&"not a PNG, JPEG, GIF or WebP file")),
    }
}

/// A path that leads to an open file, wherever the path it was opened at leads by now.
#[cfg(target_os = "linux")]
fn place_of(file: &File, _path: &Path) -> PathBuf {
    use std::os::fd::AsRawFd as _;
    format!("/proc/self/fd/{}", file.as_raw_fd()).into()
}

#[cfg(not(target_os = "linux"))]
fn place_of(_file: &File, path: &Path) -> PathBuf {
    path.to_owned()
}

/// What sort of picture the bytes are, by how they begin.
fn kind(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0x89, b'P', b'N', b'G', ..] => Some("image/png"),
        [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
        [b'G', b'I', b'F', b'8', ..] => Some("image/gif"),
        [
            b'R',
            b'I',
            b'F',
            b'F',
            _,
            _,
            _,
            _,
            b'W',
            b'E',
            b'B',
            b'P',
            ..,
        ] => Some("image/webp"),
        _ => None,
    }
}
