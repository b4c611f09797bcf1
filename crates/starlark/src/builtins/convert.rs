//! Functions that make a value of a type from another value.

use super::super::arguments::{Arguments, number};
use super::super::dict::Dict;
use super::super::eval::Machine;
use super::super::lexer::{Fault, Located, Position};
use super::super::numbers::whole_number;
use super::super::operators::{to_float, truncated};
use super::super::value::{Range, Value};

pub(super) fn bool(machine: &mut Machine, given: Arguments) -> Result<Value, Fault> {
    let [value] = given.positional(0)?;
    let truth = value.is_some_and(|value| machine.heap.truth(&value));
    Ok(Value::Bool(truth))
}

pub(super) fn str(machine: &mut Machine, given: Arguments) -> Result<Value, Fault> {
    let at = given.call;
    let [value] = given.exactly()?;
    let text = machine.heap.shown(&value).at(at)?;
    machine.heap.new_text(text).at(at)
}

pub(super) fn repr(machine: &mut Machine, given: Arguments) -> Result<Value, Fault> {
    let at = given.call;
    let [value] = given.exactly()?;
    let text = machine.heap.quoted(&value).at(at)?;
    machine.heap.new_text(text).at(at)
}

pub(super) fn int(_: &mut Machine, mut given: Arguments) -> Result<Value, Fault> {
    let at = given.call;
    let named_base = given.take_named("base");
    let [value, base] = given.positional(0)?;
    let base = match named_base.or(base) {
        Some(base) => Some(number(&base, at)?),
        None => None,
    };
    match (value, base) {
        (None, None) => Ok(Value::Number(0)),
        (Some(Value::Text(text)), base) => {
            let base = match base {
                Some(base @ (0 | 2..=36)) => u32::try_from(base).ok(),
                Some(_) => return Err(Fault::new(at, "the base must be from 2 to 36")),
                None => None,
            };
            whole_number(&text, base).map(Value::Number).at(at)
        }
        (_, Some(_)) => Err(Fault::new(at, "only a string can have a base")),
        (Some(Value::Number(number)), _) => Ok(Value::Number(number)),
        (Some(Value::Float(number)), _) => truncated(number).map(Value::Number).at(at),
        (Some(Value::Bool(truth)), _) => Ok(Value::Number(i128::from(truth))),
        (Some(other), _) => Err(not_a_number(&other, at)),
    }
}

pub(super) fn float(_: &mut Machine, given: Arguments) -> Result<Value, Fault> {
    let at = given.call;
    let [value] = given.positional(0)?;
    match value {
        None => Ok(Value::Float(0.0)),
        Some(Value::Float(number)) => Ok(Value::Float(number)),
        Some(Value::Number(number)) => Ok(Value::Float(to_float(number))),
        Some(Value::Bool(truth)) => Ok(Value::Float(f64::from(u8::from(truth)))),
        Some(Value::Text(text)) => text
            .parse()
            .map(Value::Float)
            .map_err(|_| Fault::new(at, format!("{text:?} is not a number"))),
        Some(other) => Err(not_a_number(&other, at)),
    }
}

fn not_a_number(value: &Value, at: Position) -> Fault {
    let message = format!("{} cannot become a number", value.described());
    Fault::new(at, message)
}

pub(super) fn list(machine: &mut Machine, given: Arguments) -> Result<Value, Fault> {
    let at = given.call;
    let items = items(machine, given)?;
    machine.heap.new_list(items).at(at)
}

pub(super) fn tuple(machine: &mut Machine, given: Arguments) -> Result<Value, Fault> {
    let at = given.call;
    let items = items(machine, given)?;
    machine.heap.new_tuple(items).at(at)
}

fn items(machine: &mut Machine, given: Arguments) -> Result<Vec<Value>, Fault> {
    let at = given.call;
    let [value] = given.positional(0)?;
    match value {
        Some(value) => machine.heap.all_items(&value).at(at),
        None => Ok(Vec::new()),
    }
}

pub(super) fn dict(machine: &mut Machine, given: Arguments) -> Result<Value, Fault> {
    let at = given.call;
    let mut dict = Dict::default();
    fill(machine, &mut dict, given)?;
    machine.heap.new_dict(dict).at(at)
}

/// Adds the entries that `dict(…)` and `update(…)` take: a dictionary or pairs, then named ones.
pub(in super::super) fn fill(
    machine: &mut Machine,
    dict: &mut Dict,
    mut given: Arguments,
) -> Result<(), Fault> {
    let at = given.call;
    let named = std::mem::take(&mut given.named);
    let [source] = given.positional(0)?;
    let heap = &machine.heap;
    match source {
        None => {}
        Some(Value::Dict(id)) => {
            for (key, shown, value) in heap.dict(id).entries() {
                heap.spend(1).at(at)?;
                dict.insert(key.clone(), shown.clone(), value.clone());
            }
        }
        Some(pairs) => {
            for pair in heap.all_items(&pairs).at(at)? {
                let pair = heap.all_items(&pair).at(at)?;
                let [key, value] = pair.as_slice() else {
                    return Err(Fault::new(at, "a dictionary is made of pairs"));
                };
                dict.insert(heap.key(key).at(at)?, key.clone(), value.clone());
            }
        }
    }
    for (name, (value, at)) in named {
        let name = Value::Text(name);
        dict.insert(heap.key(&name).at(at)?, name, value);
    }
    Ok(())
}

pub(super) fn range(_: &mut Machine, given: Arguments) -> Result<Value, Fault> {
    let at = given.call;
    let [first, second, step] = given.positional(1)?;
    let bound = |value: Option<Value>, default: i64| match value {
        None => Ok(default),
        Some(value) => i64::try_from(number(&value, at)?)
            .map_err(|_| Fault::new(at, "this number is too large for a range")),
    };
    let (start, stop) = match second {
        None => (0, bound(first, 0)?),
        second => (bound(first, 0)?, bound(second, 0)?),
    };
    let step = bound(step, 1)?;
    if step == 0 {
        return Err(Fault::new(at, "the step of a range cannot be zero"));
    }
    Ok(Value::Range(Range { start, stop, step }))
}
