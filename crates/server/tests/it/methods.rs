//! Every method of the table answers.

use quipu_wire::method::CLIENT_REQUESTS;
use quipu_wire::method::event::{ExternalAgentConfigImportCompleted, WindowsSandboxSetupCompleted};
use serde_json::json;

use crate::lab::Lab;

/// Params of a wrong kind reach every row of the table and change nothing.
#[tokio::test]
async fn every_row_is_routed() {
    let lab = Lab::new();
    let mut client = lab.client().await;
    // A logout takes no params, so it takes any.
    client.ignore(&["account/updated"]);
    for row in CLIENT_REQUESTS {
        let answer = client.call_raw(row.name, &json!("wrong")).await;
        if let Err(error) = answer {
            assert!(
                !error.message.contains("unknown variant"),
                "{}: {error}",
                row.name
            );
        }
    }
    client.finish().await;
}

/// The requests of 0.166: each is served, or refused with a reason that names it.
#[tokio::test]
async fn every_method_of_the_newest_version_is_served_or_refused_in_words() {
    let lab = Lab::new();
    let client = lab.client().await;
    let names: Vec<&str> = include_str!("methods-0.166.txt").lines().collect();
    assert_eq!(names.len(), 179);
    let is_served = |name: &str| CLIENT_REQUESTS.iter().any(|row| row.name == name);
    for name in names.into_iter().filter(|name| !is_served(name)) {
        let error = client.call_raw(name, &json!({})).await.unwrap_err();
        assert_eq!(error.code, -32601, "{name}: {error}");
        let reason = error.message.strip_prefix(name);
        let reason = reason.and_then(|it| it.strip_prefix(" is not supported: "));
        assert!(reason.is_some_and(|it| it.len() > 10), "{name}: {error}");
    }
    client.finish().await;
}

/// Clients poll these lists and take an error for a broken server.
#[tokio::test]
async fn polled_lists_answer_with_a_page() {
    let lab = Lab::new();
    let client = lab.client().await;
    for method in [
        "thread/list",
        "thread/loaded/list",
        "model/list",
        "skills/list",
        "app/list",
        "mcpServerStatus/list",
        "experimentalFeature/list",
        "collaborationMode/list",
    ] {
        let page = client.call_raw(method, &json!({})).await;
        let page = page.unwrap_or_else(|error| panic!("{method}: {error}"));
        assert!(page["data"].is_array(), "{method}: {page}");
    }
    let plugins = client.call_raw("plugin/list", &json!({})).await.unwrap();
    assert!(plugins["marketplaces"].is_array(), "{plugins}");
    client.finish().await;
}

/// What later clients ask at their start.
#[tokio::test]
async fn small_questions_of_later_versions_are_answered() {
    let lab = Lab::with(&[("OPENAI_API_KEY", "k")], "");
    let client = lab.client().await;
    let call = async |method: &str| client.call_raw(method, &json!({})).await.unwrap();
    let cloud = call("account/bedrock/checkGovCloudRequirements").await;
    assert_eq!(cloud, json!({ "isGovCloud": false, "shouldWarn": false }));
    let sandbox = call("windowsSandbox/readiness").await;
    assert_eq!(sandbox, json!({ "status": "notConfigured" }));
    let provider = call("modelProvider/capabilities/read").await;
    assert_eq!(
        provider,
        json!({ "imageGeneration": false, "webSearch": true })
    );
    let state = call("server/diagnostics").await;
    assert_eq!(state["process"]["id"], std::process::id());
    let connections = &state["gauges"][0];
    assert_eq!(
        *connections,
        json!({ "name": "app.connections", "value": 1 })
    );
    client.finish().await;
}

#[tokio::test]
async fn what_only_windows_has_fails_at_once_and_says_so() {
    let lab = Lab::new();
    let mut client = lab.client().await;
    for (mode, kind) in [("unelevated", "legacy"), ("elevated", "elevated")] {
        let setup = json!({ "mode": mode, "cwd": lab.directory.path() });
        let started = client.call_raw("windowsSandbox/setupStart", &setup).await;
        assert_eq!(started.unwrap(), json!({ "started": true }));
        let completed = client.notified::<WindowsSandboxSetupCompleted>().await;
        let error = format!("{kind} Windows sandbox setup is only supported on Windows");
        assert_eq!(
            serde_json::to_value(completed).unwrap(),
            json!({ "mode": mode, "success": false, "error": error })
        );
    }
    client.finish().await;
}

