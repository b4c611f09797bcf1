//! Images from the disk, checked before they are sent. Providers refuse a history with an image that they
//! cannot take, and then every later turn would fail too, so a file is looked at before it goes in.
//! Images pass as they are: making them smaller would need a codec for each format.

use std::io;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// The largest file that is sent: five million characters once encoded, which every provider takes.
pub const MAX_IMAGE_BYTES: u64 = 3_750_000;
/// The longest side of an image that every provider takes, in pixels.
const MAX_SIDE: u32 = 8_000;

/// Why an image cannot be sent.
#[derive(Debug, thiserror::Error)]
pub enum ImageError {
    /// The file cannot be read, or is too large.
    #[error("{0}")]
    Unreadable(#[from] io::Error),
    /// The file is no image of a kind that providers take, or not a whole one. Holds the kind that
    /// its name promises.
    #[error("unsupported image `{0}`")]
    Unsupported(&'static str),
}

/// Reads an image into a data URL. Blocks on the file.
pub fn load(path: &Path) -> Result<String, ImageError> {
    data_url(path, &quipu_disk::read(path, MAX_IMAGE_BYTES)?)
}

/// The data URL of an image that was read from `path`.
pub fn data_url(path: &Path, bytes: &[u8]) -> Result<String, ImageError> {
    let Some(Image {
        mime,
        width,
        height,
    }) = inspect(bytes)
    else {
        return Err(ImageError::Unsupported(promised(path)));
    };
    if width.max(height) > MAX_SIDE {
        let size = format!("it has {width} by {height} pixels, and a side can have {MAX_SIDE}");
        return Err(ImageError::Unreadable(io::Error::other(size)));
    }
    Ok(format!("data:{mime};base64,{}", STANDARD.encode(bytes)))
}

/// Whether an image can be sent with a prompt; the error says why not. Blocks on the file.
pub fn check_image(path: &Path) -> Result<(), String> {
    let why = match load(path) {
        Ok(_) => return Ok(()),
        Err(ImageError::Unsupported(_)) => {
            "it is not a complete PNG, JPEG, GIF or WebP image".to_owned()
        }
        Err(ImageError::Unreadable(error)) => error.to_string(),
    };
    Err(format!("cannot use the image {}: {why}", path.display()))
}

#[derive(Debug, PartialEq)]
struct Image {
    mime: &'static str,
    width: u32,
    height: u32,
}

/// What a file holds, if it is a whole image.
fn inspect(bytes: &[u8]) -> Option<Image> {
    let (mime, size) = match bytes {
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
        ] => ("image/png", png_size(chunks)),
        [0xff, 0xd8, segments @ ..] => ("image/jpeg", jpeg_size(segments)),
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', body @ ..] => ("image/gif", gif_size(body)),
        [b'R', b'I', b'F', b'F', body @ ..] => ("image/webp", webp_size(body)),
        _ => return None,
    };
    let (width, height) = size?;
    Some(Image {
        mime,
        width,
        height,
    })
}

/// Chunks must run from a header over data to an end.
fn png_size(mut chunks: &[u8]) -> Option<(u32, u32)> {
    const CRC: usize = 4;
    let mut size = None;
    let mut has_data = false;
    while let Some((head, rest)) = chunks.split_first_chunk::<8>() {
        let (length, name) = head.split_at(4);
        match name {
            b"IHDR" => size = Some((u32_be(rest.get(..4)?)?, u32_be(rest.get(4..8)?)?)),
            b"IDAT" => has_data = true,
            b"IEND" => return size.filter(|_| has_data && rest.len() >= CRC),
            _ => {}
        }
        let length = usize::try_from(u32_be(length)?).ok()?;
        chunks = rest.get(length.checked_add(CRC)?..)?;
    }
    None
}

/// Segments must lead over a frame header to image data with an end; phones put more behind it.
fn jpeg_size(mut segments: &[u8]) -> Option<(u32, u32)> {
    let mut size = None;
    while let [0xff, marker, rest @ ..] = segments {
        let length = usize::from(u16_be(rest.get(..2)?)?);
        match marker {
            0xff => {
                segments = &segments[1..];
                continue;
            }
            0xc4 | 0xc8 | 0xcc => {}
            0xc0..=0xcf => {
                let (height, width) = (u16_be(rest.get(3..5)?)?, u16_be(rest.get(5..7)?)?);
                size = Some((u32::from(width), u32::from(height)));
            }
            0xda => {
                let has_end = rest.windows(2).any(|pair| pair == [0xff, 0xd9]);
                return size.filter(|_| has_end);
            }
            _ => {}
        }
        segments = rest.get(length..)?;
    }
    None
}

fn gif_size(body: &[u8]) -> Option<(u32, u32)> {
    let side = |at: usize| {
        Some(u32::from(u16::from_le_bytes(
            body.get(at..at + 2)?.try_into().ok()?,
        )))
    };
    let last = body.iter().rev().find(|byte| **byte != 0);
    (last == Some(&b';')).then_some((side(0)?, side(2)?))
}

/// The body begins with its length; the first chunk tells the size in one of three ways.
fn webp_size(body: &[u8]) -> Option<(u32, u32)> {
    let length = u32::from_le_bytes(body.get(..4)?.try_into().ok()?);
    let chunk = body.get(4..)?.strip_prefix(b"WEBP")?;
    if body.len() - 4 < usize::try_from(length).ok()? {
        return None;
    }
    let byte = |at: usize| chunk.get(at).copied().map(u32::from);
    let u16_le = |at: usize| Some(byte(at)? | byte(at + 1)? << 8);
    match chunk.get(..4)? {
        b"VP8 " => Some((u16_le(14)? & 0x3fff, u16_le(16)? & 0x3fff)),
        b"VP8L" => {
            let bits = u16_le(9)? | u16_le(11)? << 16;
            Some(((bits & 0x3fff) + 1, (bits >> 14 & 0x3fff) + 1))
        }
        b"VP8X" => {
            let side = |at: usize| Some((u16_le(at)? | byte(at + 2)? << 16) + 1);
            Some((side(12)?, side(15)?))
        }
        _ => None,
    }
}

fn u16_be(bytes: &[u8]) -> Option<u16> {
    bytes.try_into().ok().map(u16::from_be_bytes)
}

fn u32_be(bytes: &[u8]) -> Option<u32> {
    bytes.try_into().ok().map(u32::from_be_bytes)
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

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use proptest::prelude::*;

    /// Small whole images of 3 by 2 pixels, as a common library writes them.
    const PICTURES: [(&str, &str); 6] = [
        (
            "image/png",
            "iVBORw0KGgoAAAANSUhEUgAAAAMAAAACCAIAAAASFvFNAAAAFUlEQVR4nGMUUDBgYGBgYGBgYoABAAbcAGQ5SLffAAAAAElFTkSuQmCC",
        ),
        (
            "image/jpeg",
            "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAP//////////////////////////////////////////////////////////////////////////////////////2wBDAf//////////////////////////////////////////////////////////////////////////////////////wAARCAACAAMDASIAAhEBAxEB/8QAFQABAQAAAAAAAAAAAAAAAAAAAAL/xAAUEAEAAAAAAAAAAAAAAAAAAAAA/8QAFAEBAAAAAAAAAAAAAAAAAAAAAP/EABQRAQAAAAAAAAAAAAAAAAAAAAD/2gAMAwEAAhEDEQA/AIAB/9k=",
        ),
        (
            "image/gif",
            "R0lGODdhAwACAIAAAAAAAAAAACwAAAAAAwACAAAIBgABCBwYEAA7",
        ),
        (
            "image/webp",
            "UklGRigAAABXRUJQVlA4IBwAAABwAQCdASoDAAIADMDOJYwCdAFAAAD+6V4JOAAA",
        ),
        (
            "image/webp",
            "UklGRh4AAABXRUJQVlA4TBEAAAAvAkAAAAdQkEIUpv+BiOh/AAA=",
        ),
        (
            "image/webp",
            "UklGRkoAAABXRUJQVlA4WAoAAAAQAAAAAgAAAQAAQUxQSAcAAAAAgICAgICAAFZQOCAcAAAAcAEAnQEqAwACAAzAziWMAnQBQAAA/uleCTgAAA==",
        ),
    ];

    fn decoded(base64: &str) -> Vec<u8> {
        STANDARD.decode(base64).unwrap()
    }

    #[test]
    fn whole_images_are_known_by_their_bytes() {
        for (mime, image) in PICTURES {
            let found = inspect(&decoded(image)).unwrap();
            assert_eq!((found.mime, found.width, found.height), (mime, 3, 2));
        }
    }

    #[test]
    fn a_image_cut_short_is_none() {
        for (mime, image) in PICTURES {
            let bytes = decoded(image);
            for length in 0..bytes.len() - 2 {
                assert_eq!(inspect(&bytes[..length]), None, "{mime} {length}");
            }
        }
    }

    #[test]
    fn images_pass_untouched_up_to_a_size() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("image.dat");
        let (mime, image) = PICTURES[0];
        let mut bytes = decoded(image);
        fs::write(&path, &bytes).unwrap();
        assert_eq!(load(&path).unwrap(), format!("data:{mime};base64,{image}"));
        bytes[16..20].copy_from_slice(&8_001u32.to_be_bytes());
        fs::write(&path, &bytes).unwrap();
        let error = load(&path).unwrap_err().to_string();
        assert_eq!(error, "it has 8001 by 2 pixels, and a side can have 8000");
        fs::write(&path, vec![0; MAX_IMAGE_BYTES as usize + 1]).unwrap();
        assert_eq!(
            load(&path).unwrap_err().to_string(),
            "it has more than 3750000 bytes"
        );
    }

    proptest! {
        #[test]
        fn strange_bytes_do_no_harm(
            which in 0..PICTURES.len(),
            at in any::<proptest::sample::Index>(),
            noise in proptest::collection::vec(any::<u8>(), 0..8),
        ) {
            let mut bytes = decoded(PICTURES[which].1);
            let at = at.index(bytes.len());
            let end = bytes.len().min(at + noise.len());
            bytes.splice(at..end, noise);
            inspect(&bytes);
        }
    }
}
