//! Splits a byte stream into lines within a bounded buffer, so that one absurd line costs itself
//! and never the memory or the lines around it.

use std::io::{self, Read};

/// The longest line any part of this crate accepts or writes, without its newline.
pub const MAX_RECORD: usize = 32 << 20;

const FIRST_BUFFER: usize = 64 << 10;

/// One line of a stream, without its newline.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line<'a> {
    /// A line that ends in a newline.
    Whole(&'a [u8]),
    /// The last bytes of the stream, without a newline after them.
    Unterminated(&'a [u8]),
    /// A line over the limit, of this length; its bytes were dropped.
    TooLong(u64),
}

/// Reads lines of at most `limit` bytes.
pub(crate) struct LineReader<R> {
    source: R,
    buffer: Vec<u8>,
    /// The unread part of the buffer.
    start: usize,
    end: usize,
    /// Bytes after `start` that are known to hold no newline.
    searched: usize,
    /// Where in the stream `start` is.
    offset: u64,
    /// Bytes dropped of a line that is too long.
    dropped: u64,
    limit: usize,
}

impl<R: Read> LineReader<R> {
    pub fn new(source: R) -> Self {
        Self::with_limit(source, MAX_RECORD)
    }

    pub fn with_limit(source: R, limit: usize) -> Self {
        Self {
            source,
            buffer: Vec::new(),
            start: 0,
            end: 0,
            searched: 0,
            offset: 0,
            dropped: 0,
            limit,
        }
    }

    /// The next line and the offset of its first byte.
    pub fn next_line(&mut self) -> io::Result<Option<(u64, Line<'_>)>> {
        loop {
            let unsearched = &self.buffer[self.start + self.searched..self.end];
            if let Some(found) = memchr::memchr(b'\n', unsearched) {
                let len = self.searched + found;
                return Ok(Some(self.take(len, true)));
            }
            self.searched = self.end - self.start;
            if self.searched > self.limit {
                self.dropped += self.searched as u64;
                (self.start, self.end, self.searched) = (0, 0, 0);
            }
            if self.fill()? == 0 {
                let len = self.searched;
                let nothing = len == 0 && self.dropped == 0;
                return Ok(if nothing {
                    None
                } else {
                    Some(self.take(len, false))
                });
            }
        }
    }

    fn take(&mut self, len: usize, terminated: bool) -> (u64, Line<'_>) {
        let bytes = self.start..self.start + len;
        let total = self.dropped + len as u64;
        let offset = self.offset;
        let eaten = len + usize::from(terminated);
        self.start += eaten;
        self.offset += total + u64::from(terminated);
        self.searched = 0;
        let too_long = self.dropped > 0 || len > self.limit;
        self.dropped = 0;
        let line = match terminated {
            _ if too_long => Line::TooLong(total),
            true => Line::Whole(&self.buffer[bytes]),
            false => Line::Unterminated(&self.buffer[bytes]),
        };
        (offset, line)
    }

    /// Reads more, making room first: by moving the rest to the front, else by growing.
    fn fill(&mut self) -> io::Result<usize> {
        if self.start > 0 {
            self.buffer.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        if self.end == self.buffer.len() {
            let size = (self.buffer.len() * 2).clamp(FIRST_BUFFER, self.limit + FIRST_BUFFER);
            self.buffer.resize(size, 0);
        }
        loop {
            match self.source.read(&mut self.buffer[self.end..]) {
                Ok(count) => {
                    self.end += count;
                    return Ok(count);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Hands out a stream in the pieces given, as a slow disk or pipe would.
    struct Pieces<'a>(&'a [u8], Vec<usize>);

    impl Read for Pieces<'_> {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            let piece = self.1.pop().unwrap_or(usize::MAX).max(1);
            let count = piece.min(into.len()).min(self.0.len());
            into[..count].copy_from_slice(&self.0[..count]);
            self.0 = &self.0[count..];
            Ok(count)
        }
    }

    fn read_all(
        bytes: &[u8],
        pieces: Vec<usize>,
        limit: usize,
    ) -> Vec<(u64, Option<Vec<u8>>, u64, bool)> {
        let mut reader = LineReader::with_limit(Pieces(bytes, pieces), limit);
        let mut lines = Vec::new();
        while let Some((offset, line)) = reader.next_line().unwrap() {
            lines.push(match line {
                Line::Whole(b) => (offset, Some(b.to_vec()), b.len() as u64, true),
                Line::Unterminated(b) => (offset, Some(b.to_vec()), b.len() as u64, false),
                Line::TooLong(len) => (offset, None, len, true),
            });
        }
        lines
    }

    proptest! {
        #[test]
        fn finds_the_lines_of_any_bytes_split_anywhere(
            lines in prop::collection::vec(prop::collection::vec(prop_oneof![Just(b'a'), Just(0), Just(0xff)], 0..40), 0..20),
            terminated: bool,
            pieces in prop::collection::vec(1..30_usize, 0..60),
            limit in 1..50_usize,
        ) {
            let mut bytes = lines.join(&b'\n');
            if terminated && !bytes.is_empty() { bytes.push(b'\n'); }
            let read = read_all(&bytes, pieces, limit);
            let mut expected: Vec<&[u8]> = bytes.split(|b| *b == b'\n').collect();
            if expected.last().is_some_and(|last| last.is_empty()) { expected.pop(); }
            prop_assert_eq!(read.len(), expected.len());
            let mut offset = 0;
            for ((at, line, len, _), want) in read.iter().zip(expected) {
                prop_assert_eq!(*at, offset);
                prop_assert_eq!(*len, want.len() as u64);
                prop_assert_eq!(line.as_deref(), (want.len() <= limit).then_some(want));
                offset += want.len() as u64 + 1;
            }
        }
    }

    #[test]
    fn a_huge_line_costs_no_memory() {
        let mut reader = LineReader::with_limit(
            io::repeat(b'x').take(50 << 20).chain(&b"\nnext\n"[..]),
            1 << 20,
        );
        assert_eq!(
            reader.next_line().unwrap(),
            Some((0, Line::TooLong(50 << 20)))
        );
        assert_eq!(
            reader.next_line().unwrap(),
            Some(((50 << 20) + 1, Line::Whole(b"next")))
        );
        assert_eq!(reader.next_line().unwrap(), None);
        assert!(reader.buffer.len() <= 2 << 20);
    }
}
