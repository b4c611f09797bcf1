//! Commands that delete without asking, and are therefore asked about even where others are not.
//!
//! This is a courtesy to a person who would regret them, not a guard: the sandbox is the guard.

use crate::bash::{Command, Script, parse_script, script_of};

/// Whether a command is `rm -f`, `rm -rf`, the same behind `sudo`, or a script with one of them.
#[must_use]
pub fn is_dangerous(command: &Command) -> bool {
    let nested = command.readings().filter_map(script_of).any(|script| {
        matches!(parse_script(script), Script::Plain(commands) if commands.iter().any(deletes))
    });
    nested || deletes(command)
}

fn deletes(command: &Command) -> bool {
    command.readings().any(|words| {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        matches!(
            words.as_slice(),
            ["rm", "-f" | "-rf", ..] | ["sudo", "rm", "-f" | "-rf", ..]
        )
    })
}
