//! Output of a given shape: asked for in each provider's way, judged the same way.

use quipu_model::{Client, Credentials, ModelEvent, Request, StructuredOutput, WireApi};
use quipu_testkit::model::ModelServer;
use serde_json::{Value, json};

use crate::support::{WIRES, collect, done_items, provider, raw, request, step};

fn schema() -> Value {
    json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]})
}

fn asking() -> Request {
    Request {
        output_schema: Some(raw(&schema()).into()),
        ..request("hi")
    }
}

async fn verdict(
    wire: WireApi,
    style: StructuredOutput,
    served: Value,
) -> (Option<String>, Value, Vec<Value>) {
    let server = ModelServer::start().await.unwrap();
    let mut config = provider(&server, wire);
    config.structured_output = Some(style);
    server.queue(step(served));
    let events = collect(Client::new(config, Credentials::None).stream(asking())).await;
    let Some(ModelEvent::Completed(end)) = events.last() else {
        panic!("{events:?}")
    };
    (
        end.output_error.as_ref().map(|it| it.reason.clone()),
        server.requests()[0].body.clone(),
        done_items(&events),
    )
}

#[tokio::test]
async fn each_way_asks_and_judges() {
    use StructuredOutput::{Instruction, Native, Tool};
    let (error, body, _) = verdict(WireApi::Chat, Native, json!({"text": "{\"n\": 1}"})).await;
    assert_eq!(error, None);
    assert_eq!(body["response_format"]["json_schema"]["schema"], schema());

    let (error, body, _) = verdict(WireApi::Anthropic, Native, json!({"text": "{\"n\": 1}"})).await;
    assert_eq!(error, None);
    assert_eq!(
        body["output_config"]["format"],
        json!({"type": "json_schema", "schema": schema()})
    );

    for wire in [WireApi::Chat, WireApi::Anthropic] {
        let answer = json!({"calls": [{"name": "final_answer", "arguments": {"n": 2}}]});
        let (error, body, items) = verdict(wire, Tool, answer).await;
        assert_eq!(error, None);
        let tool = body["tools"].as_array().unwrap().last().unwrap();
        assert!(tool.to_string().contains("final_answer"), "{tool}");
        assert_eq!(
            items[0]["content"][0]["text"], "{\"n\":2}",
            "the answer is a message"
        );

        let (error, body, items) = verdict(
            wire,
            Instruction,
            json!({"text": "```json\n{\"n\": 3}\n```"}),
        )
        .await;
        assert_eq!(error, None);
        assert!(body.to_string().contains("must be one JSON value"));
        assert_eq!(items[0]["content"][0]["text"], "{\"n\": 3}");
    }
}

#[tokio::test]
async fn what_does_not_match_is_reported_and_calls_are_not_judged() {
    for wire in WIRES {
        let native = StructuredOutput::Native;
        let (error, ..) = verdict(wire, native, json!({"text": "{\"n\": \"x\"}"})).await;
        assert_eq!(
            error.as_deref(),
            Some("$.n: is not of type integer"),
            "{wire:?}"
        );
        let (error, ..) = verdict(wire, native, json!({"text": "Sure!"})).await;
        assert!(
            error.unwrap().starts_with("the message is not JSON"),
            "{wire:?}"
        );
        let call = json!({"text": "I look.", "calls": [{"name": "exec_command"}]});
        assert_eq!(verdict(wire, native, call).await.0, None, "{wire:?}");
    }
}
