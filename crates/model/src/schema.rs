//! A validator for the part of JSON Schema that people and programs use to describe output:
//! types, objects, arrays, numbers, strings, choices and local references. Keywords it does not
//! know (`format`, `pattern`, …) are not judged.

use serde_json::value::RawValue;
use serde_json::{Map, Value};

/// Schemas nest and refer to themselves; past this depth nothing is judged any more.
const MAX_DEPTH: u32 = 128;

/// Checks that a text is JSON that matches a schema; the error says where it does not, and why.
pub fn check(schema: &RawValue, text: &str) -> Result<(), String> {
    let schema: Value = serde_json::from_str(schema.get())
        .map_err(|error| format!("the schema is not JSON: {error}"))?;
    let value: Value =
        serde_json::from_str(text).map_err(|error| format!("the message is not JSON: {error}"))?;
    Validator { root: &schema }.value(&schema, &value, "$", 0)
}

struct Validator<'a> {
    root: &'a Value,
}

impl Validator<'_> {
    fn value(&self, schema: &Value, value: &Value, at: &str, depth: u32) -> Result<(), String> {
        let schema = match schema {
            Value::Bool(true) => return Ok(()),
            Value::Bool(false) => return Err(format!("{at}: nothing is allowed here")),
            Value::Object(schema) => schema,
            _ => return Ok(()),
        };
        if depth > MAX_DEPTH {
            return Ok(());
        }
        if let Some(target) = schema
            .get("$ref")
            .and_then(Value::as_str)
            .and_then(|r| self.find(r))
        {
            self.value(target, value, at, depth + 1)?;
        }
        kind(schema, value, at)?;
        choice(schema, value, at)?;
        self.combined(schema, value, at, depth)?;
        match value {
            Value::Object(object) => self.object(schema, object, at, depth),
            Value::Array(items) => self.array(schema, items, at, depth),
            Value::String(text) => length(schema, text.chars().count(), at, "Length", "characters"),
            Value::Number(number) => range(schema, number.as_f64().unwrap_or(f64::NAN), at),
            Value::Null | Value::Bool(_) => Ok(()),
        }
    }

    /// The target of a local reference such as `#/$defs/point`.
    fn find(&self, reference: &str) -> Option<&Value> {
        self.root.pointer(reference.strip_prefix('#')?)
    }

    fn combined(
        &self,
        schema: &Map<String, Value>,
        value: &Value,
        at: &str,
        depth: u32,
    ) -> Result<(), String> {
        let list = |key: &str| schema.get(key).and_then(Value::as_array);
        let matches = |schema: &Value| self.value(schema, value, at, depth + 1).is_ok();
        for schema in list("allOf").into_iter().flatten() {
            self.value(schema, value, at, depth + 1)?;
        }
        if let Some(schemas) = list("anyOf")
            && !schemas.iter().any(matches)
        {
            return Err(format!("{at}: matches none of the allowed forms"));
        }
        if let Some(schemas) = list("oneOf") {
            let count = schemas.iter().filter(|schema| matches(schema)).count();
            if count != 1 {
                return Err(format!(
                    "{at}: matches {count} of the forms, not exactly one"
                ));
            }
        }
        if schema.get("not").is_some_and(matches) {
            return Err(format!("{at}: matches a form that is not allowed"));
        }
        Ok(())
    }

    fn object(
        &self,
        schema: &Map<String, Value>,
        object: &Map<String, Value>,
        at: &str,
        depth: u32,
    ) -> Result<(), String> {
        let required = schema
            .get("required")
            .and_then(Value::as_array)
            .into_iter()
            .flatten();
        if let Some(missing) = required
            .filter_map(Value::as_str)
            .find(|name| !object.contains_key(*name))
        {
            return Err(format!("{at}: the property `{missing}` is missing"));
        }
        length(schema, object.len(), at, "Properties", "properties")?;
        let properties = schema.get("properties").and_then(Value::as_object);
        for (name, value) in object {
            let inner = format!("{at}.{name}");
            if let Some(schema) = properties.and_then(|properties| properties.get(name)) {
                self.value(schema, value, &inner, depth + 1)?;
            } else if schema.contains_key("patternProperties") {
                // Patterns are not judged, so neither is what they might cover.
            } else if let Some(extra) = schema.get("additionalProperties") {
                if extra == &Value::Bool(false) {
                    return Err(format!("{at}: the property `{name}` is not allowed"));
                }
                self.value(extra, value, &inner, depth + 1)?;
            }
        }
        Ok(())
    }

    fn array(
        &self,
        schema: &Map<String, Value>,
        items: &[Value],
        at: &str,
        depth: u32,
    ) -> Result<(), String> {
        length(schema, items.len(), at, "Items", "items")?;
        if schema.get("uniqueItems") == Some(&Value::Bool(true))
            && items
                .iter()
                .enumerate()
                .any(|(n, item)| items[..n].contains(item))
        {
            return Err(format!("{at}: the items are not all different"));
        }
        let fixed = schema.get("prefixItems").and_then(Value::as_array);
        let fixed = fixed.map_or(&[][..], Vec::as_slice);
        for (n, item) in items.iter().enumerate() {
            if let Some(schema) = fixed.get(n).or_else(|| schema.get("items")) {
                self.value(schema, item, &format!("{at}[{n}]"), depth + 1)?;
            }
        }
        Ok(())
    }
}

