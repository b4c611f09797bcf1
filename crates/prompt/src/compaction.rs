//! Making a history shorter when it no longer fits: a model writes a note on what matters, and the note and
//! the person's own words take the place of everything else. Works with every provider. Some providers make the
//! shorter history themselves; what of it can be used is decided here too.

use quipu_model::catalogue::ModelInfo;
use quipu_model::{HistoryItem, ItemKind};
use quipu_wire::Json;

use super::budget::{Budget, estimated_tokens, middle};
use super::history::{ContextSize, Message, Origin, is_hook_prompt, origin, words_of_person};
use super::message;

/// How many tokens of the person's words stay.
const KEPT_TOKENS: usize = 20_000;

const PROMPT: &str = include_str!("prompts/compact.md");
const NO_SUMMARY: &str = "(no summary available)";

/// Which model writes the note.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Summariser {
    /// The model of the turn.
    Current,
    /// The model of the turn before, since the history is too long for the new one.
    Previous,
}

/// Whether a history of so many tokens must be compacted before the model goes on.
pub fn is_due(tokens: u64, model: &ModelInfo) -> bool {
    limit(model).is_some_and(|limit| tokens >= limit)
}

/// Whether a turn must begin with a compaction, and by which model. `previous` is the model of the turn
/// before, if there was one.
pub fn before_turn(
    tokens: u64,
    model: &ModelInfo,
    previous: Option<&ModelInfo>,
) -> Option<Summariser> {
    let shrank = previous.is_some_and(|previous| {
        previous.slug != model.slug && previous.context_window > model.context_window
    });
    if shrank && limit(model).is_some_and(|limit| tokens > limit) {
        return Some(Summariser::Previous);
    }
    is_due(tokens, model).then_some(Summariser::Current)
}

fn limit(model: &ModelInfo) -> Option<u64> {
    model
        .compaction_limit()
        .map(|limit| u64::try_from(limit).unwrap_or_default())
}

/// The message that asks for the note; `custom` is the configuration's wording.
pub fn request(custom: Option<&str>) -> Json {
    message::user_text(custom.unwrap_or(PROMPT.trim_ascii_end()))
}

/// The text that takes the place of the history: the model's answer and what it is.
pub fn summary(answer: Option<&str>) -> String {
    let answer = answer
        .filter(|answer| !answer.trim().is_empty())
        .unwrap_or(NO_SUMMARY);
    format!("{}\n{answer}", prefix())
}

/// Takes the oldest item out of a history that is too long even to be summed up, with the call or output
/// that belongs to it. The last item stays.
pub fn drop_oldest(history: &mut Vec<HistoryItem>) {
    if history.len() <= 1 {
        return;
    }
    let oldest = history.remove(0);
    if let Some(call_id) = oldest.call_id() {
        history.retain(|item| item.call_id() != Some(call_id));
    }
}

/// The new history: the person's words as far as they fit, newest first in line, and the summary.
/// In the middle of a turn the context goes in too, before the last thing that the person said; otherwise
/// `context` is empty and the next turn tells it again.
pub fn replacement(history: &[HistoryItem], summary: &str, context: Vec<Json>) -> Vec<Json> {
    let mut items = kept_words(history);
    let before_last = items.len().saturating_sub(1);
    items.splice(before_last..before_last, context);
    items.push(message::user_text(summary));
    let snapshots = history
        .iter()
        .filter(|item| item.kind() == ItemKind::GhostSnapshot);
    items.extend(snapshots.filter_map(|item| Json::try_from(item.raw().to_owned()).ok()));
    items
}

/// Takes outputs and notes off the end of a history that is longer than the window of the model whose provider
/// compacts it.
pub fn fit(history: &mut Vec<HistoryItem>, instructions: &str, window: u64) {
    let mut tokens = ContextSize::estimated(instructions, history.iter()).tokens(true);
    while tokens > window
        && let Some(last) = history.pop_if(|last| is_output(last) || is_of_developer(last))
    {
        tokens = tokens.saturating_sub(last.estimated_tokens());
    }
}

/// The new history as a provider made it, without what it repeated of the context. In the middle of a turn
/// `context` goes before the last thing that the person said, else before what stands for the old history, else
/// to the end.
pub fn provided(items: Vec<Json>, context: Vec<Json>) -> Vec<Json> {
    let read = |item: &Json| HistoryItem::new(item.shared());
    let mut kept: Vec<(HistoryItem, Json)> = items
        .into_iter()
        .map(|item| (read(&item), item))
        .filter(|(item, _)| is_kept(item))
        .collect();
    let last = |wanted: fn(&HistoryItem) -> bool| kept.iter().rposition(|(item, _)| wanted(item));
    let place = last(|item| origin(item) == Origin::Person)
        .or_else(|| last(|item| item.kind() == ItemKind::Compaction))
        .unwrap_or(kept.len());
    let after = kept.split_off(place);
    let items = |items: Vec<(HistoryItem, Json)>| items.into_iter().map(|(_, item)| item);
    items(kept).chain(context).chain(items(after)).collect()
}

