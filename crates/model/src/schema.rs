//! A validator for the part of JSON Schema that people and programs use to describe output:
//! types, objects, arrays, numbers, strings, choices and local references. Keywords it does not
//! know (`format`, `pattern`, …) are not judged.

use std::cell::Cell;
use std::collections::HashSet;
use std::fmt;

use serde_json::value::RawValue;
use serde_json::{Map, Value};

/// Schemas nest and refer to themselves; past this depth nothing is judged any more.
const MAX_DEPTH: u32 = 128;
/// References can multiply a small schema into endless work. A large answer to an ordinary schema takes a fraction
/// of these steps.
const MAX_STEPS: usize = 2_000_000;
/// So many bytes are looked at in one step.
const STEP_BYTES: usize = 64;

/// Checks that a text is JSON that matches a schema; the error says where it does not, and why. Takes up to some
/// seconds of a processor.
pub fn check(schema: &RawValue, text: &str) -> Result<(), String> {
    let schema: Value = serde_json::from_str(schema.get())
        .map_err(|error| format!("the schema is not JSON: {error}"))?;
    let value: Value =
        serde_json::from_str(text).map_err(|error| format!("the message is not JSON: {error}"))?;
    let validator = Validator {
        root: &schema,
        steps: Cell::new(MAX_STEPS),
        trying: Cell::new(0),
    };
    let checked = validator.value(&schema, &value, At::Root, 0);
    // A form that was not judged to its end says nothing, whatever came of the rest.
    if validator.steps.get() == 0 {
        return Err(format!(
            "checking it against the schema takes more than {MAX_STEPS} steps; simplify the schema"
        ));
    }
    checked
}

/// A place in the message.
#[derive(Clone, Copy)]
enum At<'a> {
    Root,
    Property(&'a At<'a>, &'a str),
    Item(&'a At<'a>, usize),
}

impl fmt::Display for At<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            At::Root => f.write_str("$"),
            At::Property(at, name) => write!(f, "{at}.{name}"),
            At::Item(at, index) => write!(f, "{at}[{index}]"),
        }
    }
}

struct Validator<'a> {
    root: &'a Value,
    /// How many steps are left.
    steps: Cell<usize>,
    /// How many forms are being tried of which only it counts whether they match.
    trying: Cell<u32>,
}

