//! Makes a history fit to be sent: every call answered once, no answer without its call, nothing
//! the model cannot read. A provider refuses a history that breaks these rules, and then every
//! later turn of the thread would fail too, so the rules are enforced here for all of them.

use std::collections::HashMap;

use serde::Deserialize;

use crate::history::HistoryItem;
use crate::item::{ContentPart, Item, ItemKind, Output, OutputPart};
use crate::request::Request;

const ABORTED: &str = "aborted";
const NO_IMAGES: &str = "image content omitted because you do not support image input";
const PATCH_TOOL: &str = "apply_patch";

/// The history of a request as the provider of that id should get it.
pub(crate) fn repaired(request: &Request, provider: &str) -> Vec<HistoryItem> {
    let input = &request.input;
    let shell_calls = if request.tools.offers_custom(PATCH_TOOL) {
        calls_with_shell_output(input)
    } else {
        Vec::new()
    };
    let mut answers: HashMap<&str, u32> = HashMap::new();
    for item in input.iter().filter(|item| item.kind().is_call_output()) {
        *answers
            .entry(item.call_id().unwrap_or_default())
            .or_default() += 1;
    }
    let mut open: HashMap<&str, u32> = HashMap::new();
    let mut out = Vec::with_capacity(input.len());
    for item in input {
        let call_id = item.call_id().unwrap_or_default();
        match item.kind() {
            ItemKind::GhostSnapshot | ItemKind::Other => continue,
            ItemKind::Reasoning | ItemKind::Compaction if !item.readable_by(provider) => continue,
            kind if kind.is_call() && item.call_id().is_some() => {
                out.push(item.clone());
                if take_one(&mut answers, call_id) {
                    *open.entry(call_id).or_default() += 1;
                } else {
                    out.push(aborted(kind, call_id));
                }
                continue;
            }
            kind if kind.is_call_output() && !take_one(&mut open, call_id) => {
                take_one(&mut answers, call_id);
                continue;
            }
            _ => {}
        }
        out.push(readable(item, request.accepts_images, &shell_calls));
    }
    out
}

fn take_one(counts: &mut HashMap<&str, u32>, call_id: &str) -> bool {
    match counts.get_mut(call_id) {
        Some(left) if *left > 0 => {
            *left -= 1;
            true
        }
        _ => false,
    }
}

fn aborted(kind: ItemKind, call_id: &str) -> HistoryItem {
    let call_id = call_id.to_owned();
    let output = Output::Text(ABORTED.into());
    let item = match kind {
        ItemKind::CustomToolCall => Item::CustomToolCallOutput {
            call_id,
            name: None,
            output,
        },
        ItemKind::ToolSearchCall => Item::ToolSearchOutput {
            call_id: Some(call_id),
            status: "completed".into(),
            execution: "client".into(),
            tools: Vec::new(),
        },
        _ => Item::FunctionCallOutput { call_id, output },
    };
    HistoryItem::new(item.to_raw())
}

fn readable(item: &HistoryItem, accepts_images: bool, shell_calls: &[&str]) -> HistoryItem {
    let blank_image =
        !accepts_images && (item.has_image() || item.kind() == ItemKind::ImageGenerationCall);
    let shell_output =
        item.kind().is_call_output() && item.call_id().is_some_and(|id| shell_calls.contains(&id));
    if !blank_image && !shell_output {
        return item.clone();
    }
    let Ok(mut parsed) = serde_json::from_str::<Item>(item.raw().get()) else {
        return item.clone();
    };
    if blank_image {
        blank_images(&mut parsed);
    }
    if shell_output
        && let Item::FunctionCallOutput {
            output: Output::Text(text),
            ..
        }
        | Item::CustomToolCallOutput {
            output: Output::Text(text),
            ..
        } = &mut parsed
        && let Some(plain) = plain_shell_output(text)
    {
        *text = plain;
    }
    HistoryItem::with_id(parsed.to_raw(), item.id().map(str::to_owned))
}

fn blank_images(item: &mut Item) {
    match item {
        Item::Message { content, .. } => {
            for part in content {
                if matches!(part, ContentPart::InputImage { .. }) {
                    *part = ContentPart::InputText {
                        text: NO_IMAGES.into(),
                    };
                }
            }
        }
        Item::FunctionCallOutput {
            output: Output::Parts(parts),
            ..
        }
        | Item::CustomToolCallOutput {
            output: Output::Parts(parts),
            ..
        } => {
            for part in parts {
                if matches!(part, OutputPart::InputImage { .. }) {
                    *part = OutputPart::InputText {
                        text: NO_IMAGES.into(),
                    };
                }
            }
        }
        Item::ImageGenerationCall { result, .. } => result.clear(),
        _ => {}
    }
}

/// The calls whose stored output is JSON but which a model with the free-form patch tool reads as
/// text.
fn calls_with_shell_output(input: &[HistoryItem]) -> Vec<&str> {
    input
        .iter()
        .filter(|item| match item.kind() {
            ItemKind::LocalShellCall => true,
            ItemKind::FunctionCall | ItemKind::CustomToolCall => {
                matches!(item.name(), Some("shell" | "container.exec" | PATCH_TOOL))
            }
            _ => false,
        })
        .filter_map(HistoryItem::call_id)
        .collect()
}

