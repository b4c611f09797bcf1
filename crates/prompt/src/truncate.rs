//! Cuts the output of a tool to the budget of the model.

use std::borrow::Cow;

use quipu_model::catalogue::{Truncation, TruncationMode};
use quipu_wire::{FunctionCallOutputContentItem, Json};

use super::budget::{Budget, middle};
use super::output::{OutputBody, ToolOutput};

/// How much of a tool's output a model gets.
pub fn budget(policy: Truncation) -> Budget {
    let limit = usize::try_from(policy.limit).unwrap_or_default();
    match policy.mode {
        TruncationMode::Bytes => Budget::Bytes(limit),
        TruncationMode::Tokens => Budget::Tokens(limit),
    }
}

/// A tool's output as it goes into the history: cut if it is longer than the model's budget and a fifth.
/// `None` if it can stay as it is.
pub fn recorded_output(item: &Json, policy: Truncation) -> Option<Json> {
    let budget = budget(policy).with_margin();
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

/// Spends the budget on the texts in order; images stay.
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
}
