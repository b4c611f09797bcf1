//! Pieces of output, the same on every system.

/// The most bytes in one chunk; also the size of a pipe.
pub(crate) const CHUNK: usize = 64 * 1024;

/// Where output was written to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// Standard output, or a terminal.
    Stdout,
    /// Standard error.
    Stderr,
}

/// Some bytes of output, never empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chunk {
    /// Where they were written to.
    pub stream: Stream,
    /// At most 64 KiB.
    pub bytes: Vec<u8>,
}
