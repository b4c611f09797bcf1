//! JSON Schemas from types, in the form that model providers accept for structured output.

use schemars::JsonSchema;
use serde_json::{Map, Value, json};

/// The member of the object in which an output travels that is not an object itself.
pub(crate) const WRAPPED: &str = "value";

/// The schema of a tool's parameters: as the type has it.
pub(crate) fn parameters<P: JsonSchema>() -> Value {
    let schema = schemars::generate::SchemaSettings::draft07().into_generator();
    let mut schema = schema.into_root_schema_for::<P>().to_value();
    if let Some(schema) = schema.as_object_mut() {
        schema.remove("$schema");
        // `()` has parameters of type null, but a call always has an object.
        if schema.get("type") != Some(&json!("object")) && !schema.contains_key("$ref") {
            return json!({ "type": "object", "properties": {} });
        }
    }
    schema
}

/// The schema of an output, and whether the output is wrapped in an object: providers want an object
/// at the top, with all members required and no others.
pub(crate) fn output<O: JsonSchema>() -> (Value, bool) {
    let generator = schemars::generate::SchemaSettings::draft2020_12().into_generator();
    strict(generator.into_root_schema_for::<O>().to_value())
}

/// The same for a schema that somebody wrote.
pub(crate) fn strict(mut schema: Value) -> (Value, bool) {
    let is_object = schema["type"] == "object" && schema["properties"].is_object();
    if !is_object {
        schema = wrapped(schema);
    }
    if let Some(schema) = schema.as_object_mut() {
        schema.remove("$schema");
    }
    tighten(&mut schema);
    (schema, !is_object)
}

fn wrapped(mut schema: Value) -> Value {
    let defs = schema.as_object_mut().and_then(|it| it.remove("$defs"));
    let mut outer = json!({
        "type": "object",
        "properties": { WRAPPED: schema },
        "required": [WRAPPED],
    });
    if let Some(defs) = defs {
        outer["$defs"] = defs;
    }
    outer
}

fn tighten(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            tighten_object(members);
            members.values_mut().for_each(tighten);
        }
        Value::Array(items) => items.iter_mut().for_each(tighten),
        _ => {}
    }
}

fn tighten_object(schema: &mut Map<String, Value>) {
    if let Some(properties) = schema.get("properties").and_then(Value::as_object) {
        let names: Vec<Value> = properties.keys().map(|it| json!(it)).collect();
        schema.insert("required".to_owned(), names.into());
        schema.insert("additionalProperties".to_owned(), json!(false));
    }
    // Formats of numbers (`uint32`, `double`) are not among those that providers know.
    if matches!(schema.get("type"), Some(Value::String(ty)) if ty == "integer" || ty == "number") {
        schema.remove("format");
    }
    schema.remove("default");
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "only its schema matters")]
    struct Finding {
        title: String,
        #[serde(default)]
        severity: u8,
        file: Option<String>,
    }

    #[test]
    fn objects_are_closed_and_complete() {
        let (schema, wrapped) = output::<Finding>();
        assert!(!wrapped);
        assert_eq!(schema["required"], json!(["file", "severity", "title"]));
        assert_eq!(schema["additionalProperties"], false);
        assert_eq!(schema["properties"]["severity"].get("format"), None);
        assert_eq!(schema["properties"]["severity"]["maximum"], 255);
        assert_eq!(schema.get("$schema"), None);
    }

    #[test]
    fn other_outputs_travel_in_an_object() {
        let (schema, wrapped) = output::<Vec<Finding>>();
        assert!(wrapped);
        assert_eq!(schema["properties"][WRAPPED]["type"], "array");
        assert_eq!(schema["$defs"]["Finding"]["additionalProperties"], false);
    }

    #[test]
    fn a_tool_without_parameters_has_an_empty_object() {
        assert_eq!(
            parameters::<()>(),
            json!({ "type": "object", "properties": {} })
        );
        assert_eq!(parameters::<Finding>()["required"], json!(["title"]));
    }
}
