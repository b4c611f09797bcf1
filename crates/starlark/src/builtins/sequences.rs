//! Functions that look at the items of a value.

use std::cmp::Ordering;

use super::super::arguments::{Arguments, number};
use super::super::eval::Machine;
use super::super::lexer::{Fault, Located, Position};
use super::super::value::Value;

pub(super) fn len(machine: &mut Machine, given: Arguments) -> Result<Value, Fault> {
    let at = given.call;
    let [value] = given.exactly()?;
    let heap = &machine.heap;
    let length = match &value {
        Value::Text(text) => {
            heap.spend_text(text.len()).at(at)?;
            text.chars().count()
        }
        Value::List(id) => heap.list(*id).len(),
        Value::Tuple(id) => heap.tuple(*id).len(),
        Value::Dict(id) => heap.dict(*id).len(),
        Value::Range(range) => range.len(),
        other => {
            let message = format!("{} has no length", other.described());
            return Err(Fault::new(at, message));
        }
    };
    Ok(Value::count(length))
}

pub(super) fn any(machine: &mut Machine, given: Arguments) -> Result<Value, Fault> {
    let found = has(machine, given, true)?;
    Ok(Value::Bool(found))
}

pub(super) fn all(machine: &mut Machine, given: Arguments) -> Result<Value, Fault> {
    let found = has(machine, given, false)?;
    Ok(Value::Bool(!found))
}

/// Whether one of the items is as true as wanted.
fn has(machine: &mut Machine, given: Arguments, wanted: bool) -> Result<bool, Fault> {
    let at = given.call;
    let [value] = given.exactly()?;
    let items = machine.heap.all_items(&value).at(at)?;
    Ok(items.iter().any(|item| machine.heap.truth(item) == wanted))
}

pub(super) fn enumerate(machine: &mut Machine, mut given: Arguments) -> Result<Value, Fault> {
    let at = given.call;
    let named = given.take_named("start");
    let [value, start] = given.positional(1)?;
    let start = match named.or(start) {
        Some(start) => number(&start, at)?,
        None => 0,
    };
    let items = machine
        .heap
        .all_items(&value.unwrap_or(Value::None))
        .at(at)?;
    let mut pairs = Vec::with_capacity(items.len());
    for (next, item) in (start..).zip(items) {
        pairs.push(
            machine
                .heap
                .new_tuple(vec![Value::Number(next), item])
                .at(at)?,
        );
    }
    machine.heap.new_list(pairs).at(at)
}

pub(super) fn zip(machine: &mut Machine, given: Arguments) -> Result<Value, Fault> {
    let at = given.call;
    if let Some((_, (_, at))) = given.named.first() {
        return Err(Fault::new(*at, "`zip` takes no named arguments"));
    }
    let mut columns = Vec::new();
    for (value, at) in &given.positional {
        columns.push(machine.heap.all_items(value).at(*at)?);
    }
    let rows = columns.iter().map(Vec::len).min().unwrap_or(0);
    let mut zipped = Vec::with_capacity(rows);
    for row in 0..rows {
        let items = columns.iter().map(|column| column[row].clone()).collect();
        zipped.push(machine.heap.new_tuple(items).at(at)?);
    }
    machine.heap.new_list(zipped).at(at)
}

pub(super) fn reversed(machine: &mut Machine, given: Arguments) -> Result<Value, Fault> {
    let at = given.call;
    let [value] = given.exactly()?;
    let mut items = machine.heap.all_items(&value).at(at)?;
    items.reverse();
    machine.heap.new_list(items).at(at)
}

pub(super) fn sorted(machine: &mut Machine, mut given: Arguments) -> Result<Value, Fault> {
    let at = given.call;
    let key = given.take_named("key");
    let descending = match given.take_named("reverse") {
        None => false,
        Some(Value::Bool(descending)) => descending,
        Some(_) => return Err(Fault::new(at, "`reverse` must be True or False")),
    };
    let [value] = given.exactly()?;
    let items = machine.heap.all_items(&value).at(at)?;
    let keyed = keyed(machine, &value, items, key, at)?;
    let items = merge_sorted(machine, keyed, descending, at)?;
    let items = items.into_iter().map(|(_, item)| item).collect();
    machine.heap.new_list(items).at(at)
}

type Keyed = Vec<(Value, Value)>;

/// Each item with what it is compared by; `source` cannot be changed meanwhile.
fn keyed(
    machine: &mut Machine,
    source: &Value,
    items: Vec<Value>,
    key: Option<Value>,
    at: Position,
) -> Result<Keyed, Fault> {
    machine.heap.hold(source, true);
    let mut keyed = Vec::with_capacity(items.len());
    for item in items {
        let by = match &key {
            Some(key) => machine.call_with(key, item.clone(), at)?,
            None => item.clone(),
        };
        keyed.push((by, item));
    }
    machine.heap.hold(source, false);
    Ok(keyed)
}

/// Written out because comparing can fail, and because no order may be assumed of the values.
fn merge_sorted(
    machine: &Machine,
    mut items: Keyed,
    descending: bool,
    at: Position,
) -> Result<Keyed, Fault> {
    if items.len() < 2 {
        return Ok(items);
    }
    let second = items.split_off(items.len() / 2);
    let mut left = merge_sorted(machine, items, descending, at)?
        .into_iter()
        .peekable();
    let mut right = merge_sorted(machine, second, descending, at)?
        .into_iter()
        .peekable();
    let mut merged = Vec::with_capacity(left.len() + right.len());
    while let (Some((first, _)), Some((second, _))) = (left.peek(), right.peek()) {
        let order = machine.heap.order(first, second).at(at)?;
        let order = if descending { order.reverse() } else { order };
        merged.extend(match order {
            Ordering::Greater => right.next(),
            _ => left.next(),
        });
    }
    merged.extend(left);
    merged.extend(right);
    Ok(merged)
}

pub(super) fn min(machine: &mut Machine, given: Arguments) -> Result<Value, Fault> {
    extreme(machine, given, Ordering::Less)
}

pub(super) fn max(machine: &mut Machine, given: Arguments) -> Result<Value, Fault> {
    extreme(machine, given, Ordering::Greater)
}

/// The first item that no other one surpasses.
fn extreme(machine: &mut Machine, mut given: Arguments, wanted: Ordering) -> Result<Value, Fault> {
    let at = given.call;
    let key = given.take_named("key");
    if let Some((name, (_, at))) = given.named.first() {
        return Err(Fault::new(*at, format!("no such argument: `{name}`")));
    }
    let mut values: Vec<Value> = given
        .positional
        .into_iter()
        .map(|(value, _)| value)
        .collect();
    let mut source = Value::None;
    if values.len() == 1 {
        source = values.remove(0);
        values = machine.heap.all_items(&source).at(at)?;
    }
    let mut keyed = keyed(machine, &source, values, key, at)?.into_iter();
    let mut best = keyed
        .next()
        .ok_or_else(|| Fault::new(at, "there is nothing to choose from"))?;
    for (by, item) in keyed {
        if machine.heap.order(&by, &best.0).at(at)? == wanted {
            best = (by, item);
        }
    }
    Ok(best.1)
}
