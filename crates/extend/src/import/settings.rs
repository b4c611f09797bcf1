//! The other agent's `settings.json`, as settings of this program.

use quipu_config::edit::Edit;
use quipu_config::{Table, parse_toml};
use serde_json::Value;

use super::place::Way;
use super::{ImportError, read};

/// The settings that `way.from` has and `way.to` has not.
pub(super) fn missing(way: &Way) -> Result<Vec<Edit>, ImportError> {
    let Some(text) = read(&way.from)? else {
        return Ok(Vec::new());
    };
    let Value::Object(theirs) = serde_json::from_str(&text)? else {
        return Err(ImportError::NotAnObject);
    };
    let ours = read(&way.to)?.unwrap_or_default();
    let ours = parse_toml(&ours).map_err(|mistake| ImportError::Existing(mistake.message))?;
    let wanted = translated(&theirs);
    let absent = |edit: &Edit| !is_set(&ours, &edit.path);
    Ok(wanted.into_iter().filter(absent).collect())
}

fn translated(theirs: &Table) -> Vec<Edit> {
    let mut edits = Vec::new();
    let env = theirs.get("env").and_then(Value::as_object);
    let variables: Vec<Edit> = env
        .into_iter()
        .flatten()
        .filter_map(|(name, value)| {
            let value = match value {
                Value::String(text) => text.clone(),
                Value::Bool(_) | Value::Number(_) => value.to_string(),
                Value::Null | Value::Array(_) | Value::Object(_) => return None,
            };
            Some(Edit::set(&["shell_environment_policy", "set", name], value))
        })
        .collect();
    if !variables.is_empty() {
        edits.push(Edit::set(&["shell_environment_policy", "inherit"], "core"));
        edits.extend(variables);
    }
    let sandbox = theirs.get("sandbox").and_then(|table| table.get("enabled"));
    if sandbox == Some(&Value::Bool(true)) {
        edits.push(Edit::set(&["sandbox_mode"], "workspace-write"));
    }
    edits
}

/// Whether a setting is there, or something else is in its way.
fn is_set(table: &Table, path: &[String]) -> bool {
    let Some((key, rest)) = path.split_first() else {
        return true;
    };
    match table.get(key) {
        None => false,
        Some(Value::Object(inner)) => is_set(inner, rest),
        Some(_) => true,
    }
}
