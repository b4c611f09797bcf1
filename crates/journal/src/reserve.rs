//! Room on the disk that is kept behind the end of a rollout while turns run. When the disk is full, it takes the few
//! lines that say how the turn ended. The size of the file as others see it does not change.

use std::fs::File;
use std::io;

use crate::platform;

/// How much is allocated at once.
const SIZE: u64 = 64 << 10;
/// How much is always left for the end of the turn.
const LEAST: u64 = 16 << 10;

/// What is allocated behind the end of one file.
#[derive(Debug, Default)]
pub(crate) struct Reserve {
    /// Up to where; none if nothing is.
    end: Option<u64>,
    /// The file system cannot allocate room.
    is_unsupported: bool,
}

impl Reserve {
    /// Makes sure that there is room for so many bytes at the end of the file, and for the end of a turn.
    pub fn ensure(&mut self, file: &File, len: u64, bytes: usize) -> io::Result<()> {
        let bytes = bytes as u64;
        if self.is_unsupported || self.end.is_some_and(|end| len + bytes + LEAST <= end) {
            return Ok(());
        }
        match platform::allocate(file, len, bytes + SIZE) {
            Ok(()) => self.end = Some(len + bytes + SIZE),
            Err(error) if error.kind() == io::ErrorKind::Unsupported => {
                tracing::debug!("the file system cannot reserve room for the end of a turn");
                self.is_unsupported = true;
            }
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// Whether there is room for the end of a turn behind `len` bytes, or none can be kept.
    pub fn holds(&self, len: u64) -> bool {
        self.is_unsupported || self.end.is_some_and(|end| len + LEAST <= end)
    }

    /// Gives the room back, of a file that ends where we think.
    pub fn release(&mut self, file: &File, len: Option<u64>) -> io::Result<()> {
        if self.end.take().is_none() {
            return Ok(());
        }
        let state = file.metadata()?;
        if Some(state.len()) == len {
            file.set_len(state.len())?;
            // Nothing was said in the thread.
            file.set_modified(state.modified()?)?;
        }
        Ok(())
    }
}
