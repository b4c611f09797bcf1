//! The tools of a client, checked and made one list: those of a namespace get names that the model can call them by.

use std::collections::HashSet;

use quipu_tools::namespace_prefix;
use quipu_wire::{DynamicToolEntry, DynamicToolNamespace, DynamicToolSpec};
use serde_json::Value;

use crate::Refusal;

/// Deeper than this, a schema is not looked at.
const MAX_SCHEMA_DEPTH: usize = 32;

/// Names that the Responses API has for its own tools.
const RESERVED: [&str; 13] = [
    "api_tool",
    "browser",
    "computer",
    "container",
    "file_search",
    "functions",
    "image_gen",
    "multi_tool_use",
    "python",
    "submodel_delegator",
    "terminal",
    "tool_search",
    "web",
];

/// The longest name of a tool that every provider takes.
const MAX_NAME: usize = 64;
/// Characters of what a namespace is for.
const MAX_DESCRIPTION: usize = 1_024;

/// The tools that the model can be offered, or why not.
pub(crate) fn declared_tools(
    entries: Vec<DynamicToolEntry>,
) -> Result<Vec<DynamicToolSpec>, Refusal> {
    let mut tools = Vec::new();
    let mut namespaces = HashSet::new();
    for entry in entries {
        match entry {
            DynamicToolEntry::Tool(tool) => {
                check_tool(&tool)?;
                tools.push(tool);
            }
            DynamicToolEntry::Namespace(namespace) => {
                check_namespace(&namespace)?;
                if !namespaces.insert(namespace.name.clone()) {
                    let name = namespace.name;
                    return refuse(format!("duplicate dynamic tool namespace: {name}"));
                }
                tools.extend(named(namespace)?);
            }
        }
    }
    let mut seen = HashSet::new();
    match tools.iter().find(|tool| !seen.insert(tool.name.as_str())) {
        Some(twice) => refuse(format!("duplicate dynamic tool name: {}", twice.name)),
        None => Ok(tools),
    }
}

fn refuse<T>(problem: String) -> Result<T, Refusal> {
    Err(Refusal::invalid_request(problem))
}

/// The tools of a namespace, by the names that the model knows.
fn named(namespace: DynamicToolNamespace) -> Result<Vec<DynamicToolSpec>, Refusal> {
    let mut seen = HashSet::new();
    let prefix = namespace_prefix(&namespace.name);
    let mut tools = Vec::with_capacity(namespace.tools.len());
    for tool in namespace.tools {
        check_tool(&tool)?;
        if !seen.insert(tool.name.clone()) {
            let (space, name) = (&namespace.name, &tool.name);
            return refuse(format!(
                "duplicate dynamic tool name in namespace {space}: {name}"
            ));
        }
        let name = format!("{prefix}{}", tool.name);
        if name.len() > MAX_NAME {
            return refuse(format!(
                "dynamic tool name with its namespace must be at most {MAX_NAME} characters: {name}"
            ));
        }
        tools.push(DynamicToolSpec {
            name,
            description: format!("{}\n\n{}", namespace.description, tool.description)
                .trim()
                .to_owned(),
            namespace: Some(namespace.name.clone()),
            ..tool
        });
    }
    Ok(tools)
}

fn check_namespace(namespace: &DynamicToolNamespace) -> Result<(), Refusal> {
    let name = namespace.name.as_str();
    if name.trim().is_empty() {
        refuse("dynamic tool namespace must not be empty".to_owned())
    } else if name.trim() != name {
        refuse(format!(
            "dynamic tool namespace has leading/trailing whitespace: {name}"
        ))
    } else if !is_callable(name) {
        refuse(format!(
            "dynamic tool namespace must match ^[a-zA-Z0-9_-]+$ to match Responses API: {name}"
        ))
    } else if name.len() > MAX_NAME {
        refuse(format!(
            "dynamic tool namespace must be at most {MAX_NAME} characters to match Responses API: {name}"
        ))
    } else if namespace.description.chars().count() > MAX_DESCRIPTION {
        refuse(format!(
            "dynamic tool namespace description must be at most {MAX_DESCRIPTION} characters"
        ))
    } else if is_of_mcp(name) {
        refuse(format!("dynamic tool namespace is reserved: {name}"))
    } else if RESERVED.contains(&name) {
        refuse(format!(
            "dynamic tool namespace collides with a reserved Responses API namespace: {name}"
        ))
    } else if namespace.tools.is_empty() {
        refuse(format!(
            "dynamic tool namespace must contain at least one tool: {name}"
        ))
    } else {
        Ok(())
    }
}

fn check_tool(tool: &DynamicToolSpec) -> Result<(), Refusal> {
    let name = tool.name.trim();
    if name.is_empty() {
        return refuse("dynamic tool name must not be empty".to_owned());
    }
    if name != tool.name {
        return refuse(format!(
            "dynamic tool name has leading/trailing whitespace: {}",
            tool.name
        ));
    }
    if is_of_mcp(name) {
        return refuse(format!("dynamic tool name is reserved: {name}"));
    }
    match schema_problem(&tool.input_schema.to_value(), 0) {
        Some(why) => refuse(format!(
            "dynamic tool input schema is not supported for {name}: {why}"
        )),
        None => Ok(()),
    }
}

fn is_of_mcp(name: &str) -> bool {
    name == "mcp" || name.starts_with("mcp__")
}

fn is_callable(name: &str) -> bool {
    name.chars()
        .all(|it| it.is_ascii_alphanumeric() || it == '_' || it == '-')
}

/// Why a schema cannot be given to a model; one without a type is taken for an object.
fn schema_problem(schema: &Value, depth: usize) -> Option<String> {
    const TYPES: [&str; 6] = ["boolean", "string", "integer", "number", "array", "object"];
    let schema = match schema {
        Value::Object(schema) if depth < MAX_SCHEMA_DEPTH => schema,
        Value::Object(_) | Value::Bool(_) => return None,
        _ => return Some("a schema is an object".to_owned()),
    };
    if let Some(Value::String(kind)) = schema.get("type")
        && !TYPES.contains(&kind.as_str())
    {
        return Some(format!(
            "unknown variant `{kind}`, expected one of `boolean`, `string`, `integer`, `number`, `array`, `object`"
        ));
    }
    let properties = schema.get("properties").and_then(Value::as_object);
    let properties = properties.into_iter().flat_map(serde_json::Map::values);
    let others = ["items", "additionalProperties"].into_iter();
    let mut parts = properties.chain(others.filter_map(|name| schema.get(name)));
    parts.find_map(|part| schema_problem(part, depth + 1).filter(|_| part.is_object()))
}
