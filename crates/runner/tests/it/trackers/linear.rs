//! Linear: one project, its issues by state or id, and the tool `linear_graphql`.

use std::sync::Arc;

use quipu_runner::tracker::{Issue, Tracker};
use quipu_testkit::http::Request;
use quipu_testkit::web::{Reply, WebServer};
use serde_json::{Value, json};

use super::{TOKEN, call_tool, open, texts};

async fn tracker(
    answer: impl Fn(&Value, &Request) -> Reply + Send + Sync + 'static,
) -> (Arc<dyn Tracker>, WebServer) {
    let server = WebServer::start(move |request| {
        assert_eq!((&*request.method, &*request.path), ("POST", "/graphql"));
        assert_eq!(request.headers["authorization"], TOKEN);
        answer(&serde_json::from_slice(&request.body).unwrap(), request)
    })
    .await
    .unwrap();
    let provider = json!({
        "project_slug": "door-1a2b", "api_key": "$TRACKER_TOKEN", "endpoint": format!("{}/graphql", server.url()),
    });
    (open("linear", provider).ok().unwrap(), server)
}

fn node(number: u32, state: &str) -> Value {
    json!({
        "id": format!("uuid-{number}"), "identifier": format!("ABC-{number}"), "title": format!("Issue {number}"),
        "description": "Text", "priority": 0, "branchName": format!("abc-{number}"), "url": "https://linear.app/x",
        "createdAt": "2026-01-02T03:04:05.000Z", "updatedAt": null, "state": { "name": state },
        "assignee": null, "labels": { "nodes": [{ "name": "Backend" }] }, "inverseRelations": { "nodes": [] },
    })
}

fn page(nodes: Value, next: Option<&str>) -> Reply {
    let info = json!({ "hasNextPage": next.is_some(), "endCursor": next });
    Reply::json(&json!({ "data": { "issues": { "nodes": nodes, "pageInfo": info } } }))
}

#[tokio::test]
async fn candidates_are_asked_for_by_project_and_state_page_by_page() {
    let (tracker, server) = tracker(|body, _| match &body["variables"]["after"] {
        Value::Null => {
            let mut blocked = node(2, "Todo");
            let relation = |kind: &str, number: u32, state: &str| {
                json!({ "type": kind, "issue": { "id": "b", "identifier": format!("ABC-{number}"), "state": { "name": state } } })
            };
            blocked["inverseRelations"]["nodes"] =
                json!([relation("blocks", 8, "Done"), relation("related", 9, "Todo"), relation("blocks", 7, "Todo")]);
            page(json!([node(1, "In Progress"), blocked]), Some("cursor-1"))
        }
        after => {
            assert_eq!(after, "cursor-1");
            let mut urgent = node(3, "todo");
            urgent["priority"] = json!(1);
            urgent["labels"] = Value::Null;
            page(json!([{ "id": "no title" }, urgent]), None)
        }
    })
    .await;
    let issues = tracker
        .issues_in_states(&texts(&["Todo", "In Progress"]))
        .await
        .unwrap();
    let found: Vec<_> = issues
        .iter()
        .map(|it| (&*it.identifier, it.priority, it.dispatchable))
        .collect();
    assert_eq!(
        found,
        [
            ("ABC-1", None, true),
            ("ABC-2", None, false),
            ("ABC-3", Some(1), true)
        ]
    );
    let blockers: Vec<_> = issues[1]
        .blocked_by
        .iter()
        .map(|it| it.identifier.clone().unwrap())
        .collect();
    assert_eq!(blockers, ["ABC-8", "ABC-7"]);
    assert_eq!(issues[0].labels, ["backend"]);
    assert_eq!(issues[0].branch_name.as_deref(), Some("abc-1"));
    let sent: Value = serde_json::from_slice(&server.requests()[0].body).unwrap();
    let filter = json!({
        "project": { "slugId": { "eq": "door-1a2b" } },
        "or": [
            { "state": { "name": { "eqIgnoreCase": "Todo" } } },
            { "state": { "name": { "eqIgnoreCase": "In Progress" } } },
        ],
    });
    assert_eq!(sent["variables"]["filter"], filter);
}

#[tokio::test]
async fn refresh_asks_by_id_within_the_project_in_parts() {
    let (tracker, server) = tracker(|body, _| {
        let ids = body["variables"]["filter"]["id"]["in"].as_array().unwrap();
        let nodes: Vec<Value> = ids
            .iter()
            .filter_map(|id| id.as_str()?.strip_prefix("uuid-")?.parse().ok())
            .map(|number: u32| node(number, "Done"))
            .collect();
        page(nodes.into(), None)
    })
    .await;
    let mut ids: Vec<String> = (0..60).map(|number| format!("uuid-{number}")).collect();
    ids.push("gone".to_owned());
    ids.push("uuid-1".to_owned());
    let issues = tracker.issues_by_id(&ids).await.unwrap();
    assert_eq!(issues.len(), 60);
    assert!(issues.iter().all(|it| it.state == "Done"));
    let requests = server.requests();
    assert_eq!(requests.len(), 2);
    let sent: Value = serde_json::from_slice(&requests[1].body).unwrap();
    assert_eq!(
        sent["variables"]["filter"]["project"]["slugId"]["eq"],
        "door-1a2b"
    );
    assert_eq!(tracker.issues_by_id(&[]).await.unwrap(), []);
    assert_eq!(tracker.issues_in_states(&[]).await.unwrap(), []);
    assert_eq!(server.requests().len(), 2);
}

