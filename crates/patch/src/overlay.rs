//! What the files will be after the operations looked at so far. It lets the operations of one
//! patch see each other before any of them is written.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::files::{self, Place};

/// How much old text a plan may hold.
const MAX_TOTAL_BYTES: u64 = 4 * files::MAX_FILE_BYTES;

/// What stands at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    Absent,
    Text(Arc<String>),
    /// A file that is not text or too large. It can be overwritten, but neither shown nor edited.
    Opaque,
}

impl Content {
    pub(crate) fn on_disk(path: &Path) -> io::Result<Self> {
        match files::read_text(path) {
            Ok(text) => Ok(Self::Text(text.into())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Self::Absent),
            Err(_) if path.is_file() => Ok(Self::Opaque),
            Err(error) => Err(error),
        }
    }

    /// Whether this is what stands at `path`.
    pub(crate) fn is_on_disk(&self, path: &Path) -> io::Result<bool> {
        match self {
            Self::Text(text) if files::holds(path, text) => Ok(true),
            _ => Ok(Self::on_disk(path)? == *self),
        }
    }

    /// The text, if there is one.
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Absent | Self::Opaque => None,
        }
    }
}

/// One file that a patch is about.
#[derive(Debug, Clone)]
pub(crate) struct Touched {
    pub(crate) path: PathBuf,
    /// How the patch calls it.
    pub(crate) written: PathBuf,
    pub(crate) before: Content,
    pub(crate) after: Content,
    pub(crate) source: Source,
}

/// Where the text of a touched file comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Source {
    /// From the disk; nothing was put there.
    Disk,
    /// From the file itself, edited.
    Edited,
    /// From the patch alone.
    Patch,
    /// From the touched file with this index, which was moved here.
    Moved(usize),
}

impl Touched {
    /// Whether the patch does anything to the file.
    pub(crate) fn is_changed(&self) -> bool {
        self.source != Source::Disk || self.after != self.before
    }
}

/// The touched files in the order of first touch. Everything else is as on disk.
#[derive(Debug, Clone, Default)]
pub(crate) struct Overlay {
    pub(crate) files: Vec<Touched>,
    index: HashMap<PathBuf, usize>,
    held: u64,
}

impl Overlay {
    pub(crate) fn get(&self, path: &Path) -> Option<&Touched> {
        self.index.get(path).map(|&index| &self.files[index])
    }

    /// The file that `place` stands for: a link that was removed does not lead to its file any
    /// more.
    pub(crate) fn file<'a>(&self, place: &'a Place) -> &'a Path {
        let removed = self.index.contains_key(&place.entry);
        if removed { &place.entry } else { &place.file }
    }

    /// The text at `place`, on disk or by an earlier operation.
    pub(crate) fn text(&mut self, place: &Place, written: &Path) -> io::Result<Arc<String>> {
        let file = self.touch(self.file(place).to_owned(), written)?;
        match &self.files[file].after {
            Content::Text(text) => Ok(text.clone()),
            Content::Absent => Err(files::not_found()),
            // Read once more for the reason.
            Content::Opaque => files::read_text(&place.file).map(Arc::new),
        }
    }

    /// Writes a whole file.
    pub(crate) fn add(&mut self, place: &Place, written: &Path, text: String) -> io::Result<()> {
        let file = self.touch(self.file(place).to_owned(), written)?;
        self.files[file].after = Content::Text(text.into());
        self.files[file].source = Source::Patch;
        Ok(())
    }

    /// Gives an existing file a new text.
    pub(crate) fn edit(&mut self, place: &Place, written: &Path, text: String) -> io::Result<()> {
        let file = self.touch(self.file(place).to_owned(), written)?;
        let file = &mut self.files[file];
        file.after = Content::Text(text.into());
        if file.source == Source::Disk {
            file.source = Source::Edited;
        }
        Ok(())
    }

    /// Puts `text`, the new text of the file at `from`, at `to` and removes the entry at `from`.
    pub(crate) fn relocate(
        &mut self,
        (from, from_written): (&Place, &Path),
        (to, to_written): (&Place, &Path),
        text: String,
    ) -> io::Result<()> {
        let target = self.touch(self.file(to).to_owned(), to_written)?;
        let origin = self.touch(from.entry.clone(), from_written)?;
        let source = match self.files[origin].source {
            Source::Disk | Source::Edited => Source::Moved(origin),
            Source::Moved(first) if first == target => Source::Edited,
            other => other,
        };
        self.remove(from, from_written)?;
        self.files[target].after = Content::Text(text.into());
        self.files[target].source = source;
        Ok(())
    }

    /// Removes the directory entry at `place`.
    pub(crate) fn remove(&mut self, place: &Place, written: &Path) -> io::Result<()> {
        let entry = self.touch(place.entry.clone(), written)?;
        self.files[entry].after = Content::Absent;
        self.files[entry].source = Source::Disk;
        Ok(())
    }

    fn touch(&mut self, path: PathBuf, written: &Path) -> io::Result<usize> {
        if let Some(&index) = self.index.get(&path) {
            return Ok(index);
        }
        let before = Content::on_disk(&path)?;
        self.held += before.text().map_or(0, |text| text.len() as u64);
        if self.held > MAX_TOTAL_BYTES {
            let message =
                format!("the files of the patch have more than {MAX_TOTAL_BYTES} bytes together");
            return Err(io::Error::other(message));
        }
        let (written, after) = (written.to_owned(), before.clone());
        self.index.insert(path.clone(), self.files.len());
        self.files.push(Touched {
            path,
            written,
            before,
            after,
            source: Source::Disk,
        });
        Ok(self.files.len() - 1)
    }
}
