//! Changes to TOML text that leave everything else as it was written.

use serde_json::Value as Json;
use toml_edit::{Array, ArrayOfTables, DocumentMut, InlineTable, Item, Table, Value};

use super::Edit;
use crate::keypath::TooManyKeys;
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
    Value(String),
    /// The path has too many keys.
    #[error(transparent)]
    Key(#[from] TooManyKeys),
    /// The text is not TOML.
    #[error("{0}")]
    Syntax(String),
}

/// Makes edits, one after the other.
pub fn apply(text: &str, edits: &[Edit]) -> Result<String, EditError> {
    change(text, |document| {
        edits
            .iter()
            .try_for_each(|edit| apply_one(document.as_item_mut(), edit))
    })
}

/// Switches a skill off by an entry in `[[skills.config]]`, and on by removing it.
pub fn set_skill(text: &str, key: &str, value: &str, enabled: bool) -> Result<String, EditError> {
    change(text, |document| {
        if enabled && !document.contains_key("skills") {
            return Ok(());
        }
        let skills = child_table(document.as_item_mut(), "skills", false)?;
        let inline = skills.is_inline_table();
        let members = skills.as_table_like_mut().ok_or(EditError::NotATable)?;
        let entries = members.entry("config").or_insert_with(|| match inline {
            true => Item::Value(Value::Array(Array::new())),
            false => Item::ArrayOfTables(ArrayOfTables::new()),
        });
        if switch_entry(entries, key, value, enabled)? == 0 {
            members.remove("config");
        }
        if members.is_empty() {
            document.remove("skills");
        }
        Ok(())
    })
}

/// Changes the list of entries, in whichever form it is written, and gives its new length.
fn switch_entry(
    entries: &mut Item,
    key: &str,
    value: &str,
    enabled: bool,
) -> Result<usize, EditError> {
    match entries {
        Item::ArrayOfTables(tables) => {
            tables.retain(|table| table.get(key).and_then(Item::as_str) != Some(value));
            if !enabled {
                let mut table = Table::new();
                table.insert(key, toml_edit::value(value));
                table.insert("enabled", toml_edit::value(false));
                tables.push(table);
            }
            Ok(tables.len())
        }
        Item::Value(Value::Array(array)) => {
            array.retain(|entry| {
                let selected = entry.as_inline_table().and_then(|table| table.get(key));
                selected.and_then(Value::as_str) != Some(value)
            });
            if !enabled {
                let members = [(key, Value::from(value)), ("enabled", Value::from(false))];
                array.push(InlineTable::from_iter(members));
            }
            Ok(array.len())
        }
        _ => Err(EditError::NotATable),
    }
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
    // A file of comments alone keeps them at its top.
    let mut head = String::new();
    if document.is_empty() {
        head = std::mem::take(&mut document).to_string();
        if !head.is_empty() && !head.ends_with('\n') {
            head.push('\n');
        }
    }
    edit(&mut document)?;
    let changed = format!("{head}{document}");
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

fn apply_one(root: &mut Item, edit: &Edit) -> Result<(), EditError> {
    let (last, parents) = edit.path.split_last().ok_or(EditError::EmptyPath)?;
    if edit.value.is_null() {
        return delete(root, parents, last);
    }
    check_value(&edit.value)?;
    let mut table = root;
    for (index, parent) in parents.iter().enumerate() {
        let direct = index + 1 == parents.len();
        table = child_table(table, parent, !direct)?;
    }
    let merge = matches!(edit.strategy, MergeStrategy::Upsert);
    set(table, last, &edit.value, merge)
}

fn delete(root: &mut Item, parents: &[String], last: &str) -> Result<(), EditError> {
    let mut table = root;
    for parent in parents {
        let members = table.as_table_like_mut().ok_or(EditError::NotFound)?;
        table = members.get_mut(parent).ok_or(EditError::NotFound)?;
    }
    let members = table.as_table_like_mut().ok_or(EditError::NotFound)?;
    members.remove(last);
    Ok(())
}

/// The table under a key, made if there is none; another value gives way only if `replace`.
fn child_table<'a>(
    table: &'a mut Item,
    key: &str,
    replace: bool,
) -> Result<&'a mut Item, EditError> {
    let inline = table.is_inline_table();
    let members = table.as_table_like_mut().ok_or(EditError::NotATable)?;
    let child = members
        .entry(key)
        .or_insert_with(|| new_table(inline, true));
    if !child.is_table_like() {
        if !replace {
            return Err(EditError::NotATable);
        }
        *child = new_table(inline, true);
    }
    Ok(child)
}

/// An empty table; one that is implicit is written only through what is put into it.
fn new_table(inline: bool, implicit: bool) -> Item {
    if inline {
        return Item::Value(Value::InlineTable(InlineTable::new()));
    }
    let mut table = Table::new();
    table.set_implicit(implicit);
    Item::Table(table)
}

/// Sets a member of a table. What stays of a table keeps its place and comments.
fn set(table: &mut Item, key: &str, value: &Json, merge: bool) -> Result<(), EditError> {
    let in_line = table.is_inline_table();
    let members = table.as_table_like_mut().ok_or(EditError::NotATable)?;
    match (members.get_mut(key), value) {
        (Some(old), Json::Object(new)) if old.is_table_like() => set_members(old, new, merge),
        (Some(Item::Value(old)), value) if !value.is_object() => {
            let decor = old.decor().clone();
            *old = inline(value);
            *old.decor_mut() = decor;
            Ok(())
        }
        (_, value) => {
            let item = if in_line {
                Item::Value(inline(value))
            } else {
                section(value)
            };
            members.insert(key, item);
            Ok(())
        }
    }
}

fn set_members(table: &mut Item, new: &crate::Table, merge: bool) -> Result<(), EditError> {
    let members = table.as_table_like_mut().ok_or(EditError::NotATable)?;
    if !merge {
        let keys = members.iter().map(|(key, _)| key.to_owned());
        let gone: Vec<String> = keys.filter(|key| !new.contains_key(key)).collect();
        for key in gone {
            members.remove(&key);
        }
    }
    if members.is_empty() && new.is_empty() {
        // Nothing implies it any more, so it must be written itself.
        *table = new_table(table.is_inline_table(), false);
    }
    new.iter()
        .try_for_each(|(key, value)| set(table, key, value, merge))
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
            "invalid type: null, expected any valid TOML value".to_owned(),
        )),
        Json::Number(number) if number.is_u64() && !number.is_i64() => {
            Err(EditError::Value("u64 value was too large".to_owned()))
        }
        Json::Array(items) => items.iter().try_for_each(check_value),
        Json::Object(members) => members.values().try_for_each(check_value),
        _ => Ok(()),
    }
}
