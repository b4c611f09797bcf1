//! Requests that cannot be understood are answered in the words of the reference.

use quipu_wire::method::CLIENT_REQUESTS;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::lab::{Lab, refusal};

/// One request to the official server and what it said, on a connection that was not initialised.
#[derive(Deserialize)]
struct Recorded {
    method: String,
    params: Value,
    error: String,
}

#[tokio::test]
async fn bad_params_are_explained_as_recorded() {
    let mut raw = Lab::new().raw();
    let recorded = include_str!("../fixtures/decode_errors.jsonl");
    for line in recorded.lines() {
        let Recorded {
            method,
            params,
            error,
        } = serde_json::from_str(line).unwrap();
        let request = json!({ "id": 1, "method": method, "params": params });
        let answer = raw.call(&request).await;
        let message = answer["error"]["message"].as_str().unwrap_or_default();
        assert_eq!(uncounted(message), uncounted(&error), "{request}");
        assert_eq!(answer, refusal(json!(1), message), "{request}");
    }
}

/// A struct's number of members grows with the protocol.
fn uncounted(error: &str) -> &str {
    let counted = error.trim_end_matches('s').strip_suffix(" element");
    let counted = counted.unwrap_or(error);
    counted.trim_end_matches(|it: char| it.is_ascii_digit())
}

#[tokio::test]
async fn an_unknown_method_is_reported_all_known_ones() {
    let names: Vec<_> = CLIENT_REQUESTS
        .iter()
        .map(|it| format!("`{}`", it.name))
        .collect();
    let known = names.join(", ");
    assert!(known.starts_with("`initialize`, `thread/start`, `thread/resume`"));
    assert!(known.ends_with("`fuzzyFileSearch/sessionUpdate`, `fuzzyFileSearch/sessionStop`"));
    let lab = Lab::new();
    // Before and after the handshake alike.
    for mut raw in [lab.raw(), lab.raw_initialized(Value::Null).await] {
        for method in ["thread/nope", "", "Initialize"] {
            let text =
                format!("Invalid request: unknown variant `{method}`, expected one of {known}");
            for request in [
                json!({ "id": 1, "method": method }),
                json!({ "id": 1, "method": method, "params": 5 }),
            ] {
                assert_eq!(raw.call(&request).await, refusal(json!(1), &text));
            }
        }
    }
}

/// The reference refuses these where params are declared, though nothing is missing.
#[tokio::test]
async fn params_may_be_left_out_where_none_are_needed() {
    let mut raw = Lab::new().raw_initialized(Value::Null).await;
    for request in [
        json!({ "id": 1, "method": "thread/loaded/list" }),
        json!({ "id": 1, "method": "thread/loaded/list", "params": null }),
    ] {
        assert!(raw.call(&request).await["result"].is_object());
    }
    let text = "Invalid request: missing field `params`";
    for request in [
        json!({ "id": 1, "method": "thread/read" }),
        json!({ "id": 1, "method": "turn/start", "params": null }),
    ] {
        assert_eq!(raw.call(&request).await, refusal(json!(1), text));
    }
}
