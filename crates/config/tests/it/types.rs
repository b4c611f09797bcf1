//! Every key takes what the official server takes, and explains what it does not take in the same words.

use quipu_config::LoadRequest;
use quipu_wire::ConfigReadParams;
use serde_json::Value;

use crate::world::{World, fixture};

/// Keys where we differ on purpose: more providers' APIs are spoken, a wrong time is shown at its own key, a
/// missing catalogue is named, and efforts and tiers are open words, as in 0.166.
const DIFFERENT: [&str; 5] = [
    "wire_api",
    "startup_timeout_sec",
    "model_catalog_json = \"zz\"",
    "reasoning_effort = \"zz\"",
    "service_tier = \"zz\"",
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

/// The reference takes these numbers, and then nothing works.
#[test]
fn numbers_that_cannot_work_are_refused_with_their_range() {
    let world = World::new();
    let loader = world.loader();
    let window = "a whole number from 1 to 1000000000";
    let positive = "a whole number of at least 1";
    let amount = "a number of at least 0";
    let provider = "[model_providers.x]\nname = \"x\"\nbase_url = \"http://x\"\n";
    let price = format!("{provider}[model_providers.x.prices.m]\n");
    let cases = [
        ("", "model_context_window", "-5", window),
        ("", "model_context_window", "0", window),
        ("", "model_context_window", "9223372036854775807", window),
        ("", "model_auto_compact_token_limit", "0", positive),
        (
            "[store]\n",
            "lease_seconds",
            "0",
            "a whole number from 1 to 3600",
        ),
        (
            "[store]\n",
            "lease_seconds",
            "3601",
            "a whole number from 1 to 3600",
        ),
        (provider, "stream_idle_timeout_ms", "0", positive),
        (provider, "websocket_connect_timeout_ms", "0", positive),
        (provider, "max_response_bytes", "0", positive),
        ("[budget.day]\n", "dollars", "-0.5", amount),
        ("[budget.day]\n", "dollars", "-5", amount),
        (&price, "output", "-1", amount),
    ];
    for (table, key, value, expected) in cases {
        world.config(&format!("{table}{key} = {value}\n"));
        let error = loader.load(&LoadRequest::default()).unwrap_err();
        let error = error.to_string();
        assert!(
            error.contains(&format!("`{value}`, expected {expected}")),
            "{key}: {error}"
        );
        assert!(error.contains(key), "{key}: {error}");
    }
    world
        .config("model_auto_compact_token_limit = 9223372036854775807\nmodel_context_window = 1\n");
    loader.load(&LoadRequest::default()).unwrap();
}

#[test]
fn efforts_and_tiers_are_open_words() {
    let world = World::new();
    let loader = world.loader();
    let read = |toml: &str| {
        world.config(toml);
        let read = loader.read(&ConfigReadParams::default());
        read.map(|it| serde_json::to_value(&it.config).unwrap())
            .map_err(|error| error.to_string())
    };
    let open = "model_reasoning_effort = \"galactic\"\nservice_tier = \"wow\"\n\
                [profiles.p]\nmodel_reasoning_effort = \"ultra\"\n";
    let config = read(open).unwrap();
    assert_eq!(config["model_reasoning_effort"], "galactic");
    assert_eq!(config["service_tier"], "wow");
    assert_eq!(config["profiles"]["p"]["model_reasoning_effort"], "ultra");
    let empty = read("model_reasoning_effort = \"\"\n").unwrap_err();
    let expected =
        "invalid configuration: reasoning_effort must not be empty\nin `model_reasoning_effort`\n";
    assert_eq!(empty, expected);
    let long = format!("service_tier = \"{}\"\n", "x".repeat(49));
    let long = read(&long).unwrap_err();
    assert!(
        long.contains("service_tier must not exceed 48 bytes"),
        "{long}"
    );
}
