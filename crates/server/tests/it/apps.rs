//! Apps: listed from the directory and the tools of connected ones, and used in turns.

use std::collections::BTreeSet;

use quipu_testkit::backend::Backend;
use quipu_testkit::conversation::Conversation;
use quipu_testkit::http::Request;
use serde_json::{Value, json};

use crate::marketplace::{Marketplace, put};
use crate::stage::{Stage, calls, completed, run, say, status, text};

const DIRECTORY: &str = "/connectors/directory/list";
const TOOLS: &str = "/api/codex/apps";

/// A tool of an app.
fn tool(name: &str, app: (&str, &str), hints: &Value) -> Value {
    json!({
        "name": name, "description": "does it", "annotations": hints,
        "inputSchema": { "type": "object", "properties": {} },
        "_meta": {
            "connector_id": app.0, "connector_name": app.1, "connector_description": "Your things",
            "_codex_apps": { "resource_uri": format!("/{name}") },
        },
    })
}

/// A backend with two connected apps and one that is not.
async fn backend() -> Backend {
    let backend = Backend::start().await.unwrap();
    let quiet = json!({ "readOnlyHint": true });
    backend.set_tools(vec![
        tool(
            "calendar_create",
            ("calendar", "Calendar"),
            &json!({ "destructiveHint": true }),
        ),
        tool("calendar_list", ("calendar", "Calendar"), &quiet),
        tool("mail_ask", ("mail", "Mail Box"), &quiet),
        json!({ "name": "of_nobody", "inputSchema": {} }),
    ]);
    let apps = json!([
        { "id": "calendar", "name": "Calendar", "description": "All events", "labels": { "k": "v" } },
        { "id": "mail", "name": "Mail Box" },
        { "id": "notes", "name": "Notes" },
        { "id": "secret", "name": "Secret", "visibility": "HIDDEN" },
    ]);
    backend.set(
        "GET",
        DIRECTORY,
        200,
        &json!({ "apps": apps, "nextToken": null }),
    );
    backend
}

/// A stage whose user is logged in at a backend.
async fn stage(backend: &Backend, settings: &str) -> Stage {
    let base = format!("chatgpt_base_url = \"{}\"\n{settings}", backend.base_url());
    let stage = Stage::with(&base).await;
    backend.log_in(stage.home(), "pro").unwrap();
    stage
}

/// A list in a few words.
fn brief(list: &Value) -> Vec<String> {
    let one = |app: &Value| {
        let mark = |key: &str| if app[key] == true { '+' } else { '-' };
        format!(
            "{}{}{}",
            mark("isAccessible"),
            mark("isEnabled"),
            text(&app["id"])
        )
    };
    list.as_array().unwrap().iter().map(one).collect()
}

