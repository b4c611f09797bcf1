//! Newline framing without IO: bytes in, lines out, whatever the cuts between reads. A line over
//! the limit costs itself and nothing else, and memory stays below the limit while it passes.

use std::mem;

use bytes::Bytes;

/// What the bytes up to a newline turned out to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Line {
    /// A line without its `\n` or `\r\n`; never empty.
    Text(Bytes),
    /// A line over the limit, discarded.
    Oversized {
        /// Its length in bytes, without the newline.
        length: u64,
    },
}

/// Cuts a byte stream into lines.
#[derive(Debug)]
pub struct Lines {
    limit: usize,
    /// The line begun so far; empty while discarding.
    begun: Vec<u8>,
    /// The length so far of a line that is being discarded.
    discarding: Option<u64>,
}

impl Lines {
    /// Lines of at most `limit` bytes, not counting the `\n`.
    pub fn new(limit: usize) -> Self {
        Self {
            limit,
            begun: Vec::new(),
            discarding: None,
        }
    }

    /// Takes lines of at most `limit` bytes from now on.
    pub fn set_limit(&mut self, limit: usize) {
        self.limit = limit;
    }

    /// The longest line in bytes.
    pub fn limit(&self) -> usize {
        self.limit
    }

    /// Discards the line that has begun, as if it were over the limit.
    pub fn discard(&mut self) {
        if self.discarding.is_none() {
            self.discarding = Some(self.begun.len() as u64);
            self.begun = Vec::new();
        }
    }

    /// Bytes of the line that has begun and is kept.
    pub fn held(&self) -> usize {
        self.begun.len()
    }

    /// Takes bytes from the front of `input` up to the end of the next line and returns that line,
    /// or takes all of them and returns nothing. Empty lines are skipped.
    pub fn next(&mut self, input: &mut &[u8]) -> Option<Line> {
        while let Some(end) = memchr::memchr(b'\n', input) {
            let (rest_of_line, rest) = (&input[..end], &input[end + 1..]);
            *input = rest;
            if let Some(line) = self.end_line(rest_of_line) {
                return Some(line);
            }
        }
        self.keep(mem::take(input));
        None
    }

    /// Ends the stream: what stands after the last newline is a line too.
    pub fn finish(&mut self) -> Option<Line> {
        self.end_line(&[])
    }

    fn end_line(&mut self, rest: &[u8]) -> Option<Line> {
        if self.begun.is_empty() && self.discarding.is_none() && rest.len() <= self.limit {
            return text(rest).map(|text| Line::Text(Bytes::copy_from_slice(text)));
        }
        self.keep(rest);
        if let Some(length) = self.discarding.take() {
            return Some(Line::Oversized { length });
        }
        let mut line = mem::take(&mut self.begun);
        line.truncate(text(&line)?.len());
        // Bytes would keep spare capacity for as long as any slice of the line lives.
        Some(Line::Text(line.into_boxed_slice().into()))
    }

    fn keep(&mut self, part: &[u8]) {
        if let Some(length) = &mut self.discarding {
            *length += part.len() as u64;
        } else if part.len() > self.limit.saturating_sub(self.begun.len()) {
            self.discarding = Some((self.begun.len() + part.len()) as u64);
            self.begun = Vec::new();
        } else {
            self.begun.extend_from_slice(part);
        }
    }
}

/// The line without a carriage return at its end, unless nothing remains.
fn text(line: &[u8]) -> Option<&[u8]> {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    (!line.is_empty()).then_some(line)
}
