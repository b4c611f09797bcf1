//! Splits a rules file into tokens, with the place of each for messages.

use std::rc::Rc;

use super::numbers::number;
use super::text::{Piece, string_literal};

/// A place in a file, counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    /// The line.
    pub line: u32,
    /// The character in the line.
    pub column: u32,
}

/// What is wrong in a file, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    pub at: Position,
    pub message: String,
}

impl Fault {
    pub fn new(at: Position, message: impl Into<String>) -> Fault {
        let message = message.into();
        Fault { at, message }
    }
}

/// Gives a bare message its place.
pub trait Located<T> {
    fn at(self, at: Position) -> Result<T, Fault>;
}

impl<T> Located<T> for Result<T, String> {
    fn at(self, at: Position) -> Result<T, Fault> {
        self.map_err(|message| Fault { at, message })
    }
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Kind {
    Name(Rc<str>),
    Text(String),
    Format(Vec<Piece>),
    Number(i128),
    Float(f64),
    /// Punctuation: one of [`SYMBOLS`].
    Symbol(&'static str),
    Newline,
    Indent,
    Dedent,
    End,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Token {
    pub kind: Kind,
    pub at: Position,
}

/// Longer ones first.
const SYMBOLS: [&str; 43] = [
    "//=", "<<=", ">>=", "...", "**", "//", "<<", ">>", "->", "==", "!=", "<=", ">=", "+=", "-=",
    "*=", "/=", "%=", "&=", "|=", "^=", "(", ")", "[", "]", "{", "}", ",", "=", "+", "-", "*", "/",
    "%", ":", ";", ".", "<", ">", "&", "|", "^", "~",
];

pub(super) fn tokens(source: &str) -> Result<Vec<Token>, Fault> {
    let mut lexer = Lexer {
        cursor: Cursor::new(source),
        found: Vec::new(),
        indents: Vec::new(),
        depth: 0,
        continued: false,
    };
    lexer.run()?;
    Ok(lexer.found)
}

/// A reading position in the text.
pub(super) struct Cursor<'s> {
    rest: &'s str,
    at: Position,
}

impl<'s> Cursor<'s> {
    fn new(source: &'s str) -> Cursor<'s> {
        let at = Position { line: 1, column: 1 };
        Cursor { rest: source, at }
    }

    pub(super) fn position(&self) -> Position {
        self.at
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    /// What `tell` makes of the next character and the one after it.
    pub(super) fn starts<T>(&self, tell: impl Fn(char, Option<char>) -> Option<T>) -> Option<T> {
        let mut chars = self.rest.chars();
        tell(chars.next()?, chars.next())
    }

    pub(super) fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.rest = &self.rest[c.len_utf8()..];
        if c == '\n' {
            self.at.line += 1;
            self.at.column = 1;
        } else {
            self.at.column += 1;
        }
        Some(c)
    }

    pub(super) fn ahead(&self) -> &'s str {
        self.rest
    }

    pub(super) fn at_start_of(&self, text: &str) -> bool {
        self.rest.starts_with(text)
    }

    pub(super) fn take(&mut self, text: &str) -> bool {
        let found = self.at_start_of(text);
        if found {
            for _ in text.chars() {
                self.next();
            }
        }
        found
    }

    pub(super) fn take_while(&mut self, accept: impl Fn(char) -> bool) -> &'s str {
        let end = self.rest.find(|c| !accept(c)).unwrap_or(self.rest.len());
        let taken = &self.rest[..end];
        self.take(taken);
        taken
    }
}

struct Lexer<'s> {
    cursor: Cursor<'s>,
    found: Vec<Token>,
    indents: Vec<usize>,
    /// Open brackets: inside them lines do not end.
    depth: usize,
    /// The line goes on where a backslash ended the one before.
    continued: bool,
}

impl Lexer<'_> {
    fn push(&mut self, kind: Kind, at: Position) {
        self.found.push(Token { kind, at });
    }

    fn run(&mut self) -> Result<(), Fault> {
        loop {
            let continued = std::mem::take(&mut self.continued);
            let line_start = self.cursor.at.column == 1 && self.depth == 0 && !continued;
            if line_start && !self.indentation()? {
                continue;
            }
            self.cursor.take_while(|c| matches!(c, ' ' | '\r'));
            let at = self.cursor.at;
            match self.cursor.peek() {
                None => break,
                Some('\t') => return Err(Fault::new(at, "use spaces, not tabs")),
                Some('#') => drop(self.cursor.take_while(|c| c != '\n')),
                Some('\n') => {
                    self.cursor.next();
                    if self.depth == 0 {
                        self.push(Kind::Newline, at);
                    }
                }
                Some('\\') => self.continuation(at)?,
                Some(_) => self.token(at)?,
            }
        }
        let at = self.cursor.at;
        if self.found.last().is_some_and(|t| t.kind != Kind::Newline) {
            self.push(Kind::Newline, at);
        }
        for _ in 0..self.indents.len() {
            self.push(Kind::Dedent, at);
        }
        self.push(Kind::End, at);
        Ok(())
    }

    /// Handles the blanks at the start of a line; `false` for a line without code.
    fn indentation(&mut self) -> Result<bool, Fault> {
        let at = self.cursor.at;
        let blanks = self.cursor.take_while(|c| matches!(c, ' ' | '\t' | '\r'));
        match self.cursor.peek() {
            None => return Ok(true),
            Some('\n') => {
                self.cursor.next();
                return Ok(false);
            }
            Some('#') => {
                self.cursor.take_while(|c| c != '\n');
                self.cursor.next();
                return Ok(false);
            }
            Some(_) => {}
        }
        if blanks.contains('\t') {
            return Err(Fault::new(at, "indent with spaces, not with tabs"));
        }
        let width = blanks.len();
        let at = self.cursor.at;
        if width > self.indents.last().copied().unwrap_or(0) {
            self.indents.push(width);
            self.push(Kind::Indent, at);
        }
        while self.indents.last().is_some_and(|outer| width < *outer) {
            self.indents.pop();
            self.push(Kind::Dedent, at);
        }
        if width != self.indents.last().copied().unwrap_or(0) {
            return Err(Fault::new(at, "this indentation matches no outer block"));
        }
        Ok(true)
    }

    fn continuation(&mut self, at: Position) -> Result<(), Fault> {
        self.cursor.next();
        self.cursor.take("\r");
        if self.cursor.take("\n") {
            self.continued = true;
            return Ok(());
        }
        Err(Fault::new(at, "a backslash must end its line"))
    }

    fn token(&mut self, at: Position) -> Result<(), Fault> {
        if let Some(kind) = string_literal(&mut self.cursor)? {
            self.push(kind, at);
            return Ok(());
        }
        if let Some(kind) = number(&mut self.cursor)? {
            self.push(kind, at);
            return Ok(());
        }
        if let Some(symbol) = SYMBOLS.into_iter().find(|s| self.cursor.take(s)) {
            match symbol {
                "(" | "[" | "{" => self.depth += 1,
                ")" | "]" | "}" => self.depth = self.depth.saturating_sub(1),
                _ => {}
            }
            self.push(Kind::Symbol(symbol), at);
            return Ok(());
        }
        let word = self.cursor.take_while(is_name_character);
        if word.is_empty() {
            let c = self.cursor.peek().unwrap_or(' ');
            return Err(Fault::new(
                at,
                format!("`{c}` has no meaning in a rules file"),
            ));
        }
        self.push(Kind::Name(word.into()), at);
        Ok(())
    }
}

pub(super) fn is_name_character(c: char) -> bool {
    c == '_' || c.is_ascii_alphanumeric()
}
