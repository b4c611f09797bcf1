//! Texts cut to a budget: in the middle, where they usually matter least, and only between characters.

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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

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
