//! Output of tools as text: bounded, and cut only between characters; in the middle, where it is usually least telling.

use std::borrow::Cow;

/// A token is taken to be four bytes long.
const BYTES_PER_TOKEN: usize = 4;

/// How long a text may be, in the unit that the note about the cut uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Budget {
    /// So many bytes.
    Bytes(usize),
    /// So many tokens.
    Tokens(usize),
}

impl Budget {
    /// The same in bytes.
    #[must_use]
    pub fn bytes(self) -> usize {
        match self {
            Self::Bytes(bytes) => bytes,
            Self::Tokens(tokens) => tokens.saturating_mul(BYTES_PER_TOKEN),
        }
    }

    /// What is left after a text, in the same unit.
    #[must_use]
    pub fn minus(self, text: &str) -> Self {
        match self {
            Self::Bytes(bytes) => Self::Bytes(bytes.saturating_sub(text.len())),
            Self::Tokens(tokens) => Self::Tokens(tokens.saturating_sub(estimated_tokens(text))),
        }
    }

    /// A fifth more: what is recorded may be longer than what a tool returns.
    #[must_use]
    pub fn with_margin(self) -> Self {
        match self {
            Self::Bytes(bytes) => Self::Bytes(bytes.saturating_mul(6) / 5),
            Self::Tokens(tokens) => Self::Tokens(tokens.saturating_mul(6) / 5),
        }
    }
}

/// About how many tokens a text has.
#[must_use]
pub fn estimated_tokens(text: &str) -> usize {
    text.len().div_ceil(BYTES_PER_TOKEN)
}

/// The text, or its beginning and end with a note between them of how much is missing. The note does not
/// count.
#[must_use]
pub fn middle(text: &str, budget: Budget) -> Cow<'_, str> {
    let Some((head, cut, tail)) = split(text, budget.bytes()) else {
        return Cow::Borrowed(text);
    };
    let note = match budget {
        Budget::Bytes(_) => format!("…{} chars truncated…", cut.chars().count()),
        Budget::Tokens(_) => format!("…{} tokens truncated…", estimated_tokens(cut)),
    };
    Cow::Owned([head, &note, tail].concat())
}

/// The same, headed by the number of lines that the whole text has.
#[must_use]
pub fn middle_with_lines(text: &str, budget: Budget) -> Cow<'_, str> {
    match middle(text, budget) {
        Cow::Borrowed(text) => Cow::Borrowed(text),
        Cow::Owned(cut) => Cow::Owned(format!(
            "Total output lines: {}\n\n{cut}",
            text.lines().count()
        )),
    }
}

/// Beginning, middle and end of a text of which only so many bytes are kept; `None` if it fits.
#[must_use]
pub fn split(text: &str, keep: usize) -> Option<(&str, &str, &str)> {
    if text.len() <= keep {
        return None;
    }
    let half = keep / 2;
    let is_boundary = |at: &usize| text.is_char_boundary(*at);
    let head = (0..=half).rev().find(is_boundary).unwrap_or(0);
    let tail = (text.len() - (keep - half)..text.len())
        .find(is_boundary)
        .unwrap_or(text.len());
    Some((&text[..head], &text[head..tail], &text[tail..]))
}

/// Turns bytes into text as they come, without breaking a character over two pieces.
#[derive(Debug, Default)]
pub(crate) struct Decoder {
    rest: Vec<u8>,
}

impl Decoder {
    pub fn push(&mut self, bytes: &[u8]) -> String {
        self.rest.extend_from_slice(bytes);
        let whole = match std::str::from_utf8(&self.rest) {
            Ok(_) => self.rest.len(),
            // An unfinished character at the end waits for its rest.
            Err(error) if error.error_len().is_none() => error.valid_up_to(),
            Err(_) => self.rest.len(),
        };
        let taken: Vec<u8> = self.rest.drain(..whole).collect();
        String::from_utf8_lossy(&taken).into_owned()
    }

    pub fn finish(&mut self) -> String {
        String::from_utf8_lossy(&std::mem::take(&mut self.rest)).into_owned()
    }
}

