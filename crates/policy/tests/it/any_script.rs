//! What holds for any script whatever; shared with the fuzz target.

use quipu_policy::actions::command_actions;
use quipu_policy::bash::{Script, parse_script};
use quipu_policy::command_line::display;
use quipu_policy::dangerous::is_dangerous;
use quipu_policy::safe::is_known_safe;

/// Looks at `data` as a script in every way there is.
pub fn check(data: &[u8]) {
    let script = String::from_utf8_lossy(data);
    let argv = ["bash", "-lc", &*script].map(str::to_owned);
    assert!(command_actions(&argv).len() <= script.len().max(1));
    let Script::Plain(commands) = parse_script(&script) else {
        return;
    };
    assert!(!commands.is_empty());
    for command in &commands {
        assert!(!command.words.is_empty());
        assert_eq!(command.words.len(), command.resolved.len());
        assert!(command.expands_at.is_none_or(|at| at < command.words.len()));
        assert!(!(is_known_safe(command) && is_dangerous(command)));
        quoting_keeps_words(&command.resolved);
    }
}

/// Words that are quoted for a shell and split again are the same words.
fn quoting_keeps_words(words: &[String]) {
    if words.iter().any(|word| word.contains(['\0', '\r'])) {
        return;
    }
    let script = format!("program {}", display(words));
    let Script::Plain(commands) = parse_script(&script) else {
        panic!("{script:?} is not plain");
    };
    assert_eq!(commands.len(), 1, "{script:?}");
    assert_eq!(&commands[0].resolved[1..], words, "{script:?}");
}
