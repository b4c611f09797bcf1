//! The methods of dictionaries.

use super::super::arguments::Arguments;
use super::super::builtins::fill;
use super::super::dict::Dict;
use super::super::eval::Machine;
use super::super::lexer::{Fault, Located};
use super::super::value::{DictId, Value};
use super::{Method, method};

pub(super) static METHODS: [Method; 9] = [
    method("clear", clear),
    method("get", get),
    method("items", items),
    method("keys", keys),
    method("pop", pop),
    method("popitem", popitem),
    method("setdefault", setdefault),
    method("update", update),
    method("values", values),
];

/// Methods are only found on dictionaries.
fn id(dict: &Value) -> DictId {
    match dict {
        Value::Dict(id) => *id,
        _ => DictId(0),
    }
}

fn clear(machine: &mut Machine, dict: &Value, given: Arguments) -> Result<Value, Fault> {
    let at = given.call;
    let [] = given.exactly()?;
    machine.heap.dict_mut(id(dict)).at(at)?.clear();
    Ok(Value::None)
}

fn get(machine: &mut Machine, dict: &Value, given: Arguments) -> Result<Value, Fault> {
    let at = given.call;
    let [key, default] = given.positional(1)?;
    let key = machine.heap.key(&key.unwrap_or(Value::None)).at(at)?;
    let found = machine.heap.dict(id(dict)).get(&key).cloned();
    Ok(found.or(default).unwrap_or(Value::None))
}

fn items(machine: &mut Machine, dict: &Value, given: Arguments) -> Result<Value, Fault> {
    let at = given.call;
    let [] = given.exactly()?;
    let entries = machine.heap.dict(id(dict)).entries();
    let pairs: Vec<_> = entries
        .map(|(_, key, value)| vec![key.clone(), value.clone()])
        .collect();
    let mut items = Vec::with_capacity(pairs.len());
    for pair in pairs {
        items.push(machine.heap.new_tuple(pair).at(at)?);
    }
    machine.heap.new_list(items).at(at)
}

fn keys(machine: &mut Machine, dict: &Value, given: Arguments) -> Result<Value, Fault> {
    let at = given.call;
    let [] = given.exactly()?;
    let keys = machine.heap.dict(id(dict)).keys().cloned().collect();
    machine.heap.new_list(keys).at(at)
}

fn values(machine: &mut Machine, dict: &Value, given: Arguments) -> Result<Value, Fault> {
    let at = given.call;
    let [] = given.exactly()?;
    let entries = machine.heap.dict(id(dict)).entries();
    let values = entries.map(|(_, _, value)| value.clone()).collect();
    machine.heap.new_list(values).at(at)
}

fn pop(machine: &mut Machine, dict: &Value, given: Arguments) -> Result<Value, Fault> {
    let at = given.call;
    let [key, default] = given.positional(1)?;
    let key = key.unwrap_or(Value::None);
    let hashed = machine.heap.key(&key).at(at)?;
    machine.spend(machine.heap.dict(id(dict)).len(), at)?;
    let removed = machine.heap.dict_mut(id(dict)).at(at)?.remove(&hashed);
    match removed.or(default) {
        Some(value) => Ok(value),
        None => {
            let shown = machine.heap.quoted(&key).at(at)?;
            Err(Fault::new(at, format!("there is no key {shown}")))
        }
    }
}

fn popitem(machine: &mut Machine, dict: &Value, given: Arguments) -> Result<Value, Fault> {
    let at = given.call;
    let [] = given.exactly()?;
    machine.spend(machine.heap.dict(id(dict)).len(), at)?;
    let dict = machine.heap.dict_mut(id(dict)).at(at)?;
    let (hashed, key, value) = dict
        .first()
        .ok_or_else(|| Fault::new(at, "the dictionary is empty"))?;
    dict.remove(&hashed);
    machine.heap.new_tuple(vec![key, value]).at(at)
}

fn setdefault(machine: &mut Machine, dict: &Value, given: Arguments) -> Result<Value, Fault> {
    let at = given.call;
    let [key, default] = given.positional(1)?;
    let key = key.unwrap_or(Value::None);
    let hashed = machine.heap.key(&key).at(at)?;
    if let Some(found) = machine.heap.dict(id(dict)).get(&hashed) {
        return Ok(found.clone());
    }
    let value = default.unwrap_or(Value::None);
    let dict = machine.heap.dict_mut(id(dict)).at(at)?;
    dict.insert(hashed, key, value.clone());
    Ok(value)
}

fn update(machine: &mut Machine, dict: &Value, given: Arguments) -> Result<Value, Fault> {
    let at = given.call;
    let mut more = Dict::default();
    fill(machine, &mut more, given)?;
    let dict = machine.heap.dict_mut(id(dict)).at(at)?;
    for (key, shown, value) in more.into_entries() {
        dict.insert(key, shown, value);
    }
    Ok(Value::None)
}
