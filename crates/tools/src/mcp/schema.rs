//! Schemas of tools, reduced to what every provider understands: objects, arrays, strings, numbers and
//! booleans, with descriptions. Servers write all of JSON Schema, and some of it wrongly.

use serde_json::{Map, Value, json};

/// Deeper than this, a schema is taken for a text.
const MAX_DEPTH: usize = 32;

/// The schema of a tool's arguments.
pub(super) fn reduced(schema: &Value) -> Value {
    let members = schema.as_object();
    match members.and_then(kind) {
        None => object(members.unwrap_or(&Map::new()), 0),
        Some(_) => reduce(schema, 0),
    }
}

fn reduce(schema: &Value, depth: usize) -> Value {
    let Some(members) = schema.as_object().filter(|_| depth < MAX_DEPTH) else {
        return json!({ "type": "string" });
    };
    let mut reduced = match kind(members) {
        Some("object") => object(members, depth),
        Some("array") => {
            let items = members.get("items").filter(|it| it.is_object());
            let items =
                items.map_or_else(|| json!({ "type": "string" }), |it| reduce(it, depth + 1));
            json!({ "type": "array", "items": items })
        }
        Some(kind) => json!({ "type": kind }),
        None => json!({ "type": "string" }),
    };
    if let Some(Value::String(description)) = members.get("description").filter(|_| depth > 0) {
        reduced["description"] = description.as_str().into();
    }
    reduced
}

fn object(members: &Map<String, Value>, depth: usize) -> Value {
    let properties = members.get("properties").and_then(Value::as_object);
    let properties = properties.into_iter().flatten();
    let properties: Map<String, Value> = properties
        .map(|(name, schema)| (name.clone(), reduce(schema, depth + 1)))
        .collect();
    let mut reduced = json!({ "type": "object", "properties": properties });
    if let Some(required) = members.get("required").filter(|it| it.is_array()) {
        reduced["required"] = required.clone();
    }
    match members.get("additionalProperties") {
        Some(Value::Bool(allowed)) => reduced["additionalProperties"] = (*allowed).into(),
        Some(schema @ Value::Object(_)) => {
            reduced["additionalProperties"] = reduce(schema, depth + 1);
        }
        _ => {}
    }
    reduced
}

/// What a schema describes: as it says, else as its other members suggest.
fn kind(members: &Map<String, Value>) -> Option<&'static str> {
    let known = |name: &Value| match name.as_str()? {
        "object" => Some("object"),
        "array" => Some("array"),
        "string" => Some("string"),
        "number" | "integer" => Some("number"),
        "boolean" => Some("boolean"),
        _ => None,
    };
    let said = match members.get("type") {
        Some(Value::Array(names)) => names.iter().find_map(known),
        Some(name) => known(name),
        None => None,
    };
    let has = |names: &[&str]| names.iter().any(|name| members.contains_key(*name));
    if said.is_some() {
        said
    } else if has(&["properties", "required", "additionalProperties"]) {
        Some("object")
    } else if has(&["items", "prefixItems"]) {
        Some("array")
    } else if has(&[
        "enum",
        "const",
        "format",
        "pattern",
        "minLength",
        "maxLength",
    ]) {
        Some("string")
    } else if has(&[
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "multipleOf",
    ]) {
        Some("number")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schemas_are_reduced_as_the_reference_does() {
        let cases = [
            (json!({}), json!({ "type": "object", "properties": {} })),
            (
                json!({ "anyOf": [{ "type": "object" }] }),
                json!({ "type": "object", "properties": {} }),
            ),
            (
                json!({ "type": "object", "title": "T", "description": "top", "additionalProperties": false,
                    "properties": { "a": { "type": "string", "description": "d", "format": "uri" } } }),
                json!({ "type": "object", "properties": { "a": { "type": "string", "description": "d" } },
                    "additionalProperties": false }),
            ),
            (
                json!({ "additionalProperties": { "type": "integer" }, "required": ["m"],
                    "properties": { "m": { "type": ["null", "integer"] }, "e": { "enum": ["x"] },
                        "min": { "minimum": 1 }, "i": { "items": { "type": "integer" } },
                        "any": { "anyOf": [{ "type": "number" }] }, "yes": true, "odd": 5 } }),
                json!({ "type": "object", "additionalProperties": { "type": "number" }, "required": ["m"],
                    "properties": { "m": { "type": "number" }, "e": { "type": "string" },
                        "min": { "type": "number" }, "i": { "type": "array", "items": { "type": "number" } },
                        "any": { "type": "string" }, "yes": { "type": "string" },
                        "odd": { "type": "string" } } }),
            ),
            (
                json!({ "type": "array" }),
                json!({ "type": "array", "items": { "type": "string" } }),
            ),
        ];
        for (schema, expected) in cases {
            assert_eq!(reduced(&schema), expected, "{schema}");
        }
    }

    #[test]
    fn endless_schemas_end() {
        let mut schema = json!({ "type": "string" });
        for _ in 0..1000 {
            schema = json!({ "type": "array", "items": schema });
        }
        let depth = reduced(&schema).to_string().matches("array").count();
        assert_eq!(depth, MAX_DEPTH);
    }
}
