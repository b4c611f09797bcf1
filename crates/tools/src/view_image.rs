//! `view_image`: the agent looks at a picture.

use base64::Engine as _;
use quipu_wire::{AbsolutePath, ThreadItem};
use serde::Deserialize;
use serde_json::json;

use crate::call::{Finished, Output, Running};

/// Larger pictures are not sent.
const MAX_BYTES: u64 = 20 * 1024 * 1024;

#[derive(Deserialize)]
struct Arguments {
    path: String,
    detail: Option<String>,
}

pub(crate) async fn view_image(run: &Running) -> Finished {
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
    let shown = path.display();
    let meta = match tokio::fs::metadata(&path).await {
        Ok(meta) => meta,
        Err(error) => return format!("unable to locate image at `{shown}`: {error}").into(),
    };
    if !meta.is_file() {
        return format!("image path `{shown}` is not a file").into();
    }
    if meta.len() > MAX_BYTES {
        return format!(
            "unable to process image at `{shown}`: it is larger than {MAX_BYTES} bytes"
        )
        .into();
    }
    let bytes = match tokio::fs::read(&path).await {
        Ok(bytes) => bytes,
        Err(error) => return format!("unable to process image at `{shown}`: {error}").into(),
    };
    let Some(kind) = kind(&bytes) else {
        return format!("unable to process image at `{shown}`: not a PNG, JPEG, GIF or WebP file")
            .into();
    };
    let item = ThreadItem::ImageView {
        id: run.id().to_owned(),
        path: path.to_string_lossy().into_owned(),
    };
    run.started(item.clone()).await;
    run.completed(item).await;
    let data = base64::engine::general_purpose::STANDARD.encode(bytes);
    let part = json!({ "type": "input_image", "image_url": format!("data:{kind};base64,{data}") });
    Finished {
        output: Output::Parts(vec![part]),
        end_turn: false,
    }
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