#[tokio::test]
async fn failures_have_categories_and_no_secrets() {
    let errors = |code: &str| {
        json!({ "errors": [{ "message": "no", "extensions": { "code": code } }] }).to_string()
    };
    let nodes =
        json!({ "data": { "issues": { "nodes": [{ "id": "x" }], "pageInfo": {} } } }).to_string();
    let endless = json!({ "data": { "issues": { "nodes": [], "pageInfo": { "hasNextPage": true, "endCursor": null } } } });
    for (reply, category) in [
        (
            Reply::status(400, &errors("RATELIMITED")),
            "tracker_rate_limited",
        ),
        (
            Reply::status(400, &errors("AUTHENTICATION_ERROR")),
            "tracker_status",
        ),
        (
            Reply::status(401, &errors("AUTHENTICATION_ERROR")),
            "tracker_status",
        ),
        (
            Reply::status(200, &errors("INVALID_INPUT")),
            "tracker_response",
        ),
        (Reply::status(200, r#"{"data":null}"#), "tracker_response"),
        (
            Reply::status(200, r#"{"data":{"issues":{}}}"#),
            "tracker_response",
        ),
        (Reply::status(200, &nodes), "tracker_response"),
        (
            Reply::status(200, &endless.to_string()),
            "tracker_pagination",
        ),
        (Reply::status(500, "oops"), "tracker_status"),
    ] {
        let said = reply.clone();
        let (tracker, _server) = tracker(move |_, _| said.clone()).await;
        let error = tracker.issues_by_id(&texts(&["uuid-1"])).await.unwrap_err();
        assert_eq!(error.category.name(), category, "{reply:?}: {error}");
        assert!(!error.to_string().contains(TOKEN), "{error}");
    }
}

#[tokio::test]
async fn a_page_that_leads_to_itself_is_an_error() {
    let (tracker, server) = tracker(|_, _| page(json!([]), Some("again"))).await;
    let error = tracker
        .issues_in_states(&texts(&["Todo"]))
        .await
        .unwrap_err();
    assert_eq!(error.category.name(), "tracker_pagination");
    assert_eq!(server.requests().len(), 2);
}

#[tokio::test]
async fn the_tool_passes_queries_on_and_keeps_the_key() {
    let (tracker, server) = tracker(|body, request| match body["query"].as_str().unwrap() {
        "query { viewer { id } }" => {
            let seen = request.headers["authorization"].clone();
            Reply::json(&json!({ "data": { "viewer": { "id": "usr_123" } }, "seen": seen, "variables": body["variables"] }))
        }
        "mutation Bad" => Reply::json(&json!({ "data": null, "errors": [{ "message": "syntax" }] })),
        _ => Reply::status(503, "down"),
    })
    .await;
    let issue = Issue::new("uuid-1", "ABC-1", "t", "Todo");
    let spec = tracker.tools(&issue)[0].spec();
    assert_eq!(
        (&*spec.name, &spec.input_schema["required"]),
        ("linear_graphql", &json!(["query"]))
    );
    assert!(spec.description.contains("ABC-1"));
    let query = json!({ "query": "query { viewer { id } }", "variables": { "a": 1 } });
    let (success, output) = call_tool(&*tracker, &issue, query).await;
    assert!(success);
    assert_eq!(output["data"]["viewer"]["id"], "usr_123");
    assert_eq!(
        (&output["seen"], &output["variables"]["a"]),
        (&json!("[secret]"), &json!(1))
    );
    let (success, output) = call_tool(&*tracker, &issue, json!("mutation Bad")).await;
    assert!(!success);
    assert_eq!(output["errors"][0]["message"], "syntax");
    let (success, output) = call_tool(&*tracker, &issue, json!({ "query": "query Down" })).await;
    assert!(
        !success && output["error"].as_str().unwrap().contains("503"),
        "{output}"
    );
    let asked = server.requests().len();
    for wrong in [
        json!({}),
        json!({ "query": " " }),
        json!({ "query": "q", "variables": [1] }),
        Value::Null,
    ] {
        let (success, output) = call_tool(&*tracker, &issue, wrong).await;
        assert!(!success && output["error"].is_string());
    }
    assert_eq!(server.requests().len(), asked);
}
