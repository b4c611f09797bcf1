//! Splits a script into words and operators, and refuses everything that is more than that.

use std::iter::Peekable;
use std::str::Chars;

/// One word in its two readings.
#[derive(Debug, Default)]
pub(super) struct Word {
    /// Without quotes, with escapes.
    pub written: String,
    /// Without both: what the program gets.
    pub resolved: String,
    /// Any part was quoted.
    pub quoted: bool,
    /// Holds an unquoted file name pattern.
    pub globs: bool,
    /// Begins with one.
    pub begins_with_pattern: bool,
    /// Holds an unquoted brace.
    pub braces: bool,
}

impl Word {
    /// Whether this can only be a program's name where one is expected, not the beginning of a
    /// shell construct.
    pub(super) fn names_program(&self) -> bool {
        const SYNTAX: [&str; 25] = [
            "[", "[[", "]]", "case", "declare", "do", "done", "elif", "else", "esac", "export",
            "fi", "for", "function", "if", "local", "readonly", "select", "then", "typeset",
            "unset", "unsetenv", "until", "while", "!",
        ];
        let word = self.written.as_str();
        let number = word.bytes().all(|byte| byte.is_ascii_digit());
        let bare = !self.quoted && !self.braces;
        bare && !number && !word.starts_with('!') && !SYNTAX.contains(&word) && !is_assignment(word)
    }
}

/// `NAME=…`, `NAME+=…` or `NAME[…]=…`.
fn is_assignment(word: &str) -> bool {
    let name = word.trim_start_matches(|c: char| c == '_' || c.is_ascii_alphanumeric());
    name.len() < word.len() && name.starts_with(['=', '[']) || name.starts_with("+=")
}

/// What joins commands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operator {
    And,
    Or,
    Pipe,
    Semicolon,
    Newline,
}

#[derive(Debug)]
pub(super) enum Token {
    Word(Word),
    Operator(Operator),
}

pub(super) struct Lexer<'s> {
    chars: Peekable<Chars<'s>>,
}

impl<'s> Lexer<'s> {
    pub(super) fn new(script: &'s str) -> Lexer<'s> {
        let chars = script.chars().peekable();
        Lexer { chars }
    }

    fn take(&mut self, expected: char) -> bool {
        self.chars.next_if_eq(&expected).is_some()
    }

    /// The next token, `Some(None)` at the end, `None` when the script is more than words.
    pub(super) fn next(&mut self) -> Option<Option<Token>> {
        self.skip_blanks();
        let Some(c) = self.chars.peek().copied() else {
            return Some(None);
        };
        let operator = match c {
            '\n' => Operator::Newline,
            ';' => Operator::Semicolon,
            '&' => Operator::And,
            '|' => Operator::Pipe,
            '#' => return None,
            _ => return self.word().map(Token::Word).map(Some),
        };
        self.chars.next();
        let operator = match operator {
            Operator::And => self.take('&').then_some(Operator::And)?,
            Operator::Pipe if self.take('|') => Operator::Or,
            other => other,
        };
        // `;;`, `;&`, `&&&`, `|&` and the like belong to other constructs.
        let more = matches!(self.chars.peek(), Some('&' | '|' | ';'));
        let operator = (!more || operator == Operator::Newline).then_some(operator)?;
        Some(Some(Token::Operator(operator)))
    }

    /// Skips blanks and line continuations between words.
    fn skip_blanks(&mut self) {
        loop {
            while self.chars.next_if(|c| matches!(c, ' ' | '\t')).is_some() {}
            let mut ahead = self.chars.clone();
            if (ahead.next(), ahead.next()) != (Some('\\'), Some('\n')) {
                return;
            }
            self.chars = ahead;
        }
    }

    fn word(&mut self) -> Option<Word> {
        let mut word = Word::default();
        while let Some(c) = self.chars.peek().copied() {
            match c {
                ' ' | '\t' | '\n' | ';' | '&' | '|' => break,
                '$' | '`' | '(' | ')' | '<' | '>' => return None,
                _ if c.is_control() => return None,
                _ => {}
            }
            self.chars.next();
            match c {
                '\'' => self.single_quoted(&mut word)?,
                '"' => self.double_quoted(&mut word)?,
                '\\' => {
                    let escaped = self.chars.next().filter(|c| !c.is_control())?;
                    word.written.extend(['\\', escaped]);
                    word.resolved.push(escaped);
                }
                _ => {
                    let globs = matches!(c, '*' | '?' | '[');
                    word.begins_with_pattern |= globs && word.written.is_empty();
                    word.globs |= globs;
                    word.braces |= matches!(c, '{' | '}');
                    word.written.push(c);
                    word.resolved.push(c);
                }
            }
        }
        Some(word)
    }

    fn single_quoted(&mut self, word: &mut Word) -> Option<()> {
        word.quoted = true;
        loop {
            match self.chars.next()? {
                '\'' => return Some(()),
                '\0' => return None,
                c => {
                    word.written.push(c);
                    word.resolved.push(c);
                }
            }
        }
    }

    fn double_quoted(&mut self, word: &mut Word) -> Option<()> {
        word.quoted = true;
        loop {
            let c = self.chars.next()?;
            match (c, self.chars.peek().copied()) {
                ('"', _) => return Some(()),
                ('$' | '`' | '\0', _) => return None,
                ('\\', Some(escaped @ ('$' | '`' | '"' | '\\' | '\n'))) => {
                    self.chars.next();
                    word.written.extend(['\\', escaped]);
                    word.resolved.extend(Some(escaped).filter(|c| *c != '\n'));
                }
                _ => {
                    word.written.push(c);
                    word.resolved.push(c);
                }
            }
        }
    }
}