/// What a person has set up for another agent is offered once and taken over.
#[tokio::test]
async fn another_agents_settings_are_found_and_taken_over() {
    let user = tempfile::tempdir().unwrap();
    let lab = Lab::with(
        &[("HOME", user.path().to_str().unwrap())],
        "# mine\nmodel = \"a\"\n",
    );
    let mut client = lab.client().await;
    let other = user.path().join(".claude");
    std::fs::create_dir(&other).unwrap();
    std::fs::write(
        other.join("settings.json"),
        r#"{"env":{"A":1},"sandbox":{"enabled":true}}"#,
    )
    .unwrap();
    std::fs::write(other.join("CLAUDE.md"), "Ask claude-code.\n").unwrap();
    let detect = json!({ "includeHome": true });
    let found = client
        .call_raw("externalAgentConfig/detect", &detect)
        .await
        .unwrap();
    let home = lab.directory.path().join("home");
    let messages = [
        (
            "CONFIG",
            format!(
                "Migrate {0}/settings.json into {1}/config.toml",
                other.display(),
                home.display()
            ),
        ),
        (
            "AGENTS_MD",
            format!(
                "Import {0}/CLAUDE.md to {1}/AGENTS.md",
                other.display(),
                home.display()
            ),
        ),
    ];
    let items =
        messages.map(|(kind, text)| json!({ "itemType": kind, "description": text, "cwd": null }));
    assert_eq!(found["items"], json!(items));
    let import = json!({ "migrationItems": items });
    let imported = client.call_raw("externalAgentConfig/import", &import).await;
    let import = imported.unwrap()["importId"].clone();
    let completed = client
        .notified::<ExternalAgentConfigImportCompleted>()
        .await;
    let completed = serde_json::to_value(completed).unwrap();
    assert_eq!(completed["importId"], import);
    let ways = [
        ("CONFIG", "settings.json", "config.toml"),
        ("AGENTS_MD", "CLAUDE.md", "AGENTS.md"),
    ];
    let results = ways.map(|(kind, from, to)| {
        let success = json!({
            "itemType": kind, "cwd": null, "title": null,
            "source": other.join(from), "target": home.join(to),
        });
        json!({ "itemType": kind, "successes": [success], "failures": [] })
    });
    assert_eq!(completed["itemTypeResults"], json!(results));
    let agents = std::fs::read_to_string(home.join("AGENTS.md")).unwrap();
    assert_eq!(agents, "Ask Codex.\n");
    let config = std::fs::read_to_string(home.join("config.toml")).unwrap();
    assert!(
        config.starts_with("# mine\nmodel = \"a\"\nsandbox_mode = \"workspace-write\"\n"),
        "{config}"
    );
    let again = client
        .call_raw("externalAgentConfig/detect", &detect)
        .await
        .unwrap();
    assert_eq!(again["items"], json!([]));

    std::fs::write(other.join("settings.json"), "[]").unwrap();
    let error = client
        .call_raw("externalAgentConfig/detect", &detect)
        .await
        .unwrap_err();
    assert_eq!(
        (error.code, error.message.as_str()),
        (-32603, "external agent settings root must be an object")
    );
    client.finish().await;
}

/// The machine of the server is the only environment.
#[tokio::test]
async fn the_environment_of_commands_is_described() {
    let lab = Lab::with(&[("SHELL", "/bin/sh")], "");
    let client = lab.client().await;
    let call = async |method: &str, id: &str| {
        let params = json!({ "environmentId": id });
        let answer = client.call_raw(method, &params).await;
        answer.map_err(|error| error.message)
    };
    let info = call("environment/info", "local").await.unwrap();
    assert_eq!(info["shell"], json!({ "name": "sh", "path": "/bin/sh" }));
    assert!(info["cwd"].as_str().unwrap().starts_with("file:///"));
    let unknown = "unknown environment id `x`";
    assert_eq!(call("environment/info", "x").await.unwrap_err(), unknown);
    let status = call("environment/status", "local").await.unwrap();
    assert_eq!(status, json!({ "status": "ready" }));
    let status = call("environment/status", "x").await.unwrap();
    assert_eq!(status, json!({ "status": "unknown", "error": unknown }));
    client.finish().await;
}
