//! What operators do with a home: doctor, threads, config and mcp.

use quipu_testkit::client::within;
use quipu_testkit::conversation::Conversation;
use quipu_testkit::model::ModelServer;
use serde_json::{Value, json};

use crate::exec::{Place, text};
use crate::support::app_server;

fn configure(place: &Place, content: &str) {
    std::fs::write(place.directory.path().join(".quipu/config.toml"), content).unwrap();
}

#[tokio::test]
async fn the_doctor_finds_a_model_that_answers_and_one_that_does_not() {
    let place = Place::new();
    let model = ModelServer::start().await.unwrap();
    model.set_models(json!({ "data": [{ "id": "tiny" }] }));
    let provider = |url: &str| {
        format!(
            "model = \"tiny\"\nmodel_provider = \"own\"\n[model_providers.own]\nname = \"own\"\n\
             base_url = \"{url}\"\nwire_api = \"chat\"\nhttp_headers = {{ x-key = \"hidden-4711\" }}\n"
        )
    };
    configure(&place, &provider(&model.base_url()));
    let printed = place.ok(&["doctor"]).await;
    for part in [
        "home  ",
        "✓ config",
        "`own` lists 1 model(s); in use: tiny",
        "✓ git",
        "✓ threads",
    ] {
        assert!(printed.contains(part), "{part:?} is not in {printed}");
    }
    assert!(!printed.contains("hidden-4711"), "{printed}");

    configure(&place, &provider("http://127.0.0.1:1/v1"));
    let bundle = place.directory.path().join("report.md");
    let args = ["doctor", "--json", "--bundle", bundle.to_str().unwrap()];
    let output = place.outcome(&args).await;
    assert_eq!(output.status.code(), Some(1));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let findings = report["findings"].as_array().unwrap();
    let model = findings.iter().find(|it| it["area"] == "model").unwrap();
    assert_eq!(model["status"], "error", "{model}");
    assert!(
        model["summary"].as_str().unwrap().contains("127.0.0.1:1"),
        "{model}"
    );
    assert!(model["fix"].is_string(), "{model}");
    let bundle = std::fs::read_to_string(bundle).unwrap();
    assert!(
        bundle.contains("model_providers.own.http_headers.x-key = \"…\""),
        "{bundle}"
    );
    assert!(
        bundle.contains("model = \"tiny\"") && !bundle.contains("hidden-4711"),
        "{bundle}"
    );
}

