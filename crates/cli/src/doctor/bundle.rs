//! A report that can be attached to a bug: the findings, the names of what is set, never a value that could be
//! a secret.

use std::fmt::Write as _;
use std::path::Path;

use quipu_config::{LoadRequest, Loader};
use serde_json::Value;

use super::finding::Finding;

/// Settings whose values help and cannot hold a secret.
const SHOWN: [&str; 12] = [
    "model",
    "model_provider",
    "wire_api",
    "approval_policy",
    "sandbox_mode",
    "model_reasoning_effort",
    "model_reasoning_summary",
    "model_verbosity",
    "web_search",
    "trust_level",
    "transport",
    "personality",
];

pub fn write(file: &Path, findings: &[Finding], config: Option<&Loader>) -> Result<(), String> {
    let mut text = String::from("# quipu doctor\n\n```text\n");
    text += &super::text(findings);
    text += "```\n\n## Settings\n\nStrings are left out unless they are known to hold no secret.\n\n```text\n";
    let found = config.and_then(|it| it.load(&LoadRequest::default()).ok());
    if let Some(found) = found {
        for (key, value) in found.merged() {
            lines(&mut text, key, key, value);
        }
    }
    text += "```\n\n## Variables that are set\n\n```text\n";
    if let Some(config) = config {
        let mut names: Vec<&str> = config.env().vars().map(|(name, _)| name).collect();
        names.sort_unstable();
        text += &names.join(" ");
    }
    text += "\n```\n";
    quipu_disk::Target::lock(file)
        .and_then(|target| target.replace_secret(text.as_bytes()))
        .map_err(|error| format!("cannot write {}: {error}", file.display()))
}

/// One line for every single value.
fn lines(text: &mut String, path: &str, key: &str, value: &Value) {
    let shown = match value {
        Value::Object(table) => {
            for (key, value) in table {
                lines(text, &format!("{path}.{key}"), key, value);
            }
            return;
        }
        Value::Bool(_) | Value::Number(_) | Value::Null => value.to_string(),
        Value::String(_) if SHOWN.contains(&key) => value.to_string(),
        Value::String(_) => "\"…\"".to_owned(),
        Value::Array(items) => format!("[{} item(s)]", items.len()),
    };
    // Writing to a string cannot fail.
    writeln!(text, "{path} = {shown}").ok();
}
