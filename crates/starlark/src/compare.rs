//! Equality, order, truth and hashing of values. Every step is paid for, for two values can share
//! parts in such a way that comparing them takes longer than building them.

use std::cmp::Ordering;

use super::dict::Key;
use super::heap::Heap;
use super::value::{Range, Value};

/// Values can be nested to any depth by a loop; walking them cannot.
pub(super) const MAX_NESTING: usize = 100;

pub(super) const TOO_NESTED: &str = "this value is nested too deeply";

impl Heap {
    pub(super) fn truth(&self, value: &Value) -> bool {
        match value {
            Value::None => false,
            Value::Bool(truth) => *truth,
            Value::Number(number) => *number != 0,
            Value::Float(number) => *number != 0.0,
            Value::Text(text) => !text.is_empty(),
            Value::List(id) => !self.list(*id).is_empty(),
            Value::Tuple(id) => !self.tuple(*id).is_empty(),
            Value::Dict(id) => self.dict(*id).len() > 0,
            Value::Range(range) => range.len() > 0,
            Value::Ellipsis
            | Value::Characters(_)
            | Value::Function(_)
            | Value::Builtin(_)
            | Value::Method(_)
            | Value::Type(_) => true,
        }
    }

    pub(super) fn equal(&self, left: &Value, right: &Value) -> Result<bool, String> {
        self.equal_within(left, right, MAX_NESTING)
    }

    fn equal_within(&self, left: &Value, right: &Value, depth: usize) -> Result<bool, String> {
        let deeper = depth.checked_sub(1).ok_or(TOO_NESTED)?;
        self.spend(1)?;
        Ok(match (left, right) {
            (Value::None, Value::None) | (Value::Ellipsis, Value::Ellipsis) => true,
            (Value::Bool(left), Value::Bool(right)) => left == right,
            (Value::Number(_) | Value::Float(_), Value::Number(_) | Value::Float(_)) => {
                self.order(left, right)? == Ordering::Equal
            }
            (Value::Text(left), Value::Text(right)) => {
                self.spend_text(left.len().min(right.len()))?;
                left == right
            }
            (Value::List(left), Value::List(right)) => {
                left == right || self.all_equal(self.list(*left), self.list(*right), deeper)?
            }
            (Value::Tuple(left), Value::Tuple(right)) => {
                left == right || self.all_equal(self.tuple(*left), self.tuple(*right), deeper)?
            }
            (Value::Dict(left), Value::Dict(right)) => {
                let (left, right) = (self.dict(*left), self.dict(*right));
                if left.len() != right.len() {
                    return Ok(false);
                }
                for (key, _, value) in left.entries() {
                    match right.get(key) {
                        Some(other) if self.equal_within(value, other, deeper)? => {}
                        _ => return Ok(false),
                    }
                }
                true
            }
            (Value::Range(left), Value::Range(right)) => identity(left) == identity(right),
            (Value::Characters(left), Value::Characters(right)) => left == right,
            (Value::Function(left), Value::Function(right)) => left == right,
            (Value::Builtin(left), Value::Builtin(right)) => left.name == right.name,
            (Value::Type(left), Value::Type(right)) => left == right,
            _ => false,
        })
    }

