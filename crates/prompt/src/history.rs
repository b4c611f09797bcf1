//! Reading a history: which messages the person wrote, and how much room everything takes.
//! Making a history fit to be sent (calls without outputs, images) is `quipu-model`'s work.

use std::borrow::Cow;

use quipu_model::{HistoryItem, ItemKind};
use serde::Deserialize;

/// How the texts begin and end that the program puts into a history in the person's name.
const CONTEXT: [(&str, &str); 9] = [
    ("# AGENTS.md instructions for ", "</INSTRUCTIONS>"),
    ("<user_instructions>", "</user_instructions>"),
    ("<environment_context>", "</environment_context>"),
    ("<skill>", "</skill>"),
    ("<user_shell_command>", "</user_shell_command>"),
    ("<turn_aborted>", "</turn_aborted>"),
    ("<subagent_notification>", "</subagent_notification>"),
    HOOK_PROMPT,
    ("<user_action>", "</user_action>"),
];

const HOOK_PROMPT: (&str, &str) = ("<hook_prompt ", "</hook_prompt>");

/// Who an item comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// The person.
    Person,
    /// The program: context, notes, outputs of tools.
    Program,
    /// The model.
    Model,
}

/// Who an item comes from.
pub fn origin(item: &HistoryItem) -> Origin {
    match item.kind() {
        ItemKind::Message => match Message::read(item) {
            Some(message) if message.role == "assistant" => Origin::Model,
            Some(message) if message.is_by_person() => Origin::Person,
            _ => Origin::Program,
        },
        ItemKind::FunctionCallOutput
        | ItemKind::CustomToolCallOutput
        | ItemKind::ToolSearchOutput
        | ItemKind::GhostSnapshot
        | ItemKind::Other => Origin::Program,
        _ => Origin::Model,
    }
}

/// What the person wrote in an item, all texts joined; nothing if it is by anyone else.
pub fn words_of_person(item: &HistoryItem) -> Option<String> {
    if item.kind() != ItemKind::Message {
        return None;
    }
    Message::read(item)
        .filter(Message::is_by_person)
        .map(|message| message.text())
}

/// Whether an item is what a hook made the model go on with.
pub(crate) fn is_hook_prompt(item: &HistoryItem) -> bool {
    item.kind() == ItemKind::Message
        && Message::read(item).is_some_and(|message| {
            let mut parts = message.content.iter();
            parts.any(|part| is_within(&part.text, HOOK_PROMPT))
        })
}

/// A message, of which only the texts are read.
#[derive(Deserialize)]
pub(crate) struct Message<'a> {
    #[serde(borrow)]
    pub(crate) role: Cow<'a, str>,
    #[serde(borrow, default)]
    content: Vec<Part<'a>>,
}

#[derive(Deserialize)]
struct Part<'a> {
    #[serde(borrow, default)]
    text: Cow<'a, str>,
}

impl<'a> Message<'a> {
    pub(crate) fn read(item: &'a HistoryItem) -> Option<Self> {
        serde_json::from_str(item.raw().get()).ok()
    }

    /// One part of context makes the whole message context.
    pub(crate) fn is_by_person(&self) -> bool {
        self.role == "user" && !self.content.iter().any(|part| is_context(&part.text))
    }

    pub(crate) fn text(&self) -> String {
        self.content.iter().map(|part| &*part.text).collect()
    }
}

fn is_context(text: &str) -> bool {
    CONTEXT.iter().any(|marks| is_within(text, *marks))
}

fn is_within(text: &str, (start, end): (&str, &str)) -> bool {
    let text = text.trim();
    text.starts_with(start) && text.ends_with(end)
}

/// How many tokens a history takes, kept up to date item by item so that asking costs nothing however
/// long the thread is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ContextSize {
    /// What the provider counted with its last response.
    reported: u64,
    /// What was recorded after the model's last item.
    since: u64,
    /// Encrypted reasoning of the person's last turn, and of all turns before.
    reasoning: u64,
    old_reasoning: u64,
}

