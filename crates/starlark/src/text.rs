//! String literals of rules files: quotes, escapes, raw and formatted strings.

use std::rc::Rc;

use super::lexer::{Cursor, Fault, Kind, Position, is_name_character};

/// A part of a formatted string.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Piece {
    Text(String),
    Variable {
        name: Rc<str>,
        /// `!r`: as it would be written in a file.
        quoted: bool,
        at: Position,
    },
}

/// Reads a string literal if one starts here.
pub(super) fn string_literal(cursor: &mut Cursor<'_>) -> Result<Option<Kind>, Fault> {
    let start = cursor.position();
    let starts = |prefix: &&str| {
        let rest = cursor.ahead().strip_prefix(*prefix);
        rest.is_some_and(|rest| rest.starts_with(['"', '\'']))
    };
    let Some(prefix) = ["", "r", "f", "fr"].into_iter().find(starts) else {
        return Ok(None);
    };
    cursor.take(prefix);
    let (raw, format) = (prefix.ends_with('r'), prefix.starts_with('f'));
    let quotes = ["\"\"\"", "'''", "\"", "'"];
    let Some(quote) = quotes.into_iter().find(|quote| cursor.take(quote)) else {
        return Ok(None);
    };
    let mut literal = Literal::default();
    while !cursor.take(quote) {
        let at = cursor.position();
        let unfinished = || Fault::new(start, "this string has no closing quote");
        match cursor.next().ok_or_else(unfinished)? {
            '\n' if quote.len() == 1 => return Err(unfinished()),
            '\r' if cursor.peek() == Some('\n') => {}
            '\\' => {
                let escaped = cursor.next().ok_or_else(unfinished)?;
                if raw && matches!(escaped, '"' | '\'') {
                    literal.text.push(escaped);
                } else if raw {
                    literal.text.extend(['\\', escaped]);
                } else {
                    literal.escape(escaped, cursor, at)?;
                }
            }
            brace @ ('{' | '}') if format => literal.brace(brace, cursor, at)?,
            c => literal.text.push(c),
        }
    }
    Ok(Some(if format {
        literal.end_text();
        Kind::Format(literal.pieces)
    } else {
        Kind::Text(literal.text)
    }))
}

/// A string literal while it is read.
#[derive(Default)]
struct Literal {
    pieces: Vec<Piece>,
    text: String,
}

impl Literal {
    fn end_text(&mut self) {
        if !self.text.is_empty() {
            self.pieces
                .push(Piece::Text(std::mem::take(&mut self.text)));
        }
    }

    /// `{{`, `}}`, `{name}`, `{name!r}` or `{name!s}`.
    fn brace(&mut self, brace: char, cursor: &mut Cursor<'_>, at: Position) -> Result<(), Fault> {
        if cursor.take(brace.encode_utf8(&mut [0; 4])) {
            self.text.push(brace);
            return Ok(());
        }
        cursor.take_while(|c| c == ' ');
        let place = cursor.position();
        let name = cursor.take_while(is_name_character);
        cursor.take_while(|c| c == ' ');
        let quoted = cursor.take("!r");
        if !quoted {
            cursor.take("!s");
        }
        let starts_well = name.starts_with(|c: char| !c.is_ascii_digit());
        if brace == '}' || !starts_well || !cursor.take("}") {
            return Err(Fault::new(
                at,
                "only `{name}` can stand in a formatted string",
            ));
        }
        self.end_text();
        self.pieces.push(Piece::Variable {
            name: name.into(),
            quoted,
            at: place,
        });
        Ok(())
    }

    fn escape(&mut self, c: char, cursor: &mut Cursor<'_>, at: Position) -> Result<(), Fault> {
        let resolved = match c {
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'a' => '\u{7}',
            'b' => '\u{8}',
            'f' => '\u{c}',
            'v' => '\u{b}',
            '\\' | '\'' | '"' => c,
            '\n' => return Ok(()),
            '0'..='7' => {
                let mut value = c.to_digit(8).unwrap_or(0);
                for _ in 0..2 {
                    let Some(digit) = cursor.peek().and_then(|c| c.to_digit(8)) else {
                        break;
                    };
                    cursor.next();
                    value = value * 8 + digit;
                }
                character(value, at)?
            }
            'x' => hexadecimal(cursor, 2, at)?,
            'u' => hexadecimal(cursor, 4, at)?,
            'U' => hexadecimal(cursor, 8, at)?,
            _ => {
                self.text.push('\\');
                c
            }
        };
        self.text.push(resolved);
        Ok(())
    }
}

fn hexadecimal(cursor: &mut Cursor<'_>, digits: usize, at: Position) -> Result<char, Fault> {
    let mut value = 0;
    for _ in 0..digits {
        let digit = cursor.next().and_then(|c| c.to_digit(16));
        let digit = digit.ok_or_else(|| {
            Fault::new(at, format!("this escape needs {digits} hexadecimal digits"))
        })?;
        value = value * 16 + digit;
    }
    character(value, at)
}

fn character(value: u32, at: Position) -> Result<char, Fault> {
    char::from_u32(value).ok_or_else(|| Fault::new(at, "this escape is no Unicode character"))
}
