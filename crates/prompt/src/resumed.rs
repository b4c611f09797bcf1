//! What the model reads when its turn goes on in another server, because the first one died or left in the middle.

use quipu_model::{HistoryItem, ItemKind};
use quipu_wire::{Json, ThreadItem};

use super::message;

const UNKNOWN: &str = "The server stopped while this call was under way, so its outcome is unknown: it may have done all of \
    its work, a part of it, or nothing. Commands that it started have ended. Check the present state before you repeat it.";

const KNOWN: &str = "The server stopped before the output of this call was stored. The call had ended; this is what is \
    known of it: ";

/// What became of the calls of the last answer that the history has no outputs of. `item` finds what the turn shows of a
/// call that ended.
pub fn outputs<'a>(history: &[Json], item: impl Fn(&str) -> Option<&'a ThreadItem>) -> Vec<Json> {
    let mut answered = Vec::new();
    let mut outputs = Vec::new();
    for raw in history.iter().rev() {
        let Ok(raw) = serde_json::value::RawValue::from_string(raw.get().to_owned()) else {
            continue;
        };
        let raw = HistoryItem::new(raw);
        let Some(call_id) = raw.call_id().map(str::to_owned) else {
            match raw.kind() {
                // Input is added when all calls before it have their outputs.
                ItemKind::Message if !is_of_model(&raw) => break,
                _ => continue,
            }
        };
        match raw.kind() {
            kind if kind.is_call_output() => answered.push(call_id),
            kind if kind.is_call() && !answered.contains(&call_id) => {
                outputs.extend(output(kind, &call_id, item(&call_id)));
            }
            _ => {}
        }
    }
    outputs.reverse();
    outputs
}

fn is_of_model(item: &HistoryItem) -> bool {
    item.raw().get().contains(r#""role":"assistant""#)
}

fn output(kind: ItemKind, call_id: &str, item: Option<&ThreadItem>) -> Option<Json> {
    let kind = match kind {
        ItemKind::FunctionCall | ItemKind::LocalShellCall => "function_call_output",
        ItemKind::CustomToolCall => "custom_tool_call_output",
        _ => return None,
    };
    let known = item.and_then(|item| serde_json::to_string(item).ok());
    let text = known.map_or_else(|| UNKNOWN.to_owned(), |item| format!("{KNOWN}{item}"));
    let output = serde_json::json!({ "type": kind, "call_id": call_id, "output": text });
    Some(Json::from(output))
}

/// How many outputs of calls a history has.
pub fn count_outputs(history: &[Json]) -> usize {
    let outputs = history.iter();
    outputs
        .filter(|item| {
            let item = item.get();
            item.contains(r#""type":"function_call_output""#)
                || item.contains(r#""type":"custom_tool_call_output""#)
        })
        .count()
}

/// After an answer of which only the beginning is known; nothing if the history does not end with one.
pub fn cut_off(history: &[Json]) -> Option<Json> {
    let last = history.last()?.get();
    let is_cut = last.contains(r#""role":"assistant""#) || last.contains(r#""type":"reasoning""#);
    is_cut.then(|| {
        message::developer(vec![message::text(
            "The server stopped while you were answering. What you wrote before is above, as far as it was stored. Go on \
             with the task; do not repeat what was done.",
        )])
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn history(items: &[serde_json::Value]) -> Vec<Json> {
        items.iter().cloned().map(Json::from).collect()
    }

    fn call(kind: &str, id: &str) -> serde_json::Value {
        json!({ "type": kind, "call_id": id, "name": "x", "arguments": "{}", "input": "" })
    }

    fn said(role: &str) -> serde_json::Value {
        json!({ "type": "message", "role": role, "content": [] })
    }

    fn done(id: &str) -> serde_json::Value {
        json!({ "type": "function_call_output", "call_id": id, "output": "done" })
    }

    #[test]
    fn calls_without_outputs_are_answered_in_their_order() {
        let history = history(&[
            call("function_call", "of an earlier turn"),
            said("user"),
            call("function_call", "a"),
            said("assistant"),
            call("custom_tool_call", "b"),
            call("function_call", "c"),
            done("c"),
        ]);
        let view = ThreadItem::ImageView {
            id: "b".to_owned(),
            path: "/image".to_owned(),
        };
        let answers = outputs(&history, |id| (id == "b").then_some(&view));
        let answers: Vec<_> = answers.iter().map(Json::to_value).collect();
        assert_eq!(answers.len(), 2);
        assert_eq!(answers[0]["type"], "function_call_output");
        assert_eq!(answers[0]["call_id"], "a");
        assert_eq!(answers[0]["output"], UNKNOWN);
        assert_eq!(answers[1]["type"], "custom_tool_call_output");
        let known = answers[1]["output"].as_str().unwrap();
        assert!(
            known.starts_with(KNOWN) && known.contains("/image"),
            "{known}"
        );
    }

    #[test]
    fn only_an_answer_can_be_cut_off() {
        let is_cut = |item| cut_off(&history(&[item])).is_some();
        assert!(is_cut(said("assistant")));
        assert!(is_cut(json!({ "type": "reasoning", "summary": [] })));
        assert!(!is_cut(said("user")));
        assert!(!is_cut(done("a")));
        assert_eq!(count_outputs(&history(&[done("a"), said("user")])), 1);
    }
}