fn kind(schema: &Map<String, Value>, value: &Value, at: &str) -> Result<(), String> {
    let is = |name: &str| match name {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "number" => value.is_number(),
        "integer" => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        _ => true,
    };
    let wanted: Vec<&str> = match schema.get("type") {
        Some(Value::String(name)) => vec![name],
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
        _ => return Ok(()),
    };
    if wanted.iter().any(|name| is(name)) {
        Ok(())
    } else {
        Err(format!("{at}: is not of type {}", wanted.join(" or ")))
    }
}

fn choice(schema: &Map<String, Value>, value: &Value, at: &str) -> Result<(), String> {
    if let Some(choices) = schema.get("enum").and_then(Value::as_array)
        && !choices.contains(value)
    {
        return Err(format!("{at}: is not one of the allowed values"));
    }
    match schema.get("const") {
        Some(constant) if constant != value => Err(format!("{at}: is not {constant}")),
        _ => Ok(()),
    }
}

/// `minItems` and its like; `what` is the end of the keyword.
fn length(
    schema: &Map<String, Value>,
    count: usize,
    at: &str,
    what: &str,
    unit: &str,
) -> Result<(), String> {
    let limit = |prefix: &str| {
        schema
            .get(&format!("{prefix}{what}"))
            .and_then(Value::as_u64)
    };
    if let Some(min) = limit("min")
        && (count as u64) < min
    {
        return Err(format!("{at}: has fewer than {min} {unit}"));
    }
    match limit("max") {
        Some(max) if count as u64 > max => Err(format!("{at}: has more than {max} {unit}")),
        _ => Ok(()),
    }
}

