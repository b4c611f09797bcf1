//! What answers cost: by the built-in prices, the settings, the user's own list, or the provider's.

use quipu_testkit::conversation::Conversation;
use quipu_testkit::model::ModelServer;
use serde_json::{Value, json};

use crate::support::app_server;

const PRICES: &str = r#"prices = { own-model = { input = 10.0, cached_input = 1.0, cache_write = 12.0, output = 100.0 } }"#;

/// A thread with this provider and model answers once: 1,000 tokens in, 400 of them cached, 200 out.
/// What clients were sent about its cost.
async fn ask(client: &mut Conversation, model: &ModelServer, provider: &str, name: &str) -> Value {
    let usage = json!({ "input": 1000, "cached": 400, "output": 200, "reasoning": 50 });
    model.queue_json(json!({ "text": "ok", "usage": usage }));
    let params = json!({ "modelProvider": provider, "model": name });
    let started = client.call("thread/start", params).await;
    let input = json!([{ "type": "text", "text": "hello" }]);
    let params = json!({ "threadId": started["thread"]["id"], "input": input });
    client.call("turn/start", params).await;
    let used = client.skip_to("thread/tokenUsage/updated").await;
    let ended = client.skip_to("turn/completed").await;
    assert_eq!(ended["params"]["turn"]["status"], "completed");
    used["params"]["tokenUsage"]["cost"].clone()
}

#[tokio::test]
async fn the_log_tells_what_an_answer_cost() {
    let model = ModelServer::start().await.unwrap();
    let pricing = json!({ "prompt": "0.000002", "completion": "0.000004" });
    model.set_models(json!({ "data": [{ "id": "listed", "pricing": pricing }] }));
    let launch = app_server([])
        .env("ANTHROPIC_API_KEY", "sk-scripted")
        .env("RUST_LOG", "info")
        .env("LOG_FORMAT", "json");
    let home = launch.directory().join("quipu");
    std::fs::create_dir(&home).unwrap();
    let mut config = "model = \"listed\"\nmodel_provider = \"chat\"\n".to_owned();
    for wire in ["responses", "chat", "anthropic"] {
        config += &format!(
            "[model_providers.{wire}]\nname = \"{wire}\"\nbase_url = \"{}\"\nwire_api = \"{wire}\"\n{PRICES}\n",
            model.base_url(),
        );
    }
    std::fs::write(home.join("config.toml"), config).unwrap();
    let mut process = launch.start();
    let mut client = Conversation::start(process.stdio()).await;
    client.call("model/list", json!({})).await;
    // By the settings 600 × 10 + 400 × 1 + 200 × 100, by the catalogue 600 × 2.5 + 400 × 0.25 + 200 × 15,
    // by the provider 1000 × 2 + 200 × 4, all for a million tokens.
    let expected = [
        ("responses", "own-model", Some(0.0264)),
        ("chat", "own-model", Some(0.0264)),
        ("anthropic", "own-model", Some(0.0264)),
        ("responses", "gpt-5.4", Some(0.0046)),
        ("chat", "openai/gpt-5.4", Some(0.0046)),
        ("chat", "listed", Some(0.0028)),
        ("chat", "nobody-knows", None),
    ];
    for (provider, name, dollars) in expected {
        let sent = ask(&mut client, &model, provider, name).await;
        for scope in ["last", "turn", "thread"] {
            let cents = |it: f64| (it * 1e6).round();
            let sent = sent[scope].as_f64().map(cents);
            assert_eq!(sent, dollars.map(cents), "{name}: {scope}");
        }
    }
    client.leave().await;
    process.exit().await;

    let log = process.stderr();
    let events = log
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let printed: Vec<Value> = events
        .map(|event| event["fields"].clone())
        .filter(|fields| fields["message"] == "the model answered")
        .collect();
    assert_eq!(printed.len(), expected.len(), "{log}");
    for (printed, (provider, name, dollars)) in printed.iter().zip(expected) {
        assert_eq!(
            (&printed["model"], &printed["tokens"]),
            (&json!(name), &json!(1200))
        );
        match (printed["dollars"].as_f64(), dollars) {
            (Some(printed), Some(dollars)) => {
                assert!(
                    (printed - dollars).abs() < 1e-9,
                    "{provider} {name}: {printed}"
                );
            }
            (printed, dollars) => assert_eq!(printed, dollars, "{provider} {name}"),
        }
    }
}