#[tokio::test]
async fn the_doctor_names_mistakes_dead_keys_and_missing_keys() {
    let place = Place::new();
    configure(&place, "model_provider = \"groq\"\nno_such_setting = 1\n");
    let output = place.outcome(&["doctor"]).await;
    let printed = text(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{printed}");
    for part in [
        "no_such_setting",
        "GROQ_API_KEY is not set",
        "→ export GROQ_API_KEY",
    ] {
        assert!(printed.contains(part), "{part:?} is not in {printed}");
    }
    configure(&place, "model = [\n");
    let output = place.outcome(&["doctor"]).await;
    let printed = text(&output.stdout);
    assert!(printed.contains("✗ config"), "{printed}");
    // Nothing runs with the defaults where the user's settings cannot be read.
    assert!(
        printed.contains("until then no thread can be started") && !printed.contains("defaults"),
        "{printed}"
    );
    configure(&place, "");
    let output = place.outcome(&["doctor"]).await;
    let printed = text(&output.stdout);
    // All lines of a remedy are below its first.
    assert!(
        printed.contains("\n                   Run `quipu init`, or set "),
        "{printed}"
    );
}

#[tokio::test]
async fn sessions_are_shown_searched_exported_imported_and_archived() {
    let place = Place::new();
    let lines = place.lines(&["fix the <b>bug</b>"], 0).await;
    let id = lines[0]["thread_id"].as_str().unwrap();
    let shown = place.ok(&["threads", "show", id]).await;
    assert!(
        shown.contains("# fix the <b>bug</b>") && shown.contains("### Agent"),
        "{shown}"
    );
    let found = place.ok(&["threads", "search", "bug"]).await;
    assert!(found.starts_with(id), "{found}");
    assert_eq!(
        place.ok(&["threads", "search", "nothing like it"]).await,
        ""
    );

    let page = place
        .ok(&["threads", "export", id, "--format", "html"])
        .await;
    assert!(
        page.contains("fix the &lt;b&gt;bug&lt;/b&gt;") && !page.contains("<b>bug"),
        "{page}"
    );
    let thread: Value =
        serde_json::from_str(&place.ok(&["threads", "export", id, "-f", "json"]).await).unwrap();
    assert_eq!(thread["turns"][0]["status"], "completed");

    let file = place.directory.path().join("session.jsonl");
    let file = file.to_str().unwrap();
    place
        .ok(&["threads", "export", id, "-f", "rollout", "-o", file])
        .await;
    let other = Place::new();
    let imported = other.ok(&["threads", "import", file]).await;
    let again = other
        .ok(&["threads", "export", imported.trim(), "-f", "json"])
        .await;
    let again: Value = serde_json::from_str(&again).unwrap();
    assert_eq!(again["turns"][0]["items"], thread["turns"][0]["items"]);

    place.ok(&["threads", "archive", id]).await;
    assert_eq!(place.ok(&["threads"]).await, "");
    assert!(
        place
            .ok(&["threads", "list", "--archived"])
            .await
            .starts_with(id)
    );
    place.ok(&["threads", "unarchive", id]).await;
    assert!(place.ok(&["threads"]).await.starts_with(id));
    assert!(
        place
            .fails(&["threads", "show", "no-such"])
            .await
            .contains("no-such")
    );
}

#[tokio::test]
async fn settings_are_read_written_and_explained() {
    let place = Place::new();
    place.ok(&["config", "set", "model", "tiny"]).await;
    place
        .ok(&[
            "config",
            "set",
            "sandbox_workspace_write.network_access",
            "true",
        ])
        .await;
    assert_eq!(place.ok(&["config", "get", "model"]).await, "tiny\n");
    let all = place.ok(&["config", "get"]).await;
    assert!(
        all.contains("sandbox_workspace_write.network_access = true  # "),
        "{all}"
    );
    let explained = place.ok(&["config", "explain", "model"]).await;
    assert!(
        explained.contains("default: ") && explained.contains("set: model = \"tiny\" by "),
        "{explained}"
    );
    place.ok(&["config", "unset", "model"]).await;
    assert!(
        place
            .ok(&["config", "explain", "model"])
            .await
            .contains("set: nowhere")
    );
    let refused = place.fails(&["config", "set", "modle", "tiny"]).await;
    assert!(refused.contains("did you mean `model`?"), "{refused}");
    let refused = place.fails(&["config", "set", "banana", "tiny"]).await;
    assert!(
        refused.contains("`banana`") && refused.contains("model_provider"),
        "{refused}"
    );
    assert!(
        place
            .fails(&["config", "set", "sandbox_mode", "everything"])
            .await
            .contains("everything")
    );

    let mut command = place.quipu(&["config", "edit"]);
    command.env("EDITOR", "printf 'model = 7' >");
    let output = within("the editor", command.output()).await.unwrap();
    assert!(!output.status.success(), "{output:?}");
    assert!(
        text(&output.stderr).contains("expected a string"),
        "{output:?}"
    );
}

#[tokio::test]
async fn mcp_servers_are_added_tested_and_removed() {
    let place = Place::new();
    let script = r#"
        while read -r line; do
            id=$(printf %s "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
            [ -n "$id" ] || continue
            case "$line" in
            *'"method":"initialize"'*) result='{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}' ;;
            *'"method":"tools/list"'*) result='{"tools":[{"name":"add","description":"Adds numbers","inputSchema":{"type":"object"}}]}' ;;
            *) result='{}' ;;
            esac
            printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$result"
        done"#;
    let file = place.directory.path().join("server.sh");
    std::fs::write(&file, script).unwrap();
    place
        .ok(&[
            "mcp",
            "add",
            "sums",
            "--env",
            "A=b",
            "--",
            "sh",
            file.to_str().unwrap(),
        ])
        .await;
    place.ok(&["mcp", "add", "dead", "--", "false"]).await;
    let listed = place.ok(&["mcp", "list"]).await;
    assert!(listed.contains("sums") && listed.contains("sh"), "{listed}");
    assert!(
        place
            .ok(&["mcp", "test", "sums"])
            .await
            .contains("Adds numbers")
    );
    assert!(
        place
            .fails(&["mcp", "test", "dead"])
            .await
            .contains("did not start")
    );
    place.ok(&["mcp", "remove", "sums"]).await;
    assert!(!place.ok(&["mcp", "list"]).await.contains("sums"));
    let refused = place.fails(&["mcp", "remove", "sums"]).await;
    assert!(refused.contains("configured: dead"), "{refused}");
    place.fails(&["mcp", "add", "bad name", "--", "x"]).await;
}

#[tokio::test]
async fn completions_and_manual_pages_are_made_from_the_arguments() {
    let place = Place::new();
    for shell in ["bash", "zsh", "fish", "powershell"] {
        let script = place.ok(&["completions", shell]).await;
        assert!(script.contains("app-server"), "{shell}: {script}");
    }
    let out = place.directory.path().join("man");
    place.ok(&["man", "--out", out.to_str().unwrap()]).await;
    let page = std::fs::read_to_string(out.join("quipu-exec.1")).unwrap();
    assert!(page.contains(".TH"), "{page}");
}

