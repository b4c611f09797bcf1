//! From a prompt to its output: the way that everything else is on.

use quipu_adapter::{EventKind, Phase, Prompt, Session, Tool, ToolContext, ToolError, Usage};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::support::{Events, Lab, script, scripted, soon};

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
struct Summary {
    title: String,
    files: Vec<String>,
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_becomes_its_type() {
    let lab = Lab::new();
    let answer = json!({ "title": "Quipu", "files": ["a", "b"] });
    let steps = json!([{ "text": answer.to_string(), "usage": { "input": 90, "cached": 40, "output": 10, "reasoning": 0 } }]);
    let prompt = Prompt::<Summary>::new("demo").section(script(steps));
    let response = soon(lab.adapter().evaluate(&prompt, &Session::new()))
        .await
        .unwrap();
    assert_eq!(
        response.output,
        Summary {
            title: "Quipu".to_owned(),
            files: vec!["a".to_owned(), "b".to_owned()]
        }
    );
    assert_eq!(response.text, answer.to_string());
    let usage = Usage {
        input: 90,
        cached_input: 40,
        output: 10,
        reasoning_output: 0,
        total: 100,
    };
    assert_eq!(response.usage, usage);
    assert_eq!(response.model, "offline");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_output_that_is_not_an_object_travels_in_one() {
    let lab = Lab::new();
    let prompt = Prompt::<Vec<u8>>::new("numbers")
        .section(script(json!([{ "text": "{\"value\":[1,2,3]}" }])));
    let response = soon(lab.adapter().evaluate(&prompt, &Session::new()))
        .await
        .unwrap();
    assert_eq!(response.output, [1, 2, 3]);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_of_another_type_is_an_error_of_the_response() {
    let lab = Lab::new();
    for text in ["{\"title\":1,\"files\":[]}", "not JSON", ""] {
        let prompt = Prompt::<Summary>::new("demo").section(script(json!([{ "text": text }])));
        let error = soon(lab.adapter().evaluate(&prompt, &Session::new()))
            .await
            .unwrap_err();
        assert_eq!(error.phase(), Phase::Response, "{error}");
    }
}

#[derive(Deserialize, JsonSchema)]
struct Weather {
    /// The city's name.
    city: String,
}

fn weather() -> Tool {
    Tool::new(
        "weather",
        "Says what the weather is like.",
        async |params: Weather, _: ToolContext| match params.city.as_str() {
            "Cusco" => Ok("sunny"),
            other => Err(ToolError::new(format!("{other} is unknown"))),
        },
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tool_is_called_and_reported_once() {
    let lab = Lab::new();
    let (adapter, events) = Events::of(lab.adapter());
    let call = |city: serde_json::Value| json!({ "calls": [{ "name": "weather", "arguments": { "city": city } }] });
    let steps =
        json!([call(json!("Cusco")), call(json!("Atlantis")), call(json!(7)), { "text": "done" }]);
    let prompt = scripted(steps).tool(weather());
    let response = soon(adapter.evaluate(&prompt, &Session::new()))
        .await
        .unwrap();
    assert_eq!(response.output, "done");
    assert_eq!(
        events.summary(),
        [
            "rendered",
            "weather",
            "weather failed",
            "weather failed",
            "executed"
        ]
    );
    let results: Vec<_> = events.tools().into_iter().map(|it| it.result).collect();
    assert_eq!(results[0], "sunny");
    assert_eq!(results[1], "Atlantis is unknown");
    assert!(
        results[2].starts_with("The arguments of `weather` are not valid: invalid type"),
        "{}",
        results[2]
    );
    assert!(
        events
            .all()
            .iter()
            .all(|it| it.adapter == "codex_app_server" && it.prompt == "test")
    );
    match events.all().pop().unwrap().kind {
        EventKind::PromptExecuted { text, usage, .. } => {
            assert_eq!((&*text, usage), ("done", response.usage));
            assert!(usage.total > 0, "{usage:?}");
        }
        other => panic!("{other:?}"),
    }
}
