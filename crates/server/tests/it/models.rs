//! Models, features and modes to pick from.

use quipu_testkit::client::Client;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use crate::lab::Lab;
use crate::stage::{Stage, calls, run};

async fn error(client: &Client, method: &str, params: Value) -> String {
    let error = client.call_raw(method, &params).await.unwrap_err();
    assert_eq!(error.code, -32600, "{error}");
    error.message
}

#[tokio::test]
async fn models_come_in_pages() {
    let lab = Lab::with(&[("OPENAI_API_KEY", "k")], "");
    let client = lab.client().await;
    let page = json!({ "limit": 2, "cursor": "1" });
    let page = client.call_raw("model/list", &page).await.unwrap();
    assert_eq!(page["data"].as_array().unwrap().len(), 2);
    assert_eq!(page["nextCursor"], "3");
    let bad = error(&client, "model/list", json!({ "cursor": "x" })).await;
    assert_eq!(bad, "invalid cursor: x");
    let far = error(&client, "model/list", json!({ "cursor": "999" })).await;
    assert_eq!(far, "cursor 999 exceeds total models 6");
    client.finish().await;
}

#[tokio::test]
async fn models_are_described() {
    let lab = Lab::with(&[("OPENAI_API_KEY", "k")], "");
    let client = lab.client().await;
    let list = client.call_raw("model/list", &json!({})).await.unwrap();
    let first = &list["data"][0];
    assert_eq!(first["id"], "gpt-5.3-codex");
    assert_eq!(first["isDefault"], true);
    assert_eq!(first["hidden"], false);
    assert_eq!(first["inputModalities"], json!(["text", "image"]));
    assert_eq!(first["defaultReasoningEffort"], "medium");
    let efforts = first["supportedReasoningEfforts"].as_array().unwrap();
    let efforts: Vec<&Value> = efforts.iter().map(|it| &it["reasoningEffort"]).collect();
    assert_eq!(efforts, ["low", "medium", "high", "xhigh"]);
    let defaults = |list: &Value| {
        let models = list["data"].as_array().unwrap().iter();
        models.filter(|it| it["isDefault"] == true).count()
    };
    assert_eq!(defaults(&list), 1);

    let all = json!({ "includeHidden": true });
    let all = client.call_raw("model/list", &all).await.unwrap();
    assert_eq!(defaults(&all), 1);
    let models = all["data"].as_array().unwrap();
    let hidden = models.iter().filter(|it| it["hidden"] == true).count();
    assert_eq!(
        models.len() - hidden,
        list["data"].as_array().unwrap().len()
    );
    let open = models.iter().find(|it| it["id"] == "gpt-oss-20b").unwrap();
    assert_eq!(open["inputModalities"], json!(["text"]));

    // All pages together are the whole list.
    let (mut paged, mut cursor) = (Vec::new(), Value::Null);
    loop {
        let page = json!({ "includeHidden": true, "limit": 3, "cursor": cursor });
        let page = client.call_raw("model/list", &page).await.unwrap();
        paged.extend(page["data"].as_array().unwrap().clone());
        cursor = page["nextCursor"].clone();
        if cursor.is_null() {
            break;
        }
    }
    assert_eq!(&paged, models);
    client.finish().await;
}

