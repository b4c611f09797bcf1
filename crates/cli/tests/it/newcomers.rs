//! What a newcomer meets: no home, perhaps a key or a local server, and two commands to a real answer.

use std::process::Output;

use quipu_testkit::client::within;
use quipu_testkit::conversation::Conversation;
use quipu_testkit::model::ModelServer;
use quipu_testkit::process::Launch;
use quipu_testkit::raw::Raw;
use serde_json::{Value, json};

use crate::exec::{Place, text};
use crate::support::{QUIPU, app_server};

/// A place where nothing was ever configured.
fn fresh() -> Place {
    let place = Place::new();
    std::fs::remove_dir_all(place.directory.path().join(".quipu")).unwrap();
    place
}

async fn quipu(place: &Place, vars: &[(&str, &str)], args: &[&str]) -> Output {
    let mut command = place.quipu(args);
    command.envs(vars.iter().copied());
    let output = command.stdin(std::process::Stdio::null()).output();
    within("the end of a command", output).await.unwrap()
}

fn config(place: &Place) -> String {
    let file = place.directory.path().join(".quipu/config.toml");
    std::fs::read_to_string(file).unwrap_or_default()
}

/// Providers that a key makes usable, with its variable, the path that is asked and how the key is sent.
const KEYS: [(&str, &str, &str, &str, &str); 5] = [
    (
        "openai",
        "OPENAI_API_KEY",
        "/v1/responses",
        "authorization",
        "Bearer k",
    ),
    (
        "anthropic",
        "ANTHROPIC_API_KEY",
        "/v1/messages",
        "x-api-key",
        "k",
    ),
    (
        "openrouter",
        "OPENROUTER_API_KEY",
        "/v1/chat/completions",
        "authorization",
        "Bearer k",
    ),
    (
        "gemini",
        "GEMINI_API_KEY",
        "/v1/chat/completions",
        "authorization",
        "Bearer k",
    ),
    (
        "groq",
        "GROQ_API_KEY",
        "/v1/chat/completions",
        "authorization",
        "Bearer k",
    ),
];

/// `-c` that sends a provider's requests to the scripted server.
fn moved(provider: &str, model: &ModelServer) -> String {
    match provider {
        "openai" => format!("openai_base_url={:?}", model.base_url()),
        id => {
            let url = model.base_url();
            format!("model_providers.{id}={{ name = \"Moved\", base_url = {url:?} }}")
        }
    }
}

#[tokio::test]
async fn one_key_is_enough_for_an_answer() {
    for (provider, variable, path, header, value) in KEYS {
        let model = ModelServer::start().await.unwrap();
        let place = fresh();
        let vars = [(variable, "k")];
        let at = moved(provider, &model);
        model.queue_json(json!({ "text": "a real answer" }));
        let output = quipu(&place, &vars, &["exec", "-c", &at, "hi"]).await;
        assert!(output.status.success(), "{output:?}");
        assert_eq!(text(&output.stdout), "a real answer\n");
        let printed = text(&output.stderr);
        let said = format!(": {variable} is set\n");
        assert_eq!(printed.matches(&said).count(), 1, "{printed}");
        let asked = model.requests().last().unwrap().clone();
        assert_eq!(
            (asked.path.as_str(), asked.headers[header].as_str()),
            (path, value)
        );

        // The two commands: init, and the prompt.
        model.queue_json(json!({ "text": "ready" }));
        let init = quipu(&place, &vars, &["-c", &at, "init", "--yes"]).await;
        assert!(init.status.success(), "{init:?}");
        assert!(
            text(&init.stderr).contains("It answered: ready"),
            "{init:?}"
        );
        assert_eq!(config(&place), format!("model_provider = \"{provider}\"\n"));
        model.queue_json(json!({ "text": "again" }));
        let output = quipu(&place, &vars, &["-c", &at, "exec", "hi"]).await;
        assert_eq!(text(&output.stdout), "again\n", "{output:?}");
        assert!(!text(&output.stderr).contains("is set"), "{output:?}");
    }
}