impl ContextSize {
    /// The size of a history whose last response was counted as `reported` tokens.
    pub fn of<'a>(history: impl IntoIterator<Item = &'a HistoryItem>, reported: u64) -> Self {
        let mut size = Self {
            reported,
            ..Self::default()
        };
        for item in history {
            size.recorded(item);
        }
        size
    }

    /// The size of a history that no provider has counted yet, such as one made by a compaction.
    pub fn estimated<'a>(
        instructions: &str,
        history: impl IntoIterator<Item = &'a HistoryItem>,
    ) -> Self {
        let items: u64 = history.into_iter().map(HistoryItem::estimated_tokens).sum();
        let reported = items + super::budget::estimated_tokens(instructions) as u64;
        Self {
            reported,
            ..Self::default()
        }
    }

    /// An item was added to the history.
    pub fn recorded(&mut self, item: &HistoryItem) {
        let tokens = item.estimated_tokens();
        match origin(item) {
            Origin::Model => {
                self.since = 0;
                if item.kind() == ItemKind::Reasoning && is_encrypted(item) {
                    self.reasoning += tokens;
                }
            }
            Origin::Person => {
                self.since += tokens;
                self.old_reasoning += std::mem::take(&mut self.reasoning);
            }
            Origin::Program => self.since += tokens,
        }
    }

    /// A response ended, and the provider counted so many tokens in all.
    pub fn counted(&mut self, total_tokens: u64) {
        self.reported = total_tokens;
    }

    /// The tokens that the next request takes. Providers that count encrypted reasoning themselves say
    /// so with each response.
    pub fn tokens(&self, reasoning_is_counted: bool) -> u64 {
        let reasoning = if reasoning_is_counted {
            0
        } else {
            self.old_reasoning
        };
        self.reported + self.since + reasoning
    }
}

fn is_encrypted(item: &HistoryItem) -> bool {
    item.raw().get().contains(r#""encrypted_content":""#)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{history_item, user};
    use super::*;

    #[test]
    fn only_the_persons_own_words_are_theirs() {
        for words in [
            "hi",
            "<skill> is a tag",
            "# AGENTS.md instructions for me",
            "",
        ] {
            assert_eq!(words_of_person(&user(words)).as_deref(), Some(words));
            assert_eq!(origin(&user(words)), Origin::Person);
        }
        for text in [
            "# AGENTS.md instructions for /w\n\n<INSTRUCTIONS>\nx\n</INSTRUCTIONS>",
            "<environment_context>\n  <cwd>/w</cwd>\n</environment_context>",
            "<skill>\n<name>n</name>\n</skill>",
            "<user_shell_command>\n</user_shell_command>",
            "<turn_aborted>\nx\n</turn_aborted>",
            "<subagent_notification>\n{}\n</subagent_notification>",
            "<hook_prompt hook_run_id=\"stop:0:/h\">go on</hook_prompt>",
            "<user_action>\n  <action>review</action>\n  </user_action>\n",
        ] {
            assert_eq!(words_of_person(&user(text)), None, "{text}");
            assert_eq!(origin(&user(text)), Origin::Program, "{text}");
        }
        let mixed = r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"a"},{"type":"input_image","image_url":"x"},{"type":"input_text","text":"b\n"}]}"#;
        assert_eq!(
            words_of_person(&history_item(mixed)).as_deref(),
            Some("ab\n")
        );
        let developer = r#"{"type":"message","role":"developer","content":[]}"#;
        assert_eq!(origin(&history_item(developer)), Origin::Program);
    }

    #[test]
    fn the_size_is_what_was_counted_and_what_came_after() {
        let first = user("hello");
        let call =
            history_item(r#"{"type":"function_call","name":"f","arguments":"{}","call_id":"a"}"#);
        let output = history_item(r#"{"type":"function_call_output","call_id":"a","output":"x"}"#);
        let mut size = ContextSize::of([&first], 0);
        assert_eq!(size.tokens(true), first.estimated_tokens());
        size.recorded(&call);
        size.counted(100);
        size.recorded(&output);
        assert_eq!(size.tokens(true), 100 + output.estimated_tokens());
        assert_eq!(size, ContextSize::of([&first, &call, &output], 100));
    }

    #[test]
    fn old_encrypted_reasoning_counts_unless_the_provider_counts_it() {
        let secret = "e".repeat(4_000);
        let json = format!(r#"{{"type":"reasoning","summary":[],"encrypted_content":"{secret}"}}"#);
        let (thought, next) = (history_item(&json), user("next"));
        let mut size = ContextSize::of([&thought], 50);
        assert_eq!(size.tokens(false), 50);
        size.recorded(&next);
        let said = 50 + next.estimated_tokens();
        assert_eq!(size.tokens(true), said);
        assert_eq!(size.tokens(false), said + thought.estimated_tokens());
    }
}
