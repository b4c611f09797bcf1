//! The provider's own search: when it is offered, and what clients see of it.

use serde_json::{Value, json};

use crate::stage::{Stage, completed, order, run};

/// How the search was last offered; null if it was not.
fn offered(stage: &Stage) -> Value {
    let requests = stage.model.requests();
    let tools = requests.last().unwrap().body["tools"].as_array().unwrap();
    let search = tools.iter().find(|tool| tool["type"] == "web_search");
    search.cloned().unwrap_or_default()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_settings_decide_how_it_is_offered() {
    let details = json!({
        "type": "web_search", "external_web_access": true,
        "filters": { "allowed_domains": ["a.org"] },
        "user_location": { "type": "approximate", "country": "PE", "city": "Cusco" },
        "search_context_size": "high",
    });
    let table = "web_search = \"live\"\n[tools.web_search]\ncontext_size = \"high\"\nallowed_domains = [\"a.org\"]\n\
        location = { country = \"PE\", city = \"Cusco\" }\n";
    let plain = |live: bool| json!({ "type": "web_search", "external_web_access": live });
    let cases = [
        ("", "read-only", plain(false)),
        ("web_search = \"live\"", "read-only", plain(true)),
        ("web_search = \"disabled\"", "read-only", Value::Null),
        ("web_search = \"cached\"", "danger-full-access", plain(true)),
        (
            "web_search = \"disabled\"",
            "danger-full-access",
            Value::Null,
        ),
        (table, "read-only", details),
    ];
    for (settings, sandbox, expected) in cases {
        let stage = Stage::with(settings).await;
        let (mut client, thread) = stage.thread_with(json!({ "sandbox": sandbox })).await;
        run(&mut client, &thread, "hello").await;
        assert_eq!(offered(&stage), expected, "{settings} in {sandbox}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reviewer_does_not_search() {
    let stage = Stage::new().await;
    let (mut client, thread) = stage.thread().await;
    let target = json!({ "type": "custom", "instructions": "look" });
    client
        .call(
            "review/start",
            json!({ "threadId": thread, "target": target }),
        )
        .await;
    client.skip_to("turn/completed").await;
    assert_eq!(offered(&stage), Value::Null);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_provider_found_is_an_item_and_stays_one() {
    let mut stage = Stage::new().await;
    let (mut client, thread) = stage.thread().await;
    let search = |action: Value| json!({ "type": "web_search_call", "id": "ws_1", "status": "completed", "action": action });
    let cases = [
        (
            json!({ "type": "search", "query": "weather", "queries": ["weather", "rain"] }),
            "weather",
            json!({ "type": "search", "query": "weather", "queries": ["weather", "rain"] }),
        ),
        (
            json!({ "type": "search", "queries": ["weather", "rain"] }),
            "weather ...",
            json!({ "type": "search", "query": null, "queries": ["weather", "rain"] }),
        ),
        (
            json!({ "type": "open_page", "url": "https://a.org" }),
            "https://a.org",
            json!({ "type": "openPage", "url": "https://a.org" }),
        ),
        (
            json!({ "type": "find_in_page", "url": "https://a.org", "pattern": "rain" }),
            "'rain' in https://a.org",
            json!({ "type": "findInPage", "url": "https://a.org", "pattern": "rain" }),
        ),
    ];
    let mut shown = Vec::new();
    for (action, query, received) in &cases {
        stage.play([json!({ "items": [search(action.clone())], "text": "sunny" })]);
        let messages = run(&mut client, &thread, "weather?").await;
        let items = completed(&messages, "webSearch");
        assert_eq!(items.len(), 1, "{:?}", order(&messages));
        assert_eq!(
            (&items[0]["query"], &items[0]["action"]),
            (&json!(query), received)
        );
        shown.push(items[0].clone());
    }
    assert!(
        stage.last_request().contains("web_search_call"),
        "the provider gets its search back"
    );

    stage.restart().await;
    let mut client = stage.client().await;
    let params = json!({ "threadId": thread, "includeTurns": true });
    let read = client.call("thread/read", params).await;
    let turns = read["thread"]["turns"].as_array().unwrap();
    let items = turns
        .iter()
        .flat_map(|turn| turn["items"].as_array().unwrap());
    let stored: Vec<Value> = items
        .filter(|item| item["type"] == "webSearch")
        .cloned()
        .collect();
    assert_eq!(stored, shown);
}
