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
    if section.name == super::tools::MCP_SERVER.name {
        complete_mcp_server(table, &mut out);
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
        (Kind::Word(_), Value::Object(table)) => table
            .keys()
            .next()
            .map_or(Value::Null, |word| Value::from(word.as_str())),
        (Kind::Seconds, Value::Number(number)) => Value::from(number.as_f64()),
        // `tools.web_search = true` is an older way to say what `web_search` says.
        (Kind::AnyOf("WebSearchToolConfigInput", _), Value::Bool(_)) => Value::Null,
        (Kind::AnyOf(_, kinds), value) => {
            let section = kinds.iter().find(|kind| matches!(kind, Kind::Table(_)));
            section.map_or_else(|| value.clone(), |kind| effective_value(kind, value, cwd))
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

/// A server shows arguments only if it is a command, and its start-up time in seconds.
fn complete_mcp_server(table: &Table, out: &mut Table) {
    if table.contains_key("command") && !table.contains_key("args") {
        out.insert("args".to_owned(), Value::Array(Vec::new()));
    }
    let millis = out
        .remove("startup_timeout_ms")
        .and_then(|millis| millis.as_f64());
    if let (Some(millis), false) = (millis, table.contains_key("startup_timeout_sec")) {
        out.insert(
            "startup_timeout_sec".to_owned(),
            Value::from(millis / 1000.0),
        );
    }
    out.remove("name");
}
