//! Pictures from the disk, made fit to be sent. Providers refuse a history with a picture that they
//! cannot read, and then every later turn would fail too, so a file is looked at before it goes in.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// The largest file that is sent: five million characters once encoded, which every provider takes.
pub(crate) const MAX_IMAGE_BYTES: u64 = 3_750_000;

/// Why a picture cannot be sent.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ImageError {
    /// The file cannot be read.
    #[error("{0}")]
    Unreadable(#[from] io::Error),
    /// The file is no picture of a kind that providers take, or not a whole one. Holds the kind that
    /// its name promises.
    #[error("unsupported image `{0}`")]
    Unsupported(&'static str),
}

/// Reads a picture into a data URL. Blocks on the file.
pub(crate) fn load(path: &Path) -> Result<String, ImageError> {
    let meta = fs::metadata(path)?;
    // A folder fails below with the system's own words; a pipe would never end.
    if !meta.is_file() && !meta.is_dir() {
        return Err(io::Error::other("it is not a regular file").into());
    }
    let mut bytes = Vec::new();
    File::open(path)?
        .take(MAX_IMAGE_BYTES + 1)
        .read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_IMAGE_BYTES {
        return Err(io::Error::other(format!("it has more than {MAX_IMAGE_BYTES} bytes")).into());
    }
    match kind(&bytes) {
        Some(mime) => Ok(format!("data:{mime};base64,{}", STANDARD.encode(bytes))),
        None => Err(ImageError::Unsupported(promised(path))),
    }
}

/// The media type of a whole picture.
fn kind(bytes: &[u8]) -> Option<&'static str> {
    let is_whole = match bytes {
        [
            0x89,
            b'P',
            b'N',
            b'G',
            b'\r',
            b'\n',
            0x1a,
            b'\n',
            chunks @ ..,
        ] => ("image/png", is_whole_png(chunks)),
        [0xff, 0xd8, 0xff, ..] => ("image/jpeg", bytes.ends_with(&[0xff, 0xd9])),
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => ("image/gif", bytes.ends_with(b";")),
        [b'R', b'I', b'F', b'F', a, b, c, d, rest @ ..] => {
            let length = u32::from_le_bytes([*a, *b, *c, *d]) as usize;
            (
                "image/webp",
                rest.starts_with(b"WEBPVP8") && rest.len() >= length,
            )
        }
        _ => return None,
    };
    is_whole.1.then_some(is_whole.0)
}

/// Whether the chunks run from a header over data to an end.
fn is_whole_png(mut chunks: &[u8]) -> bool {
    const CRC: usize = 4;
    let (mut has_header, mut has_data) = (false, false);
    while let Some((head, rest)) = chunks.split_first_chunk::<8>() {
        let [a, b, c, d, name @ ..] = *head;
        match &name {
            b"IHDR" => has_header = true,
            b"IDAT" => has_data = has_header,
            b"IEND" => return has_data,
            _ => {}
        }
        let length = u32::from_be_bytes([a, b, c, d]) as usize;
        chunks = rest.get(length.saturating_add(CRC)..).unwrap_or_default();
    }
    false
}

/// The media type that a file's name promises.
fn promised(path: &Path) -> &'static str {
    let extension = path
        .extension()
        .and_then(|extension| extension.to_str())
        .unwrap_or_default();
    match extension.to_ascii_lowercase().as_str() {
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "gif" => "image/gif",
        "webp" => "image/webp",
        "svg" => "image/svg+xml",
        "bmp" => "image/bmp",
        "tif" | "tiff" => "image/tiff",
        "heic" => "image/heic",
        "avif" => "image/avif",
        "ico" => "image/x-icon",
        "pdf" => "application/pdf",
        "txt" => "text/plain",
        "md" => "text/markdown",
        "html" | "htm" => "text/html",
        _ => "unknown",
    }
}
