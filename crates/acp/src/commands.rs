//! Slash commands: what a prompt can ask for besides a turn.

use quipu_client::wire::{ReviewTarget, UserInput};

use crate::editor::Editor;
use crate::schema::{AvailableCommand, AvailableCommandInput, Update};

/// A command that was recognized.
#[derive(Debug, PartialEq)]
pub enum Command {
    Compact,
    Review(ReviewTarget),
    Status,
}

/// Tells the editor what there is.
pub async fn announce(editor: &Editor, session_id: &str) {
    let command = |name, description, hint: Option<_>| AvailableCommand {
        name,
        description,
        input: hint.map(|hint| AvailableCommandInput { hint }),
    };
    let what = "what to look at; empty for uncommitted changes";
    let available_commands = vec![
        command("compact", "Shorten the history that the model reads", None),
        command("review", "Review changes", Some(what)),
        command("status", "Show model, mode and tokens used", None),
    ];
    let update = Update::AvailableCommandsUpdate { available_commands };
    editor.update(session_id, update).await;
}

/// The command that an input is, if it is one.
pub fn of(input: &[UserInput]) -> Option<Command> {
    let [UserInput::Text { text, .. }] = input else {
        return None;
    };
    let (name, rest) = text
        .trim()
        .split_once(char::is_whitespace)
        .unwrap_or((text.trim(), ""));
    match (name, rest.trim()) {
        ("/compact", "") => Some(Command::Compact),
        ("/status", "") => Some(Command::Status),
        ("/review", "") => Some(Command::Review(ReviewTarget::UncommittedChanges)),
        ("/review", instructions) => {
            let instructions = instructions.to_owned();
            Some(Command::Review(ReviewTarget::Custom { instructions }))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_commands_are_recognized() {
        let parsed = |text: &str| {
            of(&[UserInput::Text {
                text: text.to_owned(),
                text_elements: Vec::new(),
            }])
        };
        assert_eq!(parsed("/compact"), Some(Command::Compact));
        assert_eq!(parsed("/compact this function"), None);
        assert_eq!(parsed("/tmp is full"), None);
        let instructions = "the parser".to_owned();
        let custom = ReviewTarget::Custom { instructions };
        assert_eq!(parsed("/review the parser"), Some(Command::Review(custom)));
    }
}
