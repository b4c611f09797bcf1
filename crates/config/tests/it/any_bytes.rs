//! What must hold for any bytes in a configuration file, and any edit of it.
//!
//! The fuzz target uses this file too.

use quipu_config::edit::{self, Edit};
use quipu_config::{Table, parse_toml, schema, split_key_path};
use quipu_wire::MergeStrategy;
use serde_json::Value;

/// The first line is an edit, `path=json`; the rest is the file.
pub fn check(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let (line, text) = text.split_once('\n').unwrap_or(("", text));
    read(text);
    if let Some((path, json)) = line.split_once('=')
        && let Ok(value) = serde_json::from_str(json)
        && let Ok(keys) = split_key_path(path)
    {
        for strategy in [MergeStrategy::Replace, MergeStrategy::Upsert] {
            let edit = Edit {
                path: keys.clone(),
                value: Value::clone(&value),
                strategy,
            };
            check_edit(text, &edit);
        }
    }
}

/// Reading any text works or gives an error, with a place inside the text.
fn read(text: &str) {
    let mut table = match parse_toml(text) {
        Ok(table) => table,
        Err(mistake) => {
            assert!(mistake.span.end <= text.len());
            return;
        }
    };
    schema::resolve_paths(&schema::ROOT, &mut table, "/base".as_ref(), None);
    let known = schema::effective(&schema::ROOT, &table, "/".as_ref());
    schema::ignored_keys(&schema::ROOT, &table);
    if schema::check(&schema::ROOT, &table).is_ok() {
        // What is shown to clients could itself be a configuration file, but for what is unset.
        let shown = without_nulls(&Value::Object(known));
        let Some(Value::Object(shown)) = shown else {
            panic!("not a table")
        };
        assert_eq!(schema::check(&schema::ROOT, &shown), Ok(()));
    }
}

/// An edit does what it says and nothing else.
pub fn check_edit(text: &str, edit: &Edit) {
    let Ok(before) = parse_toml(text) else { return };
    let expected = apply(&before, edit);
    match (edit::apply(text, std::slice::from_ref(edit)), expected) {
        (Ok(after), Some(expected)) => {
            let got = parse_toml(&after).unwrap_or_else(|_| panic!("broken: {after:?}"));
            // A table that was only implied by what was deleted is gone with it.
            let (got, expected) = match edit.value {
                Value::Null => (without_empty(&got), without_empty(&expected)),
                _ => (got, expected),
            };
            assert_eq!(
                got, expected,
                "{edit:?} {}\n{text}\nbecame\n{after}",
                edit.value
            );
        }
        (Err(_), None) => {}
        (got, expected) => panic!(
            "{edit:?} {}\n{text}\ngave {got:?}, not {expected:?}",
            edit.value
        ),
    }
}

/// The same edit on the values alone; `None` when it cannot be made.
fn apply(table: &Table, edit: &Edit) -> Option<Table> {
    let mut table = table.clone();
    let (last, parents) = edit.path.split_last()?;
    if !edit.value.is_null() && without_nulls(&edit.value).as_ref() != Some(&edit.value) {
        return None;
    }
    let mut place = &mut table;
    for (index, parent) in parents.iter().enumerate() {
        if edit.value.is_null() {
            place = place.get_mut(parent)?.as_object_mut()?;
            continue;
        }
        let slot = place
            .entry(parent.clone())
            .or_insert_with(|| Table::new().into());
        if !slot.is_object() && index + 1 < parents.len() {
            *slot = Table::new().into();
        }
        place = slot.as_object_mut()?;
    }
    if edit.value.is_null() {
        place.remove(last);
        return Some(table);
    }
    match (place.get_mut(last), &edit.value, edit.strategy) {
        (Some(Value::Object(old)), Value::Object(new), MergeStrategy::Upsert) => lay_over(old, new),
        (_, value, _) => {
            place.insert(last.clone(), value.clone());
        }
    }
    Some(table)
}

fn lay_over(old: &mut Table, new: &Table) {
    for (key, value) in new {
        match (old.get_mut(key), value) {
            (Some(Value::Object(old)), Value::Object(new)) => lay_over(old, new),
            _ => {
                old.insert(key.clone(), value.clone());
            }
        }
    }
}

fn without_empty(table: &Table) -> Table {
    let inner = table.iter().map(|(key, value)| match value {
        Value::Object(table) => (key.clone(), without_empty(table).into()),
        value => (key.clone(), value.clone()),
    });
    inner
        .filter(|(_, value)| *value != Value::Object(Table::new()))
        .collect()
}

/// A value without what TOML cannot say.
fn without_nulls(value: &Value) -> Option<Value> {
    match value {
        Value::Null => None,
        Value::Number(number) if number.is_u64() && !number.is_i64() => None,
        Value::Array(items) => Some(items.iter().filter_map(without_nulls).collect()),
        Value::Object(table) => Some(
            table
                .iter()
                .filter_map(|(key, value)| Some((key.clone(), without_nulls(value)?)))
                .collect(),
        ),
        other => Some(other.clone()),
    }
}