#[tokio::test]
async fn without_a_model_nothing_is_pretended() {
    let place = fresh();
    let output = quipu(&place, &[], &["exec", "fix it"]).await;
    assert_eq!((output.status.code(), text(&output.stdout)), (Some(1), ""));
    let printed = text(&output.stderr);
    for words in [
        "Error: no model is set up",
        "quipu init",
        "ANTHROPIC_API_KEY",
        "ollama",
    ] {
        assert!(printed.contains(words), "{words} is not in {printed}");
    }
    let asked_for = ["exec", "-c", "model_provider=\"offline\"", "hi"];
    let offline = quipu(&place, &[], &asked_for).await;
    assert!(
        text(&offline.stdout).contains("offline model"),
        "{offline:?}"
    );
}

#[tokio::test]
async fn with_several_keys_the_choice_is_said_once() {
    let model = ModelServer::start().await.unwrap();
    let place = fresh();
    let vars = [("ANTHROPIC_API_KEY", "k"), ("GROQ_API_KEY", "k")];
    let at = moved("anthropic", &model);
    let output = quipu(&place, &vars, &["exec", "-c", &at, "hi"]).await;
    assert!(output.status.success(), "{output:?}");
    let printed = text(&output.stderr);
    assert_eq!(
        printed.matches("GROQ_API_KEY is set too").count(),
        1,
        "{printed}"
    );
    assert!(
        printed.contains("set `model_provider` to choose"),
        "{printed}"
    );
    assert_eq!(model.requests().last().unwrap().path, "/v1/messages");
}

/// A model server on this machine.
async fn local() -> (ModelServer, String) {
    let model = ModelServer::start().await.unwrap();
    let listed = json!([{ "id": "tiny", "context_length": 4096 }, { "id": "small" }]);
    model.set_models(json!({ "object": "list", "data": listed }));
    let url = model.base_url();
    (model, url)
}

#[tokio::test]
async fn a_local_server_is_found_and_its_model_named() {
    let (model, url) = local().await;
    let place = fresh();
    let home = place.directory.path().join(".quipu");
    std::fs::create_dir(&home).unwrap();
    let kept = "# mine\n[profiles.x]\nmodel = \"y\" # as it is\n";
    std::fs::write(home.join("config.toml"), kept).unwrap();
    let vars = [("CODEX_OSS_BASE_URL", url.as_str())];
    model.queue_json(json!({ "text": "ready" }));
    let init = quipu(&place, &vars, &["init", "--provider", "ollama"]).await;
    assert!(init.status.success(), "{init:?}");
    let written = config(&place);
    assert!(
        written.contains("model_provider = \"ollama\"") && written.contains("model = \"tiny\""),
        "{written}"
    );
    assert!(
        written.contains("# mine\n") && written.contains("model = \"y\" # as it is\n"),
        "{written}"
    );
    assert_eq!(model.requests().last().unwrap().body["model"], "tiny");
    model.queue_json(json!({ "text": "hello" }));
    let output = quipu(&place, &vars, &["exec", "hi"]).await;
    assert_eq!(text(&output.stdout), "hello\n", "{output:?}");
}

#[tokio::test]
async fn a_failed_attempt_says_so() {
    let model = ModelServer::start().await.unwrap();
    let place = fresh();
    model.queue_json(json!({ "fail": 401, "body": { "error": { "message": "wrong key k" } } }));
    let at = moved("groq", &model);
    let init = quipu(
        &place,
        &[("GROQ_API_KEY", "k-secret")],
        &["-c", &at, "init", "--yes"],
    )
    .await;
    assert_eq!(init.status.code(), Some(1), "{init:?}");
    let printed = text(&init.stderr);
    assert!(
        printed.contains("the request failed: ") && printed.contains("wrong key"),
        "{printed}"
    );
    assert!(
        !printed.contains("k-secret") && !config(&place).contains("k-secret"),
        "{printed}"
    );
    let none = quipu(&fresh(), &[], &["init", "--yes"]).await;
    // Something may listen on this machine; if nothing does, the ways out are named.
    if none.status.code() == Some(1) && !text(&none.stderr).contains("a server listens") {
        assert!(
            text(&none.stderr).contains("Set one of OPENAI_API_KEY, "),
            "{none:?}"
        );
    }
}

