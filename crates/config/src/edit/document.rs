//! Changes to TOML text that leave everything else as it was written.

use serde_json::Value as Json;
use toml_edit::{Array, ArrayOfTables, DocumentMut, InlineTable, Item, Table, TableLike, Value};

use super::Edit;
use quipu_wire::MergeStrategy;

/// Why an edit cannot be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    /// The path has no keys.
    #[error("keyPath must not be empty")]
    EmptyPath,
    /// The table to delete from is not there.
    #[error("Path not found")]
    NotFound,
    /// The value that should hold the new one is no table.
    #[error("cannot set value on non-table parent")]
    NotATable,
    /// The value cannot be said in TOML.
    #[error("invalid value: {0}")]
    Value(&'static str),
    /// The text is not TOML.
    #[error("{0}")]
    Syntax(String),
}

/// Makes edits, one after the other.
pub fn apply(text: &str, edits: &[Edit]) -> Result<String, EditError> {
    change(text, |document| {
        edits
            .iter()
            .try_for_each(|edit| apply_one(document.as_table_mut(), edit))
    })
}

/// Switches a skill off by an entry in `[[skills.config]]`, and on by removing it.
pub fn set_skill(text: &str, key: &str, value: &str, enabled: bool) -> Result<String, EditError> {
    change(text, |document| {
        let root = document.as_table_mut();
        if enabled && !root.contains_key("skills") {
            return Ok(());
        }
        let skills = child_table(root, "skills", true)?;
        let entries = skills
            .entry("config")
            .or_insert(Item::ArrayOfTables(ArrayOfTables::new()));
        if let Some(Item::ArrayOfTables(tables)) = as_tables(entries) {
            tables.retain(|table| table.get(key).and_then(Item::as_str) != Some(value));
            if !enabled {
                let mut table = Table::new();
                table.insert(key, toml_edit::value(value));
                table.insert("enabled", toml_edit::value(false));
                tables.push(table);
            }
            if tables.is_empty() {
                skills.remove("config");
            }
        }
        if skills.is_empty() {
            root.remove("skills");
        }
        Ok(())
    })
}

/// The entries as `[[…]]` sections, whatever they were written as.
fn as_tables(item: &mut Item) -> Option<&mut Item> {
    if item.is_array() {
        let taken = std::mem::take(item);
        *item = match taken.into_array_of_tables() {
            Ok(tables) => Item::ArrayOfTables(tables),
            Err(other) => other,
        };
    }
    item.is_array_of_tables().then_some(item)
}

/// Edits a text, keeping its byte-order mark and its line ends.
fn change(
    text: &str,
    edit: impl FnOnce(&mut DocumentMut) -> Result<(), EditError>,
) -> Result<String, EditError> {
    let mut document: DocumentMut = text
        .parse()
        .map_err(|error: toml_edit::TomlError| EditError::Syntax(error.to_string()))?;
    let unchanged = document.to_string();
    edit(&mut document)?;
    let changed = document.to_string();
    if changed == unchanged {
        return Ok(text.to_owned());
    }
    let newlines = text.matches('\n').count();
    let windows = newlines > 0 && text.matches("\r\n").count() == newlines;
    let changed = if windows {
        changed.replace('\n', "\r\n")
    } else {
        changed
    };
    let mark = text.strip_prefix('\u{feff}').map_or("", |_| "\u{feff}");
    Ok(format!("{mark}{changed}"))
}

fn apply_one(root: &mut Table, edit: &Edit) -> Result<(), EditError> {
    let (last, parents) = edit.path.split_last().ok_or(EditError::EmptyPath)?;
    if edit.value.is_null() {
        return delete(root, parents, last);
    }
    check_value(&edit.value)?;
    let mut table: &mut dyn TableLike = root;
    for (index, parent) in parents.iter().enumerate() {
        let direct = index + 1 == parents.len();
        table = child_table(table, parent, !direct)?;
    }
    let merge = matches!(edit.strategy, MergeStrategy::Upsert);
    set(table, last, &edit.value, merge);
    Ok(())
}

fn delete(root: &mut Table, parents: &[String], last: &str) -> Result<(), EditError> {
    let mut table: &mut dyn TableLike = root;
    for parent in parents {
        let item = table.get_mut(parent).ok_or(EditError::NotFound)?;
        table = item.as_table_like_mut().ok_or(EditError::NotFound)?;
    }
    table.remove(last);
    Ok(())
}

/// The table under a key, made if there is none; another value gives way only if `replace`.
fn child_table<'a>(
    table: &'a mut dyn TableLike,
    key: &str,
    replace: bool,
) -> Result<&'a mut dyn TableLike, EditError> {
    let item = table.entry(key).or_insert_with(|| {
        let mut table = Table::new();
        table.set_implicit(true);
        Item::Table(table)
    });
    if !item.is_table_like() {
        if !replace {
            return Err(EditError::NotATable);
        }
        let mut table = Table::new();
        table.set_implicit(true);
        *item = Item::Table(table);
    }
    item.as_table_like_mut().ok_or(EditError::NotATable)
}

/// Sets a value. What stays of a table keeps its place and comments.
fn set(table: &mut dyn TableLike, key: &str, value: &Json, merge: bool) {
    let old = table.get_mut(key);
    match (old, value) {
        (Some(old), Json::Object(new)) if old.is_table_like() => {
            let Some(old) = old.as_table_like_mut() else {
                return;
            };
            if !merge {
                let gone: Vec<String> = old
                    .iter()
                    .map(|(key, _)| key.to_owned())
                    .filter(|key| !new.contains_key(key))
                    .collect();
                for key in gone {
                    old.remove(&key);
                }
            }
            for (key, value) in new {
                set(old, key, value, merge);
            }
        }
        (Some(Item::Value(old)), value) if !value.is_object() => {
            let decor = old.decor().clone();
            *old = inline(value);
            *old.decor_mut() = decor;
        }
        (_, value) => {
            let item = section(value);
            table.insert(key, item);
        }
    }
}

/// A value as it stands in a section: tables become sections of their own.
fn section(value: &Json) -> Item {
    let Json::Object(members) = value else {
        return Item::Value(inline(value));
    };
    let mut table = Table::new();
    for (key, value) in members {
        table.insert(key, section(value));
    }
    // A table with only tables in it needs no header of its own.
    table.set_implicit(!members.is_empty() && members.values().all(Json::is_object));
    Item::Table(table)
}

/// A value as it stands in a line.
fn inline(value: &Json) -> Value {
    match value {
        Json::Null => Value::from(""),
        Json::Bool(flag) => Value::from(*flag),
        Json::Number(number) => match number.as_i64() {
            Some(integer) => Value::from(integer),
            None => Value::from(number.as_f64().unwrap_or_default()),
        },
        Json::String(text) => Value::from(text.as_str()),
        Json::Array(items) => Value::Array(items.iter().map(inline).collect::<Array>()),
        Json::Object(members) => Value::InlineTable(
            members
                .iter()
                .map(|(key, value)| (key.as_str(), inline(value)))
                .collect::<InlineTable>(),
        ),
    }
}

/// TOML has no null and no integers beyond 64 bits with sign.
fn check_value(value: &Json) -> Result<(), EditError> {
    match value {
        Json::Null => Err(EditError::Value(
            "invalid type: null, expected any valid TOML value",
        )),
        Json::Number(number) if number.is_u64() && !number.is_i64() => {
            Err(EditError::Value("u64 value was too large"))
        }
        Json::Array(items) => items.iter().try_for_each(check_value),
        Json::Object(members) => members.values().try_for_each(check_value),
        _ => Ok(()),
    }
}
