//! What a rules file computes with.
//!
//! Lists, tuples, dictionaries and functions are places in the [`Heap`](super::Heap), so values are
//! small, can contain themselves, and are all freed together.

use std::rc::Rc;

use super::builtins::Builtin;
use super::methods::Method;
use super::types::Type;

#[derive(Debug, Clone)]
pub enum Value {
    None,
    Ellipsis,
    Bool(bool),
    Number(i128),
    Float(f64),
    Text(Rc<str>),
    List(ListId),
    Tuple(TupleId),
    Dict(DictId),
    Range(Range),
    /// The characters of a text: can be gone through, not indexed.
    Characters(TupleId),
    Function(FunctionId),
    Builtin(&'static Builtin),
    Method(Rc<(Value, &'static Method)>),
    Type(Rc<Type>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ListId(pub(super) usize);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TupleId(pub(super) usize);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct DictId(pub(super) usize);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FunctionId(pub(super) usize);

impl Value {
    pub(super) fn text(text: impl Into<Rc<str>>) -> Value {
        Value::Text(text.into())
    }

    pub(super) fn count(count: usize) -> Value {
        Value::Number(i128::try_from(count).unwrap_or(i128::MAX))
    }

    /// The type, as a sentence names it.
    pub fn described(&self) -> &'static str {
        match self {
            Value::Text(_) => "a string",
            Value::Number(_) => "a number",
            Value::Float(_) => "a number with a fraction",
            Value::Bool(_) => "a truth value",
            Value::None => "None",
            Value::Ellipsis => "an ellipsis",
            Value::List(_) => "a list",
            Value::Tuple(_) => "a tuple",
            Value::Dict(_) => "a dictionary",
            Value::Range(_) => "a range",
            Value::Characters(_) => "an iterator",
            Value::Function(_) | Value::Builtin(_) | Value::Method(_) => "a function",
            Value::Type(_) => "a type",
        }
    }

    /// What `type(…)` gives.
    pub(super) fn type_name(&self) -> &'static str {
        match self {
            Value::Text(_) => "string",
            Value::Number(_) => "int",
            Value::Float(_) => "float",
            Value::Bool(_) => "bool",
            Value::None => "NoneType",
            Value::Ellipsis => "ellipsis",
            Value::List(_) => "list",
            Value::Tuple(_) => "tuple",
            Value::Dict(_) => "dict",
            Value::Range(_) => "range",
            Value::Characters(_) => "iterator",
            Value::Function(_) | Value::Builtin(_) | Value::Method(_) => "function",
            Value::Type(_) => "type",
        }
    }
}

/// `range(start, stop, step)`; the step is never 0.
#[derive(Debug, Clone, Copy)]
pub struct Range {
    pub start: i64,
    pub stop: i64,
    pub step: i64,
}

impl Range {
    pub(super) fn len(&self) -> usize {
        let (start, stop, step) = (
            i128::from(self.start),
            i128::from(self.stop),
            i128::from(self.step),
        );
        let span = if step > 0 { stop - start } else { start - stop };
        if span <= 0 {
            return 0;
        }
        let step = step.abs();
        usize::try_from((span + step - 1) / step).unwrap_or(usize::MAX)
    }

    pub(super) fn get(&self, index: usize) -> i128 {
        let index = i128::try_from(index).unwrap_or(i128::MAX);
        i128::from(self.start).saturating_add(i128::from(self.step).saturating_mul(index))
    }

    pub(super) fn contains(&self, number: i128) -> bool {
        let (start, step) = (i128::from(self.start), i128::from(self.step));
        let Some(distance) = number.checked_sub(start) else {
            return false;
        };
        let inside = if step > 0 {
            number < i128::from(self.stop)
        } else {
            number > i128::from(self.stop)
        };
        inside && distance.signum() != -step.signum() && distance % step == 0
    }
}
