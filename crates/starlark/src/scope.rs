//! Which names a file, a function or a comprehension has, so that an unknown one is found before
//! anything runs, also in a branch that is never taken.

use std::collections::HashSet;

use super::lexer::{Fault, Position};
use super::syntax::{Argument, Block, Clause, Expression, Function, Name, Statement, Target, Term};
use super::text::Piece;

pub(super) type Names = HashSet<Name>;

/// Adds the names that these statements assign, without those of functions inside.
pub(super) fn assigned(statements: &Block, into: &mut Names) {
    for statement in statements {
        match statement {
            Statement::Assign { target, .. } | Statement::Augment { target, .. } => {
                named(target, into);
            }
            Statement::For { target, body, .. } => {
                named(target, into);
                assigned(body, into);
            }
            Statement::If {
                branches,
                otherwise,
            } => {
                for (_, body) in branches {
                    assigned(body, into);
                }
                assigned(otherwise, into);
            }
            Statement::Define(function) => drop(into.insert(function.name.clone())),
            Statement::Expression(_)
            | Statement::Return(_)
            | Statement::Break
            | Statement::Continue
            | Statement::Pass => {}
        }
    }
}

/// The names that the clauses of a comprehension bind.
pub(super) fn bound(clauses: &[Clause]) -> Names {
    let mut names = Names::new();
    for clause in clauses {
        if let Clause::For(target, _) = clause {
            named(target, &mut names);
        }
    }
    names
}

fn named(target: &Target, into: &mut Names) {
    match target {
        Target::Name(name, _) => drop(into.insert(name.clone())),
        Target::Several(targets, _) => targets.iter().for_each(|target| named(target, into)),
        Target::Index { .. } => {}
    }
}

/// Fails at the first name that nothing has.
pub(super) fn check(
    statements: &Block,
    globals: Names,
    is_builtin: &dyn Fn(&str) -> bool,
) -> Result<(), Fault> {
    let scopes = vec![globals];
    Checker { scopes, is_builtin }.block(statements)
}

struct Checker<'a> {
    scopes: Vec<Names>,
    is_builtin: &'a dyn Fn(&str) -> bool,
}

impl Checker<'_> {
    fn known(&self, name: &Name, at: Position) -> Result<(), Fault> {
        let known = self.scopes.iter().any(|scope| scope.contains(name));
        if known || (self.is_builtin)(name) {
            return Ok(());
        }
        Err(Fault::new(at, format!("nothing here is called `{name}`")))
    }

    fn block(&mut self, statements: &Block) -> Result<(), Fault> {
        statements.iter().try_for_each(|one| self.statement(one))
    }

    fn statement(&mut self, statement: &Statement) -> Result<(), Fault> {
        match statement {
            Statement::Expression(value) | Statement::Return(Some(value)) => self.value(value),
            Statement::Assign {
                target,
                annotation,
                value,
            } => {
                self.target(target)?;
                self.each(annotation)?;
                self.value(value)
            }
            Statement::Augment { target, value, .. } => {
                self.target(target)?;
                self.value(value)
            }
            Statement::For { target, over, body } => {
                self.target(target)?;
                self.value(over)?;
                self.block(body)
            }
            Statement::If {
                branches,
                otherwise,
            } => {
                for (condition, body) in branches {
                    self.value(condition)?;
                    self.block(body)?;
                }
                self.block(otherwise)
            }
            Statement::Define(function) => self.function(function),
            Statement::Return(None) | Statement::Break | Statement::Continue | Statement::Pass => {
                Ok(())
            }
        }
    }

    fn target(&mut self, target: &Target) -> Result<(), Fault> {
        match target {
            Target::Name(..) => Ok(()),
            Target::Index { object, key, .. } => {
                self.value(object)?;
                self.value(key)
            }
            Target::Several(targets, _) => targets.iter().try_for_each(|one| self.target(one)),
        }
    }

    fn function(&mut self, function: &Function) -> Result<(), Fault> {
        self.each(&function.returns)?;
        for parameter in &function.parameters {
            self.each(&parameter.annotation)?;
            self.each(&parameter.default)?;
        }
        self.scopes.push(function.locals.clone());
        self.block(&function.body)?;
        self.scopes.pop();
        Ok(())
    }

    fn each<'e>(&mut self, values: impl IntoIterator<Item = &'e Expression>) -> Result<(), Fault> {
        values.into_iter().try_for_each(|value| self.value(value))
    }

    fn value(&mut self, expression: &Expression) -> Result<(), Fault> {
        match &expression.kind {
            Term::Text(_) | Term::Number(_) | Term::Float(_) | Term::Ellipsis => Ok(()),
            Term::Format(pieces) => pieces.iter().try_for_each(|piece| match piece {
                Piece::Text(_) => Ok(()),
                Piece::Variable { name, at, .. } => self.known(name, *at),
            }),
            Term::Name(name) => self.known(name, expression.at),
            Term::List(items) | Term::Tuple(items) | Term::And(items) | Term::Or(items) => {
                self.each(items)
            }
            Term::Dict(entries) => entries
                .iter()
                .try_for_each(|(key, value)| self.each([key, value])),
            Term::ListLoop(item, clauses) => self.comprehension(&[item], clauses),
            Term::DictLoop(entry, clauses) => self.comprehension(&[&entry.0, &entry.1], clauses),
            Term::Call(function, arguments) => {
                self.value(function)?;
                self.each(arguments.iter().map(|Argument { value, .. }| value))
            }
            Term::Attribute(value, _) | Term::Not(value) | Term::Unary(_, value) => {
                self.value(value)
            }
            Term::Index(object, keys) => {
                self.value(object)?;
                self.each(keys)
            }
            Term::Slice(slice) => {
                self.value(&slice.object)?;
                self.each([&slice.from, &slice.to, &slice.step].into_iter().flatten())
            }
            Term::Compare(parts) => self.each([&parts.0, &parts.2]),
            Term::Chain(first, rest) => {
                self.value(first)?;
                self.each(rest.iter().map(|(_, part)| part))
            }
            Term::Conditional(parts) => {
                self.each([&parts.condition, &parts.then, &parts.otherwise])
            }
            Term::Lambda(function) => self.function(function),
        }
    }

    /// The first list is looked for outside, all else inside.
    fn comprehension(&mut self, items: &[&Expression], clauses: &[Clause]) -> Result<(), Fault> {
        if let Some(Clause::For(_, over)) = clauses.first() {
            self.value(over)?;
        }
        self.scopes.push(bound(clauses));
        for (index, clause) in clauses.iter().enumerate() {
            match clause {
                Clause::For(target, over) => {
                    self.target(target)?;
                    if index > 0 {
                        self.value(over)?;
                    }
                }
                Clause::If(condition) => self.value(condition)?,
            }
        }
        self.each(items.iter().copied())?;
        self.scopes.pop();
        Ok(())
    }
}