    fn all_equal(&self, left: &[Value], right: &[Value], depth: usize) -> Result<bool, String> {
        if left.len() != right.len() {
            return Ok(false);
        }
        for (left, right) in left.iter().zip(right) {
            if !self.equal_within(left, right, depth)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    pub(super) fn order(&self, left: &Value, right: &Value) -> Result<Ordering, String> {
        self.order_within(left, right, MAX_NESTING)
    }

    fn order_within(&self, left: &Value, right: &Value, depth: usize) -> Result<Ordering, String> {
        let deeper = depth.checked_sub(1).ok_or(TOO_NESTED)?;
        self.spend(1)?;
        Ok(match (left, right) {
            (Value::Bool(left), Value::Bool(right)) => left.cmp(right),
            (Value::Number(left), Value::Number(right)) => left.cmp(right),
            (Value::Number(left), Value::Float(right)) => mixed_order(*left, *right),
            (Value::Float(left), Value::Number(right)) => mixed_order(*right, *left).reverse(),
            (Value::Float(left), Value::Float(right)) => float_order(*left, *right),
            (Value::Text(left), Value::Text(right)) => {
                self.spend_text(left.len().min(right.len()))?;
                left.cmp(right)
            }
            (Value::List(left), Value::List(right)) => {
                self.order_of_all(self.list(*left), self.list(*right), deeper)?
            }
            (Value::Tuple(left), Value::Tuple(right)) => {
                self.order_of_all(self.tuple(*left), self.tuple(*right), deeper)?
            }
            (left, right) => {
                let (left, right) = (left.described(), right.described());
                return Err(format!("{left} and {right} have no order"));
            }
        })
    }

    fn order_of_all(
        &self,
        left: &[Value],
        right: &[Value],
        depth: usize,
    ) -> Result<Ordering, String> {
        for (left, right) in left.iter().zip(right) {
            match self.order_within(left, right, depth)? {
                Ordering::Equal => {}
                decided => return Ok(decided),
            }
        }
        Ok(left.len().cmp(&right.len()))
    }

    /// The value as a key of a dictionary.
    pub(super) fn key(&self, value: &Value) -> Result<Key, String> {
        self.key_within(value, MAX_NESTING)
    }

    fn key_within(&self, value: &Value, depth: usize) -> Result<Key, String> {
        let deeper = depth.checked_sub(1).ok_or(TOO_NESTED)?;
        self.spend(1)?;
        Ok(match value {
            Value::None => Key::None,
            Value::Ellipsis => Key::Ellipsis,
            Value::Bool(truth) => Key::Bool(*truth),
            Value::Number(number) => Key::Number(*number),
            Value::Float(number) => match whole(*number) {
                Some(whole) => Key::Number(whole),
                None => Key::Float(number.to_bits()),
            },
            Value::Text(text) => {
                self.spend_text(text.len())?;
                Key::Text(text.clone())
            }
            Value::Tuple(id) => {
                let items = self.tuple(*id).iter();
                Key::Tuple(
                    items
                        .map(|item| self.key_within(item, deeper))
                        .collect::<Result<_, _>>()?,
                )
            }
            Value::Function(id) => Key::Function(*id),
            Value::Builtin(builtin) => Key::Builtin(builtin.name),
            other => {
                let kind = other.described();
                return Err(format!("{kind} cannot be a key of a dictionary"));
            }
        })
    }

    /// `item in container`.
    pub(super) fn contains(&self, container: &Value, item: &Value) -> Result<bool, String> {
        match (container, item) {
            (Value::Text(text), Value::Text(part)) => {
                self.spend_text(text.len())?;
                Ok(text.contains(part.as_ref()))
            }
            (Value::Dict(id), item) => {
                let key = self.key(item)?;
                Ok(self.dict(*id).get(&key).is_some())
            }
            (Value::Range(range), Value::Number(number)) => Ok(range.contains(*number)),
            (Value::Range(range), Value::Float(number)) => {
                Ok(whole(*number).is_some_and(|number| range.contains(number)))
            }
            (Value::Range(_), _) => Ok(false),
            (Value::List(_) | Value::Tuple(_), item) => {
                for found in self.items(container)? {
                    if self.equal(&found, item)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            (container, item) => {
                let (item, container) = (item.described(), container.described());
                Err(format!("{item} cannot be looked for in {container}"))
            }
        }
    }
}

/// The same for ranges of the same numbers.
fn identity(range: &Range) -> Option<(i64, i64, usize)> {
    match range.len() {
        0 => None,
        1 => Some((range.start, 0, 1)),
        count => Some((range.start, range.step, count)),
    }
}

/// The whole number that this is, if it is one.
#[expect(
    clippy::cast_possible_truncation,
    reason = "numbers outside of the range were excluded"
)]
pub(super) fn whole(number: f64) -> Option<i128> {
    let fits = number.trunc() == number && number.abs() < 1e38;
    fits.then_some(number as i128)
}

#[expect(clippy::cast_precision_loss, reason = "only the order is wanted")]
fn mixed_order(left: i128, right: f64) -> Ordering {
    match whole(right) {
        Some(right) => left.cmp(&right),
        None => float_order(left as f64, right),
    }
}

/// Not-a-number is larger than every number.
fn float_order(left: f64, right: f64) -> Ordering {
    left.partial_cmp(&right)
        .unwrap_or_else(|| left.is_nan().cmp(&right.is_nan()))
}
