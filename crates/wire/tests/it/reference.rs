//! Our JSON Schemas against those that the official server prints, by meaning. The files are not part
//! of this project: set `QUIPU_REFERENCE_SCHEMAS` to a directory that holds `json-stable` and
//! `json-experimental`.

use std::collections::BTreeMap;
use std::path::Path;

use quipu_wire::schema::{self, Protocol, Surface};
use serde_json::{Map, Value, json};

#[test]
fn schemas_mean_what_the_reference_means() {
    let Some(directory) = std::env::var_os("QUIPU_REFERENCE_SCHEMAS") else {
        return;
    };
    let directory = Path::new(&directory);
    let mut differences = Vec::new();
    for (surface, name) in [
        (Surface::stable(Protocol::V0_118), "json-stable"),
        (Surface::whole(Protocol::V0_118), "json-experimental"),
    ] {
        let ours = schema::json_schemas(surface);
        let theirs = read_all(&directory.join(name));
        let names = ours.keys().chain(theirs.keys());
        for file in names.collect::<std::collections::BTreeSet<_>>() {
            match (ours.get(file), theirs.get(file)) {
                (Some(ours), Some(theirs)) => {
                    let [ours, theirs] =
                        [ours, theirs].map(|text| normal(&serde_json::from_str(text).unwrap()));
                    compare(&format!("{name}/{file}"), &ours, &theirs, &mut differences);
                }
                (None, _) => differences.push(format!("{name}/{file}: missing")),
                (_, None) => differences.push(format!("{name}/{file}: extra")),
            }
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

fn read_all(directory: &Path) -> BTreeMap<String, String> {
    let mut files = BTreeMap::new();
    for below in ["", "v1/", "v2/"] {
        for entry in std::fs::read_dir(directory.join(below)).unwrap() {
            let entry = entry.unwrap();
            let name = format!("{below}{}", entry.file_name().to_str().unwrap());
            if name.ends_with(".json") {
                files.insert(name, std::fs::read_to_string(entry.path()).unwrap());
            }
        }
    }
    files
}

/// One schema in one spelling: no words for people, no order, one way to say nullable.
fn normal(schema: &Value) -> Value {
    let Value::Object(members) = schema else {
        return schema.clone();
    };
    let mut members = members.clone();
    for word in ["title", "description", "$schema", "examples"] {
        members.remove(word);
    }
    for word in ["anyOf", "oneOf"] {
        if let Some(Value::Array(variants)) = members.remove(word) {
            let all = variants.len();
            let variants: Vec<_> = variants.iter().filter(|it| it["type"] != "null").collect();
            if let [only] = variants[..]
                && all > 1
            {
                members.insert("nullable".into(), normal(only));
            } else {
                let variants = variants.into_iter().map(normal).collect();
                members.insert("union".into(), sorted(variants));
            }
        }
    }
    if let Some(Value::Array(kinds)) = members.get("type").cloned() {
        let given: Vec<_> = kinds.iter().filter(|it| *it != "null").cloned().collect();
        let mut inner = members.clone();
        inner.insert(
            "type".into(),
            if given.len() == 1 {
                given[0].clone()
            } else {
                sorted(given)
            },
        );
        let default = inner.remove("default");
        let mut nullable = Map::from_iter([("nullable".to_owned(), normal(&inner.into()))]);
        nullable.extend(default.map(|it| ("default".to_owned(), it)));
        return nullable.into();
    }
    if let Some(Value::Array(one)) = members.get("allOf")
        && let [one] = one.as_slice()
    {
        let mut merged = normal(one);
        members.remove("allOf");
        merged
            .as_object_mut()
            .unwrap()
            .extend(normal(&members.into()).as_object().unwrap().clone());
        return merged;
    }
    let words = members.into_iter().map(|(word, value)| {
        let value = match word.as_str() {
            "properties" => each(&value, normal),
            "definitions" => each(&value, namespace),
            "items" | "additionalProperties" | "nullable" => normal(&value),
            "enum" | "required" => sorted(value.as_array().unwrap().clone()),
            _ => value,
        };
        (word, value)
    });
    words.collect::<Map<_, _>>().into()
}

/// A definition, or the map of definitions that the bundle calls `v2`.
fn namespace(definition: &Value) -> Value {
    let is_schema = [
        "type",
        "oneOf",
        "anyOf",
        "allOf",
        "$ref",
        "enum",
        "properties",
    ];
    let object = definition.as_object();
    if object
        .is_some_and(|it| !it.is_empty() && !is_schema.iter().any(|word| it.contains_key(*word)))
        && object.is_some_and(|it| it.values().all(Value::is_object))
    {
        return each(definition, normal);
    }
    normal(definition)
}

fn each(map: &Value, change: impl Fn(&Value) -> Value) -> Value {
    let members = map.as_object().unwrap().iter();
    let members = members.map(|(name, value)| (name.clone(), change(value)));
    members.collect::<Map<_, _>>().into()
}

fn sorted(mut values: Vec<Value>) -> Value {
    values.sort_by_key(Value::to_string);
    json!(values)
}

fn compare(path: &str, ours: &Value, theirs: &Value, differences: &mut Vec<String>) {
    match (ours, theirs) {
        (Value::Object(ours), Value::Object(theirs)) => {
            for (key, value) in ours {
                match theirs.get(key) {
                    Some(their) => compare(&format!("{path}/{key}"), value, their, differences),
                    None => differences.push(format!("{path}/{key}: extra")),
                }
            }
            let missing = theirs.keys().filter(|key| !ours.contains_key(*key));
            differences.extend(missing.map(|key| format!("{path}/{key}: missing")));
        }
        (Value::Array(ours), Value::Array(theirs)) if ours.len() == theirs.len() => {
            for (ours, theirs) in ours.iter().zip(theirs) {
                compare(path, ours, theirs, differences);
            }
        }
        (Value::Number(ours), Value::Number(theirs)) if ours.as_f64() == theirs.as_f64() => {}
        _ if ours == theirs => {}
        _ => differences.push(format!("{path}: {ours} should be {theirs}")),
    }
}