/// The context window that clients read in a turn with this model.
pub async fn window(stage: &Stage, model: &str) -> Value {
    let (mut client, thread) = stage.thread_with(json!({ "model": model })).await;
    let messages = run(&mut client, &thread, "hi").await;
    let counts = messages
        .iter()
        .rfind(|it| it["method"] == "thread/tokenUsage/updated");
    counts.unwrap()["params"]["tokenUsage"]["modelContextWindow"].clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_lists_say_of_a_model_counts_in_its_turns() {
    let stage = Stage::speaking("chat", "").await;
    stage.model.set_models(
        json!({ "data": [{ "id": "small", "max_model_len": 10_000 }, { "id": "plain" }] }),
    );
    assert_eq!(window(&stage, "small").await, 9_500);
    assert_eq!(window(&stage, "plain").await, 258_400);

    let directory = tempfile::tempdir().unwrap();
    let catalog = directory.path().join("models.json");
    let entry = json!({
        "slug": "mine", "context_window": 20_000, "supports_reasoning_summaries": true,
        "truncation_policy": { "mode": "tokens", "limit": 50 },
    });
    std::fs::write(&catalog, json!({ "models": [entry] }).to_string()).unwrap();
    let home = directory.path().join("home");
    let settings = format!(
        "model_catalog_json = {:?}\nmodel_reasoning_effort = \"low\"",
        catalog
    );
    let stage = Stage::at(directory, home, &settings).await;
    assert_eq!(window(&stage, "mine").await, 19_000);
    let sent = &stage.model.requests()[0].body;
    assert_eq!(sent["reasoning"], json!({ "effort": "low" }));
    assert_eq!(window(&stage, "unknown").await, 258_400);
    assert_eq!(stage.model.requests()[1].body["reasoning"], Value::Null);
}

#[tokio::test(flavor = "multi_thread")]
async fn settings_say_more_of_a_model() {
    let settings = "model_context_window = 30000\nmodel_supports_reasoning_summaries = true\n\
        model_reasoning_effort = \"high\"\ntool_output_token_limit = 30\n";
    let stage = Stage::with(settings).await;
    stage.play([
        calls("shell_command", json!({ "command": "seq 1000" })),
        json!({ "text": "long" }),
    ]);
    assert_eq!(window(&stage, "unknown").await, 28_500);
    let sent = stage.model.requests();
    assert_eq!(sent[0].body["reasoning"], json!({ "effort": "high" }));
    let output = sent[1].body["input"].as_array().unwrap().last().unwrap();
    let output = output["output"].as_str().unwrap();
    assert!(
        output.contains("truncated") && output.len() < 400,
        "{output}"
    );
}

/// Answers every request with this JSON and counts them.
async fn provider(body: Value) -> (String, tokio::sync::mpsc::UnboundedReceiver<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (asked, requests) = tokio::sync::mpsc::unbounded_channel();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut head = [0; 4096];
            assert!(stream.read(&mut head).await.unwrap() > 0);
            asked.send(()).unwrap();
            let body = body.to_string();
            let length = body.len();
            let answer = format!(
                "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\
                 connection: close\r\n\r\n{body}"
            );
            stream.write_all(answer.as_bytes()).await.unwrap();
        }
    });
    (format!("http://{address}/v1"), requests)
}

#[tokio::test]
async fn a_providers_own_models_are_listed_and_kept() {
    let (url, mut requests) = provider(json!({ "data": [{ "id": "qwen" }] })).await;
    let config = format!(
        "model_provider = \"own\"\n[model_providers.own]\nname = \"Own\"\nbase_url = \"{url}\"\nwire_api = \"chat\"\n"
    );
    let lab = Lab::with(&[], &config);
    let client = lab.client().await;
    for _ in 0..2 {
        let list = client.call_raw("model/list", &json!({})).await.unwrap();
        assert_eq!(list["data"][0]["id"], "qwen", "{list}");
    }
    assert_eq!(requests.recv().await, Some(()));
    assert!(requests.try_recv().is_err(), "the list was asked for twice");
    client.finish().await;
}

#[tokio::test]
async fn features_are_listed_and_switched() {
    let lab = Lab::with(
        &[],
        "[features]\nunified_exec = false\njs_repl = true\nsteer = false\n",
    );
    let mut client = lab.client().await;
    client.ignore(&["configWarning"]);
    let enabled = async |name: &str| {
        let list = client
            .call_raw("experimentalFeature/list", &json!({}))
            .await;
        let list = list.unwrap();
        let mut entries = list["data"].as_array().unwrap().iter();
        entries.find(|it| it["name"] == name).unwrap()["enabled"] == true
    };
    assert!(enabled("tool_call_mcp_elicitation").await);
    let set = json!({ "enablement": { "apps": false, "tool_call_mcp_elicitation": false } });
    let echo = client
        .call_raw("experimentalFeature/enablement/set", &set)
        .await;
    assert_eq!(echo.unwrap(), set);
    assert!(!enabled("tool_call_mcp_elicitation").await);
    assert!(!enabled("unified_exec").await);
    assert!(!enabled("apps").await);
    for without_effect in ["js_repl", "undo"] {
        assert!(!enabled(without_effect).await, "{without_effect}");
    }
    assert!(enabled("steer").await, "what was removed is as it is");
    let alias = json!({ "enablement": { "connectors": true } });
    let alias = error(&client, "experimentalFeature/enablement/set", alias).await;
    assert_eq!(
        alias,
        "invalid feature enablement `connectors`: use canonical feature key `apps`"
    );
    let far = error(
        &client,
        "experimentalFeature/list",
        json!({ "cursor": "99" }),
    )
    .await;
    assert_eq!(far, "cursor 99 exceeds total feature flags 53");
    client.finish().await;
}

#[tokio::test]
async fn modes_are_listed() {
    let lab = Lab::new();
    let client = lab.client().await;
    let modes = client.call_raw("collaborationMode/list", &json!({})).await;
    assert_eq!(
        modes.unwrap()["data"],
        json!([
            { "name": "Plan", "mode": "plan", "model": null, "reasoning_effort": "medium" },
            { "name": "Default", "mode": "default", "model": null, "reasoning_effort": null },
        ])
    );
    client.finish().await;
}

