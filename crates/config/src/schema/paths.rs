//! Paths in settings are meant from the directory of their file; this makes them absolute.

use std::path::{Component, Path, PathBuf};

use serde_json::Value;

use super::{Kind, Section};
use crate::Table;

/// Makes every path of a table absolute. Values of the wrong type stay as they are.
pub fn resolve_paths(section: &Section, table: &mut Table, base: &Path, user_home: Option<&Path>) {
    for (name, value) in table.iter_mut() {
        if let Some(kind) = section.kind(name) {
            resolve_value(kind, value, base, user_home);
        }
    }
}

fn resolve_value(kind: &Kind, value: &mut Value, base: &Path, user_home: Option<&Path>) {
    match (kind, value) {
        (Kind::Path, Value::String(text)) => {
            if let Ok(path) = absolute(text, base, user_home)
                .into_os_string()
                .into_string()
            {
                *text = path;
            }
        }
        (Kind::List(kind), Value::Array(items)) => {
            items
                .iter_mut()
                .for_each(|item| resolve_value(kind, item, base, user_home));
        }
        (Kind::Map(kind, _), Value::Object(table)) => {
            table
                .values_mut()
                .for_each(|value| resolve_value(kind, value, base, user_home));
        }
        (Kind::Table(section), Value::Object(table)) => {
            resolve_paths(section, table, base, user_home);
        }
        (Kind::Variant(variants), Value::Object(table)) => {
            for (word, payload) in table.iter_mut() {
                let variant = variants.iter().find(|variant| variant.name == word);
                if let (Some(section), Value::Object(table)) =
                    (variant.and_then(|v| v.section), payload)
                {
                    resolve_paths(section, table, base, user_home);
                }
            }
        }
        _ => {}
    }
}

/// The name of the first setting in a table that is a path and not absolute.
pub fn relative_path(section: &Section, table: &Table) -> Option<String> {
    table.iter().find_map(|(name, value)| {
        let inner = relative_value(section.kind(name)?, value)?;
        Some(match section.key(name) {
            // Names that users choose next to known keys are not shown.
            None => String::new(),
            Some(_) => join(name, &inner),
        })
    })
}

fn relative_value(kind: &Kind, value: &Value) -> Option<String> {
    match (kind, value) {
        (Kind::Path, Value::String(text)) => (!text.starts_with('/')).then(String::new),
        (Kind::List(kind), Value::Array(items)) => {
            items.iter().find_map(|item| relative_value(kind, item))
        }
        (Kind::Map(kind, _), Value::Object(table)) => table
            .iter()
            .find_map(|(name, value)| Some(join(name, &relative_value(kind, value)?))),
        (Kind::Table(section), Value::Object(table)) => relative_path(section, table),
        _ => None,
    }
}

fn join(name: &str, inner: &str) -> String {
    match inner {
        "" => name.to_owned(),
        inner => format!("{name}.{inner}"),
    }
}

/// An absolute path without `.` and `..`; `~` is the user's home.
pub(crate) fn absolute(text: &str, base: &Path, user_home: Option<&Path>) -> PathBuf {
    let path = match (text.strip_prefix('~'), user_home) {
        (Some(""), Some(home)) => home.to_owned(),
        (Some(rest), Some(home)) if rest.starts_with('/') => {
            home.join(rest.trim_start_matches('/'))
        }
        _ => base.join(text),
    };
    normalized(&path)
}

/// The path without `.` and `..`, by its text alone.
pub(crate) fn normalized(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                out.pop();
            }
            component => out.push(component),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_become_absolute() {
        let home = Some(Path::new("/home/u"));
        for (text, expected) in [
            ("x", "/base/x"),
            ("", "/base"),
            ("../x", "/x"),
            ("a/./b/../c", "/base/a/c"),
            ("/c/../d", "/d"),
            ("~", "/home/u"),
            ("~/a", "/home/u/a"),
            ("~x/a", "/base/~x/a"),
        ] {
            assert_eq!(
                absolute(text, Path::new("/base"), home),
                Path::new(expected),
                "{text}"
            );
        }
    }
}
