//! Scripts that feed one command from a here-document, which is how models pass longer input.

use super::words::{Lexer, Token};
use super::{Command, Script};

/// A script of one command line with a here-document and nothing after it.
pub(super) fn parse(script: &str) -> Option<Script> {
    let (line, rest) = script.split_once('\n')?;
    let (before, after) = line.split_once("<<")?;
    let (words, redirections) = match before.find(['<', '>']) {
        Some(start) => before.split_at(start),
        None => (before, ""),
    };
    let command = bare_words(words)?;
    let (indented, after) = match after.strip_prefix('-') {
        Some(after) => (true, after),
        None => (false, after),
    };
    let delimiter = Delimiter::parse(after)?;
    let extras = [redirections, delimiter.rest];
    if extras.iter().any(|extra| starts_more(extra)) {
        return None;
    }
    let body = body(rest, &delimiter.text, indented)?;
    let alone = extras.iter().all(|extra| extra.trim().is_empty())
        && (delimiter.quoted || !body.contains(['$', '`', '\\']));
    Some(Script::HereDoc { command, alone })
}

fn bare_words(text: &str) -> Option<Command> {
    let mut lexer = Lexer::new(text);
    let mut command = Command::default();
    while let Some(token) = lexer.next()? {
        match token {
            Token::Word(word) if command.words.is_empty() && !word.names_program() => return None,
            Token::Word(word) if !word.quoted => command.push(word),
            _ => return None,
        }
    }
    (!command.words.is_empty()).then_some(command)
}

/// Whether the rest of the line starts another command.
fn starts_more(extra: &str) -> bool {
    let joined = extra.replace(">&", "").replace("&>", "");
    joined.contains(['|', ';', '&', '(', ')', '`'])
}

struct Delimiter<'s> {
    text: String,
    quoted: bool,
    /// What follows on the line.
    rest: &'s str,
}

impl Delimiter<'_> {
    fn parse(after: &str) -> Option<Delimiter<'_>> {
        let after = after.trim_start_matches([' ', '\t']);
        let (text, quoted, rest) = match after.chars().next()? {
            quote @ ('\'' | '"') => {
                let (text, rest) = after[1..].split_once(quote)?;
                (text.to_owned(), true, rest)
            }
            _ => {
                let end = after.find([' ', '\t', '<', '>', '|', '&', ';', '(', ')']);
                let (word, rest) = after.split_at(end.unwrap_or(after.len()));
                (word.replace('\\', ""), word.contains('\\'), rest)
            }
        };
        let simple = !text.is_empty() && !text.contains(['\'', '"', '$', '`', '\\']);
        simple.then_some(Delimiter { text, quoted, rest })
    }
}

/// The lines up to the delimiter, if the script ends there.
fn body<'s>(text: &'s str, delimiter: &str, indented: bool) -> Option<&'s str> {
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let content = line.strip_suffix('\n').unwrap_or(line);
        let content = if indented {
            content.trim_start_matches('\t')
        } else {
            content
        };
        let end = start + line.len();
        if content == delimiter {
            return text[end..].trim().is_empty().then(|| &text[..start]);
        }
        start = end;
    }
    None
}
