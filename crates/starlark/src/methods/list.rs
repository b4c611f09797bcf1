//! The methods of lists.

use super::super::arguments::{Arguments, number};
use super::super::eval::Machine;
use super::super::lexer::{Fault, Located};
use super::super::value::{ListId, Value};
use super::{Method, method};

pub(super) static METHODS: [Method; 7] = [
    method("append", append),
    method("clear", clear),
    method("extend", extend),
    method("index", index),
    method("insert", insert),
    method("pop", pop),
    method("remove", remove),
];

/// Methods are only found on lists.
fn id(list: &Value) -> ListId {
    match list {
        Value::List(id) => *id,
        _ => ListId(0),
    }
}

fn append(machine: &mut Machine, list: &Value, given: Arguments) -> Result<Value, Fault> {
    let at = given.call;
    let [item] = given.exactly()?;
    machine.heap.list_mut(id(list)).at(at)?.push(item);
    Ok(Value::None)
}

fn clear(machine: &mut Machine, list: &Value, given: Arguments) -> Result<Value, Fault> {
    let at = given.call;
    let [] = given.exactly()?;
    machine.heap.list_mut(id(list)).at(at)?.clear();
    Ok(Value::None)
}

fn extend(machine: &mut Machine, list: &Value, given: Arguments) -> Result<Value, Fault> {
    let at = given.call;
    let [more] = given.exactly()?;
    machine.heap.extend(id(list), &more).at(at)?;
    Ok(Value::None)
}

fn index(machine: &mut Machine, list: &Value, given: Arguments) -> Result<Value, Fault> {
    let at = given.call;
    let [wanted, from, to] = given.positional(1)?;
    let wanted = wanted.unwrap_or(Value::None);
    let length = machine.heap.list(id(list)).len();
    let bound = |value: Option<Value>, default: usize| match value {
        None | Some(Value::None) => Ok(default),
        Some(value) => number(&value, at).map(|number| clamped(number, length)),
    };
    let (from, to) = (bound(from, 0)?, bound(to, length)?);
    for place in from..to {
        let item = &machine.heap.list(id(list))[place];
        if machine.heap.equal(item, &wanted).at(at)? {
            return Ok(Value::count(place));
        }
    }
    let shown = machine.heap.quoted(&wanted).at(at)?;
    Err(Fault::new(at, format!("{shown} is not in the list")))
}

/// A place, perhaps counted from the end, that is inside of the list or at its end.
fn clamped(number: i128, length: usize) -> usize {
    let end = i128::try_from(length).unwrap_or(i128::MAX);
    let from_start = match number {
        ..0 => number.saturating_add(end),
        _ => number,
    };
    usize::try_from(from_start.clamp(0, end)).unwrap_or(length)
}

fn insert(machine: &mut Machine, list: &Value, given: Arguments) -> Result<Value, Fault> {
    let at = given.call;
    let [place, item] = given.exactly()?;
    let length = machine.heap.list(id(list)).len();
    let place = clamped(number(&place, at)?, length);
    machine.spend(length - place, at)?;
    machine.heap.list_mut(id(list)).at(at)?.insert(place, item);
    Ok(Value::None)
}

fn pop(machine: &mut Machine, list: &Value, given: Arguments) -> Result<Value, Fault> {
    let at = given.call;
    let [place] = given.positional(0)?;
    let length = machine.heap.list(id(list)).len();
    let place = match place {
        None => length.checked_sub(1),
        Some(place) => usize::try_from(number(&place, at)?).ok(),
    };
    let place = place
        .filter(|place| *place < length)
        .ok_or_else(|| Fault::new(at, "there is no such place in the list"))?;
    machine.spend(length - place, at)?;
    Ok(machine.heap.list_mut(id(list)).at(at)?.remove(place))
}

fn remove(machine: &mut Machine, list: &Value, given: Arguments) -> Result<Value, Fault> {
    let at = given.call;
    let [item] = given.exactly()?;
    let items = machine.heap.all_items(list).at(at)?;
    for (place, found) in items.iter().enumerate() {
        if machine.heap.equal(found, &item).at(at)? {
            machine.heap.list_mut(id(list)).at(at)?.remove(place);
            return Ok(Value::None);
        }
    }
    let shown = machine.heap.quoted(&item).at(at)?;
    Err(Fault::new(at, format!("{shown} is not in the list")))
}
