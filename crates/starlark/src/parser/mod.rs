//! The grammar of rules files: from tokens to statements.

mod expressions;
mod functions;
mod statements;

use super::lexer::{Fault, Kind, Position, Token, tokens};
use super::syntax::{Block, Name};

/// Deeper nesting than any hand-written file has.
const MAX_DEPTH: usize = 64;

/// Words with a meaning of their own, in this language or kept for later ones.
const KEYWORDS: [&str; 33] = [
    "and", "as", "assert", "async", "await", "break", "class", "continue", "def", "del", "elif",
    "else", "except", "finally", "for", "from", "global", "if", "import", "in", "is", "lambda",
    "load", "nonlocal", "not", "or", "pass", "raise", "return", "try", "while", "with", "yield",
];

pub(super) fn parse(source: &str) -> Result<Block, Fault> {
    let mut parser = Parser {
        tokens: tokens(source)?,
        next: 0,
        depth: 0,
        in_function: false,
        in_loop: false,
    };
    let mut statements = Vec::new();
    while parser.peek() != &Kind::End {
        parser.statement_line(&mut statements)?;
    }
    Ok(statements)
}

struct Parser {
    /// Ends with [`Kind::End`], which is never passed.
    tokens: Vec<Token>,
    next: usize,
    depth: usize,
    in_function: bool,
    in_loop: bool,
}

impl Parser {
    fn peek(&self) -> &Kind {
        &self.tokens[self.next].kind
    }

    fn at(&self) -> Position {
        self.tokens[self.next].at
    }

    fn advance(&mut self) -> Kind {
        let kind = self.peek().clone();
        if kind != Kind::End {
            self.next += 1;
        }
        kind
    }

    fn at_symbol(&self, symbol: &'static str) -> bool {
        self.peek() == &Kind::Symbol(symbol)
    }

    fn take(&mut self, symbol: &'static str) -> bool {
        let found = self.at_symbol(symbol);
        if found {
            self.advance();
        }
        found
    }

    fn at_word(&self, word: &str) -> bool {
        matches!(self.peek(), Kind::Name(name) if name.as_ref() == word)
    }

    fn take_word(&mut self, word: &str) -> bool {
        let found = self.at_word(word);
        if found {
            self.advance();
        }
        found
    }

    fn expect(&mut self, symbol: &'static str) -> Result<(), Fault> {
        if self.take(symbol) {
            return Ok(());
        }
        Err(self.unexpected(&format!("`{symbol}`")))
    }

    fn expect_word(&mut self, word: &str) -> Result<(), Fault> {
        if self.take_word(word) {
            return Ok(());
        }
        Err(self.unexpected(&format!("`{word}`")))
    }

    fn unexpected(&self, wanted: &str) -> Fault {
        let found = match self.peek() {
            Kind::Name(name) => format!("`{name}`"),
            Kind::Text(_) | Kind::Format(_) => "a string".to_owned(),
            Kind::Number(number) => format!("`{number}`"),
            Kind::Float(number) => format!("`{number}`"),
            Kind::Symbol(symbol) => format!("`{symbol}`"),
            Kind::Newline => "the end of the line".to_owned(),
            Kind::Indent | Kind::Dedent => "a change of indentation".to_owned(),
            Kind::End => "the end of the file".to_owned(),
        };
        Fault::new(self.at(), format!("expected {wanted} here, found {found}"))
    }

    /// A name that is no keyword.
    fn name(&mut self) -> Result<Name, Fault> {
        match self.peek() {
            Kind::Name(name) if KEYWORDS.contains(&name.as_ref()) => {
                Err(Fault::new(self.at(), refusal(name)))
            }
            Kind::Name(name) => {
                let name = name.clone();
                self.advance();
                Ok(name)
            }
            _ => Err(self.unexpected("a name")),
        }
    }

    /// Runs `inner` one level deeper; levels are limited, so that no text exhausts the stack.
    fn deeper<T>(
        &mut self,
        inner: impl FnOnce(&mut Parser) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(Fault::new(self.at(), "nested too deeply"));
        }
        let result = inner(self);
        self.depth -= 1;
        result
    }
}

fn refusal(keyword: &str) -> String {
    match keyword {
        "load" => "`load` is not supported: a rules file stands alone".to_owned(),
        "while" => "there is no `while`; use `for … in range(…)`".to_owned(),
        "class" | "try" | "import" | "assert" | "del" | "global" | "nonlocal" | "raise"
        | "with" | "yield" | "is" | "async" | "await" | "from" | "as" | "except" | "finally" => {
            format!("`{keyword}` is not supported in rules files")
        }
        _ => format!("`{keyword}` cannot stand here"),
    }
}
