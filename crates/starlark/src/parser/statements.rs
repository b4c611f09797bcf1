//! Statements: lines, blocks, assignments and the words that begin them.

use super::super::lexer::{Fault, Kind, Position};
use super::super::syntax::{Block, Expression, Operator, Statement, Target, Term};
use super::{Parser, refusal};

impl Parser {
    pub(super) fn statement_line(&mut self, into: &mut Block) -> Result<(), Fault> {
        let statement = if self.take_word("for") {
            self.for_statement()?
        } else if self.take_word("if") {
            self.if_statement()?
        } else if self.at_word("def") {
            self.definition()?
        } else {
            return self.simple_line(into);
        };
        into.push(statement);
        Ok(())
    }

    /// Simple statements up to the end of their line.
    fn simple_line(&mut self, into: &mut Block) -> Result<(), Fault> {
        loop {
            let statement = self.simple_statement()?;
            into.push(statement);
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
        let target = self.loop_target()?;
        self.expect_word("in")?;
        let over = self.test()?;
        self.expect(":")?;
        let outer = std::mem::replace(&mut self.in_loop, true);
        let body = self.block()?;
        self.in_loop = outer;
        Ok(Statement::For { target, over, body })
    }

    fn if_statement(&mut self) -> Result<Statement, Fault> {
        let mut branches = Vec::new();
        let mut otherwise = Vec::new();
        loop {
            let condition = self.test()?;
            self.expect(":")?;
            branches.push((condition, self.block()?));
            if self.take_word("elif") {
                continue;
            }
            if self.take_word("else") {
                self.expect(":")?;
                otherwise = self.block()?;
            }
            return Ok(Statement::If {
                branches,
                otherwise,
            });
        }
    }

    /// What follows a colon: statements on the same line, or an indented block.
    pub(super) fn block(&mut self) -> Result<Block, Fault> {
        let mut body = Vec::new();
        if self.peek() != &Kind::Newline {
            self.simple_line(&mut body)?;
            return Ok(body);
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
        Ok(body)
    }

    fn simple_statement(&mut self) -> Result<Statement, Fault> {
        let at = self.at();
        if self.take_word("pass") {
            return Ok(Statement::Pass);
        }
        if self.take_word("return") {
            if !self.in_function {
                return Err(Fault::new(at, "`return` stands outside of a function"));
            }
            if matches!(self.peek(), Kind::Newline | Kind::Symbol(";")) {
                return Ok(Statement::Return(None));
            }
            return Ok(Statement::Return(Some(self.tests()?)));
        }
        for (word, statement) in [
            ("break", Statement::Break),
            ("continue", Statement::Continue),
        ] {
            if self.take_word(word) {
                if !self.in_loop {
                    return Err(Fault::new(at, format!("`{word}` stands outside of a loop")));
                }
                return Ok(statement);
            }
        }
        if self.at_word("load") {
            return Err(Fault::new(at, refusal("load")));
        }
        let value = self.tests()?;
        self.assignment(value)
    }

    fn assignment(&mut self, left: Expression) -> Result<Statement, Fault> {
        let annotation = match self.take(":") {
            true => Some(self.annotation()?),
            false => None,
        };
        if annotation.is_some() || self.at_symbol("=") {
            self.expect("=")?;
            let target = target(left)?;
            let value = self.tests()?;
            return Ok(Statement::Assign {
                target,
                annotation,
                value,
            });
        }
        let at = self.at();
        let Some(operator) = augmenting(self.peek()) else {
            return Ok(Statement::Expression(left));
        };
        self.advance();
        let target = target(left)?;
        if let Target::Several(_, at) = target {
            return Err(Fault::new(at, "several names cannot be changed in place"));
        }
        let value = self.tests()?;
        Ok(Statement::Augment {
            target,
            operator,
            value,
            at,
        })
    }

    /// What stands between `for` and `in`.
    pub(super) fn loop_target(&mut self) -> Result<Target, Fault> {
        let at = self.at();
        let first = target(self.operators(0)?)?;
        if !self.at_symbol(",") {
            return Ok(first);
        }
        let mut targets = vec![first];
        while self.take(",") {
            if self.at_word("in") {
                break;
            }
            targets.push(target(self.operators(0)?)?);
        }
        Ok(Target::Several(targets, at))
    }
}

fn augmenting(kind: &Kind) -> Option<Operator> {
    let Kind::Symbol(symbol) = kind else {
        return None;
    };
    Some(match *symbol {
        "+=" => Operator::Add,
        "-=" => Operator::Subtract,
        "*=" => Operator::Multiply,
        "/=" => Operator::Divide,
        "//=" => Operator::FloorDivide,
        "%=" => Operator::Modulo,
        "|=" => Operator::Or,
        "^=" => Operator::Xor,
        "&=" => Operator::And,
        "<<=" => Operator::ShiftLeft,
        ">>=" => Operator::ShiftRight,
        _ => return None,
    })
}

fn target(expression: Expression) -> Result<Target, Fault> {
    let at: Position = expression.at;
    match expression.kind {
        Term::Name(name) => Ok(Target::Name(name, at)),
        Term::List(items) | Term::Tuple(items) => {
            let targets = items.into_iter().map(target).collect::<Result<_, _>>()?;
            Ok(Target::Several(targets, at))
        }
        Term::Index(object, mut keys) if keys.len() == 1 => Ok(Target::Index {
            object: *object,
            key: keys.remove(0),
            at,
        }),
        Term::Attribute(..) => Err(Fault::new(at, "attributes cannot be assigned to")),
        _ => Err(Fault::new(
            at,
            "only names, indexed values and lists of these can be assigned to",
        )),
    }
}
