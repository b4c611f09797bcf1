//! `value[key]`, `value[from:to:step]` and assignment to the first.

use super::heap::Heap;
use super::types::Type;
use super::value::{Range, Value};

/// Where a part starts and ends, and by how much it steps.
pub(super) type Bounds = [Option<Value>; 3];

impl Heap {
    pub(super) fn indexed(&mut self, object: &Value, keys: &[Value]) -> Result<Value, String> {
        if let Value::Builtin(builtin) = object {
            return Type::with_parts(self, builtin.name, keys).map(Value::from);
        }
        let [key] = keys else {
            let kind = object.described();
            return Err(format!("{kind} takes one index at a time"));
        };
        match object {
            Value::Dict(id) => {
                let found = self.dict(*id).get(&self.key(key)?).cloned();
                match found {
                    Some(value) => Ok(value),
                    None => Err(format!("there is no key {}", self.quoted(key)?)),
                }
            }
            Value::List(id) => {
                let items = self.list(*id);
                Ok(items[place(key, items.len())?].clone())
            }
            Value::Tuple(id) => {
                let items = self.tuple(*id);
                Ok(items[place(key, items.len())?].clone())
            }
            Value::Range(range) => Ok(Value::Number(range.get(place(key, range.len())?))),
            Value::Text(text) => {
                self.spend_text(text.len())?;
                let place = place(key, text.chars().count())?;
                self.new_text(text.chars().skip(place).take(1).collect::<String>())
            }
            other => Err(format!("{} has no index", other.described())),
        }
    }

    pub(super) fn assign_index(
        &mut self,
        object: &Value,
        key: &Value,
        value: Value,
    ) -> Result<(), String> {
        match object {
            Value::List(id) => {
                let place = place(key, self.list(*id).len())?;
                self.list_mut(*id)?[place] = value;
                Ok(())
            }
            Value::Dict(id) => {
                let hashed = self.key(key)?;
                self.dict_mut(*id)?.insert(hashed, key.clone(), value);
                Ok(())
            }
            other => Err(format!("{} cannot be changed", other.described())),
        }
    }

    pub(super) fn sliced(&mut self, object: &Value, bounds: Bounds) -> Result<Value, String> {
        match object {
            Value::List(id) => {
                let items = self.list(*id);
                let taken = taken(bounds, items.len())?.map(|place| items[place].clone());
                let taken = taken.collect();
                self.new_list(taken)
            }
            Value::Tuple(id) => {
                let items = self.tuple(*id);
                let taken = taken(bounds, items.len())?.map(|place| items[place].clone());
                let taken = taken.collect();
                self.new_tuple(taken)
            }
            Value::Text(text) => {
                self.spend(text.len())?;
                let characters: Vec<char> = text.chars().collect();
                let taken = taken(bounds, characters.len())?.map(|place| characters[place]);
                self.new_text(taken.collect::<String>())
            }
            Value::Range(range) => {
                let (from, to, step) = resolved(bounds, range.len())?;
                let number = |place: i128| {
                    i64::try_from(i128::from(range.start) + place * i128::from(range.step))
                        .map_err(|_| super::numbers::TOO_LARGE.to_owned())
                };
                let step = step
                    .checked_mul(i128::from(range.step))
                    .and_then(|step| i64::try_from(step).ok())
                    .ok_or(super::numbers::TOO_LARGE)?;
                Ok(Value::Range(Range {
                    start: number(from)?,
                    stop: number(to)?,
                    step,
                }))
            }
            other => Err(format!("{} has no parts to take", other.described())),
        }
    }
}

/// The place that an index, perhaps counted from the end, stands for.
fn place(key: &Value, length: usize) -> Result<usize, String> {
    let Value::Number(index) = key else {
        return Err(format!("{} is no index", key.described()));
    };
    let length = i128::try_from(length).unwrap_or(i128::MAX);
    let from_start = match index {
        ..0 => index.saturating_add(length),
        _ => *index,
    };
    usize::try_from(from_start)
        .ok()
        .filter(|_| from_start < length)
        .ok_or_else(|| format!("the index {index} is out of range"))
}

fn taken(bounds: Bounds, length: usize) -> Result<impl Iterator<Item = usize>, String> {
    let (from, to, step) = resolved(bounds, length)?;
    let mut next = from;
    Ok(std::iter::from_fn(move || {
        let inside = if step > 0 { next < to } else { next > to };
        let place = usize::try_from(next).ok().filter(|_| inside)?;
        next = next.saturating_add(step);
        Some(place)
    }))
}

/// Start, end and step, with the first two inside of the value or just outside.
fn resolved([from, to, step]: Bounds, length: usize) -> Result<(i128, i128, i128), String> {
    let number = |value| match value {
        None => Ok(None),
        Some(Value::Number(number)) => Ok(Some(number)),
        Some(other) => Err(format!("{} is no index", other.described())),
    };
    let step = step.filter(|step| !matches!(step, Value::None));
    let step = number(step)?.unwrap_or(1);
    if step == 0 {
        return Err("the step is zero".to_owned());
    }
    let length = i128::try_from(length).unwrap_or(i128::MAX);
    let (lowest, highest) = if step > 0 {
        (0, length)
    } else {
        (-1, length - 1)
    };
    let bound = |given: Option<i128>, default: i128| match given {
        None => default,
        Some(number @ ..0) => number.saturating_add(length).clamp(lowest, highest),
        Some(number) => number.clamp(lowest, highest),
    };
    let (first, last) = if step > 0 {
        (lowest, highest)
    } else {
        (highest, lowest)
    };
    Ok((bound(number(from)?, first), bound(number(to)?, last), step))
}
