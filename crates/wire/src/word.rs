//! A short text that is as cheap to copy as an enum, for values that clients may make up.

use std::fmt;

/// The longest word, in bytes.
const MAX: usize = 48;

/// A text of 1 to 48 bytes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Word {
    /// Zero after the end of the text.
    bytes: [u8; MAX],
    length: u8,
}

impl Word {
    /// The word, if the text is one.
    pub fn new(text: &str) -> Option<Word> {
        let length = u8::try_from(text.len()).ok().filter(|it| *it > 0)?;
        let mut bytes = [0; MAX];
        bytes
            .get_mut(..text.len())?
            .copy_from_slice(text.as_bytes());
        Some(Word { bytes, length })
    }

    /// The word as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        let text = &self.bytes[..usize::from(self.length)];
        // It was copied from text.
        std::str::from_utf8(text).unwrap_or_default()
    }
}

impl fmt::Debug for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_kept_as_it_is_or_refused() {
        let longest = "é".repeat(24);
        for text in ["x", "very high", longest.as_str()] {
            assert_eq!(Word::new(text).unwrap().as_str(), text);
        }
        assert_eq!(Word::new(""), None);
        assert_eq!(Word::new(&format!("{longest}x")), None);
        assert_eq!(Word::new(&"x".repeat(300)), None);
    }
}
