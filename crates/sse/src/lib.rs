//! Server-sent events without IO: bytes in, the `data` of events out, and the id of the last one. Event names,
//! retry hints and comments are skipped; neither model providers nor MCP servers need them.
//!
//! An event whose data is one line, which is nearly all of them, is handed out as a slice of the
//! receive buffer. The buffer holds at most one unfinished event and is bounded.

use std::ops::Range;

use memchr::memchr2;
use thiserror::Error;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// An event grew past the limit.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("sent an event larger than {} MiB", limit / (1024 * 1024))]
pub struct EventTooLarge {
    /// The limit, in bytes.
    pub limit: usize,
}

/// Splits a byte stream into events.
#[derive(Debug)]
pub struct Parser {
    limit: usize,
    buffer: Vec<u8>,
    /// Where the line being read starts.
    line: usize,
    /// Up to where that line has been searched for its end.
    scanned: usize,
    /// The last line ended in CR, so a LF right after it belongs to the same line end.
    skip_lf: bool,
    started: bool,
    data: Data,
    joined: Vec<u8>,
    /// The id of the event being read.
    id: Option<String>,
    last_id: Option<String>,
}

/// The data lines of the event being read.
#[derive(Debug, Default, Clone, PartialEq)]
enum Data {
    #[default]
    None,
    /// One line, still in the buffer.
    Line(Range<usize>),
    /// Several lines, copied into `joined`.
    Joined,
}

impl Parser {
    /// A parser that refuses events of more than about `limit` bytes.
    pub fn new(limit: usize) -> Self {
        Self {
            limit,
            buffer: Vec::new(),
            line: 0,
            scanned: 0,
            skip_lf: false,
            started: false,
            data: Data::None,
            joined: Vec::new(),
            id: None,
            last_id: None,
        }
    }

    /// The id of the last complete event that had one, also if it had no data: where the stream can be resumed.
    pub fn last_id(&self) -> Option<&str> {
        self.last_id.as_deref()
    }

    /// Adds bytes received. Take all events out before adding more.
    pub fn push(&mut self, chunk: &[u8]) -> Result<(), EventTooLarge> {
        self.forget_consumed();
        if self.buffer.len() + self.joined.len() > self.limit {
            return Err(EventTooLarge { limit: self.limit });
        }
        self.buffer.extend_from_slice(chunk);
        Ok(())
    }

    /// The data of the next complete event.
    pub fn next_event(&mut self) -> Option<&[u8]> {
        loop {
            let line = self.next_line()?;
            if line.is_empty() {
                if self.id.is_some() {
                    self.last_id = self.id.take();
                }
                match std::mem::take(&mut self.data) {
                    Data::None => {}
                    Data::Line(range) => return Some(&self.buffer[range]),
                    Data::Joined => return Some(&self.joined),
                }
            } else {
                self.field(line);
            }
        }
    }

    /// The data of an event that the stream's end cut off before its blank line, if any.
    pub fn finish(&mut self) -> Option<&[u8]> {
        if self.line < self.buffer.len() {
            let rest = self.line..self.buffer.len();
            self.line = self.buffer.len();
            self.field(rest);
        }
        match std::mem::take(&mut self.data) {
            Data::None => None,
            Data::Line(range) => Some(&self.buffer[range]),
            Data::Joined => Some(&self.joined),
        }
    }

    fn next_line(&mut self) -> Option<Range<usize>> {
        if !self.started {
            if self.buffer.len() < BYTE_ORDER_MARK.len()
                && BYTE_ORDER_MARK.starts_with(&self.buffer)
            {
                return None;
            }
            self.started = true;
            if self.buffer.starts_with(BYTE_ORDER_MARK) {
                self.line = BYTE_ORDER_MARK.len();
            }
        }
        if self.skip_lf && self.line < self.buffer.len() {
            self.skip_lf = false;
            if self.buffer[self.line] == b'\n' {
                self.line += 1;
            }
        }
        let from = self.scanned.max(self.line);
        let Some(found) = memchr2(b'\n', b'\r', &self.buffer[from..]) else {
            self.scanned = self.buffer.len();
            return None;
        };
        let end = from + found;
        let line = self.line..end;
        self.skip_lf = self.buffer[end] == b'\r';
        self.line = end + 1;
        self.scanned = self.line;
        Some(line)
    }

    fn field(&mut self, line: Range<usize>) {
        let text = &self.buffer[line.clone()];
        let Some(rest) = text.strip_prefix(b"data") else {
            if let Some(id) = text.strip_prefix(b"id:") {
                let id = id.strip_prefix(b" ").unwrap_or(id);
                self.id = std::str::from_utf8(id).ok().map(str::to_owned);
            }
            return;
        };
        let value = match rest {
            [] => line.end..line.end,
            [b':', b' ', ..] => line.start + 6..line.end,
            [b':', ..] => line.start + 5..line.end,
            _ => return,
        };
        match std::mem::take(&mut self.data) {
            Data::None => self.data = Data::Line(value),
            Data::Line(first) => {
                self.joined.clear();
                self.joined.extend_from_slice(&self.buffer[first]);
                self.join(value);
            }
            Data::Joined => self.join(value),
        }
    }

