//! Expressions, by precedence.

use super::super::lexer::{Fault, Kind, Position};
use super::super::syntax::{
    Clause, Comparison, Conditional, Expression, Operator, Sign, Slice, Term,
};
use super::Parser;

/// `a.b(c)[d]…` may be this long: each link nests the value deeper.
const MAX_LINKS: usize = 64;

fn term(at: Position, kind: Term) -> Expression {
    Expression { at, kind }
}

impl Parser {
    /// An expression, or several with commas between: a tuple.
    pub(super) fn tests(&mut self) -> Result<Expression, Fault> {
        let first = self.test()?;
        if !self.at_symbol(",") {
            return Ok(first);
        }
        let at = first.at;
        let mut items = vec![first];
        while self.take(",") {
            let ends = match self.peek() {
                Kind::Newline | Kind::End => true,
                Kind::Symbol(symbol) => matches!(*symbol, ")" | ":" | ";") || symbol.ends_with('='),
                _ => false,
            };
            if ends {
                break;
            }
            items.push(self.test()?);
        }
        Ok(term(at, Term::Tuple(items)))
    }

    pub(super) fn test(&mut self) -> Result<Expression, Fault> {
        if self.at_word("lambda") {
            return self.lambda();
        }
        let then = self.or_test()?;
        if !self.take_word("if") {
            return Ok(then);
        }
        let condition = self.or_test()?;
        self.expect_word("else")?;
        let otherwise = self.deeper(Parser::test)?;
        let at = then.at;
        let parts = Conditional {
            condition,
            then,
            otherwise,
        };
        Ok(term(at, Term::Conditional(Box::new(parts))))
    }

    fn or_test(&mut self) -> Result<Expression, Fault> {
        self.joined("or", Term::Or, |parser| {
            parser.joined("and", Term::And, Parser::not_test)
        })
    }

    fn joined(
        &mut self,
        word: &str,
        make: fn(Vec<Expression>) -> Term,
        mut part: impl FnMut(&mut Parser) -> Result<Expression, Fault>,
    ) -> Result<Expression, Fault> {
        let first = part(self)?;
        if !self.at_word(word) {
            return Ok(first);
        }
        let at = first.at;
        let mut parts = vec![first];
        while self.take_word(word) {
            parts.push(part(self)?);
        }
        Ok(term(at, make(parts)))
    }

    fn not_test(&mut self) -> Result<Expression, Fault> {
        let at = self.at();
        if self.take_word("not") {
            let negated = self.deeper(Parser::not_test)?;
            return Ok(term(at, Term::Not(Box::new(negated))));
        }
        let left = self.operators(0)?;
        let Some(comparison) = self.comparison()? else {
            return Ok(left);
        };
        let right = self.operators(0)?;
        let again = self.at();
        if self.comparison()?.is_some() {
            return Err(Fault::new(
                again,
                "comparisons cannot be chained; join them with `and`",
            ));
        }
        let at = left.at;
        let parts = Box::new((left, comparison, right));
        Ok(term(at, Term::Compare(parts)))
    }

    fn comparison(&mut self) -> Result<Option<Comparison>, Fault> {
        if self.take_word("in") {
            return Ok(Some(Comparison::In));
        }
        if self.take_word("not") {
            self.expect_word("in")?;
            return Ok(Some(Comparison::NotIn));
        }
        let found = match self.peek() {
            Kind::Symbol("==") => Comparison::Equal,
            Kind::Symbol("!=") => Comparison::Unequal,
            Kind::Symbol("<") => Comparison::Less,
            Kind::Symbol("<=") => Comparison::LessOrEqual,
            Kind::Symbol(">") => Comparison::Greater,
            Kind::Symbol(">=") => Comparison::GreaterOrEqual,
            _ => return Ok(None),
        };
        self.advance();
        Ok(Some(found))
    }

    /// Arithmetic with operators of at least this precedence.
    pub(super) fn operators(&mut self, least: u8) -> Result<Expression, Fault> {
        let mut left = self.unary()?;
        while let Some((_, precedence)) = operator(self.peek())
            && precedence >= least
        {
            let mut rest = Vec::new();
            while let Some((operator, found)) = operator(self.peek())
                && found == precedence
            {
                self.advance();
                rest.push((operator, self.operators(precedence + 1)?));
            }
            left = term(left.at, Term::Chain(Box::new(left), rest));
        }
        Ok(left)
    }

    fn unary(&mut self) -> Result<Expression, Fault> {
        let at = self.at();
        let sign = match self.peek() {
            Kind::Symbol("-") => Sign::Minus,
            Kind::Symbol("+") => Sign::Plus,
            Kind::Symbol("~") => Sign::Invert,
            _ => return self.links(),
        };
        self.advance();
        let value = Box::new(self.deeper(Parser::unary)?);
        Ok(term(at, Term::Unary(sign, value)))
    }