impl Validator<'_> {
    fn value(&self, schema: &Value, value: &Value, at: At<'_>, depth: u32) -> Result<(), String> {
        let schema = match schema {
            Value::Bool(true) => return Ok(()),
            Value::Bool(false) => return self.wrong(at, format_args!("nothing is allowed here")),
            Value::Object(schema) => schema,
            _ => return Ok(()),
        };
        if depth > MAX_DEPTH {
            return Ok(());
        }
        self.spend(1)?;
        let reference = schema.get("$ref").and_then(Value::as_str);
        if let Some(target) = reference.map(|it| self.find(it)).transpose()?.flatten() {
            self.value(target, value, at, depth + 1)?;
        }
        self.kind(schema, value, at)?;
        self.choice(schema, value, at)?;
        self.combined(schema, value, at, depth)?;
        match value {
            Value::Object(object) => self.object(schema, object, at, depth),
            Value::Array(items) => self.array(schema, items, at, depth),
            Value::String(text) => {
                self.spend(text.len() / STEP_BYTES)?;
                self.length(schema, text.chars().count(), at, "Length", "characters")
            }
            Value::Number(number) => self.range(schema, number.as_f64().unwrap_or(f64::NAN), at),
            Value::Null | Value::Bool(_) => Ok(()),
        }
    }

    /// Takes some of the steps that are left; once they are used up, nothing more is judged.
    fn spend(&self, steps: usize) -> Result<(), String> {
        self.steps.set(self.steps.get().saturating_sub(steps));
        match self.steps.get() {
            0 => Err("too many steps".to_owned()),
            _ => Ok(()),
        }
    }

    /// A mismatch; it is put into words only if anybody reads them.
    fn wrong(&self, at: At<'_>, why: fmt::Arguments<'_>) -> Result<(), String> {
        match self.trying.get() {
            0 => Err(format!("{at}: {why}")),
            _ => Err(String::new()),
        }
    }

    /// Takes the steps for looking at all of a value.
    fn spend_on(&self, value: &Value) -> Result<(), String> {
        self.spend(1)?;
        match value {
            Value::String(text) => self.spend(text.len() / STEP_BYTES),
            Value::Array(items) => items.iter().try_for_each(|item| self.spend_on(item)),
            Value::Object(members) => members.iter().try_for_each(|(name, value)| {
                self.spend(name.len() / STEP_BYTES)?;
                self.spend_on(value)
            }),
            Value::Null | Value::Bool(_) | Value::Number(_) => Ok(()),
        }
    }

    /// The target of a local reference such as `#/$defs/point`.
    fn find(&self, reference: &str) -> Result<Option<&Value>, String> {
        self.spend(reference.len() / 8)?;
        let pointer = reference.strip_prefix('#');
        Ok(pointer.and_then(|pointer| self.root.pointer(pointer)))
    }

    fn kind(&self, schema: &Map<String, Value>, value: &Value, at: At<'_>) -> Result<(), String> {
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
            Some(Value::Array(names)) => {
                self.spend(names.len())?;
                names.iter().filter_map(Value::as_str).collect()
            }
            _ => return Ok(()),
        };
        if wanted.iter().any(|name| is(name)) {
            Ok(())
        } else {
            self.wrong(at, format_args!("is not of type {}", wanted.join(" or ")))
        }
    }

    fn choice(&self, schema: &Map<String, Value>, value: &Value, at: At<'_>) -> Result<(), String> {
        if let Some(choices) = schema.get("enum").and_then(Value::as_array) {
            choices.iter().try_for_each(|it| self.spend_on(it))?;
            if !choices.contains(value) {
                return self.wrong(at, format_args!("is not one of the allowed values"));
            }
        }
        let Some(constant) = schema.get("const") else {
            return Ok(());
        };
        self.spend_on(constant)?;
        match constant == value {
            true => Ok(()),
            false => self.wrong(at, format_args!("is not {constant}")),
        }
    }

    fn combined(
        &self,
        schema: &Map<String, Value>,
        value: &Value,
        at: At<'_>,
        depth: u32,
    ) -> Result<(), String> {
        let list = |key: &str| schema.get(key).and_then(Value::as_array);
        let matches = |schema: &Value| {
            self.trying.set(self.trying.get() + 1);
            let matched = self.value(schema, value, at, depth + 1).is_ok();
            self.trying.set(self.trying.get() - 1);
            matched
        };
        for schema in list("allOf").into_iter().flatten() {
            self.value(schema, value, at, depth + 1)?;
        }
        if let Some(schemas) = list("anyOf")
            && !schemas.iter().any(matches)
        {
            return self.wrong(at, format_args!("matches none of the allowed forms"));
        }
        if let Some(schemas) = list("oneOf") {
            let count = schemas.iter().filter(|schema| matches(schema)).count();
            if count != 1 {
                return self.wrong(
                    at,
                    format_args!("matches {count} of the forms, not exactly one"),
                );
            }
        }
        if schema.get("not").is_some_and(matches) {
            return self.wrong(at, format_args!("matches a form that is not allowed"));
        }
        Ok(())
    }

    fn object(
        &self,
        schema: &Map<String, Value>,
        object: &Map<String, Value>,
        at: At<'_>,
        depth: u32,
    ) -> Result<(), String> {
        let required = schema.get("required").and_then(Value::as_array);
        let required = required.map_or(&[][..], Vec::as_slice);
        self.spend(required.len())?;
        if let Some(missing) = required
            .iter()
            .filter_map(Value::as_str)
            .find(|name| !object.contains_key(*name))
        {
            return self.wrong(at, format_args!("the property `{missing}` is missing"));
        }
        self.length(schema, object.len(), at, "Properties", "properties")?;
        let properties = schema.get("properties").and_then(Value::as_object);
        for (name, value) in object {
            self.spend(1)?;
            let inner = At::Property(&at, name);
            if let Some(schema) = properties.and_then(|properties| properties.get(name)) {
                self.value(schema, value, inner, depth + 1)?;
            } else if schema.contains_key("patternProperties") {
                // Patterns are not judged, so neither is what they might cover.
            } else if let Some(extra) = schema.get("additionalProperties") {
                if extra == &Value::Bool(false) {
                    return self.wrong(at, format_args!("the property `{name}` is not allowed"));
                }
                self.value(extra, value, inner, depth + 1)?;
            }
        }
        Ok(())
    }

    fn array(
        &self,
        schema: &Map<String, Value>,
        items: &[Value],
        at: At<'_>,
        depth: u32,
    ) -> Result<(), String> {
        self.length(schema, items.len(), at, "Items", "items")?;
        if schema.get("uniqueItems") == Some(&Value::Bool(true)) {
            items.iter().try_for_each(|item| self.spend_on(item))?;
            let mut seen = HashSet::with_capacity(items.len());
            if !items.iter().all(|item| seen.insert(item)) {
                return self.wrong(at, format_args!("the items are not all different"));
            }
        }
        let fixed = schema.get("prefixItems").and_then(Value::as_array);
        let fixed = fixed.map_or(&[][..], Vec::as_slice);
        for (n, item) in items.iter().enumerate() {
            self.spend(1)?;
            if let Some(schema) = fixed.get(n).or_else(|| schema.get("items")) {
                self.value(schema, item, At::Item(&at, n), depth + 1)?;
            }
        }
        Ok(())
    }

    /// `minItems` and its like; `what` is the end of the keyword.
    fn length(
        &self,
        schema: &Map<String, Value>,
        count: usize,
        at: At<'_>,
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
            return self.wrong(at, format_args!("has fewer than {min} {unit}"));
        }
        match limit("max") {
            Some(max) if count as u64 > max => {
                self.wrong(at, format_args!("has more than {max} {unit}"))
            }
            _ => Ok(()),
        }
    }

    fn range(&self, schema: &Map<String, Value>, number: f64, at: At<'_>) -> Result<(), String> {
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
                return self.wrong(at, format_args!("is {words} {limit}"));
            }
        }
        match limit("multipleOf") {
            Some(step)
                if step > 0.0 && ((number / step) - (number / step).round()).abs() > 1e-9 =>
            {
                self.wrong(at, format_args!("is not a multiple of {step}"))
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests;