/// The provider and model of a new thread.
async fn started(lab: &Lab) -> Value {
    let client = lab.client().await;
    let thread = client.call_raw("thread/start", &json!({})).await.unwrap();
    json!([thread["modelProvider"], thread["model"]])
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_choose_the_provider_of_those_who_configured_none() {
    let groq = Lab::with(&[("GROQ_API_KEY", "gsk")], "");
    assert_eq!(started(&groq).await, json!(["groq", "openai/gpt-oss-120b"]));
    let keys = [("MISTRAL_API_KEY", "m"), ("ANTHROPIC_API_KEY", "a")];
    let several = Lab::with(&keys, "");
    assert_eq!(
        started(&several).await,
        json!(["anthropic", "claude-opus-5-5"])
    );
    let mut raw = several.raw_initialized(json!({})).await;
    let warning = raw.next().await.unwrap();
    assert_eq!(
        warning["params"]["summary"],
        "using Anthropic (claude-opus-5-5): ANTHROPIC_API_KEY is set; MISTRAL_API_KEY is set too; \
         set `model_provider` to choose"
    );
    let configured = Lab::with(&keys, "model_provider = \"mistral\"");
    assert_eq!(
        started(&configured).await,
        json!(["mistral", "mistral-large-latest"])
    );
    let official = Lab::with(&[keys[1], ("OPENAI_API_KEY", "o")], "");
    assert_eq!(started(&official).await, json!(["openai", "gpt-5.3-codex"]));
    assert_eq!(started(&Lab::new()).await, json!(["offline", "offline"]));
}

/// A provider that lists these models, as the only one configured; who asks it is heard of.
async fn listing(models: Value) -> (Lab, tokio::sync::mpsc::UnboundedReceiver<()>) {
    let (url, requests) = provider(json!({ "data": models })).await;
    let lab = Lab::with(
        &[],
        &format!(
            "model_provider = \"own\"\n[model_providers.own]\nname = \"Own\"\nbase_url = \"{url}\"\n\
             wire_api = \"chat\"\n"
        ),
    );
    (lab, requests)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_provider_is_asked_for_its_model_when_none_is_configured() {
    let (lab, _requests) = listing(json!([{ "id": "tiny" }])).await;
    assert_eq!(started(&lab).await, json!(["own", "tiny"]));
    let (lab, _requests) = listing(json!([{ "id": "tiny" }, { "id": "huge" }])).await;
    let several = error(&lab.client().await, "thread/start", json!({})).await;
    assert_eq!(
        several,
        "no `model` is configured for the provider `own`; set it to one of: tiny, huge"
    );
    let (lab, mut requests) = listing(json!([])).await;
    let none = error(&lab.client().await, "thread/start", json!({})).await;
    assert_eq!(
        none,
        "no `model` is configured for the provider `own`, and it lists no model; set `model`"
    );
    // Listing threads asks nobody.
    let (lab, mut unasked) = listing(json!([])).await;
    let client = lab.client().await;
    client.call_raw("thread/list", &json!({})).await.unwrap();
    assert!(requests.try_recv().is_ok() && unasked.try_recv().is_err());
}

#[tokio::test(flavor = "multi_thread")]
async fn settings_of_a_provider_that_cannot_work_are_errors_that_name_the_key() {
    let own = "model_provider = \"own\"\nmodel = \"m\"\n[model_providers.own]\nname = \"Own\"\nenv_key = \"K\"\n";
    for (config, key) in [
        (own, "model_providers.own.base_url is not set"),
        (
            "model_provider = \"azure\"",
            "model_providers.azure.base_url is not set",
        ),
        (
            &*format!("{own}base_url = \"http://127.0.0.1:1\"\nstructured_output = \"tool\"\n"),
            "model_providers.own.structured_output must be \"native\" with the Responses API",
        ),
    ] {
        let lab = Lab::with(&[("K", "vendor-key")], config);
        let mut raw = lab.raw_initialized(json!({})).await;
        let warning = raw.next().await.unwrap();
        assert_eq!(warning["method"], "configWarning");
        let refused = error(&lab.client().await, "thread/start", json!({})).await;
        assert!(refused.contains(key), "{refused}");
        assert_eq!(warning["params"]["summary"], refused);
    }
    // One that uses the OpenAI login is OpenAI.
    let renamed =
        "model_provider = \"o\"\n[model_providers.o]\nname = \"O\"\nrequires_openai_auth = true\n";
    let lab = Lab::with(&[], renamed);
    assert_eq!(started(&lab).await, json!(["o", "gpt-5.3-codex"]));
}

/// The configuration refuses unknown providers without knowing what a provider is.
#[test]
fn one_list_of_built_in_providers() {
    let ids: Vec<&str> = quipu_model::BuiltIn::ids().collect();
    assert_eq!(quipu_config::settings::BUILT_IN_PROVIDERS, ids);
}