#[tokio::test]
async fn an_official_home_is_shared_on_demand_only() {
    let place = fresh();
    let theirs = place.directory.path().join(".codex");
    std::fs::create_dir(&theirs).unwrap();
    std::fs::write(theirs.join("config.toml"), "model_provider = \"offline\"\n").unwrap();
    let shared = quipu(&place, &[], &["init", "--share-codex", "--no-test"]).await;
    assert!(shared.status.success(), "{shared:?}");
    let own = place.directory.path().join(".quipu");
    assert_eq!(std::fs::read_link(&own).unwrap(), theirs);
    let output = quipu(&place, &[], &["exec", "hi"]).await;
    assert!(output.status.success(), "{output:?}");
    assert!(theirs.join("sessions").exists());
    // A home of one's own is not replaced.
    let place = Place::new();
    std::fs::create_dir(place.directory.path().join(".codex")).unwrap();
    let refused = quipu(&place, &[], &["init", "--share-codex"]).await;
    assert_eq!(refused.status.code(), Some(1));
    assert!(text(&refused.stderr).contains("is in use"), "{refused:?}");
}

#[tokio::test]
async fn providers_and_models_are_listed() {
    let (_model, url) = local().await;
    let place = fresh();
    let vars = [("CODEX_OSS_BASE_URL", url.as_str()), ("GROQ_API_KEY", "k")];
    let output = quipu(&place, &vars, &["providers"]).await;
    assert!(output.status.success(), "{output:?}");
    let lines: Vec<&str> = text(&output.stdout).lines().collect();
    let of = |id: &str| *lines.iter().find(|it| it[2..].starts_with(id)).unwrap();
    assert!(
        of("groq").starts_with("* ") && of("groq").ends_with("key set"),
        "{lines:?}"
    );
    assert!(of("anthropic").contains("ANTHROPIC_API_KEY") && of("anthropic").ends_with("no key"));
    assert!(of("ollama").ends_with("no key needed"), "{lines:?}");
    let output = quipu(&place, &vars, &["providers", "--json"]).await;
    let first: Value = serde_json::from_str(text(&output.stdout).lines().next().unwrap()).unwrap();
    assert_eq!(
        (&first["id"], &first["state"]),
        (&json!("openai"), &json!("no key"))
    );

    let output = quipu(&place, &vars, &["models", "--provider", "ollama"]).await;
    let printed = text(&output.stdout);
    assert!(
        printed.contains("* tiny") && printed.contains("4096 tokens"),
        "{output:?}"
    );
    let output = quipu(&place, &vars, &["models", "--provider", "ollama", "--json"]).await;
    let first: Value = serde_json::from_str(text(&output.stdout).lines().next().unwrap()).unwrap();
    assert_eq!(
        (&first["id"], &first["context_window"]),
        (&json!("tiny"), &json!(4096))
    );
    let none = quipu(&place, &[], &["models"]).await;
    assert_eq!(none.status.code(), Some(1));
    assert!(
        text(&none.stderr).contains("no model is set up"),
        "{none:?}"
    );
    let unknown = quipu(&place, &[], &["models", "--provider", "nobody"]).await;
    assert!(
        text(&unknown.stderr).contains("not found; there are: openai"),
        "{unknown:?}"
    );
}

/// Other agents, editors and the runner take an answer for the work of a model, so none is made up.
#[tokio::test]
async fn without_a_model_no_agent_pretends() {
    const REASON: &str = "no model is set up";
    let mut process = app_server(["--need-model"]).start();
    let mut client = Conversation::start(process.stdio()).await;
    let refused = client.try_call("thread/start", json!({})).await;
    let refused = refused.unwrap_err();
    assert!(
        refused["message"].as_str().unwrap().starts_with(REASON),
        "{refused}"
    );

    let mut process = Launch::new(QUIPU).args(["mcp-server"]).start();
    let mut other = Raw::new(process.stdio());
    let about = json!({ "name": "other", "version": "1" });
    let params =
        json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": about });
    let hello = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params });
    assert!(other.call(&hello).await["result"].is_object());
    let params = json!({ "name": "codex", "arguments": { "prompt": "hello" } });
    let call = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params });
    let answer = other.call(&call).await;
    assert_eq!(answer["result"]["isError"], true, "{answer}");
    assert!(answer.to_string().contains(REASON), "{answer}");
}
