//! Keys stay where they belong. A server with every kind of secret runs turns that work and turns that
//! fail, with a provider that repeats what it was sent and commands that print what they were given; then
//! everything it said and wrote is searched.

use std::path::Path;

use quipu_testkit::conversation::Conversation;
use quipu_testkit::identity::{claims, jwt};
use quipu_testkit::mcp::{HttpOptions, McpHttpServer};
use quipu_testkit::model::ModelServer;
use serde_json::{Value, json};

use crate::support::app_server;

const FROM_ENV: &str = "sk-from-the-environment";
const FROM_LOGIN: &str = "sk-from-a-login-1234567890";
const IN_HEADER: &str = "secret-in-a-header";
const IN_ENV_HEADER: &str = "secret-in-a-header-of-the-environment";
const IN_QUERY: &str = "secret-in-a-query";
const IN_TOKEN: &str = "secret-in-a-token";
const REFRESH: &str = "secret-that-refreshes-a-login";
const FOR_MCP: &str = "secret-for-an-mcp-server";
const IN_MCP_HEADER: &str = "secret-in-an-mcp-header";
/// What the MCP server's tool `is_error` answers: as if it repeated the header.
const REPEATED_BY_MCP: &str = "bad thing";

/// What a careless provider answers that was sent this key.
fn served(key: &str) -> [Value; 7] {
    let echo = format!("bad: {key} and {IN_HEADER} and {IN_ENV_HEADER} and {IN_QUERY}");
    [
        json!({ "fail": 400, "body": echo }),
        json!({ "fail": 401, "body": { "error": { "message": echo } } }),
        json!({ "fail": 429, "body": echo }),
        json!({ "fail": 503, "body": echo }),
        json!({ "error": { "code": "invalid_prompt", "message": echo } }),
        json!({ "raw": echo, "headers": { "content-type": "text/html" } }),
        json!({ "text": "fine" }),
    ]
}

/// Every file below a directory, as text. Links lead to programs.
pub fn files(directory: &Path, found: &mut Vec<(String, String)>) {
    for entry in std::fs::read_dir(directory).unwrap().flatten() {
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            files(&entry.path(), found);
        } else if kind.is_file() {
            let bytes = std::fs::read(entry.path()).unwrap_or_default();
            let text = String::from_utf8_lossy(&bytes).into_owned();
            found.push((entry.path().display().to_string(), text));
        }
    }
}

/// Providers of each format, one that takes the login, and an MCP server; each with keys.
fn config(model: &ModelServer, mcp: &McpHttpServer) -> String {
    let mut config =
        "sandbox_mode = \"danger-full-access\"\napproval_policy = \"never\"\n".to_owned();
    let token = format!("experimental_bearer_token = \"{IN_TOKEN}\"");
    for (name, wire, auth) in [
        ("responses", "responses", "env_key = \"MY_KEY\""),
        ("chat", "chat", &token),
        ("anthropic", "anthropic", "env_key = \"MY_KEY\""),
        ("login", "responses", "requires_openai_auth = true"),
    ] {
        config.push_str(&format!(
            "[model_providers.{name}]\nname = \"{name}\"\nbase_url = \"{}\"\nwire_api = \"{wire}\"\n{auth}\n\
             request_max_retries = 0\nstream_max_retries = 0\nhttp_headers = {{ x-extra = \"{IN_HEADER}\" }}\n\
             env_http_headers = {{ x-more = \"MY_HEADER\" }}\nquery_params = {{ key = \"{IN_QUERY}\" }}\n",
            model.base_url(),
        ));
    }
    config.push_str(&format!(
        "[mcp_servers.notes]\nurl = \"{}\"\nbearer_token_env_var = \"MCP_TOKEN\"\n\
         http_headers = {{ x-mcp = \"{IN_MCP_HEADER}\", x-repeated = \"{REPEATED_BY_MCP}\" }}\n",
        mcp.url(),
    ));
    config
}

