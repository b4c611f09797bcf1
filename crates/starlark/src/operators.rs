//! What operators do with values.

use super::builtins::Builtin;
use super::compare::whole;
use super::dict::Dict;
use super::format::percent;
use super::heap::Heap;
use super::numbers::TOO_LARGE;
use super::syntax::{Comparison, Operator, Sign};
use super::types::Type;
use super::value::{ListId, Value};

impl Operator {
    fn symbol(self) -> &'static str {
        match self {
            Operator::Add => "+",
            Operator::Subtract => "-",
            Operator::Multiply => "*",
            Operator::Divide => "/",
            Operator::FloorDivide => "//",
            Operator::Modulo => "%",
            Operator::Or => "|",
            Operator::Xor => "^",
            Operator::And => "&",
            Operator::ShiftLeft => "<<",
            Operator::ShiftRight => ">>",
        }
    }
}

impl Heap {
    pub(super) fn operate(
        &mut self,
        operator: Operator,
        left: &Value,
        right: &Value,
    ) -> Result<Value, String> {
        match (operator, left, right) {
            (_, Value::Number(left), Value::Number(right)) => {
                whole_numbers(operator, *left, *right)
            }
            (_, Value::Number(_) | Value::Float(_), Value::Number(_) | Value::Float(_)) => {
                fractions(operator, float(left), float(right))
            }
            (Operator::Add, Value::Text(left), Value::Text(right)) => {
                self.spend_text(left.len() + right.len())?;
                Ok(Value::text([left.as_ref(), right.as_ref()].concat()))
            }
            (Operator::Add, Value::List(left), Value::List(right)) => {
                let items = [self.list(*left), self.list(*right)].concat();
                self.new_list(items)
            }
            (Operator::Add, Value::Tuple(left), Value::Tuple(right)) => {
                let items = [self.tuple(*left).as_ref(), self.tuple(*right)].concat();
                self.new_tuple(items)
            }
            (Operator::Multiply, Value::Number(times), value)
            | (Operator::Multiply, value, Value::Number(times)) => {
                let times = usize::try_from((*times).max(0)).unwrap_or(usize::MAX);
                self.repeated(value, times)
            }
            (Operator::Modulo, Value::Text(format), value) => percent(self, format, value),
            (Operator::Or, Value::Dict(left), Value::Dict(right)) => {
                let mut union = Dict::default();
                for id in [left, right] {
                    for (key, shown, value) in self.dict(*id).entries() {
                        self.spend(1)?;
                        union.insert(key.clone(), shown.clone(), value.clone());
                    }
                }
                self.new_dict(union)
            }
            (Operator::Or, left, right) if is_type(left) && is_type(right) => {
                let left = Type::of(self, left)?;
                left.or(Type::of(self, right)?).map(Value::from)
            }
            (_, left, right) => Err(unsupported(operator, left, right)),
        }
    }

    fn repeated(&mut self, value: &Value, times: usize) -> Result<Value, String> {
        let size = |length: usize| length.saturating_mul(times);
        match value {
            Value::Text(text) => {
                self.spend_text(size(text.len()))?;
                Ok(Value::text(text.repeat(times)))
            }
            Value::List(id) => {
                let size = size(self.list(*id).len());
                self.spend(size)?;
                let items = self.list(*id).iter().cycle().take(size);
                self.new_list(items.cloned().collect())
            }
            Value::Tuple(id) => {
                let size = size(self.tuple(*id).len());
                self.spend(size)?;
                let items = self.tuple(*id).iter().cycle().take(size);
                self.new_tuple(items.cloned().collect())
            }
            other => Err(unsupported(Operator::Multiply, other, &Value::Number(0))),
        }
    }

    /// `left op= right` where that changes the left value itself; `None` where it makes a new one.
    pub(super) fn operate_in_place(
        &mut self,
        operator: Operator,
        left: &Value,
        right: &Value,
    ) -> Result<Option<Value>, String> {
        match (operator, left, right) {
            (Operator::Add, Value::List(id), right) => {
                self.extend(*id, right)?;
                Ok(Some(left.clone()))
            }
            (Operator::Or, Value::Dict(id), Value::Dict(other)) => {
                let entries = self.dict(*other).entries();
                let entries = entries.map(|(k, s, v)| (k.clone(), s.clone(), v.clone()));
                let entries: Vec<_> = entries.collect();
                self.spend(entries.len())?;
                let dict = self.dict_mut(*id)?;
                for (key, shown, value) in entries {
                    dict.insert(key, shown, value);
                }
                Ok(Some(left.clone()))
            }
            _ => Ok(None),
        }
    }

    pub(super) fn extend(&mut self, list: ListId, more: &Value) -> Result<(), String> {
        let more = self.all_items(more)?;
        self.list_mut(list)?.extend(more);
        Ok(())
    }

