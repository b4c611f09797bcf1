//! Providers as the settings describe them: where requests go, what they carry, how often they are sent.

use quipu_testkit::conversation::Conversation;
use quipu_testkit::model::ModelServer;
use quipu_testkit::process::{Launch, ServerProcess};
use serde_json::{Value, json};
use tokio::io::AsyncReadExt as _;
use tokio::net::TcpListener;

use crate::support::app_server;

/// A server with these settings and variables, and a client of it.
async fn connect(settings: &str, vars: &[(&str, &str)]) -> (ServerProcess, Conversation) {
    let launch = vars
        .iter()
        .fold(app_server([]), |it, (name, value)| it.env(name, value));
    connect_to(launch, settings).await
}

async fn connect_to(launch: Launch, settings: &str) -> (ServerProcess, Conversation) {
    let home = launch.directory().join("quipu");
    std::fs::create_dir(&home).unwrap();
    std::fs::write(home.join("config.toml"), settings).unwrap();
    let mut process = launch.start();
    let client = Conversation::start(process.stdio()).await;
    (process, client)
}

/// Runs a turn in a new thread; what was said of it.
async fn turn(client: &mut Conversation, thread: Value) -> Vec<Value> {
    let started = client.call("thread/start", thread).await;
    let input = json!([{ "type": "text", "text": "hello" }]);
    let params = json!({ "threadId": started["thread"]["id"], "input": input });
    client.call("turn/start", params).await;
    client.until("turn/completed").await
}

fn error(said: &[Value]) -> &Value {
    &said.last().unwrap()["params"]["turn"]["error"]
}

#[tokio::test]
async fn every_setting_of_a_provider_counts() {
    let model = ModelServer::start().await.unwrap();
    let base = model.base_url();
    let settings = format!(
        r#"
model = "m"
model_provider = "full"
[model_providers.full]
name = "Full"
base_url = "{base}/"
env_key = "MY_KEY"
wire_api = "chat"
query_params = {{ api-version = "1", tier = "b" }}
http_headers = {{ x-literal = "one" }}
env_http_headers = {{ x-from-env = "MY_HEADER", x-blank = "MY_BLANK", x-unset = "MY_UNSET" }}
[model_providers.responses]
name = "Responses"
base_url = "{base}"
request_max_retries = 1
stream_max_retries = 0
requires_openai_auth = true
[model_providers.anthropic-like]
name = "Messages"
base_url = "{base}"
wire_api = "anthropic"
request_max_retries = 0
stream_max_retries = 1
[model_providers.impatient]
name = "Impatient"
base_url = "{base}"
stream_max_retries = 0
stream_idle_timeout_ms = 50
[model_providers.poor]
name = "Poor"
base_url = "{base}"
env_key = "MY_UNSET"
env_key_instructions = "Ask for one."
"#
    );
    let vars = [("MY_KEY", "k1"), ("MY_HEADER", "two"), ("MY_BLANK", " ")];
    let (mut process, mut client) = connect(&settings, &vars).await;

    turn(&mut client, json!({})).await;
    let sent = model.requests();
    assert_eq!(sent[0].path, "/v1/chat/completions?api-version=1&tier=b");
    let headers = &sent[0].headers;
    for (name, value) in [
        ("authorization", Some("Bearer k1")),
        ("x-literal", Some("one")),
        ("x-from-env", Some("two")),
        ("x-blank", None),
        ("x-unset", None),
    ] {
        assert_eq!(headers.get(name).map(String::as_str), value, "{name}");
    }

    let busy = || model.queue_json(json!({ "fail": 503, "body": "busy" }));
    let with = |provider: &str| json!({ "modelProvider": provider });
    busy();
    busy();
    busy();
    let said = turn(&mut client, with("responses")).await;
    assert_eq!(model.requests().len(), 1 + 2, "one silent attempt more");
    assert_eq!(model.requests()[1].path, "/v1/responses");
    let message = error(&said)["message"].as_str().unwrap();
    assert!(message.starts_with("unexpected status 503"), "{message}");
    model.clear();

    busy();
    let said = turn(&mut client, with("anthropic-like")).await;
    assert_eq!(model.requests().len(), 3 + 2);
    assert_eq!(model.requests()[4].path, "/v1/messages");
    let notice = said.iter().find(|it| it["method"] == "error").unwrap();
    let notice = &notice["params"]["error"];
    assert_eq!(
        notice["message"],
        "Reconnecting... 1/1 (503 Service Unavailable)"
    );
    let info = json!({ "responseStreamDisconnected": { "httpStatusCode": 503 } });
    assert_eq!(notice["codexErrorInfo"], info);

    model.queue_json(json!({ "text": "half", "stall": true }));
    let said = turn(&mut client, with("impatient")).await;
    assert_eq!(
        error(&said)["additionalDetails"],
        "provider `impatient` sent nothing for 50ms"
    );

    let said = turn(&mut client, with("poor")).await;
    assert_eq!(
        error(&said)["message"],
        "Missing environment variable: `MY_UNSET`. Ask for one."
    );

    // Whether a login is wanted.
    let account = client.call("account/read", json!({})).await;
    assert_eq!(account["requiresOpenaiAuth"], false);
    client.leave().await;
    process.exit().await;
    let (mut process, mut client) = connect(
        &settings.replace("= \"full\"", "= \"responses\""),
        &[("MY_KEY", "k1")],
    )
    .await;
    let account = client.call("account/read", json!({})).await;
    assert_eq!(account["requiresOpenaiAuth"], true);
    client.leave().await;
    process.exit().await;
}

/// Each built-in provider, and the first line of what a proxy gets of it.
const BUILT_IN: [(&str, &str); 6] = [
    ("openai", "CONNECT api.openai.com:443"),
    ("anthropic", "CONNECT api.anthropic.com:443"),
    ("openrouter", "CONNECT openrouter.ai:443"),
    ("ollama", "POST http://localhost:11434/v1/chat/completions"),
    ("lmstudio", "POST http://localhost:1234/v1/chat/completions"),
    ("llamacpp", "POST http://localhost:8080/v1/chat/completions"),
];

#[tokio::test]
async fn built_in_providers_are_asked_where_they_are() {
    let proxy = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let address = format!("http://{}", proxy.local_addr().unwrap());
    let vars = [
        ("HTTP_PROXY", address.as_str()),
        ("HTTPS_PROXY", &address),
        ("OPENAI_API_KEY", "sk-1"),
        ("ANTHROPIC_API_KEY", "sk-2"),
        ("OPENROUTER_API_KEY", "sk-3"),
    ];
    // The window is known, so nothing is asked but the model.
    let (mut process, mut client) = connect("model_context_window = 10000", &vars).await;
    for (provider, line) in BUILT_IN {
        let params = json!({ "modelProvider": provider, "model": "m" });
        let started = client.call("thread/start", params).await;
        let thread = &started["thread"]["id"];
        let input = json!([{ "type": "text", "text": "hello" }]);
        let params = json!({ "threadId": thread, "input": input });
        let turn = client.call("turn/start", params).await;
        let (mut asked, _) = proxy.accept().await.unwrap();
        let mut head = vec![0; line.len()];
        asked.read_exact(&mut head).await.unwrap();
        assert_eq!(String::from_utf8(head).unwrap(), line);
        let interrupt = json!({ "threadId": thread, "turnId": turn["turn"]["id"] });
        client.call("turn/interrupt", interrupt).await;
        client.skip_to("turn/completed").await;
    }
    client.leave().await;
    process.exit().await;
}
