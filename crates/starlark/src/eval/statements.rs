//! Statements: assignments, loops, branches and definitions.

use std::rc::Rc;

use super::super::heap::Closure;
use super::super::lexer::{Fault, Located, Position};
use super::super::syntax::{Block, Expression, Function, Operator, Statement, Target};
use super::super::types::Type;
use super::super::value::Value;
use super::Machine;

/// How a block ended.
pub(super) enum Flow {
    /// At its end.
    On,
    Break,
    Continue,
    Return(Value),
}

impl Machine<'_> {
    pub(super) fn block(&mut self, statements: &Block) -> Result<Flow, Fault> {
        for statement in statements {
            match self.statement(statement)? {
                Flow::On => {}
                other => return Ok(other),
            }
        }
        Ok(Flow::On)
    }

    fn statement(&mut self, statement: &Statement) -> Result<Flow, Fault> {
        match statement {
            Statement::Expression(expression) => drop(self.value(expression)?),
            Statement::Assign {
                target,
                annotation,
                value,
            } => self.assign_statement(target, annotation.as_ref(), value)?,
            Statement::Augment {
                target,
                operator,
                value,
                at,
            } => self.augment(target, *operator, value, *at)?,
            Statement::For { target, over, body } => return self.for_loop(target, over, body),
            Statement::If {
                branches,
                otherwise,
            } => return self.branch(branches, otherwise),
            Statement::Define(function) => {
                let value = self.closure(function)?;
                self.heap.assign(self.scope, &function.name, value);
            }
            Statement::Return(None) => return Ok(Flow::Return(Value::None)),
            Statement::Return(Some(value)) => return Ok(Flow::Return(self.value(value)?)),
            Statement::Break => return Ok(Flow::Break),
            Statement::Continue => return Ok(Flow::Continue),
            Statement::Pass => {}
        }
        Ok(Flow::On)
    }

    fn assign_statement(
        &mut self,
        target: &Target,
        annotation: Option<&Expression>,
        value: &Expression,
    ) -> Result<(), Fault> {
        let new = self.value(value)?;
        if let Some(annotation) = annotation {
            let kind = self.annotated(annotation)?;
            self.check_type(&kind, &new, value.at)?;
        }
        self.assign(target, new)
    }

    pub(super) fn assign(&mut self, target: &Target, value: Value) -> Result<(), Fault> {
        match target {
            Target::Name(name, _) => {
                self.heap.assign(self.scope, name, value);
                Ok(())
            }
            Target::Index { object, key, at } => {
                let object = self.value(object)?;
                let key = self.value(key)?;
                self.heap.assign_index(&object, &key, value).at(*at)
            }
            Target::Several(targets, at) => {
                let parts = self.heap.all_items(&value).at(*at)?;
                if parts.len() != targets.len() {
                    let (wanted, found) = (targets.len(), parts.len());
                    let message = format!("{found} values for {wanted} names");
                    return Err(Fault::new(*at, message));
                }
                targets
                    .iter()
                    .zip(parts)
                    .try_for_each(|(target, part)| self.assign(target, part))
            }
        }
    }

    fn augment(
        &mut self,
        target: &Target,
        operator: Operator,
        value: &Expression,
        at: Position,
    ) -> Result<(), Fault> {
        match target {
            Target::Name(name, place) => {
                let old = self.variable(name, *place)?;
                let new = self.augmented(operator, &old, value, at)?;
                self.heap.assign(self.scope, name, new);
                Ok(())
            }
            Target::Index {
                object,
                key,
                at: place,
            } => {
                let object = self.value(object)?;
                let key = self.value(key)?;
                let keys = std::slice::from_ref(&key);
                let old = self.heap.indexed(&object, keys).at(*place)?;
                let new = self.augmented(operator, &old, value, at)?;
                self.heap.assign_index(&object, &key, new).at(*place)
            }
            Target::Several(_, place) => Err(Fault::new(
                *place,
                "several names cannot be changed in place",
            )),
        }
    }

    fn augmented(
        &mut self,
        operator: Operator,
        old: &Value,
        value: &Expression,
        at: Position,
    ) -> Result<Value, Fault> {
        let value = self.value(value)?;
        match self.heap.operate_in_place(operator, old, &value).at(at)? {
            Some(changed) => Ok(changed),
            None => self.heap.operate(operator, old, &value).at(at),
        }
    }

    fn for_loop(
        &mut self,
        target: &Target,
        over: &Expression,
        body: &Block,
    ) -> Result<Flow, Fault> {
        let values = self.value(over)?;
        let items = self.heap.items(&values).at(over.at)?;
        self.heap.hold(&values, true);
        let mut end = Flow::On;
        for item in items {
            self.spend(1, over.at)?;
            self.assign(target, item)?;
            match self.deeper(over.at, |machine| machine.block(body))? {
                Flow::On | Flow::Continue => {}
                Flow::Break => break,
                Flow::Return(value) => {
                    end = Flow::Return(value);
                    break;
                }
            }
        }
        self.heap.hold(&values, false);
        Ok(end)
    }

    fn branch(
        &mut self,
        branches: &[(Expression, Block)],
        otherwise: &Block,
    ) -> Result<Flow, Fault> {
        for (condition, body) in branches {
            let value = self.value(condition)?;
            if self.heap.truth(&value) {
                return self.deeper(condition.at, |machine| machine.block(body));
            }
        }
        self.block(otherwise)
    }

    pub(super) fn closure(&mut self, function: &Rc<Function>) -> Result<Value, Fault> {
        let mut defaults = Vec::with_capacity(function.parameters.len());
        let mut types = Vec::with_capacity(function.parameters.len());
        for parameter in &function.parameters {
            let kind = match &parameter.annotation {
                Some(annotation) => Some(self.annotated(annotation)?),
                None => None,
            };
            let default = match &parameter.default {
                Some(default) => Some(self.value(default)?),
                None => None,
            };
            if let (Some(kind), Some(default)) = (&kind, &default) {
                self.check_type(kind, default, parameter.at)?;
            }
            defaults.push(default);
            types.push(kind);
        }
        let returns = match &function.returns {
            Some(annotation) => Some(Rc::new(self.annotated(annotation)?)),
            None => None,
        };
        let closure = Closure {
            function: function.clone(),
            scope: self.scope,
            defaults: defaults.into(),
            types: types.into(),
            returns,
        };
        self.heap.new_function(closure).at(function.at)
    }

    fn annotated(&mut self, annotation: &Expression) -> Result<Type, Fault> {
        let value = self.value(annotation)?;
        Type::of(&self.heap, &value).at(annotation.at)
    }

    pub(super) fn check_type(&self, kind: &Type, value: &Value, at: Position) -> Result<(), Fault> {
        if kind.admits(&self.heap, value).at(at)? {
            return Ok(());
        }
        let found = value.described();
        Err(Fault::new(
            at,
            format!("this must be `{kind}`, not {found}"),
        ))
    }
}
