//! A file as the result of `fs/readFile`, encoded while it is read: large files are in memory once,
//! as the message that leaves.

use std::cell::RefCell;
use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::Read;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::ser::Error as _;
use serde::{Serialize, Serializer};

use super::FileError;
use crate::Refusal;
use crate::platform;

/// The largest file that is read.
const LIMIT: u64 = 512 * 1024 * 1024;
/// How much is read at once; a multiple of 3, so that only the last piece is padded.
const PIECE: usize = 48 * 1024;

/// Is written as the result of `fs/readFile`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Content {
    data_base64: Encoded,
}

impl Content {
    /// Opens a file; what cannot be read at all is refused here.
    pub fn open(path: &Path) -> Result<Content, FileError> {
        // A pipe that nobody writes to must not hold the request forever.
        let file = platform::without_waiting(OpenOptions::new().read(true)).open(path)?;
        let metadata = file.metadata()?;
        if metadata.is_dir() {
            return Err(platform::is_a_directory().into());
        }
        if metadata.len() > LIMIT {
            return Err(too_large());
        }
        Ok(Content {
            data_base64: Encoded {
                file,
                failure: RefCell::default(),
            },
        })
    }

    /// Why the content could not be written to its end.
    pub fn failure(&self) -> Refusal {
        let failure = self.data_base64.failure.take();
        failure.map_or_else(
            || Refusal::internal("the file could not be read"),
            Refusal::from,
        )
    }
}

fn too_large() -> FileError {
    FileError::Refused(format!("file is too large to read: limit is {LIMIT} bytes"))
}

struct Encoded {
    file: File,
    /// Why the text ends early. A serialiser takes an error of `fmt` for one of its own.
    failure: RefCell<Option<FileError>>,
}

impl Serialize for Encoded {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let written = serializer.collect_str(self)?;
        match &*self.failure.borrow() {
            None => Ok(written),
            Some(failure) => Err(S::Error::custom(failure)),
        }
    }
}

/// The encoded content as text that is never whole in memory.
impl fmt::Display for Encoded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut input = (&self.file).take(LIMIT + 1);
        let mut piece = Vec::with_capacity(PIECE);
        let mut text = String::with_capacity(PIECE / 3 * 4);
        loop {
            piece.clear();
            text.clear();
            if let Err(error) = (&mut input).take(PIECE as u64).read_to_end(&mut piece) {
                self.failure.replace(Some(error.into()));
                return Ok(());
            }
            if input.limit() == 0 {
                self.failure.replace(Some(too_large()));
                return Ok(());
            }
            STANDARD.encode_string(&piece, &mut text);
            f.write_str(&text)?;
            if piece.len() < PIECE {
                return Ok(());
            }
        }
    }
}