    /// A value and what is attached to it: calls, indices, attributes.
    fn links(&mut self) -> Result<Expression, Fault> {
        let mut value = self.deeper(Parser::primary)?;
        for _ in 0..MAX_LINKS {
            let at = value.at;
            let kind = match self.peek() {
                Kind::Symbol(".") => {
                    self.advance();
                    Term::Attribute(Box::new(value), self.name()?)
                }
                Kind::Symbol("(") => {
                    self.advance();
                    Term::Call(Box::new(value), self.deeper(Parser::arguments)?)
                }
                Kind::Symbol("[") => {
                    self.advance();
                    self.deeper(|parser| parser.index(value))?
                }
                _ => return Ok(value),
            };
            value = term(at, kind);
        }
        Err(Fault::new(self.at(), "nested too deeply"))
    }

    /// What follows `[` after a value.
    fn index(&mut self, object: Expression) -> Result<Term, Fault> {
        let mut keys = Vec::new();
        if !self.at_symbol(":") {
            keys.push(self.test()?);
            while self.take(",") {
                keys.push(self.test()?);
            }
            if self.take("]") {
                return Ok(Term::Index(Box::new(object), keys));
            }
        }
        if keys.len() > 1 {
            return Err(self.unexpected("`]`"));
        }
        self.expect(":")?;
        let to = self.bound()?;
        let step = match self.take(":") {
            true => self.bound()?,
            false => None,
        };
        self.expect("]")?;
        Ok(Term::Slice(Box::new(Slice {
            object,
            from: keys.pop(),
            to,
            step,
        })))
    }

    fn bound(&mut self) -> Result<Option<Expression>, Fault> {
        if self.at_symbol(":") || self.at_symbol("]") {
            return Ok(None);
        }
        self.test().map(Some)
    }

    fn primary(&mut self) -> Result<Expression, Fault> {
        let at = self.at();
        let kind = match self.peek() {
            Kind::Name(_) => Term::Name(self.name()?),
            Kind::Symbol("[") => self.list()?,
            Kind::Symbol("(") => self.parenthesised()?,
            Kind::Symbol("{") => self.dict()?,
            Kind::Text(_)
            | Kind::Format(_)
            | Kind::Number(_)
            | Kind::Float(_)
            | Kind::Symbol("...") => match self.advance() {
                Kind::Text(text) => Term::Text(text.into()),
                Kind::Format(pieces) => Term::Format(pieces),
                Kind::Number(number) => Term::Number(number),
                Kind::Float(number) => Term::Float(number),
                _ => Term::Ellipsis,
            },
            _ => return Err(self.unexpected("a value")),
        };
        Ok(term(at, kind))
    }

    fn list(&mut self) -> Result<Term, Fault> {
        self.advance();
        let mut items = Vec::new();
        while !self.take("]") {
            items.push(self.test()?);
            if items.len() == 1 && self.at_word("for") {
                let clauses = self.clauses()?;
                self.expect("]")?;
                let item = Box::new(items.remove(0));
                return Ok(Term::ListLoop(item, clauses));
            }
            if !self.take(",") && !self.at_symbol("]") {
                return Err(self.unexpected("`,` or `]`"));
            }
        }
        Ok(Term::List(items))
    }

    fn dict(&mut self) -> Result<Term, Fault> {
        self.advance();
        let mut entries = Vec::new();
        while !self.take("}") {
            let key = self.test()?;
            self.expect(":")?;
            entries.push((key, self.test()?));
            if entries.len() == 1 && self.at_word("for") {
                let clauses = self.clauses()?;
                self.expect("}")?;
                let entry = Box::new(entries.remove(0));
                return Ok(Term::DictLoop(entry, clauses));
            }
            if !self.take(",") && !self.at_symbol("}") {
                return Err(self.unexpected("`,` or `}`"));
            }
        }
        Ok(Term::Dict(entries))
    }

    fn clauses(&mut self) -> Result<Vec<Clause>, Fault> {
        let mut found = Vec::new();
        loop {
            if self.take_word("for") {
                let target = self.loop_target()?;
                self.expect_word("in")?;
                found.push(Clause::For(target, self.or_test()?));
            } else if self.take_word("if") {
                found.push(Clause::If(self.or_test()?));
            } else {
                return Ok(found);
            }
        }
    }

    fn parenthesised(&mut self) -> Result<Term, Fault> {
        self.advance();
        if self.take(")") {
            return Ok(Term::Tuple(Vec::new()));
        }
        let inner = self.tests()?;
        self.expect(")")?;
        Ok(inner.kind)
    }
}

/// An operator and how strongly it binds.
fn operator(kind: &Kind) -> Option<(Operator, u8)> {
    let Kind::Symbol(symbol) = kind else {
        return None;
    };
    Some(match *symbol {
        "|" => (Operator::Or, 0),
        "^" => (Operator::Xor, 1),
        "&" => (Operator::And, 2),
        "<<" => (Operator::ShiftLeft, 3),
        ">>" => (Operator::ShiftRight, 3),
        "+" => (Operator::Add, 4),
        "-" => (Operator::Subtract, 4),
        "*" => (Operator::Multiply, 5),
        "/" => (Operator::Divide, 5),
        "//" => (Operator::FloorDivide, 5),
        "%" => (Operator::Modulo, 5),
        _ => return None,
    })
}