fn is_kept(item: &HistoryItem) -> bool {
    match item.kind() {
        ItemKind::Compaction => true,
        ItemKind::Message => origin(item) != Origin::Program || is_hook_prompt(item),
        _ => false,
    }
}

fn is_output(item: &HistoryItem) -> bool {
    matches!(
        item.kind(),
        ItemKind::FunctionCallOutput | ItemKind::CustomToolCallOutput | ItemKind::ToolSearchOutput
    )
}

fn is_of_developer(item: &HistoryItem) -> bool {
    item.kind() == ItemKind::Message
        && Message::read(item).is_some_and(|message| message.role == "developer")
}

fn kept_words(history: &[HistoryItem]) -> Vec<Json> {
    let mut left = KEPT_TOKENS;
    let mut kept = Vec::new();
    let words = history.iter().rev().filter_map(words_of_person);
    for text in words.filter(|text| !text.is_empty() && !is_summary(text)) {
        if left == 0 {
            break;
        }
        kept.push(message::user_text(middle(&text, Budget::Tokens(left))));
        left = left.saturating_sub(estimated_tokens(&text));
    }
    kept.reverse();
    kept
}

/// Whether a message is the summary of an earlier compaction.
fn is_summary(text: &str) -> bool {
    text.strip_prefix(prefix())
        .is_some_and(|rest| rest.starts_with('\n'))
}

fn prefix() -> &'static str {
    include_str!("prompts/summary_prefix.md").trim_ascii_end()
}

#[cfg(test)]
mod tests {
    use super::super::tests::{history_item, items, user};
    use super::*;
    use proptest::prelude::*;

    fn texts(items: &[Json]) -> Vec<String> {
        let text = |item: &Json| {
            item.to_value()["content"][0]["text"]
                .as_str()
                .unwrap()
                .to_owned()
        };
        items.iter().map(text).collect()
    }

    fn context() -> Vec<HistoryItem> {
        let developer =
            r#"{"type":"message","role":"developer","content":[{"type":"input_text","text":"P"}]}"#;
        vec![
            history_item(developer),
            user("<environment_context>\n</environment_context>"),
        ]
    }

    /// The structure of sample 08: between turns, only the person's words and the summary stay.
    #[test]
    fn between_turns_the_words_and_the_summary_stay() {
        let mut history = context();
        history.push(user("first question"));
        history.extend(items(&[message::assistant("a1")]));
        let summary = summary(Some("SUMMARY TEXT"));
        assert!(summary.ends_with("\nSUMMARY TEXT"));
        let new = replacement(&history, &summary, Vec::new());
        assert_eq!(texts(&new), ["first question", summary.as_str()]);
        // A second compaction does not take the first summary for the person's words.
        let mut history = items(&new);
        history.push(user("second question"));
        let second = super::summary(Some("  "));
        assert!(second.ends_with("\n(no summary available)"));
        let new = replacement(&history, &second, Vec::new());
        assert_eq!(
            texts(&new),
            ["first question", "second question", second.as_str()]
        );
    }

    /// The structure of sample 09: within a turn, the context comes before the last words.
    #[test]
    fn within_a_turn_the_context_is_reported_again() {
        let history = [user("q0"), user("q1")];
        let told = vec![message::user_text("C1"), message::user_text("C2")];
        let new = replacement(&history, "S", told.clone());
        assert_eq!(texts(&new), ["q0", "C1", "C2", "q1", "S"]);
        assert_eq!(texts(&replacement(&[], "S", told)), ["C1", "C2", "S"]);
    }

    /// The figures are those of the reference program.
    #[test]
    fn the_newest_words_are_kept_and_the_one_that_crosses_the_limit_is_cut() {
        let history = [
            user("dropped"),
            user(&"A".repeat(30_000)),
            user(&"é".repeat(30_000)),
            user(&"C".repeat(10)),
        ];
        let new = texts(&replacement(&history, "S", Vec::new()));
        let half = "A".repeat(9_994);
        assert_eq!(new.len(), 4);
        assert_eq!(new[0], format!("{half}…2503 tokens truncated…{half}"));
        assert_eq!(
            new[1..],
            ["é".repeat(30_000), "C".repeat(10), "S".to_owned()]
        );
    }

