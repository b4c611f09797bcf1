//! Files as git sees them: a mode, the id of the content, and the content if it can be shown.

use std::fs::{self, Metadata};
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

use sha1::{Digest, Sha1};

use crate::files;
use crate::overlay::Content;

/// A file at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Blob {
    /// As git writes it, such as `100644`.
    pub(crate) mode: &'static str,
    pub(crate) id: String,
    pub(crate) body: Body,
}

/// The part of a file that a diff shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Body {
    Text(Arc<String>),
    Binary,
    /// Longer than the caller wanted to hold.
    TooLong,
}

impl Blob {
    /// The file at `path`, with at most `limit` bytes of it; nothing if there is no file or it
    /// cannot be read. If it holds the `expected` text, that is shared.
    pub(crate) fn read(path: &Path, limit: u64, expected: &Content) -> Option<Self> {
        let metadata = fs::symlink_metadata(path).ok()?;
        if metadata.is_symlink() {
            let target = fs::read_link(path).ok()?;
            return Some(Self::new(
                "120000",
                target.as_os_str().as_encoded_bytes().to_vec(),
            ));
        }
        if !metadata.is_file() {
            return None;
        }
        if metadata.len() > limit {
            return Self::hash_only(path, &metadata).ok();
        }
        if let Content::Text(text) = expected
            && files::holds(path, text)
        {
            return Some(Self {
                mode: mode(&metadata),
                id: id(text.as_bytes()),
                body: Body::Text(Arc::clone(text)),
            });
        }
        let mut content = Vec::with_capacity(usize::try_from(metadata.len()).unwrap_or(0));
        quipu_disk::open(path)
            .and_then(|file| file.take(limit).read_to_end(&mut content))
            .ok()?;
        Some(Self::new(mode(&metadata), content))
    }

    fn new(mode: &'static str, content: Vec<u8>) -> Self {
        let id = id(&content);
        let text = String::from_utf8(content).map(Arc::new);
        let body = text.map_or(Body::Binary, Body::Text);
        Self { mode, id, body }
    }

    fn hash_only(path: &Path, metadata: &Metadata) -> io::Result<Self> {
        let mut hash = header(metadata.len());
        io::copy(&mut quipu_disk::open(path)?.take(metadata.len()), &mut hash)?;
        Ok(Self {
            mode: mode(metadata),
            id: hex(hash),
            body: Body::TooLong,
        })
    }

    /// How many bytes of text this holds.
    pub(crate) fn held(&self) -> u64 {
        self.text().map_or(0, |text| text.len() as u64)
    }

    pub(crate) fn text(&self) -> Option<&str> {
        match &self.body {
            Body::Text(text) => Some(text),
            Body::Binary | Body::TooLong => None,
        }
    }
}

fn id(content: &[u8]) -> String {
    hex(header(content.len() as u64).chain_update(content))
}

fn header(bytes: u64) -> Sha1 {
    Sha1::new_with_prefix(format!("blob {bytes}\0"))
}

fn hex(hash: Sha1) -> String {
    format!("{:x}", hash.finalize())
}

#[cfg(unix)]
fn mode(metadata: &Metadata) -> &'static str {
    let executable = std::os::unix::fs::MetadataExt::mode(metadata) & 0o111 != 0;
    if executable { "100755" } else { "100644" }
}

#[cfg(not(unix))]
fn mode(_: &Metadata) -> &'static str {
    "100644"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_those_of_git() {
        let empty = Blob::new("100644", Vec::new());
        assert_eq!(empty.id, "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391");
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        fs::write(&path, "a\nb\n").unwrap();
        let read = |limit| Blob::read(&path, limit, &Content::Absent);
        let (whole, hashed) = (read(4).unwrap(), read(3).unwrap());
        assert_eq!(whole.id, "422c2b7ab3b3c668038da977e4e93a5fc623169c");
        assert_eq!(whole.text(), Some("a\nb\n"));
        assert_eq!(hashed.id, whole.id);
        assert_eq!(hashed.body, Body::TooLong);
        assert_eq!(Blob::read(dir.path(), 3, &Content::Absent), None);
        for expected in ["a\nb\n", "a\nc\n"] {
            let expected = Content::Text(Arc::new(expected.to_owned()));
            assert_eq!(Blob::read(&path, 4, &expected).as_ref(), Some(&whole));
        }
    }
}
