//! Tools of the client that are grouped in namespaces, and the timeline of a thread.

use serde_json::{Value, json};

use crate::stage::{Stage, calls, completed, open, run, say, status, text};

fn function(name: &str) -> Value {
    json!({ "type": "function", "name": name, "description": "looks", "inputSchema": { "type": "object" } })
}

fn namespace(name: &str, tools: Value) -> Value {
    json!({ "type": "namespace", "name": name, "description": "about tickets", "tools": tools })
}

#[tokio::test(flavor = "multi_thread")]
async fn tools_of_a_namespace_are_called_by_both_names() {
    let mut stage = Stage::new().await;
    let tools = json!([
        function("plain"),
        namespace("crm", json!([function("lookup")]))
    ]);
    let (mut client, thread) = stage.thread_with(json!({ "dynamicTools": tools })).await;
    stage.play([
        calls("crm__lookup", json!({ "id": 7 })),
        json!({ "text": "done" }),
    ]);
    say(&mut client, &thread, "look").await;
    let question = client.skip_to("item/tool/call").await;
    assert_eq!(question["params"]["namespace"], "crm");
    assert_eq!(question["params"]["tool"], "lookup");
    client.reply(&question["id"], open()).await;
    let messages = client.until("turn/completed").await;
    assert_eq!(status(&messages), "completed");
    let item = completed(&messages, "dynamicToolCall")[0].clone();
    assert_eq!(
        (&item["namespace"], &item["tool"]),
        (&json!("crm"), &json!("lookup"))
    );
    let sent = stage.last_request();
    assert!(
        sent.contains("crm__lookup") && sent.contains("about tickets"),
        "{sent}"
    );
    // The thread remembers its tools and what they were called.
    stage.restart().await;
    let mut client = stage.client().await;
    let resume = json!({ "threadId": thread });
    let resumed = client.call("thread/resume", resume).await;
    let items = resumed["thread"]["turns"][0]["items"].as_array().unwrap();
    let stored = items
        .iter()
        .find(|it| it["type"] == "dynamicToolCall")
        .unwrap();
    assert_eq!(stored["namespace"], "crm");
    stage.play([calls("plain", json!({})), json!({ "text": "done" })]);
    say(&mut client, &thread, "again").await;
    let question = client.skip_to("item/tool/call").await;
    assert_eq!(question["params"]["tool"], "plain");
    client.reply(&question["id"], open()).await;
    assert!(
        stage.model.requests()[2]
            .body
            .to_string()
            .contains("crm__lookup")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn bad_namespaces_are_refused_in_the_words_of_later_versions() {
    let stage = Stage::new().await;
    let mut client = stage.client().await;
    let one = || json!([function("a")]);
    let long = "x".repeat(60);
    let wide = json!([function("lookup")]);
    for (tools, expected) in [
        (
            json!([namespace("crm", json!([]))]),
            "dynamic tool namespace must contain at least one tool: crm".to_owned(),
        ),
        (
            json!([namespace("", one())]),
            "dynamic tool namespace must not be empty".to_owned(),
        ),
        (
            json!([namespace("mcp", one())]),
            "dynamic tool namespace is reserved: mcp".to_owned(),
        ),
        (
            json!([namespace("web", one())]),
            "dynamic tool namespace collides with a reserved Responses API namespace: web"
                .to_owned(),
        ),
        (
            json!([namespace("a b", one())]),
            "dynamic tool namespace must match ^[a-zA-Z0-9_-]+$ to match Responses API: a b"
                .to_owned(),
        ),
        (
            json!([namespace("crm", json!([function("a"), function("a")]))]),
            "duplicate dynamic tool name in namespace crm: a".to_owned(),
        ),
        (
            json!([namespace("crm", one()), namespace("crm", one())]),
            "duplicate dynamic tool namespace: crm".to_owned(),
        ),
        (
            json!([namespace("a", json!([function("b")])), function("a__b")]),
            "duplicate dynamic tool name: a__b".to_owned(),
        ),
        (
            json!([namespace(&long, wide)]),
            format!(
                "dynamic tool name with its namespace must be at most 64 characters: {long}__lookup"
            ),
        ),
        (
            json!([{ "type": "other", "name": "x" }]),
            "Invalid request: unknown variant `other`, expected `function` or `namespace`"
                .to_owned(),
        ),
    ] {
        let refused = client
            .refused("thread/start", json!({ "dynamicTools": tools }))
            .await;
        assert!(refused.starts_with(&expected), "{refused}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_timeline_goes_back_page_by_page() {
    let stage = Stage::new().await;
    let (mut client, thread) = stage.thread().await;
    for words in ["first", "second"] {
        stage.play([json!({ "text": words })]);
        run(&mut client, &thread, "hi").await;
    }
    let newest = json!({ "threadId": thread, "limit": 5 });
    let newest = client.call("thread/timeline/list", newest).await;
    let kinds = |page: &Value| -> Vec<String> {
        let entries = page["data"].as_array().unwrap().iter();
        entries.map(|it| text(&it["type"])).collect()
    };
    let turn = ["turnStarted", "item", "item", "turnCompleted"];
    assert_eq!(kinds(&newest), [&turn[3..], &turn[..]].concat());
    assert_eq!(newest["data"][0]["position"], 3);
    assert_eq!(newest["data"][3]["item"]["text"], "second");
    assert_eq!(newest["data"][4]["status"], "completed");
    let rest = json!({ "threadId": thread, "cursor": newest["nextCursor"] });
    let rest = client.call("thread/timeline/list", rest).await;
    assert_eq!(kinds(&rest), turn[..3]);
    assert_eq!(rest["nextCursor"], Value::Null);
    let bad = json!({ "threadId": thread, "cursor": "x" });
    let refused = client.refused("thread/timeline/list", bad).await;
    assert_eq!(refused, "invalid thread timeline cursor");
}