fn range(schema: &Map<String, Value>, number: f64, at: &str) -> Result<(), String> {
    let limit = |key: &str| schema.get(key).and_then(Value::as_f64);
    type Holds = fn(f64, f64) -> bool;
    let checks: [(&str, Holds, &str); 4] = [
        ("minimum", |n, limit| n >= limit, "less than"),
        ("maximum", |n, limit| n <= limit, "more than"),
        ("exclusiveMinimum", |n, limit| n > limit, "not more than"),
        ("exclusiveMaximum", |n, limit| n < limit, "not less than"),
    ];
    for (key, holds, words) in checks {
        if let Some(limit) = limit(key)
            && !holds(number, limit)
        {
            return Err(format!("{at}: is {words} {limit}"));
        }
    }
    match limit("multipleOf") {
        Some(step) if step > 0.0 && ((number / step) - (number / step).round()).abs() > 1e-9 => {
            Err(format!("{at}: is not a multiple of {step}"))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check_str(schema: &str, text: &str) -> Result<(), String> {
        check(&RawValue::from_string(schema.into()).unwrap(), text)
    }

    #[test]
    fn values_are_judged_by_each_keyword() {
        let cases = [
            (
                r#"{"type":"object","required":["a"],"properties":{"a":{"type":"integer"}}}"#,
                r#"{"a":1}"#,
                r#"{"a":1.5}"#,
            ),
            (
                r#"{"type":"object","required":["a"]}"#,
                r#"{"a":null}"#,
                "{}",
            ),
            (
                r#"{"properties":{"a":{}},"additionalProperties":false}"#,
                r#"{"a":1}"#,
                r#"{"b":1}"#,
            ),
            (
                r#"{"additionalProperties":{"type":"string"}}"#,
                r#"{"b":"x"}"#,
                r#"{"b":1}"#,
            ),
            (r#"{"type":["string","null"]}"#, "null", "1"),
            (r#"{"enum":["a",2]}"#, "2", r#""b""#),
            (r#"{"const":{"x":1}}"#, r#"{"x":1}"#, r#"{"x":2}"#),
            (
                r#"{"items":{"type":"number","minimum":1},"maxItems":2}"#,
                "[1,2]",
                "[0]",
            ),
            (r#"{"maxItems":2}"#, "[1,2]", "[1,2,3]"),
            (
                r#"{"prefixItems":[{"type":"string"}],"items":{"type":"number"}}"#,
                r#"["a",1]"#,
                r#"["a","b"]"#,
            ),
            (r#"{"uniqueItems":true}"#, "[1,2]", "[1,1]"),
            (r#"{"minLength":2,"maxLength":3}"#, r#""äö""#, r#""ä""#),
            (
                r#"{"anyOf":[{"type":"string"},{"type":"number"}]}"#,
                "1",
                "null",
            ),
            (r#"{"oneOf":[{"minimum":1},{"maximum":1}]}"#, "2", "1"),
            (r#"{"allOf":[{"minimum":1},{"maximum":3}]}"#, "2", "4"),
            (r#"{"not":{"type":"string"}}"#, "1", r#""x""#),
            (r#"{"exclusiveMaximum":3,"multipleOf":0.5}"#, "2.5", "3"),
            (
                r##"{"$defs":{"n":{"type":"object","properties":{"next":{"$ref":"#/$defs/n"}},"additionalProperties":false}},"$ref":"#/$defs/n"}"##,
                r#"{"next":{"next":{}}}"#,
                r#"{"next":{"x":1}}"#,
            ),
            ("false", "", "1"),
        ];
        for (schema, good, bad) in cases {
            if !good.is_empty() {
                assert_eq!(check_str(schema, good), Ok(()), "{schema}");
            }
            assert!(
                check_str(schema, bad).is_err(),
                "{schema} should refuse {bad}"
            );
        }
    }

    #[test]
    fn the_reason_names_the_place() {
        let schema = r#"{"properties":{"a":{"items":{"type":"string"}}}}"#;
        assert_eq!(
            check_str(schema, r#"{"a":["x",1]}"#).unwrap_err(),
            "$.a[1]: is not of type string"
        );
        assert!(
            check_str(schema, "Here you are: {}")
                .unwrap_err()
                .starts_with("the message is not JSON")
        );
    }

    #[test]
    fn endless_references_end() {
        assert_eq!(check_str(r##"{"$ref":"#"}"##, "1"), Ok(()));
        let deep = format!("{}{}", "[".repeat(100), "]".repeat(100));
        assert_eq!(check_str(r##"{"items":{"$ref":"#"}}"##, &deep), Ok(()));
    }

    proptest! {
        #[test]
        fn nothing_panics(schema in "[{}\\[\\]\":,a-z0-9$#/]{0,40}", text in ".{0,40}") {
            if let Ok(schema) = RawValue::from_string(schema) {
                drop(check(&schema, &text));
            }
        }
    }
}