/// A thread with this provider that meets everything it serves; what was said of it.
async fn exercise(
    client: &mut Conversation,
    model: &ModelServer,
    provider: &str,
    key: &str,
) -> Vec<Value> {
    let params = json!({ "modelProvider": provider, "model": "m" });
    let started = client.call("thread/start", params).await;
    let thread = started["thread"]["id"].clone();
    let mut said = vec![started];
    let calls = |name: &str, arguments: Value| json!({ "calls": [{ "name": name, "arguments": arguments }] });
    let mut turns: Vec<Vec<Value>> = served(key).map(|step| vec![step]).into();
    // Commands that show what they were given and what they can find, and tools of the MCP server.
    let search = "cat \"$QUIPU_HOME/config.toml\" \"$QUIPU_HOME/auth.json\"; tr '\\0' '\\n' < /proc/$PPID/environ";
    for call in [
        calls("exec_command", json!({ "cmd": "env", "login": false })),
        calls("exec_command", json!({ "cmd": search, "login": false })),
        calls("mcp__notes__is_error", json!({})),
        calls("mcp__notes__echo", json!({ "text": "hello" })),
    ] {
        turns.push(vec![call, json!({ "text": "done" })]);
    }
    for steps in turns {
        for step in steps {
            model.queue_json(step);
        }
        let input = json!([{ "type": "text", "text": "hello" }]);
        let params = json!({ "threadId": thread, "input": input });
        client.call("turn/start", params).await;
        said.extend(client.until("turn/completed").await);
    }
    let read = json!({ "threadId": thread, "includeTurns": true });
    said.push(client.call("thread/read", read).await);
    said
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_that_is_said_or_written_has_a_key() {
    let model = ModelServer::start().await.unwrap();
    let mcp = McpHttpServer::start(HttpOptions::default()).await.unwrap();
    let home = tempfile::tempdir().unwrap();
    std::fs::write(home.path().join("config.toml"), config(&model, &mcp)).unwrap();
    let mut process = app_server([])
        .env("QUIPU_HOME", home.path().to_str().unwrap())
        .env("RUST_LOG", "trace")
        .env("MY_KEY", FROM_ENV)
        .env("MY_HEADER", IN_ENV_HEADER)
        .env("MCP_TOKEN", FOR_MCP)
        .start();
    let mut client = Conversation::start(process.stdio()).await;
    let login = json!({ "type": "apiKey", "apiKey": FROM_LOGIN });
    let mut said = vec![client.call("account/login/start", login).await];
    for (provider, key) in [
        ("responses", FROM_ENV),
        ("chat", IN_TOKEN),
        ("anthropic", FROM_ENV),
        ("login", FROM_LOGIN),
    ] {
        said.extend(exercise(&mut client, &model, provider, key).await);
    }
    // The same with the login of a ChatGPT account.
    let access = jwt(&claims("a@b.c", "plus", "acct-1"));
    let id = jwt(&claims("id@b.c", "plus", "acct-1"));
    let tokens = json!({ "id_token": id, "access_token": access, "refresh_token": REFRESH, "account_id": "acct-1" });
    let auth = json!({ "tokens": tokens }).to_string();
    std::fs::write(home.path().join("auth.json"), auth).unwrap();
    said.extend(exercise(&mut client, &model, "login", &access).await);
    said.push(client.call("account/read", json!({})).await);
    said.push(client.call("model/list", json!({})).await);
    said.push(client.call("mcpServerStatus/list", json!({})).await);
    client.leave().await;
    process.exit().await;

    let secrets = [
        FROM_ENV,
        FROM_LOGIN,
        IN_HEADER,
        IN_ENV_HEADER,
        IN_QUERY,
        IN_TOKEN,
        REFRESH,
        FOR_MCP,
        IN_MCP_HEADER,
        REPEATED_BY_MCP,
        &access,
        &id,
    ];
    was_used(&model, &mcp, &access);
    let mut shown: Vec<(String, String)> = said
        .iter()
        .map(|it| (String::from("a message"), it.to_string()))
        .collect();
    assert!(
        shown.iter().any(|(_, text)| text.contains("\\nPATH=")),
        "a command showed its environment"
    );
    shown.push(("the log".to_owned(), process.stderr()));
    let bodies = model.requests().into_iter().map(|it| it.body.to_string());
    shown.extend(bodies.map(|it| ("a request".to_owned(), it)));
    files(home.path(), &mut shown);
    for looked_at in [
        "TRACE",
        "\"session_meta\"",
        "\"function_call_output\"",
        "experimental_bearer_token = \\\"[redacted]\\\"",
    ] {
        assert!(shown.iter().any(|(_, text)| text.contains(looked_at)));
    }
    // The two files whose purpose is to keep secrets.
    let keeps = |name: &str| name.ends_with("/config.toml") || name.ends_with("/auth.json");
    for (name, text) in shown.iter().filter(|(name, _)| !keeps(name)) {
        for secret in secrets {
            assert!(!text.contains(secret), "{secret} is in {name}: {text}");
        }
    }
}

/// Whether those who are meant to see the keys saw them; else there was nothing to hide.
fn was_used(model: &ModelServer, mcp: &McpHttpServer, access: &str) {
    let sent = model.requests();
    let shows = |header: &str, value: &str| {
        let value = value.to_owned();
        sent.iter().any(|it| it.headers.get(header) == Some(&value))
    };
    for key in [FROM_ENV, IN_TOKEN, FROM_LOGIN, access] {
        assert!(shows("authorization", &format!("Bearer {key}")), "{key}");
    }
    assert!(shows("x-api-key", FROM_ENV));
    assert!(shows("x-extra", IN_HEADER) && shows("x-more", IN_ENV_HEADER));
    assert!(sent.iter().any(|it| it.path.contains(IN_QUERY)));
    let bearer = format!("Bearer {FOR_MCP}");
    let asked = mcp.requests();
    assert!(
        asked
            .iter()
            .any(|it| it.headers.get("authorization") == Some(&bearer))
    );
}