/// The text form of a stored shell output, if it is in the JSON form.
fn plain_shell_output(json: &str) -> Option<String> {
    #[derive(Deserialize)]
    struct Shell {
        output: String,
        metadata: Metadata,
    }
    #[derive(Deserialize)]
    struct Metadata {
        exit_code: i64,
        duration_seconds: f64,
    }
    const TOTAL: &str = "Total output lines: ";

    let Shell { output, metadata } = serde_json::from_str(json).ok()?;
    let mut text = format!(
        "Exit code: {}\nWall time: {} seconds\n",
        metadata.exit_code, metadata.duration_seconds
    );
    let (total, shown) = match output
        .strip_prefix(TOTAL)
        .and_then(|rest| rest.split_once("\n\n"))
    {
        Some((lines, rest)) if lines.bytes().all(|b| b.is_ascii_digit()) => (Some(lines), rest),
        _ => (None, output.as_str()),
    };
    if let Some(lines) = total {
        text.push_str(&format!("{TOTAL}{lines}\n"));
    }
    text.push_str("Output:\n");
    text.push_str(shown);
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::value::RawValue;

    use crate::tools::{ToolSet, ToolSpec};
    use proptest::prelude::*;

    fn history(items: &[&str]) -> Vec<HistoryItem> {
        items
            .iter()
            .map(|json| HistoryItem::new(RawValue::from_string((*json).into()).unwrap()))
            .collect()
    }

    fn check(request: &Request, expected: &[&str]) {
        let out = repaired(request, "here");
        let got: Vec<&str> = out.iter().map(|item| item.raw().get()).collect();
        assert_eq!(got, expected);
    }

    #[test]
    fn calls_and_outputs_are_paired() {
        let call = r#"{"type":"function_call","name":"f","arguments":"{}","call_id":"a"}"#;
        let custom = r#"{"type":"custom_tool_call","call_id":"b","name":"p","input":""}"#;
        let orphan = r#"{"type":"function_call_output","call_id":"zz","output":"x"}"#;
        let ghost = r#"{"type":"ghost_snapshot","ghost_commit":{}}"#;
        let request = Request {
            input: history(&[orphan, call, custom, ghost]),
            ..Request::default()
        };
        check(
            &request,
            &[
                call,
                r#"{"type":"function_call_output","call_id":"a","output":"aborted"}"#,
                custom,
                r#"{"type":"custom_tool_call_output","call_id":"b","output":"aborted"}"#,
            ],
        );
    }

    #[test]
    fn private_items_stay_with_their_maker() {
        let ours = r#"{"type":"reasoning","summary":[],"encrypted_content":"x","maker":"here"}"#;
        let theirs = r#"{"type":"reasoning","summary":[],"encrypted_content":"y","maker":"there"}"#;
        let request = Request {
            input: history(&[ours, theirs]),
            ..Request::default()
        };
        check(
            &request,
            &[r#"{"type":"reasoning","summary":[],"encrypted_content":"x"}"#],
        );
    }

    #[test]
    fn images_become_a_note_for_a_model_that_reads_none() {
        let message = r#"{"type":"message","role":"user","content":[{"type":"input_image","image_url":"http://x/y.png"}]}"#;
        let mut request = Request {
            input: history(&[message]),
            ..Request::default()
        };
        check(
            &request,
            &[
                r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"image content omitted because you do not support image input"}]}"#,
            ],
        );
        request.accepts_images = true;
        check(&request, &[message]);
    }

    #[test]
    fn stored_shell_json_is_sent_as_text_with_the_free_form_patch_tool() {
        let call = r#"{"type":"function_call","name":"shell","arguments":"{}","call_id":"a"}"#;
        let output = r#"{"type":"function_call_output","call_id":"a","output":"{\"output\":\"Total output lines: 9\\n\\nhi\\n\",\"metadata\":{\"exit_code\":3,\"duration_seconds\":2.0}}"}"#;
        let patch = ToolSpec::Custom {
            name: "apply_patch".into(),
            description: String::new(),
            format: None,
        };
        let mut request = Request {
            input: history(&[call, output]),
            ..Request::default()
        };
        check(&request, &[call, output]);
        request.tools = ToolSet::new(vec![patch]);
        check(
            &request,
            &[
                call,
                r#"{"type":"function_call_output","call_id":"a","output":"Exit code: 3\nWall time: 2 seconds\nTotal output lines: 9\nOutput:\nhi\n"}"#,
            ],
        );
    }

    proptest! {
        #[test]
        fn every_call_gets_exactly_one_answer(picks in proptest::collection::vec((0u8..4, 0u8..3), 0..24)) {
            let items: Vec<String> = picks
                .iter()
                .map(|(kind, id)| match kind {
                    0 => format!(r#"{{"type":"function_call","name":"f","arguments":"","call_id":"{id}"}}"#),
                    1 => format!(r#"{{"type":"function_call_output","call_id":"{id}","output":""}}"#),
                    2 => r#"{"type":"message","role":"user","content":[]}"#.to_owned(),
                    _ => r#"{"type":"ghost_snapshot"}"#.to_owned(),
                })
                .collect();
            let items: Vec<&str> = items.iter().map(String::as_str).collect();
            let request = Request { input: history(&items), ..Request::default() };
            let mut open: HashMap<String, i32> = HashMap::new();
            for item in repaired(&request, "here") {
                let id = item.call_id().unwrap_or_default().to_owned();
                let count = open.entry(id).or_default();
                if item.kind().is_call() { *count += 1 }
                if item.kind().is_call_output() { *count -= 1 }
                prop_assert!(*count >= 0, "an answer came before its call");
            }
            prop_assert!(open.values().all(|left| *left == 0));
        }
    }
}