    pub(super) fn signed(&self, sign: Sign, value: &Value) -> Result<Value, String> {
        match (sign, value) {
            (Sign::Plus, Value::Number(_) | Value::Float(_)) => Ok(value.clone()),
            (Sign::Minus, Value::Number(number)) => number
                .checked_neg()
                .map(Value::Number)
                .ok_or_else(|| TOO_LARGE.to_owned()),
            (Sign::Minus, Value::Float(number)) => Ok(Value::Float(-number)),
            (Sign::Invert, Value::Number(number)) => Ok(Value::Number(!number)),
            (_, other) => Err(format!("{} cannot have a sign", other.described())),
        }
    }

    pub(super) fn compare(
        &self,
        left: &Value,
        comparison: Comparison,
        right: &Value,
    ) -> Result<bool, String> {
        match comparison {
            Comparison::Equal => self.equal(left, right),
            Comparison::Unequal => Ok(!self.equal(left, right)?),
            Comparison::Less => Ok(self.order(left, right)?.is_lt()),
            Comparison::LessOrEqual => Ok(self.order(left, right)?.is_le()),
            Comparison::Greater => Ok(self.order(left, right)?.is_gt()),
            Comparison::GreaterOrEqual => Ok(self.order(left, right)?.is_ge()),
            Comparison::In => self.contains(right, left),
            Comparison::NotIn => Ok(!self.contains(right, left)?),
        }
    }
}

fn unsupported(operator: Operator, left: &Value, right: &Value) -> String {
    let (left, right) = (left.described(), right.described());
    match operator {
        Operator::Add => format!("{right} cannot be added to {left}"),
        _ => {
            let symbol = operator.symbol();
            format!("`{symbol}` has no meaning between {left} and {right}")
        }
    }
}

fn is_type(value: &Value) -> bool {
    match value {
        Value::None | Value::Type(_) => true,
        Value::Builtin(Builtin { name, .. }) => Type::named(name).is_some(),
        _ => false,
    }
}

fn whole_numbers(operator: Operator, left: i128, right: i128) -> Result<Value, String> {
    let by_zero = || "this divides by zero".to_owned();
    let result = match operator {
        Operator::Add => left.checked_add(right),
        Operator::Subtract => left.checked_sub(right),
        Operator::Multiply => left.checked_mul(right),
        Operator::Divide => return fractions(operator, to_float(left), to_float(right)),
        Operator::FloorDivide | Operator::Modulo if right == 0 => return Err(by_zero()),
        Operator::FloorDivide => left.checked_div(right).map(|quotient| {
            let rounded_up = left % right != 0 && (left < 0) != (right < 0);
            quotient - i128::from(rounded_up)
        }),
        Operator::Modulo => left.checked_rem(right).map(|rest| {
            let other_side = rest != 0 && (rest < 0) != (right < 0);
            if other_side { rest + right } else { rest }
        }),
        Operator::Or => Some(left | right),
        Operator::Xor => Some(left ^ right),
        Operator::And => Some(left & right),
        Operator::ShiftLeft | Operator::ShiftRight if right < 0 => {
            return Err("a number cannot be shifted by less than zero".to_owned());
        }
        Operator::ShiftLeft => u32::try_from(right)
            .ok()
            .and_then(|bits| 1i128.checked_shl(bits))
            .filter(|factor| *factor > 0)
            .and_then(|factor| left.checked_mul(factor))
            .or((left == 0).then_some(0)),
        Operator::ShiftRight => {
            let bits = u32::try_from(right).unwrap_or(u32::MAX).min(127);
            Some(left >> bits)
        }
    };
    result
        .map(Value::Number)
        .ok_or_else(|| TOO_LARGE.to_owned())
}

fn fractions(operator: Operator, left: f64, right: f64) -> Result<Value, String> {
    let divides = matches!(
        operator,
        Operator::Divide | Operator::FloorDivide | Operator::Modulo
    );
    if divides && right == 0.0 {
        return Err("this divides by zero".to_owned());
    }
    let result = match operator {
        Operator::Add => left + right,
        Operator::Subtract => left - right,
        Operator::Multiply => left * right,
        Operator::Divide => left / right,
        Operator::FloorDivide => (left / right).floor(),
        Operator::Modulo => {
            let rest = left % right;
            let other_side = rest != 0.0 && (rest < 0.0) != (right < 0.0);
            if other_side { rest + right } else { rest }
        }
        _ => {
            let number = Value::Float(left);
            return Err(unsupported(operator, &number, &number));
        }
    };
    Ok(Value::Float(result))
}

#[expect(clippy::cast_precision_loss, reason = "as the language wants it")]
pub(super) fn to_float(number: i128) -> f64 {
    number as f64
}

/// A number of either kind as one with a fraction.
fn float(value: &Value) -> f64 {
    match value {
        Value::Number(number) => to_float(*number),
        Value::Float(number) => *number,
        _ => 0.0,
    }
}

/// Without the fraction.
pub(super) fn truncated(number: f64) -> Result<i128, String> {
    whole(number.trunc()).ok_or_else(|| "this number has no whole part to speak of".to_owned())
}