/// The first and the last part of a long output.
#[derive(Debug)]
pub(crate) struct HeadTail {
    limit: usize,
    head: Vec<u8>,
    tail: std::collections::VecDeque<u8>,
    dropped: usize,
}

impl HeadTail {
    pub fn new(limit: usize) -> HeadTail {
        HeadTail {
            limit,
            head: Vec::new(),
            tail: std::collections::VecDeque::new(),
            dropped: 0,
        }
    }

    pub fn push(&mut self, mut bytes: &[u8]) {
        let half = self.limit / 2;
        if self.head.len() < half {
            let room = (half - self.head.len()).min(bytes.len());
            self.head.extend_from_slice(&bytes[..room]);
            bytes = &bytes[room..];
        }
        self.tail.extend(bytes);
        let over = self.tail.len().saturating_sub(self.limit - half);
        self.tail.drain(..over);
        self.dropped += over;
    }

    /// Takes everything kept since the last time. Where something is missing the model's share has a note anyway.
    pub fn take(&mut self) -> String {
        let mut bytes = std::mem::take(&mut self.head);
        bytes.extend(std::mem::take(&mut self.tail));
        self.dropped = 0;
        String::from_utf8_lossy(&bytes).into_owned()
    }

    pub fn text(&self) -> String {
        let mut bytes = self.head.clone();
        if self.dropped > 0 {
            bytes.extend_from_slice(format!("\n…{} bytes omitted…\n", self.dropped).as_bytes());
        }
        bytes.extend(self.tail.iter());
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_character_is_never_broken() {
        let text = "aé漢🦀z";
        for cut in 0..=text.len() {
            let mut decoder = Decoder::default();
            let mut out = decoder.push(&text.as_bytes()[..cut]);
            out += &decoder.push(&text.as_bytes()[cut..]);
            out += &decoder.finish();
            assert_eq!(out, text);
        }
        let mut decoder = Decoder::default();
        assert_eq!(decoder.push(b"a\xffb"), "a\u{fffd}b");
    }

    #[test]
    fn long_output_keeps_its_ends() {
        let mut kept = HeadTail::new(8);
        for byte in b"0123456789abcdef" {
            kept.push(&[*byte]);
        }
        assert_eq!(kept.text(), "0123\n…8 bytes omitted…\ncdef");
        assert_eq!(kept.take(), "0123cdef");
        assert_eq!(kept.take(), "");
    }

    /// The figures are those of the reference program.
    #[test]
    fn the_middle_is_cut_and_counted() {
        let cut = middle(&"x".repeat(20_000), Budget::Bytes(12_000)).into_owned();
        assert_eq!(
            cut,
            format!("{0}…8000 chars truncated…{0}", "x".repeat(6_000))
        );
        let cut = middle(&"é".repeat(7_001), Budget::Bytes(12_000)).into_owned();
        assert_eq!(
            cut,
            format!("{0}…1001 chars truncated…{0}", "é".repeat(3_000))
        );
        let cut = middle(&"A".repeat(30_000), Budget::Tokens(4_997)).into_owned();
        assert_eq!(
            cut,
            format!("{0}…2503 tokens truncated…{0}", "A".repeat(9_994))
        );
        assert!(matches!(
            middle("short", Budget::Bytes(5)),
            Cow::Borrowed("short")
        ));
        let lines = middle_with_lines("a\nb\nc\n", Budget::Bytes(2));
        assert_eq!(lines, "Total output lines: 3\n\na…4 chars truncated…\n");
    }

    proptest! {
        #[test]
        fn what_is_kept_comes_from_both_ends_and_keeps_the_budget(text in "\\PC{0,60}", keep in 0usize..80) {
            match split(&text, keep) {
                None => prop_assert!(text.len() <= keep),
                Some((head, cut, tail)) => {
                    prop_assert_eq!([head, cut, tail].concat(), text.as_str());
                    prop_assert!(head.len() + tail.len() <= keep);
                    prop_assert!(!cut.is_empty());
                }
            }
        }
    }
}
