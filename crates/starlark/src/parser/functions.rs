//! `def`, `lambda`, their parameters, type annotations, and the arguments of calls.

use std::rc::Rc;

use super::super::lexer::{Fault, Kind, Position};
use super::super::scope::{self, Names};
use super::super::syntax::{
    Argument, ArgumentKind, Block, Expression, Function, Operator, Parameter, ParameterKind,
    Statement, Term,
};
use super::Parser;

/// More parameters or arguments than any hand-written function has.
const MAX_PARAMETERS: usize = 1000;

impl Parser {
    pub(super) fn definition(&mut self) -> Result<Statement, Fault> {
        let at = self.at();
        self.advance();
        let name = self.name()?;
        self.expect("(")?;
        let parameters = self.parameters(")", true)?;
        let returns = match self.take("->") {
            true => Some(self.annotation()?),
            false => None,
        };
        self.expect(":")?;
        let outer = (self.in_function, self.in_loop);
        (self.in_function, self.in_loop) = (true, false);
        let body = self.block()?;
        (self.in_function, self.in_loop) = outer;
        let locals = locals(&parameters, &body);
        Ok(Statement::Define(Rc::new(Function {
            name,
            at,
            parameters,
            returns,
            body,
            locals,
        })))
    }

    pub(super) fn lambda(&mut self) -> Result<Expression, Fault> {
        let at = self.at();
        self.advance();
        let parameters = self.parameters(":", false)?;
        let body = vec![Statement::Return(Some(self.deeper(Parser::test)?))];
        let locals = locals(&parameters, &body);
        let function = Function {
            name: "lambda".into(),
            at,
            parameters,
            returns: None,
            body,
            locals,
        };
        let kind = Term::Lambda(Rc::new(function));
        Ok(Expression { at, kind })
    }

    fn parameters(&mut self, end: &'static str, typed: bool) -> Result<Vec<Parameter>, Fault> {
        let mut found: Vec<Parameter> = Vec::new();
        // The place of a bare `*`: names must follow it.
        let mut star = None;
        while !self.take(end) {
            let at = self.at();
            let last = found.last().map(|parameter| parameter.kind);
            if last == Some(ParameterKind::Mapping) {
                return Err(Fault::new(at, "nothing can follow a `**` parameter"));
            }
            let only_named = star.is_some()
                || found
                    .iter()
                    .any(|parameter| parameter.kind == ParameterKind::Sequence);
            let kind = if self.take("**") {
                ParameterKind::Mapping
            } else if self.take("*") {
                if only_named {
                    return Err(Fault::new(at, "there can be only one `*`"));
                }
                if self.at_symbol(",") {
                    self.advance();
                    star = Some(at);
                    continue;
                }
                ParameterKind::Sequence
            } else if only_named {
                ParameterKind::Named
            } else {
                ParameterKind::Plain
            };
            let parameter = self.parameter(kind, typed)?;
            check_order(&found, &parameter)?;
            found.push(parameter);
            limited(found.len(), at)?;
            if !self.take(",") && !self.at_symbol(end) {
                return Err(self.unexpected(&format!("`,` or `{end}`")));
            }
        }
        let followed = found
            .last()
            .is_some_and(|parameter| parameter.kind == ParameterKind::Named);
        match star {
            Some(at) if !followed => Err(Fault::new(at, "a name must follow `*`")),
            _ => Ok(found),
        }
    }

    fn parameter(&mut self, kind: ParameterKind, typed: bool) -> Result<Parameter, Fault> {
        let at = self.at();
        let name = self.name()?;
        let annotation = match typed && self.take(":") {
            true => Some(self.annotation()?),
            false => None,
        };
        let single = matches!(kind, ParameterKind::Plain | ParameterKind::Named);
        let default = match single && self.take("=") {
            true => Some(self.test()?),
            false => None,
        };
        Ok(Parameter {
            name,
            at,
            kind,
            annotation,
            default,
        })
    }