#[tokio::test]
async fn what_answers_cost_is_summed_up() {
    let place = Place::new();
    let model = ModelServer::start().await.unwrap();
    configure(
        &place,
        &format!(
            "model = \"tiny\"\nmodel_provider = \"own\"\n[model_providers.own]\nname = \"own\"\n\
             base_url = \"{}\"\nwire_api = \"chat\"\nprices = {{ tiny = {{ input = 1.0, output = 10.0 }} }}\n",
            model.base_url()
        ),
    );
    for _ in 0..2 {
        let usage = json!({ "input": 1000, "output": 100 });
        model.queue_json(json!({ "text": "ok", "usage": usage }));
        place.ok(&["exec", "hello"]).await;
    }
    let days = place.ok(&["usage"]).await;
    assert!(days.contains("2200 tokens  $    0.0040  ███"), "{days}");
    let models = place.ok(&["usage", "--by", "model", "--json"]).await;
    let models: Value = serde_json::from_str(&models).unwrap();
    assert_eq!(
        (&models["model"], &models["answers"]),
        (&json!("own/tiny"), &json!(2))
    );
    assert_eq!(
        place.ok(&["usage", "--by", "thread"]).await.lines().count(),
        3
    );
}

#[tokio::test]
async fn sessions_are_deleted_after_they_were_shown() {
    let place = Place::new();
    let mut ids = Vec::new();
    for prompt in ["first", "second", "third"] {
        let lines = place.lines(&[prompt], 0).await;
        ids.push(lines[0]["thread_id"].as_str().unwrap().to_owned());
    }
    let stored = async |args: &[&str]| {
        let list = ["threads", "list", "--json"];
        place.ok(&[&list, args].concat()).await.lines().count()
    };
    place.ok(&["threads", "archive", &ids[1]]).await;

    let output = place.outcome(&["threads", "delete", &ids[0]]).await;
    let shown = text(&output.stderr);
    assert!(
        shown.contains(&ids[0]) && shown.contains("nothing was deleted"),
        "{shown}"
    );
    assert_eq!((stored(&[]).await, stored(&["--archived"]).await), (2, 1));
    place.ok(&["threads", "delete", &ids[0], "--yes"]).await;
    assert_eq!((stored(&[]).await, stored(&["--archived"]).await), (1, 1));

    let output = place
        .outcome(&["threads", "gc", "--older-than", "1d", "--yes"])
        .await;
    assert!(
        text(&output.stderr).contains("no session is that old"),
        "{output:?}"
    );
    let output = place.outcome(&["threads", "gc", "--max-size", "0B"]).await;
    let shown = text(&output.stderr);
    for part in [&*ids[1], &ids[2], "2 session(s)", "nothing was deleted"] {
        assert!(shown.contains(part), "{part} is not in {shown}");
    }
    place
        .ok(&["threads", "gc", "--max-size", "1TiB", "--yes"])
        .await;
    assert_eq!((stored(&[]).await, stored(&["--archived"]).await), (1, 1));

    // What a server works with stays.
    let home = place.directory.path().join(".quipu");
    let mut process = app_server([])
        .env("QUIPU_HOME", home.to_str().unwrap())
        .start();
    let mut client = Conversation::start(process.stdio()).await;
    let params = json!({ "threadId": ids[2] });
    client.call("thread/resume", params).await;
    let output = place
        .outcome(&["threads", "gc", "--max-size", "0B", "--yes"])
        .await;
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let said = text(&output.stderr);
    assert!(
        said.contains(&format!("{} was not deleted", ids[2])),
        "{said}"
    );
    assert_eq!((stored(&[]).await, stored(&["--archived"]).await), (1, 0));
    client.leave().await;
    process.exit().await;
    place
        .ok(&["threads", "gc", "--max-size", "0B", "--yes"])
        .await;
    assert_eq!((stored(&[]).await, stored(&["--archived"]).await), (0, 0));
    let error = place.fails(&["threads", "gc", "--yes"]).await;
    assert!(error.contains("--older-than"), "{error}");
}

#[tokio::test]
async fn sessions_and_runs_say_what_they_cost() {
    let place = Place::new();
    let model = ModelServer::start().await.unwrap();
    configure(
        &place,
        &format!(
            "model = \"own\"\nmodel_provider = \"own\"\n[model_providers.own]\nname = \"own\"\nbase_url = \"{}\"\n\
             wire_api = \"responses\"\nprices = {{ own = {{ input = 10.0, output = 100.0 }} }}\n",
            model.base_url()
        ),
    );
    let usage = json!({ "input": 1000, "output": 200 });
    model.queue_json(json!({ "text": "ok", "usage": usage }));
    let lines = place.lines(&["hello"], 0).await;
    let end = lines.last().unwrap();
    assert_eq!(end["type"], "turn.completed", "{end}");
    assert_eq!(end["usage"]["cost_dollars"], 0.03, "{end}");
    let listed = place.ok(&["threads", "list", "--json"]).await;
    let listed: Value = serde_json::from_str(&listed).unwrap();
    assert_eq!(
        (&listed["dollars"], &listed["tokens"]),
        (&json!(0.03), &json!(1200))
    );
    assert!(place.ok(&["threads"]).await.contains("$0.0300"));
}