    fn of(role: &str, text: &str) -> Json {
        let item =
            serde_json::json!({"type": "message", "role": role, "content": [{"text": text}]});
        Json::new(&item).unwrap()
    }

    fn compaction() -> Json {
        let item = serde_json::json!({"type": "compaction", "encrypted_content": "E"});
        Json::new(&item).unwrap()
    }

    /// The structure of sample 10, and where the reference puts the context.
    #[test]
    fn a_history_made_by_the_provider_is_used_without_its_context() {
        let made = || {
            vec![
                of("user", "q0"),
                of("user", "<environment_context>\n</environment_context>"),
                of("developer", "stale"),
                of("assistant", "a0"),
                Json::new(&serde_json::json!({"type": "reasoning", "summary": []})).unwrap(),
                of("user", "<hook_prompt id=\"1\">go on</hook_prompt>"),
                compaction(),
            ]
        };
        let shown = |items: Vec<Json>| -> Vec<String> {
            let name = |item: &Json| {
                let item = item.to_value();
                item["content"][0]["text"]
                    .as_str()
                    .unwrap_or("compaction")
                    .to_owned()
            };
            items.iter().map(name).collect()
        };
        let hook = "<hook_prompt id=\"1\">go on</hook_prompt>";
        let context = || vec![of("user", "C")];
        assert_eq!(
            shown(provided(made(), Vec::new())),
            ["q0", "a0", hook, "compaction"]
        );
        assert_eq!(
            shown(provided(made(), context())),
            ["C", "q0", "a0", hook, "compaction"]
        );
        let without_words = vec![of("assistant", "a"), compaction()];
        assert_eq!(
            shown(provided(without_words, context())),
            ["a", "C", "compaction"]
        );
        assert_eq!(
            shown(provided(vec![of("assistant", "a")], context())),
            ["a", "C"]
        );
    }

    #[test]
    fn outputs_at_the_end_are_left_out_until_the_history_fits() {
        let output = serde_json::json!({"type": "function_call_output", "call_id": "a", "output": "x".repeat(4_000)});
        let output = output.to_string();
        let whole = vec![user("q"), history_item(&output), history_item(&output)];
        let left = |window| {
            let mut history = whole.clone();
            fit(&mut history, "", window);
            history.len()
        };
        assert_eq!(
            [left(10_000), left(1_500), left(500), left(1)],
            [3, 2, 1, 1]
        );
    }

    #[test]
    fn snapshots_survive() {
        let ghost = r#"{"type":"ghost_snapshot","ghost_commit":{}}"#;
        let new = replacement(&[history_item(ghost), user("q")], "S", Vec::new());
        assert_eq!(new.last().unwrap().get(), ghost);
    }

    #[test]
    fn the_oldest_item_goes_with_its_partner() {
        let call = r#"{"type":"function_call","name":"f","arguments":"{}","call_id":"a"}"#;
        let output = r#"{"type":"function_call_output","call_id":"a","output":"x"}"#;
        let mut history = vec![
            history_item(call),
            user("q"),
            history_item(output),
            user("sum up"),
        ];
        for left in [2, 1, 1] {
            drop_oldest(&mut history);
            assert_eq!(history.len(), left);
        }
    }

    #[test]
    fn a_compaction_is_due_at_nine_tenths_of_the_window() {
        let model = |slug: &str, window| ModelInfo {
            slug: slug.into(),
            context_window: window,
            ..ModelInfo::default()
        };
        let (small, large) = (model("small", Some(1_000)), model("large", Some(10_000)));
        assert!(is_due(900, &small) && !is_due(899, &small));
        assert!(!is_due(u64::MAX, &model("endless", None)));
        assert_eq!(before_turn(899, &small, Some(&large)), None);
        assert_eq!(
            before_turn(900, &small, Some(&large)),
            Some(Summariser::Current)
        );
        assert_eq!(
            before_turn(901, &small, Some(&large)),
            Some(Summariser::Previous)
        );
        assert_eq!(before_turn(901, &small, None), Some(Summariser::Current));
        assert_eq!(
            before_turn(901, &small, Some(&small)),
            Some(Summariser::Current)
        );
        assert_eq!(before_turn(901, &large, Some(&small)), None);
    }

    proptest! {
        #[test]
        fn a_compacted_history_never_grows_beyond_its_budget(
            lengths in proptest::collection::vec(0usize..60_000, 0..8),
        ) {
            let history: Vec<_> = lengths.iter().map(|length| user(&"é".repeat(*length))).collect();
            let new = replacement(&history, "S", Vec::new());
            let kept: usize = texts(&new).iter().map(String::len).sum();
            prop_assert!(kept <= KEPT_TOKENS * 4 + 64, "{kept}");
        }
    }
}
