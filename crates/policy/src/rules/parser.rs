//! The grammar of rules files: the part of Starlark that lists of rules need.
//!
//! Calls, literals, lists, variables, `+`, formatted strings, `for` and list comprehensions are
//! understood. Functions, conditions and the rest of the language are refused where they stand: a
//! policy that has to be run to be read cannot be reviewed.

use super::lexer::{Fault, Kind, Position, Token, tokens};
use super::text::Piece;

/// Deeper nesting than any hand-written file has.
const MAX_DEPTH: usize = 64;

#[derive(Debug, Clone)]
pub(super) enum Statement {
    Expression(Expression),
    Assign {
        name: String,
        at: Position,
        /// `+=` instead of `=`.
        extend: bool,
        value: Expression,
    },
    For {
        loops: Loop,
        body: Vec<Statement>,
    },
}

/// `for names in over`.
#[derive(Debug, Clone)]
pub(super) struct Loop {
    pub names: Vec<String>,
    pub over: Box<Expression>,
}

#[derive(Debug, Clone)]
pub(super) struct Expression {
    pub at: Position,
    pub kind: Term,
}

#[derive(Debug, Clone)]
pub(super) enum Term {
    Text(String),
    Format(Vec<Piece>),
    Number(i64),
    Bool(bool),
    None,
    Name(String),
    List(Vec<Expression>),
    Tuple(Vec<Expression>),
    Comprehension {
        item: Box<Expression>,
        loops: Loop,
    },
    Sum(Vec<Expression>),
    Call {
        function: String,
        arguments: Vec<Argument>,
    },
}

#[derive(Debug, Clone)]
pub(super) struct Argument {
    pub name: Option<String>,
    pub value: Expression,
}

