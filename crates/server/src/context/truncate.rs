//! Cuts texts that are too long for the model in the middle, where they are usually least telling.

use std::borrow::Cow;

use quipu_model::catalogue::{Truncation, TruncationMode};
use quipu_wire::{FunctionCallOutputContentItem, Json};

use super::output::{OutputBody, ToolOutput};

/// A token is taken to be four bytes long.
const BYTES_PER_TOKEN: usize = 4;

/// How long a text may be, in the unit that the note about the cut uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Budget {
    /// So many bytes.
    Bytes(usize),
    /// So many tokens.
    Tokens(usize),
}

impl From<Truncation> for Budget {
    fn from(policy: Truncation) -> Self {
        let limit = usize::try_from(policy.limit).unwrap_or_default();
        match policy.mode {
            TruncationMode::Bytes => Self::Bytes(limit),
            TruncationMode::Tokens => Self::Tokens(limit),
        }
    }
}

impl Budget {
    fn bytes(self) -> usize {
        match self {
            Self::Bytes(bytes) => bytes,
            Self::Tokens(tokens) => tokens.saturating_mul(BYTES_PER_TOKEN),
        }
    }

    /// What is left after a text, in the same unit.
    fn minus(self, text: &str) -> Self {
        match self {
            Self::Bytes(bytes) => Self::Bytes(bytes.saturating_sub(text.len())),
            Self::Tokens(tokens) => Self::Tokens(tokens.saturating_sub(estimated_tokens(text))),
        }
    }

    /// A fifth more: what is recorded may be longer than what a tool returns.
    fn with_margin(self) -> Self {
        match self {
            Self::Bytes(bytes) => Self::Bytes(bytes.saturating_mul(6) / 5),
            Self::Tokens(tokens) => Self::Tokens(tokens.saturating_mul(6) / 5),
        }
    }
}

/// About how many tokens a text has.
pub(crate) fn estimated_tokens(text: &str) -> usize {
    text.len().div_ceil(BYTES_PER_TOKEN)
}

/// The text, or its beginning and end with a note between them of how much is missing. The note does not
/// count.
pub(crate) fn middle(text: &str, budget: Budget) -> Cow<'_, str> {
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
pub(crate) fn middle_with_lines(text: &str, budget: Budget) -> Cow<'_, str> {
    match middle(text, budget) {
        Cow::Borrowed(text) => Cow::Borrowed(text),
        Cow::Owned(cut) => Cow::Owned(format!(
            "Total output lines: {}\n\n{cut}",
            text.lines().count()
        )),
    }
}

/// Beginning, middle and end of a text of which only so many bytes are kept; `None` if it fits.
pub(super) fn split(text: &str, keep: usize) -> Option<(&str, &str, &str)> {
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

/// A tool's output as it goes into the history: cut if it is longer than the model's budget and a fifth.
/// `None` if it can stay as it is.
pub(crate) fn recorded_output(item: &Json, policy: Truncation) -> Option<Json> {
    let budget = Budget::from(policy).with_margin();
    // A text is never longer than its JSON.
    if item.get().len() <= budget.bytes() {
        return None;
    }
    let mut output = ToolOutput::read(item.get())?;
    let was_cut = match &mut output.body {
        OutputBody::Text(text) => cut_text(text, budget),
        OutputBody::Parts(parts) => cut_parts(parts, budget),
    };
    was_cut.then(|| output.to_json())
}

fn cut_text(text: &mut String, budget: Budget) -> bool {
    if let Cow::Owned(cut) = middle(text, budget) {
        *text = cut;
        return true;
    }
    false
}

/// Spends the budget on the texts in order; pictures stay.
fn cut_parts(parts: &mut Vec<FunctionCallOutputContentItem>, mut budget: Budget) -> bool {
    let mut was_cut = false;
    let mut omitted = 0;
    parts.retain_mut(|part| {
        let FunctionCallOutputContentItem::InputText { text } = part else {
            return true;
        };
        if budget.bytes() == 0 {
            omitted += 1;
            return false;
        }
        let left = budget.minus(text);
        was_cut |= cut_text(text, budget);
        budget = left;
        true
    });
    if omitted > 0 {
        let text = format!("[omitted {omitted} text items ...]");
        parts.push(FunctionCallOutputContentItem::InputText { text });
    }
    was_cut || omitted > 0
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

    fn output(parts: &[&str]) -> Json {
        let parts: Vec<_> = parts
            .iter()
            .map(|text| match *text {
                "IMAGE" => serde_json::json!({"type": "input_image", "image_url": "data:,"}),
                text => serde_json::json!({"type": "input_text", "text": text}),
            })
            .collect();
        serde_json::json!({"type": "function_call_output", "call_id": "c", "output": parts}).into()
    }

    #[test]
    fn the_parts_of_an_output_share_the_budget() {
        let policy = Truncation {
            mode: TruncationMode::Bytes,
            limit: 10_000,
        };
        let (a, b) = ("a".repeat(7_000), "b".repeat(7_000));
        let cut = recorded_output(&output(&[&a, &b, "IMAGE", "c", "d"]), policy).unwrap();
        let half = "b".repeat(2_500);
        let short = format!("{half}…2000 chars truncated…{half}");
        assert_eq!(
            cut,
            output(&[&a, &short, "IMAGE", "[omitted 2 text items ...]"])
        );
        let full = "a".repeat(12_000);
        let cut = recorded_output(&output(&[&full, "b"]), policy).unwrap();
        assert_eq!(cut, output(&[&full, "[omitted 1 text items ...]"]));
        assert_eq!(recorded_output(&output(&["a", "b"]), policy), None);
    }

    #[test]
    fn a_single_text_is_cut_at_a_fifth_over_the_policy() {
        let policy = Truncation {
            mode: TruncationMode::Tokens,
            limit: 10,
        };
        let item = |text: &str| -> Json {
            serde_json::json!({"type": "custom_tool_call_output", "call_id": "c", "output": text})
                .into()
        };
        assert_eq!(recorded_output(&item(&"x".repeat(48)), policy), None);
        let half = "x".repeat(24);
        let cut = recorded_output(&item(&"x".repeat(60)), policy).unwrap();
        assert_eq!(cut, item(&format!("{half}…3 tokens truncated…{half}")));
        let call = r#"{"type":"function_call","name":"f","arguments":"x","call_id":"c"}"#;
        assert_eq!(
            recorded_output(&serde_json::from_str(call).unwrap(), policy),
            None
        );
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