    fn join(&mut self, value: Range<usize>) {
        self.joined.push(b'\n');
        self.joined.extend_from_slice(&self.buffer[value]);
        self.data = Data::Joined;
    }

    fn forget_consumed(&mut self) {
        if self.data != Data::Joined {
            self.joined.clear();
        }
        let keep = match &self.data {
            Data::Line(range) => range.start,
            Data::None | Data::Joined => self.line,
        };
        if keep == 0 {
            return;
        }
        self.buffer.drain(..keep);
        self.line -= keep;
        self.scanned = self.scanned.saturating_sub(keep);
        if let Data::Line(range) = &mut self.data {
            *range = range.start - keep..range.end - keep;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const LIMIT: usize = 16 * 1024 * 1024;

    fn events(chunks: &[&[u8]]) -> Vec<String> {
        let mut parser = Parser::new(LIMIT);
        let mut out = Vec::new();
        for chunk in chunks {
            parser.push(chunk).unwrap();
            while let Some(data) = parser.next_event() {
                out.push(String::from_utf8_lossy(data).into_owned());
            }
        }
        if let Some(data) = parser.finish() {
            out.push(String::from_utf8_lossy(data).into_owned());
        }
        out
    }

    #[test]
    fn reads_every_line_end_and_field() {
        let stream = b"\xef\xbb\xbfevent: a\ndata: one\n\n: comment\r\ndata:two\r\n\r\nid: 7\rdata\rdata: x\r\rdataset: no\n\ndata:  spaced\n\n";
        assert_eq!(events(&[stream]), ["one", "two", "\nx", " spaced"]);
    }

    #[test]
    fn a_missing_last_blank_line_loses_nothing() {
        assert_eq!(events(&[b"data: a\n\ndata: b"]), ["a", "b"]);
        assert_eq!(events(&[b"data: a\n\nid: 9"]), ["a"]);
        assert_eq!(events(&[b""]), Vec::<String>::new());
    }

    #[test]
    fn an_id_counts_when_its_event_is_complete() {
        let mut parser = Parser::new(LIMIT);
        parser.push(b"id: 7\ndata: a\n\nid:8\n\nid: 9\nda").unwrap();
        assert_eq!(parser.next_event(), Some(&b"a"[..]));
        assert_eq!(parser.last_id(), Some("7"));
        assert_eq!(parser.next_event(), None);
        assert_eq!(parser.last_id(), Some("8"));
        parser.push(b"ta: b\n\n").unwrap();
        assert_eq!(parser.next_event(), Some(&b"b"[..]));
        assert_eq!(parser.last_id(), Some("9"));
    }

    #[test]
    fn an_endless_event_is_refused() {
        let mut parser = Parser::new(LIMIT);
        parser.push(b"data: ").unwrap();
        let block = vec![b'x'; 1024 * 1024];
        let refused = (0..20).any(|_| parser.push(&block).is_err());
        assert!(refused);
        assert!(parser.buffer.len() <= LIMIT + block.len());

        let mut parser = Parser::new(LIMIT);
        let line = [b"data: ".as_slice(), &block, b"\n"].concat();
        let refused = (0..20).any(|_| {
            let result = parser.push(&line);
            assert!(parser.next_event().is_none());
            result.is_err()
        });
        assert!(refused, "many data lines of one event are bounded too");
    }

    #[test]
    fn a_ten_megabyte_event_passes() {
        let big = "x".repeat(10 * 1024 * 1024);
        let stream = format!("data: {big}\n\ndata: next\n\n");
        let chunks: Vec<&[u8]> = stream.as_bytes().chunks(64 * 1024).collect();
        let got = events(&chunks);
        assert_eq!(got.len(), 2);
        assert_eq!(got[0].len(), big.len());
        assert_eq!(got[1], "next");
    }

    proptest! {
        #[test]
        fn any_split_gives_the_same_events(
            stream in "((data|data:|data: |event: x|: c|)[a-z\u{e4} ]{0,6}(\n|\r|\r\n)){0,12}",
            cuts in proptest::collection::vec(0usize..200, 0..12),
        ) {
            let bytes = stream.as_bytes();
            let mut cuts: Vec<usize> = cuts.into_iter().filter(|&c| c <= bytes.len()).collect();
            cuts.sort_unstable();
            let mut chunks = Vec::new();
            let mut from = 0;
            for cut in cuts {
                chunks.push(&bytes[from..cut]);
                from = cut;
            }
            chunks.push(&bytes[from..]);
            prop_assert_eq!(events(&chunks), events(&[bytes]));
        }

        #[test]
        fn arbitrary_bytes_never_panic(chunks in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..40), 0..8)) {
            let chunks: Vec<&[u8]> = chunks.iter().map(Vec::as_slice).collect();
            events(&chunks);
        }
    }
}
