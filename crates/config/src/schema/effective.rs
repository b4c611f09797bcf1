//! The configuration as clients read it: every known key, absent ones shown as such, nothing unknown.

use std::path::Path;

use serde_json::Value;

use super::{Absent, Kind, Section, Variant};
use crate::Table;

/// Completes a checked table. `cwd` is the directory of the process.
pub fn effective(section: &Section, table: &Table, cwd: &Path) -> Table {
    let mut out = Table::new();
    for key in section.keys {
        let value = table.get(key.name).or_else(|| table.get(key.alias?));
        let shown = match (value, key.absent) {
            (Some(value), _) => effective_value(&key.kind, value, cwd),
            (None, Absent::Null | Absent::Required) => Value::Null,
            (None, Absent::Omit) => continue,
            (None, Absent::Json(json)) => serde_json::from_str(json).unwrap_or_default(),
            (None, Absent::Cwd) => Value::from(cwd.to_string_lossy()),
        };
        out.insert(key.name.to_owned(), shown);
    }
    if let Some(kind) = section.rest {
        for (name, value) in table {
            if section.key(name).is_none() {
                out.insert(name.clone(), effective_value(kind, value, cwd));
            }
        }
    }
    if let Some(finish) = section.finish {
        finish(table, &mut out);
    }
    out
}

fn effective_value(kind: &Kind, value: &Value, cwd: &Path) -> Value {
    match (kind, value) {
        (Kind::Table(section), Value::Object(table)) => effective(section, table, cwd).into(),
        (Kind::Map(kind, _), Value::Object(table)) => table
            .iter()
            .map(|(name, v)| (name.clone(), effective_value(kind, v, cwd)))
            .collect(),
        (Kind::List(kind), Value::Array(items)) => items
            .iter()
            .map(|item| effective_value(kind, item, cwd))
            .collect(),
        (Kind::Variant(variants), value) => effective_variant(variants, value, cwd),
        (Kind::Word(_) | Kind::OpenWord(..), Value::Object(table)) => table
            .keys()
            .next()
            .map_or(Value::Null, |word| Value::from(word.as_str())),
        (Kind::Seconds | Kind::Number, Value::Number(number)) => Value::from(number.as_f64()),
        (Kind::AnyOf(_, kinds), value) => {
            let table = kinds.iter().find(|kind| matches!(kind, Kind::Table(_)));
            match (table, value) {
                (Some(kind), Value::Object(_)) => effective_value(kind, value, cwd),
                // Where a table is the newer form, an older one says nothing about it.
                (Some(_), _) => Value::Null,
                (None, value) => value.clone(),
            }
        }
        (_, value) => value.clone(),
    }
}

fn effective_variant(variants: &[Variant], value: &Value, cwd: &Path) -> Value {
    let Some((word, payload)) = value.as_object().and_then(|table| table.iter().next()) else {
        return value.clone();
    };
    let section = variants
        .iter()
        .find(|variant| variant.name == word)
        .and_then(|v| v.section);
    match (section, payload) {
        (Some(section), Value::Object(table)) => {
            let payload = effective(section, table, cwd);
            Value::Object(Table::from_iter([(word.clone(), payload.into())]))
        }
        _ => Value::from(word.as_str()),
    }
}
