//! Replays what clients asked the official server, and compares the answers.

use std::path::Path;

use quipu_config::edit::{Edit, WriteError, WriteRequest};
use quipu_config::{Enablement, LoadRequest, Loader, Overrides, Table};
use quipu_wire::{ConfigBatchWriteParams, ConfigReadParams, ConfigValueWriteParams};
use serde_json::{Value, json};

use crate::world::{World, fixture, same};

/// Differences we want, by scenario and step; each is explained in `docs/differences.md`.
const WANTED: &[(&str, usize)] = &[("model catalogue", 2)];

#[test]
fn reads() {
    replay("reads.jsonl");
}

#[test]
fn mistakes() {
    replay("mistakes.jsonl");
}

#[test]
fn projects() {
    replay("projects.jsonl");
}

#[test]
fn writes() {
    replay("writes.jsonl");
}

#[test]
fn requirements() {
    replay("requirements.jsonl");
}

#[test]
fn threads() {
    replay("threads.jsonl");
}

fn replay(file: &str) {
    let mut wrong = String::new();
    for scenario in fixture(file) {
        let name = scenario["name"].as_str().unwrap();
        let world = world(&scenario);
        let loader = loader(&world, &scenario);
        let started = loader.start_up().unwrap();
        let messages: Vec<Value> = started
            .invalid
            .iter()
            .chain(&started.warnings)
            // The official server says nothing about keys that do nothing.
            .filter(|warning| !warning.summary.contains("unknown configuration keys"))
            .filter(|warning| !warning.summary.contains("without effect"))
            .map(|warning| world.fold_json(&serde_json::to_value(warning).unwrap()))
            .collect();
        compare(
            &mut wrong,
            &format!("{name}: warnings"),
            &scenario["warnings"],
            &json!(messages),
        );
        for (index, step) in scenario["steps"].as_array().unwrap().iter().enumerate() {
            let answer = world.fold_json(&answer(&world, &loader, step));
            let mut expected = step.clone();
            let expected = expected.as_object_mut().unwrap();
            expected.remove("params");
            expected.remove("method");
            if !WANTED.contains(&(name, index)) {
                let at = format!("{name}: step {index} {} {}", step["method"], step["params"]);
                compare(&mut wrong, &at, &json!(expected), &answer);
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

fn compare(wrong: &mut String, at: &str, expected: &Value, got: &Value) {
    if !same(expected, got) {
        wrong.push_str(&format!("{at}\n  expected {expected}\n  got      {got}\n"));
    }
}

fn world(scenario: &Value) -> World {
    let world = World::new();
    for (directory, key) in [("", "files"), ("e/", "etc")] {
        for (name, text) in scenario[key].as_object().unwrap() {
            world.write(&format!("{directory}{name}"), text.as_str().unwrap());
        }
    }
    if let Some(config) = scenario["config"].as_str() {
        world.config(config);
    }
    world
}

fn loader(world: &World, scenario: &Value) -> Loader {
    let flags: Vec<&str> = scenario["flags"]
        .as_array()
        .unwrap()
        .iter()
        .map(|flag| flag.as_str().unwrap())
        .collect();
    let env = scenario["env"].as_object().unwrap();
    let env: Vec<(&str, &str)> = env
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str().unwrap()))
        .collect();
    world.loader_with(&flags, &env)
}

/// What our server would answer.
fn answer(world: &World, loader: &Loader, step: &Value) -> Value {
    let params: Value = serde_json::from_str(&world.expand(&step["params"].to_string())).unwrap();
    match step["method"].as_str().unwrap() {
        "file" => {
            let text = world.text("h/config.toml");
            json!({"answer": text})
        }
        "config/read" => read(loader, &params),
        "configRequirements/read" => match loader.read_limits() {
            Ok(limits) => json!({"answer": {"requirements": limits.to_wire()}}),
            Err(error) => error_answer(
                -32603,
                &format!("failed to read configuration layers: {error}"),
            ),
        },
        "config/value/write" => {
            let params: ConfigValueWriteParams = serde_json::from_value(params).unwrap();
            let edit = quipu_wire::ConfigEdit {
                key_path: params.key_path,
                value: params.value,
                merge_strategy: params.merge_strategy,
            };
            write(
                loader,
                vec![Edit::try_from(&edit).unwrap()],
                params.file_path,
                params.expected_version,
            )
        }
        "config/batchWrite" => {
            let params: ConfigBatchWriteParams = serde_json::from_value(params).unwrap();
            let edits = params
                .edits
                .iter()
                .map(|edit| Edit::try_from(edit).unwrap())
                .collect();
            write(loader, edits, params.file_path, params.expected_version)
        }
        "thread/start" => thread(loader, &params),
        "experimentalFeature/enablement/set" => {
            let enablement: Enablement =
                serde_json::from_value(params["enablement"].clone()).unwrap();
            match loader.set_enablement(&enablement) {
                Ok(()) => json!({"answer": params}),
                Err(error) => error_answer(-32600, &error.to_string()),
            }
        }
        other => panic!("unknown method {other}"),
    }
}

fn read(loader: &Loader, params: &Value) -> Value {
    let params: ConfigReadParams = serde_json::from_value(params.clone()).unwrap();
    match loader.read(&params) {
        Err(error) => error_answer(-32603, &error.to_string()),
        Ok(read) => {
            let mut read = serde_json::to_value(read).unwrap();
            // The fixtures leave out what is not set.
            let config = read["config"].as_object_mut().unwrap();
            let unset = |value: &Value| {
                value.is_null()
                    || value
                        .as_object()
                        .is_some_and(|table| table.values().all(Value::is_null))
            };
            config.retain(|key, value| {
                let optional = *value == json!({}) || key == "shell_environment_policy";
                !(value.is_null() || optional && unset(value))
            });
            json!({"answer": read})
        }
    }
}

fn write(
    loader: &Loader,
    edits: Vec<Edit>,
    file_path: Option<String>,
    expected_version: Option<String>,
) -> Value {
    match loader.write(&WriteRequest {
        edits,
        file_path,
        expected_version,
    }) {
        Ok(response) => json!({"answer": response}),
        Err(error) => match error.code() {
            Some(code) => json!({"error": {
                "code": -32600, "data": {"config_write_error_code": code}, "message": error.to_string(),
            }}),
            None => {
                assert!(matches!(
                    error,
                    WriteError::Load(_) | WriteError::Persist(_)
                ));
                error_answer(-32603, &error.to_string())
            }
        },
    }
}

fn thread(loader: &Loader, params: &Value) -> Value {
    let mut overrides = Overrides::default();
    if let Some(config) = params["config"].as_object() {
        overrides.add_json(config).unwrap();
    }
    let mut chosen = Table::new();
    for (member, key) in [
        ("model", "model"),
        ("modelProvider", "model_provider"),
        ("serviceTier", "service_tier"),
        ("approvalPolicy", "approval_policy"),
        ("approvalsReviewer", "approvals_reviewer"),
        ("sandbox", "sandbox_mode"),
    ] {
        if let Some(value) = params.get(member) {
            chosen.insert(key.to_owned(), value.clone());
        }
    }
    let cwd = params["cwd"].as_str().map(Path::new);
    let request = LoadRequest {
        cwd,
        overrides: Some(&overrides),
        chosen: Some(&chosen),
    };
    match loader.load(&request) {
        Err(error) => error_answer(-32600, &format!("failed to load configuration: {error}")),
        Ok(snapshot) => {
            let model = snapshot.model();
            let permissions = snapshot.permissions();
            json!({"answer": {
                "model": model.model,
                "modelProvider": model.provider.unwrap_or("openai".to_owned()),
                "serviceTier": model.service_tier,
                "approvalPolicy": permissions.approval_policy,
                "approvalsReviewer": permissions.approvals_reviewer,
                "sandbox": permissions.sandbox_policy,
                "reasoningEffort": model.reasoning_effort,
            }})
        }
    }
}

fn error_answer(code: i64, message: &str) -> Value {
    json!({"error": {"code": code, "message": message}})
}
