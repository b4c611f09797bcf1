//! A stored thread, sent to the editor again.

use quipu_client::wire::{ThreadItem, Turn, UserInput};

use crate::editor::Editor;
use crate::schema::{ContentBlock, Update};
use crate::tool_call;

/// Sends all items of a thread.
pub async fn replay(editor: &Editor, session_id: &str, turns: &[Turn]) {
    for item in turns.iter().flat_map(|turn| &turn.items) {
        for update in updates(item) {
            editor.update(session_id, update).await;
        }
    }
}

fn updates(item: &ThreadItem) -> Vec<Update> {
    match item {
        ThreadItem::UserMessage { content, .. } => {
            let chunk = |content| Update::UserMessageChunk { content };
            content.iter().filter_map(block).map(chunk).collect()
        }
        ThreadItem::AgentMessage { text, .. } | ThreadItem::Plan { text, .. } => {
            let content = text.as_str().into();
            vec![Update::AgentMessageChunk { content }]
        }
        ThreadItem::Reasoning { summary, .. } => {
            let content = |text: &String| text.as_str().into();
            let chunk = |content| Update::AgentThoughtChunk { content };
            summary.iter().map(content).map(chunk).collect()
        }
        other => tool_call::of(other)
            .into_iter()
            .map(Update::ToolCall)
            .collect(),
    }
}

/// What the user said, as content.
fn block(input: &UserInput) -> Option<ContentBlock> {
    Some(match input {
        UserInput::Text { text, .. } => text.as_str().into(),
        UserInput::Image { url } => {
            let (kind, data) = url.strip_prefix("data:")?.split_once(";base64,")?;
            ContentBlock::Image {
                data: data.to_owned(),
                mime_type: kind.to_owned(),
            }
        }
        UserInput::LocalImage { path } => format!("[image {path}]").as_str().into(),
        UserInput::Skill { name, .. } | UserInput::Mention { name, .. } => {
            format!("@{name}").as_str().into()
        }
        _ => return None,
    })
}

/// Seconds since 1970 as a date and time.
pub fn rfc3339(seconds: i64) -> String {
    let (days, rest) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    // The calendar repeats every 400 years; years begin in March, so that leap days come last.
    let day = days + 719_468;
    let (era, day) = (day.div_euclid(146_097), day.rem_euclid(146_097));
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let date = day - (153 * month + 2) / 5 + 1;
    let (month, next) = if month < 10 {
        (month + 3, 0)
    } else {
        (month - 9, 1)
    };
    let year = year + era * 400 + next;
    let (hour, minute, second) = (rest / 3600, rest / 60 % 60, rest % 60);
    format!("{year:04}-{month:02}-{date:02}T{hour:02}:{minute:02}:{second:02}Z")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_follow_the_calendar() {
        for (seconds, expected) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (1_763_287_205, "2025-11-16T10:00:05Z"),
        ] {
            assert_eq!(rfc3339(seconds), expected);
        }
    }
}