    /// A type: names, `list[…]` and the like, tuples and unions of these.
    pub(super) fn annotation(&mut self) -> Result<Expression, Fault> {
        let found = self.test()?;
        check_annotation(&found)?;
        Ok(found)
    }

    pub(super) fn arguments(&mut self) -> Result<Vec<Argument>, Fault> {
        let mut found: Vec<Argument> = Vec::new();
        while !self.take(")") {
            let at = self.at();
            let argument = self.argument()?;
            check_argument(&found, &argument.kind, at)?;
            found.push(argument);
            limited(found.len(), at)?;
            if !self.take(",") && !self.at_symbol(")") {
                return Err(self.unexpected("`,` or `)`"));
            }
        }
        Ok(found)
    }

    fn argument(&mut self) -> Result<Argument, Fault> {
        if self.take("**") {
            let (kind, value) = (ArgumentKind::Mapping, self.test()?);
            return Ok(Argument { kind, value });
        }
        if self.take("*") {
            let (kind, value) = (ArgumentKind::Sequence, self.test()?);
            return Ok(Argument { kind, value });
        }
        let named = matches!(self.peek(), Kind::Name(_))
            && self.tokens.get(self.next + 1).map(|token| &token.kind) == Some(&Kind::Symbol("="));
        let kind = if named {
            let name = self.name()?;
            self.advance();
            ArgumentKind::Named(name)
        } else {
            ArgumentKind::Positional
        };
        let value = self.test()?;
        Ok(Argument { kind, value })
    }
}

fn locals(parameters: &[Parameter], body: &Block) -> Names {
    let names = parameters.iter().map(|parameter| parameter.name.clone());
    let mut names = names.collect();
    scope::assigned(body, &mut names);
    names
}

fn limited(count: usize, at: Position) -> Result<(), Fault> {
    if count > MAX_PARAMETERS {
        let message = format!("more than {MAX_PARAMETERS} values in one pair of parentheses");
        return Err(Fault::new(at, message));
    }
    Ok(())
}

fn check_order(before: &[Parameter], new: &Parameter) -> Result<(), Fault> {
    if before.iter().any(|parameter| parameter.name == new.name) {
        return Err(Fault::new(
            new.at,
            "there is another parameter of this name",
        ));
    }
    let optional = before.iter().any(|parameter| parameter.default.is_some());
    if new.kind == ParameterKind::Plain && new.default.is_none() && optional {
        return Err(Fault::new(
            new.at,
            "a parameter without a default follows one that has a default",
        ));
    }
    Ok(())
}

fn check_argument(before: &[Argument], new: &ArgumentKind, at: Position) -> Result<(), Fault> {
    let last = before.last().map(|argument| &argument.kind);
    let message = match (new, last) {
        (_, None) | (ArgumentKind::Positional, Some(ArgumentKind::Positional)) => return Ok(()),
        (ArgumentKind::Positional, Some(_)) => "an argument without a name after a named one",
        (_, Some(ArgumentKind::Mapping)) => "nothing can follow a `**` argument",
        (ArgumentKind::Named(_) | ArgumentKind::Sequence, Some(ArgumentKind::Sequence)) => {
            "only a `**` argument can follow a `*` argument"
        }
        (ArgumentKind::Named(_), _) if before.iter().any(|one| &one.kind == new) => {
            "this argument is given twice"
        }
        _ => return Ok(()),
    };
    Err(Fault::new(at, message))
}

fn check_annotation(expression: &Expression) -> Result<(), Fault> {
    match &expression.kind {
        Term::Name(_) | Term::Ellipsis => Ok(()),
        Term::Tuple(parts) => parts.iter().try_for_each(check_annotation),
        Term::Index(of, parts) => {
            check_annotation(of)?;
            parts.iter().try_for_each(check_annotation)
        }
        Term::Chain(first, rest) => {
            check_annotation(first)?;
            rest.iter().try_for_each(|(operator, part)| {
                if *operator == Operator::Or {
                    return check_annotation(part);
                }
                Err(Fault::new(part.at, "only `|` can stand between types"))
            })
        }
        _ => Err(Fault::new(expression.at, "this is not a type")),
    }
}