pub(super) fn parse(source: &str) -> Result<Vec<Statement>, Fault> {
    let mut parser = Parser {
        tokens: tokens(source)?,
        next: 0,
        depth: 0,
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

    fn take(&mut self, symbol: &'static str) -> bool {
        let found = self.peek() == &Kind::Symbol(symbol);
        if found {
            self.advance();
        }
        found
    }

    fn take_word(&mut self, word: &str) -> bool {
        let found = matches!(self.peek(), Kind::Name(name) if name == word);
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

    fn unexpected(&self, wanted: &str) -> Fault {
        let found = match self.peek() {
            Kind::Name(name) => format!("`{name}`"),
            Kind::Text(_) | Kind::Format(_) => "a string".to_owned(),
            Kind::Number(number) => format!("`{number}`"),
            Kind::Symbol(symbol) => format!("`{symbol}`"),
            Kind::Newline => "the end of the line".to_owned(),
            Kind::Indent | Kind::Dedent => "a change of indentation".to_owned(),
            Kind::End => "the end of the file".to_owned(),
        };
        Fault::new(self.at(), format!("expected {wanted} here, found {found}"))
    }

    fn statement_line(&mut self, into: &mut Vec<Statement>) -> Result<(), Fault> {
        if self.take_word("for") {
            into.push(self.for_statement()?);
            return Ok(());
        }
        self.simple_line(into)
    }

    /// Simple statements up to the end of their line.
    fn simple_line(&mut self, into: &mut Vec<Statement>) -> Result<(), Fault> {
        loop {
            if !self.take_word("pass") {
                into.push(self.simple_statement()?);
            }
            if self.take(";") && self.peek() != &Kind::Newline {
                continue;
            }
            if self.peek() != &Kind::Newline {
                return Err(self.unexpected("the end of the line"));
            }
            self.advance();
            return Ok(());
        }
    }

    fn for_statement(&mut self) -> Result<Statement, Fault> {
        let loops = self.loop_head()?;
        self.expect(":")?;
        let mut body = Vec::new();
        if self.peek() != &Kind::Newline {
            self.simple_line(&mut body)?;
            return Ok(Statement::For { loops, body });
        }
        self.advance();
        if self.peek() != &Kind::Indent {
            return Err(self.unexpected("an indented block"));
        }
        self.advance();
        self.deeper(|parser| {
            while !matches!(parser.peek(), Kind::Dedent | Kind::End) {
                parser.statement_line(&mut body)?;
            }
            Ok(())
        })?;
        self.advance();
        Ok(Statement::For { loops, body })
    }

    /// What follows the word `for`, up to the values that are gone through.
    fn loop_head(&mut self) -> Result<Loop, Fault> {
        let mut names = vec![self.new_name()?];
        while self.take(",") {
            names.push(self.new_name()?);
        }
        if !self.take_word("in") {
            return Err(self.unexpected("`in`"));
        }
        let over = Box::new(self.sum()?);
        Ok(Loop { names, over })
    }

    fn new_name(&mut self) -> Result<String, Fault> {
        self.refuse_keyword()?;
        match self.peek().clone() {
            Kind::Name(name) => {
                self.advance();
                Ok(name)
            }
            _ => Err(self.unexpected("a name")),
        }
    }

    fn simple_statement(&mut self) -> Result<Statement, Fault> {
        let at = self.at();
        let value = self.expression_list()?;
        let extend = self.peek() == &Kind::Symbol("+=");
        if !extend && self.peek() != &Kind::Symbol("=") {
            return Ok(Statement::Expression(value));
        }
        let Term::Name(name) = value.kind else {
            return Err(Fault::new(at, "only a single name can be assigned to"));
        };
        self.advance();
        let value = self.expression_list()?;
        Ok(Statement::Assign {
            name,
            at,
            extend,
            value,
        })
    }

    /// An expression, or several with commas between: a tuple.
    fn expression_list(&mut self) -> Result<Expression, Fault> {
        let first = self.sum()?;
        if self.peek() != &Kind::Symbol(",") {
            return Ok(first);
        }
        let at = first.at;
        let mut items = vec![first];
        while self.take(",") {
            let ends = matches!(
                self.peek(),
                Kind::Newline | Kind::End | Kind::Symbol(")" | "=" | "+=")
            );
            if ends {
                break;
            }
            items.push(self.sum()?);
        }
        let kind = Term::Tuple(items);
        Ok(Expression { at, kind })
    }

    fn sum(&mut self) -> Result<Expression, Fault> {
        let first = self.primary()?;
        if self.peek() != &Kind::Symbol("+") {
            return Ok(first);
        }
        let at = first.at;
        let mut parts = vec![first];
        while self.take("+") {
            parts.push(self.primary()?);
        }
        let kind = Term::Sum(parts);
        Ok(Expression { at, kind })
    }

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

    fn primary(&mut self) -> Result<Expression, Fault> {
        self.refuse_keyword()?;
        let at = self.at();
        let kind = match self.peek().clone() {
            Kind::Text(text) => self.passing(Term::Text(text)),
            Kind::Format(pieces) => self.passing(Term::Format(pieces)),
            Kind::Number(number) => self.passing(Term::Number(number)),
            Kind::Name(name) => self.name_or_call(&name)?,
            Kind::Symbol("[") => self.deeper(Parser::list)?,
            Kind::Symbol("(") => self.deeper(Parser::parenthesised)?,
            Kind::Symbol("{") => {
                return Err(Fault::new(
                    at,
                    "dictionaries are not supported in rules files",
                ));
            }
            _ => return Err(self.unexpected("a value")),
        };
        match self.peek() {
            Kind::Symbol(".") => Err(Fault::new(
                self.at(),
                "methods are not supported in rules files",
            )),
            Kind::Symbol("[" | "(") => Err(self.unexpected("the end of the value")),
            _ => Ok(Expression { at, kind }),
        }
    }

    fn passing(&mut self, term: Term) -> Term {
        self.advance();
        term
    }

    fn name_or_call(&mut self, name: &str) -> Result<Term, Fault> {
        self.advance();
        match name {
            "True" => return Ok(Term::Bool(true)),
            "False" => return Ok(Term::Bool(false)),
            "None" => return Ok(Term::None),
            _ => {}
        }
        let function = name.to_owned();
        if !self.take("(") {
            return Ok(Term::Name(function));
        }
        let arguments = self.deeper(Parser::arguments)?;
        Ok(Term::Call {
            function,
            arguments,
        })
    }

    fn arguments(&mut self) -> Result<Vec<Argument>, Fault> {
        let mut found: Vec<Argument> = Vec::new();
        while !self.take(")") {
            let at = self.at();
            let mut value = self.sum()?;
            let mut name = None;
            if let Term::Name(word) = &value.kind
                && self.peek() == &Kind::Symbol("=")
            {
                name = Some(word.clone());
                self.advance();
                value = self.sum()?;
            }
            if name.is_none() && found.iter().any(|argument| argument.name.is_some()) {
                return Err(Fault::new(
                    at,
                    "an argument without a name after a named one",
                ));
            }
            found.push(Argument { name, value });
            if !self.take(",") && self.peek() != &Kind::Symbol(")") {
                return Err(self.unexpected("`,` or `)`"));
            }
        }
        Ok(found)
    }

    fn list(&mut self) -> Result<Term, Fault> {
        self.advance();
        let mut items = Vec::new();
        while !self.take("]") {
            items.push(self.sum()?);
            if items.len() == 1 && self.take_word("for") {
                let loops = self.loop_head()?;
                self.expect("]")?;
                let item = Box::new(items.remove(0));
                return Ok(Term::Comprehension { item, loops });
            }
            if !self.take(",") && self.peek() != &Kind::Symbol("]") {
                return Err(self.unexpected("`,` or `]`"));
            }
        }
        Ok(Term::List(items))
    }

    fn parenthesised(&mut self) -> Result<Term, Fault> {
        self.advance();
        if self.take(")") {
            return Ok(Term::Tuple(Vec::new()));
        }
        let inner = self.expression_list()?;
        self.expect(")")?;
        Ok(inner.kind)
    }

    fn refuse_keyword(&self) -> Result<(), Fault> {
        const REFUSED: [&str; 26] = [
            "and", "as", "assert", "async", "await", "break", "class", "continue", "def", "del",
            "elif", "else", "except", "if", "import", "in", "is", "lambda", "load", "not", "or",
            "return", "try", "while", "with", "yield",
        ];
        match self.peek() {
            Kind::Name(word) if REFUSED.contains(&word.as_str()) => Err(Fault::new(
                self.at(),
                format!("`{word}` is not supported in rules files; write the rules out"),
            )),
            _ => Ok(()),
        }
    }
}
