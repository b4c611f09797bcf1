//! Every key takes what the official server takes, and explains what it does not take in the same words.

use quipu_wire::ConfigReadParams;
use serde_json::Value;

use crate::world::{World, fixture};

/// Keys where we differ on purpose: more providers' APIs are spoken, a wrong time is shown at its own key, and a
/// missing catalogue is named.
const DIFFERENT: [&str; 3] = [
    "wire_api",
    "startup_timeout_sec",
    "model_catalog_json = \"zz\"",
];

#[test]
fn values_are_taken_or_refused_as_by_the_reference() {
    let world = World::new();
    let loader = world.loader();
    let mut wrong = Vec::new();
    for row in fixture("types.jsonl") {
        let toml = row["toml"].as_str().unwrap();
        if DIFFERENT.iter().any(|key| toml.contains(key)) {
            continue;
        }
        world.config(toml);
        let keys = row["at"].as_array().unwrap();
        let gives = match loader.read(&ConfigReadParams::default()) {
            Err(error) => Value::from(world.fold(&format!("! {error}"))),
            Ok(read) => {
                let config = serde_json::to_value(&read.config).unwrap();
                world.fold_json(&at(&config, keys))
            }
        };
        if row["gives"] != gives {
            wrong.push(format!(
                "{toml}  expected {}\n  got      {gives}\n",
                row["gives"]
            ));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} differ:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

fn at(config: &Value, keys: &[Value]) -> Value {
    let step = |value: &Value, key: &Value| match value {
        Value::Object(table) => table
            .get(key.as_str().unwrap())
            .cloned()
            .unwrap_or_default(),
        value => value.clone(),
    };
    keys.iter()
        .fold(config.clone(), |value, key| step(&value, key))
}
