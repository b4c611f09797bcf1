//! Completion of `/command` and `@file` at the cursor.

use crate::command::COMMANDS;
use crate::menu::{Menu, Pick};

/// Files that are offered.
const MOST_FILES: usize = 20;

/// What is being typed at the cursor.
#[derive(Debug, PartialEq, Eq)]
pub enum Word<'a> {
    /// The beginning of a command.
    Command(&'a str),
    /// Where the `@` is, and what follows it.
    File { at: usize, query: &'a str },
}

/// The word before the cursor that can be completed.
pub fn word(text: &str, cursor: usize) -> Option<Word<'_>> {
    let before = &text[..cursor];
    if before.starts_with('/') && !before.contains(char::is_whitespace) {
        return Some(Word::Command(before));
    }
    let start = before.rfind(char::is_whitespace).map_or(0, |at| at + 1);
    let query = before[start..].strip_prefix('@')?;
    Some(Word::File { at: start, query })
}

/// The commands that begin like this.
pub fn commands(begun: &str) -> Option<Menu> {
    let fitting = COMMANDS
        .iter()
        .filter(|(name, _)| name.starts_with(begun) && *name != begun);
    let entries = fitting.map(|(name, what)| {
        let with = format!("{name} ");
        (format!("{name:<10} {what}"), Pick::Text { from: 0, with })
    });
    Menu::new("", entries.collect(), true)
}

/// The files that were found for what follows the `@`. A name with spaces is quoted.
pub fn files(at: usize, paths: Vec<String>) -> Option<Menu> {
    let entries = paths.into_iter().take(MOST_FILES).map(|path| {
        let with = match path.contains(' ') {
            true => format!("\"{path}\" "),
            false => format!("{path} "),
        };
        (path, Pick::Text { from: at, with })
    });
    Menu::new("", entries.collect(), true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_at_the_cursor() {
        assert_eq!(word("/mo", 3), Some(Word::Command("/mo")));
        assert_eq!(word("/model x", 8), None);
        assert_eq!(
            word("see @src/ma", 11),
            Some(Word::File {
                at: 4,
                query: "src/ma"
            })
        );
        assert_eq!(word("me@example.org", 14), None);
        assert_eq!(word("@a b", 2), Some(Word::File { at: 0, query: "a" }));
    }
}