/// Asks for the list; what was answered, and the lists that clients were notified of before.
async fn list(
    client: &mut Conversation,
    params: Value,
) -> (Result<Value, Value>, Vec<Vec<String>>) {
    let id = client.ask("app/list", params).await;
    let mut seen = Vec::new();
    loop {
        let message = client.next().await;
        if message["method"] == "app/list/updated" {
            seen.push(brief(&message["params"]["data"]));
        }
        if message["id"] == id {
            let answer = match message.get("error") {
                Some(error) => Err(error.clone()),
                None => Ok(message["result"].clone()),
            };
            return (answer, seen);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_list_grows_as_its_parts_arrive() {
    let backend = backend().await;
    let stage = stage(&backend, "[apps.mail]\nenabled = false\n").await;
    let mut client = stage.client().await;
    backend.hold(Some(DIRECTORY));
    let asked = client.ask("app/list", json!({})).await;
    let first = client.skip_to("app/list/updated").await;
    assert_eq!(brief(&first["params"]["data"]), ["++calendar", "+-mail"]);
    backend.hold(None);
    let second = client.skip_to("app/list/updated").await;
    let whole = ["++calendar", "+-mail", "-+notes"];
    assert_eq!(brief(&second["params"]["data"]), whole);
    let answer = client.answered(asked).await.unwrap();
    assert_eq!(answer["data"], second["params"]["data"]);
    assert_eq!(answer["nextCursor"], Value::Null);
    let calendar = json!({
        "id": "calendar", "name": "Calendar", "description": "All events", "logoUrl": null,
        "logoUrlDark": null, "distributionChannel": null, "branding": null, "appMetadata": null,
        "labels": { "k": "v" }, "installUrl": "https://chatgpt.com/apps/calendar/calendar",
        "isAccessible": true, "isEnabled": true, "pluginDisplayNames": [],
    });
    assert_eq!(answer["data"][0], calendar);
    let request = &backend.requests(DIRECTORY)[0];
    assert_eq!(
        request.path,
        format!("{DIRECTORY}?tier=categorized&external_logos=true")
    );
    let bearer = format!("Bearer {}", backend.token());
    assert_eq!(request.headers["authorization"], bearer);
    assert_eq!(request.headers["chatgpt-account-id"], "acct-1");
    let hello: Value = serde_json::from_slice(&backend.requests(TOOLS)[0].body).unwrap();
    let capabilities = json!({ "elicitation": { "form": {} } });
    assert_eq!(hello["params"]["capabilities"], capabilities);

    // What is known is not asked for again; one notification, then the answer.
    let lists = || {
        let tools = backend.requests(TOOLS).into_iter();
        let lists = tools.filter(|it| String::from_utf8_lossy(&it.body).contains("tools/list"));
        (backend.requests(DIRECTORY).len(), lists.count())
    };
    let before = lists();
    let (answer, seen) = list(&mut client, json!({ "limit": 2 })).await;
    let answer = answer.unwrap();
    assert_eq!(
        (brief(&answer["data"]).len(), &answer["nextCursor"]),
        (2, &json!("2"))
    );
    assert_eq!(seen, [whole]);
    assert_eq!(lists(), before);
    let (refused, seen) = list(&mut client, json!({ "cursor": "x" })).await;
    assert_eq!(refused.unwrap_err()["message"], "invalid cursor: x");
    assert_eq!(seen, Vec::<Vec<String>>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failed_refetch_keeps_what_was_known() {
    let backend = backend().await;
    let stage = stage(&backend, "").await;
    let mut client = stage.client().await;
    let whole = ["++calendar", "++mail", "-+notes"];
    let (answer, _) = list(&mut client, json!({})).await;
    assert_eq!(brief(&answer.unwrap()["data"]), whole);
    backend.set("GET", DIRECTORY, 500, &json!("boom"));
    // The list of connected apps is shown although the directory fails.
    let (_, seen) = list(&mut client, json!({ "forceRefetch": true })).await;
    assert_eq!(seen, [whole]);
    let again = json!({ "forceRefetch": true });
    let (refused, _) = list(&mut client, again.clone()).await;
    let message = "failed to list apps: Request failed with status 500 Internal Server Error: boom";
    assert_eq!(refused.unwrap_err()["message"], message);
    let (answer, _) = list(&mut client, json!({})).await;
    assert_eq!(brief(&answer.unwrap()["data"]), whole);
    let fewer = json!({ "apps": [{ "id": "notes", "name": "Notes" }] });
    backend.set("GET", DIRECTORY, 200, &fewer);
    backend.set("POST", TOOLS, 500, &json!("boom"));
    let (answer, _) = list(&mut client, again).await;
    assert_eq!(brief(&answer.unwrap()["data"]), ["-+notes"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_directory_has_pages_and_workspaces_have_more_apps() {
    let backend = Backend::start().await.unwrap();
    let stage = stage(&backend, "").await;
    backend.log_in(stage.home(), "team").unwrap();
    // The page refers to itself, so that only its limit ends the list.
    let page = json!({ "apps": [{ "id": "a", "name": "A" }], "nextToken": "t/1" });
    backend.set("GET", DIRECTORY, 200, &page);
    let own = json!({ "apps": [{ "id": "w", "name": "W" }] });
    backend.set("GET", "/connectors/directory/list_workspace", 200, &own);
    let mut client = stage.client().await;
    let (answer, _) = list(&mut client, json!({})).await;
    assert_eq!(brief(&answer.unwrap()["data"]), ["-+a", "-+w"]);
    let requests = backend.requests(&format!("{DIRECTORY}?"));
    assert_eq!(requests.len(), 100, "there is a limit");
    assert!(
        requests[1].path.ends_with("&token=t%2F1"),
        "{}",
        requests[1].path
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn apps_need_their_feature_and_a_login() {
    let backend = backend().await;
    let stage = stage(&backend, "").await;
    let off = json!({ "config": { "features.apps": false } });
    let (mut client, thread) = stage.thread_with(off).await;
    let none = json!({ "data": [], "nextCursor": null });
    let (answer, seen) = list(&mut client, json!({ "threadId": thread })).await;
    assert_eq!((answer.unwrap(), seen.len()), (none.clone(), 0));
    let set = |on: bool| json!({ "enablement": { "apps": on } });
    client
        .call("experimentalFeature/enablement/set", set(false))
        .await;
    let (answer, _) = list(&mut client, json!({})).await;
    assert_eq!(answer.unwrap(), none);
    client
        .call("experimentalFeature/enablement/set", set(true))
        .await;
    client.skip_to("app/list/updated").await;
    let key = json!({ "OPENAI_API_KEY": "sk-test-secret" }).to_string();
    std::fs::write(stage.home().join("auth.json"), key).unwrap();
    let (answer, _) = list(&mut client, json!({})).await;
    assert_eq!(answer.unwrap(), none);
}

/// The names of the tools of apps that the model was offered last.
fn offered(stage: &Stage) -> Vec<String> {
    let requests = stage.model.requests();
    let tools = requests.last().unwrap().body["tools"]
        .as_array()
        .unwrap()
        .clone();
    let names = tools.iter().filter_map(|tool| tool["name"].as_str());
    let names = names.filter_map(|name| name.strip_prefix("mcp__codex_apps__"));
    names.map(str::to_owned).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn tools_of_apps_are_called_after_an_approval_in_the_apps_name() {
    let backend = backend().await;
    let stage = stage(&backend, "[analytics]\nenabled = true\n").await;
    let policy = json!({ "approvalPolicy": "on-request", "sandbox": "read-only" });
    let (mut client, thread) = stage.thread_with(policy).await;
    stage.play([
        calls("mcp__codex_apps__calendar_create", json!({ "title": "x" })),
        calls("mcp__codex_apps__mail_box_ask", json!({})),
        json!({ "text": "done" }),
    ]);
    say(&mut client, &thread, "go").await;
    let asked = client.skip_to("mcpServer/elicitation/request").await;
    let params = &asked["params"];
    assert_eq!(params["serverName"], "codex_apps");
    assert_eq!(
        params["message"],
        "Allow Calendar to run tool \"calendar_create\"?"
    );
    let meta = &params["_meta"];
    assert_eq!(
        (
            &meta["source"],
            &meta["connector_id"],
            &meta["connector_name"],
            &meta["connector_description"]
        ),
        (
            &json!("connector"),
            &json!("calendar"),
            &json!("Calendar"),
            &json!("Your things")
        )
    );
    let always = json!({ "action": "accept", "content": null, "_meta": { "persist": "always" } });
    client.reply(&asked["id"], always).await;
    // A question of the app itself goes to the user and back.
    let asked = client.skip_to("mcpServer/elicitation/request").await;
    assert_eq!(asked["params"]["message"], "Confirm?");
    let yes = json!({ "action": "accept", "content": { "ok": true } });
    client.reply(&asked["id"], yes).await;
    let messages = client.until("turn/completed").await;
    assert_eq!(status(&messages), "completed");
    let items = completed(&messages, "mcpToolCall");
    let last = items.last().unwrap();
    assert_eq!(
        (&last["server"], &last["tool"]),
        (&json!("codex_apps"), &json!("mail_ask"))
    );
    assert!(
        last["result"].to_string().contains(r#"\"ok\":true"#),
        "{last}"
    );
    assert_eq!(
        offered(&stage),
        ["calendar_create", "calendar_list", "mail_box_ask"]
    );
    let calls: Vec<Value> = backend
        .requests(TOOLS)
        .iter()
        .filter_map(|it| serde_json::from_slice(&it.body).ok())
        .filter(|it: &Value| it["method"] == "tools/call")
        .collect();
    let own = json!({ "resource_uri": "/calendar_create" });
    assert_eq!(calls[0]["params"]["_meta"]["_codex_apps"], own);
    let config = std::fs::read_to_string(stage.home().join("config.toml")).unwrap();
    let saved = "[apps.calendar.tools.calendar_create]\napproval_mode = \"approve\"\n";
    assert!(config.ends_with(saved), "{config}");
    let events = backend.received("/codex/analytics-events/events", 2).await;
    let used = |request: &Request| {
        let body: Value = serde_json::from_slice(&request.body).unwrap();
        let event = &body["events"][0];
        assert_eq!(event["event_type"], "codex_app_used");
        text(&event["event_params"]["connector_id"])
    };
    let used: BTreeSet<String> = events.iter().map(used).collect();
    assert_eq!(used.into_iter().collect::<Vec<_>>(), ["calendar", "mail"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn settings_decide_which_tools_of_apps_are_offered() {
    let backend = backend().await;
    let settings = "[apps._default]\ndestructive_enabled = false\n[apps.mail]\nenabled = false\n";
    let stage = stage(&backend, settings).await;
    let (mut client, thread) = stage.thread().await;
    let mention = json!({ "type": "mention", "name": "Calendar", "path": "app://calendar" });
    let words = json!({ "type": "text", "text": "hi" });
    let input = json!({ "threadId": thread, "input": [words, mention] });
    for _ in 0..2 {
        client.call("turn/start", input.clone()).await;
        client.skip_to("turn/completed").await;
    }
    assert_eq!(offered(&stage), ["calendar_list"]);
    let request = stage.last_request();
    assert!(request.contains("<apps_instructions>"));
    // The server of apps may have been starting when the first message came; the second names the tools.
    let note = "an app (app://calendar), `Calendar`. Use its tools for the request where they fit: \
                `mcp__codex_apps__calendar_list`";
    assert!(request.contains(note), "{request}");
    assert!(
        backend.requests("/codex/analytics-events").is_empty(),
        "it was not switched on"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mention_lists_the_tools_of_its_app_where_others_are_searched_for() {
    let backend = backend().await;
    let stage = stage(&backend, "mcp_listed_tools = 0\n").await;
    let (mut client, thread) = stage.thread().await;
    run(&mut client, &thread, "first").await;
    assert_eq!(offered(&stage), [""; 0]);
    let link = "use [$calendar](app://calendar) now";
    run(&mut client, &thread, link).await;
    assert_eq!(offered(&stage), ["calendar_create", "calendar_list"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_apps_of_a_plugin_say_whether_they_are_connected() {
    let backend = backend().await;
    let stage = stage(&backend, "").await;
    let mut client = stage.client().await;
    let mut market = Marketplace::new(&stage.directory().join("market"), "mkt");
    let manifest = json!({ "name": "demo", "interface": { "displayName": "Demo" } });
    let plugin = market.offer("demo", &manifest, &json!({}));
    put(
        &plugin,
        ".app.json",
        r#"{"apps":{"a":{"id":"calendar"},"b":{"id":"unheard_of"}}}"#,
    );
    let read = client.call("plugin/read", market.plugin("demo")).await;
    let unknown = json!({
        "id": "unheard_of", "name": "unheard_of", "description": null, "needsAuth": true,
        "installUrl": "https://chatgpt.com/apps/unheard-of/unheard_of",
    });
    let known = json!({
        "id": "calendar", "name": "Calendar", "description": "All events", "needsAuth": false,
        "installUrl": "https://chatgpt.com/apps/calendar/calendar",
    });
    assert_eq!(read["plugin"]["apps"], json!([known, unknown]));
    let installed = client.call("plugin/install", market.plugin("demo")).await;
    assert_eq!(installed["appsNeedingAuth"], json!([unknown]));
    let (answer, _) = list(&mut client, json!({})).await;
    let data = &answer.unwrap()["data"];
    assert_eq!(
        brief(data),
        ["++calendar", "++mail", "-+notes", "-+unheard_of"]
    );
    assert_eq!(data[0]["pluginDisplayNames"], json!(["Demo"]));
    let servers = client.call("mcpServerStatus/list", json!({})).await;
    let apps = &servers["data"][0];
    assert_eq!(
        (&apps["name"], &apps["authStatus"]),
        (&json!("codex_apps"), &json!("bearerToken"))
    );
    assert!(apps["tools"]["mail_box_ask"].is_object(), "{apps}");
}
