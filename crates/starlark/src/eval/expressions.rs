//! Expressions. Each kind has its function, so that nested ones take little of the stack.

use super::super::builtins;
use super::super::dict::Dict;
use super::super::lexer::{Fault, Located, Position};
use super::super::methods;
use super::super::scope;
use super::super::syntax::{Clause, Expression, Operator, Slice, Term};
use super::super::text::Piece;
use super::super::value::Value;
use super::Machine;

impl Machine<'_> {
    pub(super) fn value(&mut self, expression: &Expression) -> Result<Value, Fault> {
        let at = expression.at;
        self.spend(1, at)?;
        self.deeper(at, |machine| machine.term(&expression.kind, at))
    }

    fn term(&mut self, term: &Term, at: Position) -> Result<Value, Fault> {
        match term {
            Term::Text(text) => Ok(Value::Text(text.clone())),
            Term::Format(pieces) => self.formatted(pieces, at),
            Term::Number(number) => Ok(Value::Number(*number)),
            Term::Float(number) => Ok(Value::Float(*number)),
            Term::Ellipsis => Ok(Value::Ellipsis),
            Term::Name(name) => self.variable(name, at),
            Term::List(items) => {
                let items = self.values(items)?;
                self.heap.new_list(items).at(at)
            }
            Term::Tuple(items) => {
                let items = self.values(items)?;
                self.heap.new_tuple(items).at(at)
            }
            Term::Dict(entries) => self.dict(entries, at),
            Term::ListLoop(item, clauses) => self.list_loop(item, clauses, at),
            Term::DictLoop(entry, clauses) => self.dict_loop(entry, clauses, at),
            Term::Call(function, arguments) => self.call_expression(function, arguments, at),
            Term::Attribute(object, name) => {
                let object = self.value(object)?;
                methods::attribute(&object, name).at(at)
            }
            Term::Index(object, keys) => self.index(object, keys, at),
            Term::Slice(slice) => self.slice(slice, at),
            Term::Not(value) => {
                let value = self.value(value)?;
                Ok(Value::Bool(!self.heap.truth(&value)))
            }
            Term::Unary(sign, value) => {
                let value = self.value(value)?;
                self.heap.signed(*sign, &value).at(at)
            }
            Term::And(parts) => self.first_that_is(false, parts),
            Term::Or(parts) => self.first_that_is(true, parts),
            Term::Compare(parts) => {
                let left = self.value(&parts.0)?;
                let right = self.value(&parts.2)?;
                let truth = self.heap.compare(&left, parts.1, &right).at(at)?;
                Ok(Value::Bool(truth))
            }
            Term::Chain(first, rest) => self.chain(first, rest),
            Term::Conditional(parts) => {
                let condition = self.value(&parts.condition)?;
                match self.heap.truth(&condition) {
                    true => self.value(&parts.then),
                    false => self.value(&parts.otherwise),
                }
            }
            Term::Lambda(function) => self.closure(function),
        }
    }

    pub(super) fn values(&mut self, expressions: &[Expression]) -> Result<Vec<Value>, Fault> {
        expressions.iter().map(|part| self.value(part)).collect()
    }

    pub(super) fn variable(&self, name: &str, at: Position) -> Result<Value, Fault> {
        match self.heap.variable(self.scope, name) {
            Some(Some(value)) => Ok(value.clone()),
            Some(None) => Err(Fault::new(at, format!("`{name}` has no value yet"))),
            None => builtins::lookup(name, self.host.functions())
                .ok_or_else(|| Fault::new(at, format!("nothing here is called `{name}`"))),
        }
    }

    fn formatted(&mut self, pieces: &[Piece], at: Position) -> Result<Value, Fault> {
        let mut text = String::new();
        for piece in pieces {
            match piece {
                Piece::Text(part) => text.push_str(part),
                Piece::Variable { name, quoted, at } => {
                    let value = self.variable(name, *at)?;
                    let part = match quoted {
                        true => self.heap.quoted(&value),
                        false => self.heap.shown(&value),
                    };
                    let part = part.at(*at)?;
                    self.heap.spend_text(part.len()).at(*at)?;
                    text.push_str(&part);
                }
            }
        }
        self.heap.new_text(text).at(at)
    }

    fn dict(&mut self, entries: &[(Expression, Expression)], at: Position) -> Result<Value, Fault> {
        let mut dict = Dict::default();
        for (key, value) in entries {
            let shown = self.value(key)?;
            let hashed = self.heap.key(&shown).at(key.at)?;
            let value = self.value(value)?;
            if !dict.insert(hashed, shown, value) {
                return Err(Fault::new(key.at, "this key is given twice"));
            }
        }
        self.heap.new_dict(dict).at(at)
    }

    fn index(
        &mut self,
        object: &Expression,
        keys: &[Expression],
        at: Position,
    ) -> Result<Value, Fault> {
        let object = self.value(object)?;
        let keys = self.values(keys)?;
        self.heap.indexed(&object, &keys).at(at)
    }

    fn slice(&mut self, slice: &Slice, at: Position) -> Result<Value, Fault> {
        let object = self.value(&slice.object)?;
        let mut bounds = [None, None, None];
        let given = [&slice.from, &slice.to, &slice.step];
        for (bound, given) in bounds.iter_mut().zip(given) {
            if let Some(given) = given {
                *bound = Some(self.value(given)?);
            }
        }
        self.heap.sliced(&object, bounds).at(at)
    }

    /// The first part that is as true as wanted, else the last.
    fn first_that_is(&mut self, wanted: bool, parts: &[Expression]) -> Result<Value, Fault> {
        let mut last = Value::None;
        for part in parts {
            last = self.value(part)?;
            if self.heap.truth(&last) == wanted {
                break;
            }
        }
        Ok(last)
    }

    fn chain(
        &mut self,
        first: &Expression,
        rest: &[(Operator, Expression)],
    ) -> Result<Value, Fault> {
        let mut result = self.value(first)?;
        for (operator, part) in rest {
            let right = self.value(part)?;
            result = self.heap.operate(*operator, &result, &right).at(part.at)?;
        }
        Ok(result)
    }

    fn list_loop(
        &mut self,
        item: &Expression,
        clauses: &[Clause],
        at: Position,
    ) -> Result<Value, Fault> {
        let mut items = Vec::new();
        self.comprehension(clauses, at, &mut |machine| {
            items.push(machine.value(item)?);
            Ok(())
        })?;
        self.heap.new_list(items).at(at)
    }

    fn dict_loop(
        &mut self,
        entry: &(Expression, Expression),
        clauses: &[Clause],
        at: Position,
    ) -> Result<Value, Fault> {
        let mut dict = Dict::default();
        self.comprehension(clauses, at, &mut |machine| {
            let key = machine.value(&entry.0)?;
            let hashed = machine.heap.key(&key).at(entry.0.at)?;
            let value = machine.value(&entry.1)?;
            dict.insert(hashed, key, value);
            Ok(())
        })?;
        self.heap.new_dict(dict).at(at)
    }

    /// The names of a comprehension are its own; its first list is looked for outside.
    fn comprehension(
        &mut self,
        clauses: &[Clause],
        at: Position,
        item: &mut dyn FnMut(&mut Machine) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        let outermost = match clauses.first() {
            Some(Clause::For(_, over)) => self.value(over)?,
            _ => Value::None,
        };
        let names = scope::bound(clauses);
        let scope = self.heap.new_scope(Some(self.scope), &names).at(at)?;
        self.within(scope, |machine| {
            machine.clauses(clauses, Some(outermost), at, item)
        })
    }

    fn clauses(
        &mut self,
        clauses: &[Clause],
        known: Option<Value>,
        at: Position,
        item: &mut dyn FnMut(&mut Machine) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        let (target, over, rest) = match clauses {
            [] => return item(self),
            [Clause::If(condition), rest @ ..] => {
                let condition = self.value(condition)?;
                if !self.heap.truth(&condition) {
                    return Ok(());
                }
                return self.deeper(at, |machine| machine.clauses(rest, None, at, item));
            }
            [Clause::For(target, over), rest @ ..] => (target, over, rest),
        };
        let values = match known {
            Some(values) => values,
            None => self.value(over)?,
        };
        let items = self.heap.items(&values).at(over.at)?;
        self.heap.hold(&values, true);
        for value in items {
            self.spend(1, over.at)?;
            self.assign(target, value)?;
            self.deeper(at, |machine| machine.clauses(rest, None, at, item))?;
        }
        self.heap.hold(&values, false);
        Ok(())
    }
}
