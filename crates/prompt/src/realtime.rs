//! Voice conversations: what the agent's model is told about them, and what the voice model is told about the thread.

use quipu_model::{HistoryItem, ItemKind};

use super::budget::{Budget, estimated_tokens, middle};
use super::history::{Message, Origin, origin};

/// How many tokens of the thread the voice model is given.
const CONTEXT_TOKENS: usize = 5_000;
/// How many tokens of one message.
const MESSAGE_TOKENS: usize = 500;

/// What the model is told when a conversation begins and nothing is configured.
pub fn start_instructions() -> &'static str {
    include_str!("prompts/realtime_start.md").trim_ascii_end()
}

/// The section for the beginning of a conversation.
pub fn started(instructions: &str) -> String {
    format!("<realtime_conversation>\n{instructions}\n</realtime_conversation>")
}

/// The section for a conversation that began or ended.
pub fn change(was: bool, now: Option<&str>) -> Option<String> {
    match (was, now) {
        (false, Some(instructions)) => Some(started(instructions)),
        (true, None) => Some(started(
            include_str!("prompts/realtime_end.md").trim_ascii_end(),
        )),
        _ => None,
    }
}

/// What the voice model should know of a thread: where it works, and what was said last.
pub fn startup_context(history: &[HistoryItem], cwd: &str) -> String {
    let mut left = CONTEXT_TOKENS;
    let mut said = Vec::new();
    for (speaker, text) in history.iter().rev().filter_map(words) {
        let text = middle(&text, Budget::Tokens(MESSAGE_TOKENS.min(left))).into_owned();
        left = left.saturating_sub(estimated_tokens(&text));
        said.push(format!("{speaker}: {text}"));
        if left == 0 {
            break;
        }
    }
    said.reverse();
    let place = format!("The agent works in the directory {cwd}.");
    match said.is_empty() {
        true => place,
        false => format!(
            "{place} This was said last between the user and the agent; it is for your information and need not be \
             repeated:\n\n{}",
            said.join("\n\n")
        ),
    }
}

/// What a message says, and who says it.
fn words(item: &HistoryItem) -> Option<(&'static str, String)> {
    if item.kind() != ItemKind::Message {
        return None;
    }
    let speaker = match origin(item) {
        Origin::Person => "User",
        Origin::Model => "Agent",
        Origin::Program => return None,
    };
    let text = Message::read(item)?.text();
    (!text.trim().is_empty()).then_some((speaker, text))
}

#[cfg(test)]
mod tests {
    use super::super::message;
    use super::super::tests::{items, user};
    use super::*;

    #[test]
    fn the_voice_model_learns_what_was_said_last() {
        let mut history = vec![user("<environment_context>\n</environment_context>")];
        history.push(user("first"));
        history.extend(items(&[message::assistant("answer")]));
        let context = startup_context(&history, "/w");
        assert!(
            context.ends_with("User: first\n\nAgent: answer"),
            "{context}"
        );
        assert!(context.contains("/w") && !context.contains("environment"));
        assert_eq!(
            startup_context(&[], "/w"),
            "The agent works in the directory /w."
        );
    }

    #[test]
    fn a_long_thread_is_cut() {
        let history: Vec<_> = (0..100).map(|_| user(&"word ".repeat(2_000))).collect();
        let context = startup_context(&history, "/w");
        assert!(estimated_tokens(&context) < CONTEXT_TOKENS + 500);
    }

    #[test]
    fn only_a_change_is_told() {
        assert_eq!(change(false, None), None);
        assert_eq!(change(true, Some("x")), None);
        assert_eq!(change(false, Some("x")), Some(started("x")));
        assert!(change(true, None).unwrap().contains("types again"));
    }
}
