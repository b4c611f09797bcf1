//! Output of processes as text: decoded as it arrives, and bounded.

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
}
