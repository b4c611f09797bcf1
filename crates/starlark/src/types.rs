//! Types, as annotations of parameters, results and variables name them.

use std::fmt;
use std::rc::Rc;

use super::heap::Heap;
use super::value::Value;

/// A type may consist of this many.
const MAX_SIZE: usize = 64;

const TOO_LARGE: &str = "this type has too many parts";

#[derive(Debug, Clone, PartialEq)]
pub enum Type {
    None,
    Bool,
    Number,
    Float,
    Text,
    Range,
    List(Option<Box<Type>>),
    Dict(Option<Box<(Type, Type)>>),
    /// Of any number of parts.
    Tuple(Option<Box<Type>>),
    /// Of exactly these parts.
    Parts(Vec<Type>),
    Either(Vec<Type>),
}

impl From<Type> for Value {
    fn from(kind: Type) -> Value {
        Value::Type(Rc::new(kind))
    }
}

impl Type {
    /// The type that a function of this name stands for.
    pub(super) fn named(name: &str) -> Option<Type> {
        Some(match name {
            "str" => Type::Text,
            "int" => Type::Number,
            "float" => Type::Float,
            "bool" => Type::Bool,
            "list" => Type::List(None),
            "dict" => Type::Dict(None),
            "tuple" => Type::Tuple(None),
            "range" => Type::Range,
            _ => return None,
        })
    }

    /// The type that a value stands for.
    pub(super) fn of(heap: &Heap, value: &Value) -> Result<Type, String> {
        let kind = match value {
            Value::None => Type::None,
            Value::Type(kind) => kind.as_ref().clone(),
            Value::Builtin(builtin) => {
                let message = || format!("`{}` is not a type", builtin.name);
                Type::named(builtin.name).ok_or_else(message)?
            }
            Value::Tuple(id) => {
                let parts = heap.tuple(*id);
                let plain = !parts.iter().any(|part| matches!(part, Value::Tuple(_)));
                if !plain || parts.len() > MAX_SIZE {
                    return Err(TOO_LARGE.to_owned());
                }
                let parts = parts.iter().map(|part| Type::of(heap, part));
                Type::Parts(parts.collect::<Result<_, _>>()?)
            }
            other => return Err(format!("{} is not a type", other.described())),
        };
        kind.limited()
    }

    /// `list[…]`, `dict[…, …]` or `tuple[…, ...]`.
    pub(super) fn with_parts(heap: &Heap, name: &str, parts: &[Value]) -> Result<Type, String> {
        let kind = match (name, parts) {
            ("list", [item]) => Type::List(Some(Box::new(Type::of(heap, item)?))),
            ("dict", [key, value]) => {
                let parts = (Type::of(heap, key)?, Type::of(heap, value)?);
                Type::Dict(Some(Box::new(parts)))
            }
            ("tuple", [item, Value::Ellipsis]) => {
                Type::Tuple(Some(Box::new(Type::of(heap, item)?)))
            }
            _ => {
                return Err(format!(
                    "`{name}` takes no such parts; \
                     there are: list[…], dict[…, …], tuple[…, ...]"
                ));
            }
        };
        kind.limited()
    }

    pub(super) fn or(self, other: Type) -> Result<Type, String> {
        let mut parts = Vec::new();
        for kind in [self, other] {
            match kind {
                Type::Either(more) => parts.extend(more),
                single => parts.push(single),
            }
        }
        parts.sort_by_key(Type::to_string);
        parts.dedup();
        Type::Either(parts).limited()
    }

    /// Types are computed, so their size has a limit.
    fn limited(self) -> Result<Type, String> {
        match self.size() {
            ..=MAX_SIZE => Ok(self),
            _ => Err(TOO_LARGE.to_owned()),
        }
    }

    fn size(&self) -> usize {
        1 + match self {
            Type::List(Some(part)) | Type::Tuple(Some(part)) => part.size(),
            Type::Dict(Some(parts)) => parts.0.size() + parts.1.size(),
            Type::Parts(parts) | Type::Either(parts) => parts.iter().map(Type::size).sum(),
            _ => 0,
        }
    }

    pub(super) fn admits(&self, heap: &Heap, value: &Value) -> Result<bool, String> {
        heap.spend(1)?;
        let all = |kind: &Type, values: &[Value]| {
            for value in values {
                if !kind.admits(heap, value)? {
                    return Ok(false);
                }
            }
            Ok(true)
        };
        match (self, value) {
            (Type::None, Value::None)
            | (Type::Bool, Value::Bool(_))
            | (Type::Number, Value::Number(_))
            | (Type::Float, Value::Float(_))
            | (Type::Text, Value::Text(_))
            | (Type::Range, Value::Range(_))
            | (Type::List(None), Value::List(_))
            | (Type::Dict(None), Value::Dict(_))
            | (Type::Tuple(None), Value::Tuple(_)) => Ok(true),
            (Type::List(Some(kind)), Value::List(id)) => all(kind, heap.list(*id)),
            (Type::Tuple(Some(kind)), Value::Tuple(id)) => all(kind, heap.tuple(*id)),
            (Type::Parts(kinds), Value::Tuple(id)) => {
                let values = heap.tuple(*id);
                let pairs = kinds.iter().zip(values.iter());
                let mut fits = kinds.len() == values.len();
                for (kind, value) in pairs {
                    fits = fits && kind.admits(heap, value)?;
                }
                Ok(fits)
            }
            (Type::Dict(Some(kinds)), Value::Dict(id)) => {
                for (_, key, value) in heap.dict(*id).entries() {
                    if !kinds.0.admits(heap, key)? || !kinds.1.admits(heap, value)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            (Type::Either(kinds), value) => {
                for kind in kinds {
                    if kind.admits(heap, value)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            _ => Ok(false),
        }
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let joined = |parts: &[Type], between: &str| {
            let parts: Vec<String> = parts.iter().map(Type::to_string).collect();
            parts.join(between)
        };
        match self {
            Type::None => f.write_str("None"),
            Type::Bool => f.write_str("bool"),
            Type::Number => f.write_str("int"),
            Type::Float => f.write_str("float"),
            Type::Text => f.write_str("str"),
            Type::Range => f.write_str("range"),
            Type::List(None) => f.write_str("list"),
            Type::Dict(None) => f.write_str("dict"),
            Type::Tuple(None) => f.write_str("tuple"),
            Type::List(Some(part)) => write!(f, "list[{part}]"),
            Type::Dict(Some(parts)) => write!(f, "dict[{}, {}]", parts.0, parts.1),
            Type::Tuple(Some(part)) => write!(f, "tuple[{part}, ...]"),
            Type::Parts(parts) => write!(f, "({})", joined(parts, ", ")),
            Type::Either(parts) => f.write_str(&joined(parts, " | ")),
        }
    }
}
