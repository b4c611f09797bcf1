//! Slash commands: what a prompt can ask for besides a turn.

use agent_client_protocol::v1::schema::{
    AvailableCommand, AvailableCommandInput, AvailableCommandsUpdate, SessionUpdate,
    UnstructuredCommandInput,
};
use quipu_client::wire::{ReviewTarget, UserInput};

use crate::agent::Editor;
use crate::turn;

/// A command that was recognized.
#[derive(Debug, PartialEq)]
pub enum Command {
    Compact,
    Review(ReviewTarget),
    Status,
}

/// Tells the editor what there is.
pub fn announce(editor: &Editor, session_id: &str) {
    let review = UnstructuredCommandInput::new("what to look at; empty for uncommitted changes");
    let commands = vec![
        AvailableCommand::new("compact", "Shorten the history that the model reads"),
        AvailableCommand::new("review", "Review changes")
            .input(AvailableCommandInput::Unstructured(review)),
        AvailableCommand::new("status", "Show model, mode and tokens used"),
    ];
    let update = AvailableCommandsUpdate::new(commands);
    turn::send(
        editor,
        session_id,
        SessionUpdate::AvailableCommandsUpdate(update),
    );
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
