//! Slash commands.

use quipu_client::wire::ReviewTarget;

/// Every command with what it does, in the order in which help shows them.
pub const COMMANDS: [(&str, &str); 11] = [
    ("/model", "choose the model, or name it: /model NAME"),
    ("/resume", "continue another conversation"),
    ("/new", "begin a new conversation"),
    ("/fork", "continue in a copy of this conversation"),
    ("/diff", "show changes that are not committed"),
    ("/review", "review them, or what is named: /review TEXT"),
    ("/compact", "shorten the history that the model reads"),
    ("/status", "show model, directory, sandbox and tokens"),
    ("/approvals", "how to work: read-only, auto or full"),
    ("/help", "show commands and keys"),
    ("/quit", "leave; the conversation is stored"),
];

#[derive(Debug, PartialEq)]
pub enum Command {
    Model(Option<String>),
    Resume(Option<String>),
    New,
    Fork,
    Diff,
    Review(ReviewTarget),
    Compact,
    Status,
    Approvals(String),
    Help,
    Quit,
}

/// The command that a text is; an error if it looks like one and is not. Text that only begins with a slash, such as
/// a path, is for the agent.
pub fn parse(text: &str) -> Option<Result<Command, String>> {
    let text = text.trim();
    let rest = text.strip_prefix('/')?;
    let (name, argument) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    if !name.chars().all(|it| it.is_ascii_lowercase()) || name.is_empty() {
        return None;
    }
    let argument = Some(argument.trim().to_owned()).filter(|it| !it.is_empty());
    let command = match (name, argument) {
        ("model", name) => Command::Model(name),
        ("resume", id) => Command::Resume(id),
        ("approvals", mode) => Command::Approvals(mode.unwrap_or_default()),
        ("review", None) => Command::Review(ReviewTarget::UncommittedChanges),
        ("review", Some(instructions)) => Command::Review(ReviewTarget::Custom { instructions }),
        ("new", None) => Command::New,
        ("fork", None) => Command::Fork,
        ("diff", None) => Command::Diff,
        ("compact", None) => Command::Compact,
        ("status", None) => Command::Status,
        ("help", None) => Command::Help,
        ("quit" | "exit", None) => Command::Quit,
        (name, Some(_)) if COMMANDS.iter().any(|(known, _)| known[1..] == *name) => {
            return Some(Err(format!("/{name} takes nothing after it")));
        }
        (name, _) => {
            return Some(Err(format!(
                "there is no command /{name}; /help lists them"
            )));
        }
    };
    Some(Ok(command))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_told_from_text() {
        assert_eq!(parse("hello"), None);
        assert_eq!(parse("/usr/bin is full"), None);
        assert_eq!(parse("/quit"), Some(Ok(Command::Quit)));
        let name = Some("gpt-5".to_owned());
        assert_eq!(parse("/model  gpt-5 "), Some(Ok(Command::Model(name))));
        assert!(parse("/nope").unwrap().unwrap_err().contains("/help"));
        assert!(parse("/fork now").unwrap().is_err());
        for (name, _) in COMMANDS {
            assert!(parse(name).unwrap().is_ok(), "{name}");
        }
    }
}
