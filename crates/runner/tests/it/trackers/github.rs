//! GitHub: one repository, its issues by state or number, and the tool `github_api`.

use std::sync::{Arc, OnceLock};

use quipu_runner::tracker::{Issue, Tracker};
use quipu_testkit::http::Request;
use quipu_testkit::web::{Reply, WebServer};
use serde_json::{Value, json};

use super::{TOKEN, call_tool, open, texts};

async fn tracker(
    settings: Value,
    answer: impl Fn(&Request) -> Reply + Send + Sync + 'static,
) -> (Arc<dyn Tracker>, WebServer) {
    let server = WebServer::start(answer).await.unwrap();
    let mut provider =
        json!({ "repository": "own/door", "token": "$TRACKER_TOKEN", "endpoint": server.url() });
    for (key, value) in settings.as_object().unwrap() {
        provider[key] = value.clone();
    }
    (open("github", provider).ok().unwrap(), server)
}

fn record(number: u64, state: &str) -> Value {
    json!({
        "number": number, "node_id": format!("I_{number}"), "title": format!("Issue {number}"), "state": state,
        "body": "Text", "html_url": format!("https://github.com/own/door/issues/{number}"),
        "labels": [{ "name": " Bug " }, { "name": "bug" }, { "name": "P2" }, { "name": "" }],
        "assignee": { "login": "ann" }, "assignees": [{ "login": "ann" }],
        "created_at": "2026-01-02T03:04:05Z", "updated_at": "not a time",
        "issue_dependencies_summary": { "blocked_by": 0, "total_blocked_by": 1 },
    })
}

#[tokio::test]
async fn candidates_are_listed_page_by_page_in_order_without_pull_requests() {
    let base = Arc::new(OnceLock::<String>::new());
    let known = Arc::clone(&base);
    let (tracker, server) = tracker(json!({}), move |request| {
        assert_eq!(request.headers["authorization"], format!("Bearer {TOKEN}"));
        assert_eq!(request.method, "GET");
        let next = |page: u32| {
            let base = known.get().unwrap();
            format!(
                "<{base}/repos/own/door/issues?page={page}>; rel=\"next\", <{base}/x>; rel=\"last\""
            )
        };
        let mut pull = record(9, "open");
        pull["pull_request"] = json!({ "url": "x" });
        match &*request.path {
            "/repos/own/door/issues?state=open&sort=created&direction=asc&per_page=100" => {
                Reply::json(&json!([record(3, "open"), pull])).header("link", next(2))
            }
            "/repos/own/door/issues?page=2" => {
                // Number 3 moved to the next page meanwhile, and one record is broken.
                let broken = json!({ "number": 5, "state": "open" });
                Reply::json(&json!([record(3, "open"), broken, record(7, "open")]))
            }
            other => Reply::status(404, other),
        }
    })
    .await;
    base.set(server.url()).unwrap();
    let issues = tracker.issues_in_states(&texts(&["Open"])).await.unwrap();
    let ids: Vec<_> = issues.iter().map(|it| (&*it.id, &*it.identifier)).collect();
    assert_eq!(ids, [("3", "door-3"), ("7", "door-7")]);
    let issue = &issues[0];
    assert_eq!(issue.labels, ["bug", "p2"]);
    assert_eq!((issue.priority, issue.state.as_str()), (Some(2), "open"));
    assert_eq!(issue.assignee_id.as_deref(), Some("ann"));
    assert!(issue.dispatchable && issue.created_at.is_some() && issue.updated_at.is_none());
    let reference = json!({ "repository": "own/door", "number": 3, "node_id": "I_3" });
    assert_eq!(Value::from(issue.native_ref.clone().unwrap()), reference);
}

#[tokio::test]
async fn nothing_asked_is_nothing_requested() {
    let (tracker, server) = tracker(json!({}), |_| Reply::status(500, "")).await;
    assert_eq!(tracker.issues_in_states(&[]).await.unwrap(), []);
    assert_eq!(tracker.issues_by_id(&[]).await.unwrap(), []);
    assert!(server.requests().is_empty());
}

#[tokio::test]
async fn states_may_be_labels_and_closed_issues_are_asked_for_apart() {
    let (tracker, server) = tracker(json!({ "state_prefix": "status:" }), |_| {
        let mut working = record(1, "open");
        working["labels"] = json!([{ "name": "status:In Progress" }]);
        let mut done = record(2, "closed");
        done["labels"] = json!([{ "name": "status:In Progress" }]);
        Reply::json(&json!([working, done, record(3, "open")]))
    })
    .await;
    let working = tracker
        .issues_in_states(&texts(&["In Progress"]))
        .await
        .unwrap();
    assert_eq!(working.iter().map(|it| &*it.id).collect::<Vec<_>>(), ["1"]);
    let closed = tracker.issues_in_states(&texts(&["closed"])).await.unwrap();
    assert_eq!(closed.iter().map(|it| &*it.id).collect::<Vec<_>>(), ["2"]);
    let both = tracker
        .issues_in_states(&texts(&["open", "closed"]))
        .await
        .unwrap();
    assert_eq!(
        both.iter().map(|it| &*it.id).collect::<Vec<_>>(),
        ["2", "3"]
    );
    let asked: Vec<_> = server.requests().into_iter().map(|it| it.path).collect();
    for (path, half) in asked.iter().zip(["open", "closed", "all"]) {
        assert!(path.contains(&format!("state={half}&")), "{path}");
    }
}

#[tokio::test]
async fn refresh_leaves_out_what_is_gone_and_fails_on_what_is_malformed() {
    let (tracker, _server) = tracker(json!({ "assignee": "Ann" }), |request| {
        match &*request.path {
            "/repos/own/door/issues/1" => {
                let mut other = record(1, "closed");
                other["assignees"] = json!([{ "login": "bob" }]);
                Reply::json(&other)
            }
            "/repos/own/door/issues/2" => {
                let mut blocked = record(2, "open");
                blocked["issue_dependencies_summary"]["blocked_by"] = json!(1);
                Reply::json(&blocked)
            }
            "/repos/own/door/issues/3" => Reply::status(404, r#"{"message":"Not Found"}"#),
            "/repos/own/door/issues/4" => Reply::status(301, "").header("location", "/elsewhere"),
            "/repos/own/door/issues/5" => Reply::json(&record(5, "open")),
            _ => Reply::json(&json!({ "number": 6, "state": "open" })),
        }
    })
    .await;
    let found = tracker
        .issues_by_id(&texts(&["5", "1", "2", "3", "4", "1", "x/../y"]))
        .await
        .unwrap();
    let found: Vec<_> = found
        .iter()
        .map(|it| (&*it.id, &*it.state, it.dispatchable))
        .collect();
    assert_eq!(
        found,
        [
            ("1", "closed", false),
            ("2", "open", false),
            ("5", "open", true)
        ]
    );
    let error = tracker.issues_by_id(&texts(&["5", "6"])).await.unwrap_err();
    assert_eq!(error.category.name(), "tracker_response", "{error}");
}

#[tokio::test]
async fn failures_have_categories_and_no_secrets() {
    let cases = [
        (
            Reply::status(401, r#"{"message":"Bad credentials tok_0123456789abcdef"}"#),
            "tracker_status",
            None,
        ),
        (
            Reply::status(429, "").header("retry-after", "7"),
            "tracker_rate_limited",
            Some(7_000),
        ),
        (
            Reply::status(403, r#"{"message":"API rate limit exceeded"}"#)
                .header("x-ratelimit-remaining", "0")
                .header("x-ratelimit-reset", "1"),
            "tracker_rate_limited",
            Some(0),
        ),
        (
            Reply::status(403, r#"{"message":"Resource not accessible"}"#),
            "tracker_status",
            None,
        ),
        (
            Reply::status(502, "<html>bad gateway</html>"),
            "tracker_status",
            None,
        ),
        (
            Reply::status(302, "").header("location", "http://127.0.0.1:1/"),
            "tracker_status",
            None,
        ),
        (
            Reply::status(200, "<html>login</html>"),
            "tracker_response",
            None,
        ),
        (
            Reply::status(200, r#"{"message":"an object"}"#),
            "tracker_response",
            None,
        ),
        (
            Reply::status(200, "[]").header("link", "<http://127.0.0.1:1/steal>; rel=\"next\""),
            "tracker_pagination",
            None,
        ),
    ];
    for (reply, category, wait) in cases {
        let said = reply.clone();
        let (tracker, _server) = tracker(json!({}), move |_| said.clone()).await;
        let error = tracker
            .issues_in_states(&texts(&["open"]))
            .await
            .unwrap_err();
        assert_eq!(error.category.name(), category, "{reply:?}: {error}");
        assert_eq!(error.retry_after_ms, wait, "{error}");
        assert!(!error.to_string().contains(TOKEN), "{error}");
        if reply.status == 401 {
            assert!(
                error
                    .message
                    .contains("check GITHUB_TOKEN or TRACKER_TOKEN"),
                "{error}"
            );
        }
    }
    let (tracker, server) = tracker(json!({}), |_| Reply::status(200, "[]")).await;
    drop(server);
    let error = tracker
        .issues_in_states(&texts(&["open"]))
        .await
        .unwrap_err();
    assert_eq!(error.category.name(), "tracker_request", "{error}");
}

#[tokio::test]
async fn a_page_that_leads_to_itself_is_an_error() {
    let base = Arc::new(OnceLock::<String>::new());
    let known = Arc::clone(&base);
    let (tracker, server) = tracker(json!({}), move |_| {
        let base = known.get().unwrap();
        Reply::status(200, "[]").header("link", format!("<{base}/same>; rel=\"next\""))
    })
    .await;
    base.set(server.url()).unwrap();
    let error = tracker
        .issues_in_states(&texts(&["open"]))
        .await
        .unwrap_err();
    assert_eq!(error.category.name(), "tracker_pagination");
    assert!(server.requests().len() <= 3);
}

#[tokio::test]
async fn the_tool_reaches_the_repository_and_nothing_else_and_shows_no_secret() {
    let (tracker, server) = tracker(json!({}), |request| match &*request.path {
        "/repos/own/door/issues/3/comments" => {
            let body: Value = serde_json::from_slice(&request.body).unwrap();
            let seen = request.headers["authorization"].clone();
            Reply::status(
                201,
                &json!({ "body": body["body"], "seen": seen }).to_string(),
            )
        }
        _ => Reply::status(422, r#"{"message":"Validation Failed"}"#),
    })
    .await;
    let issue = Issue::new("3", "door-3", "t", "open");
    let spec = tracker.tools(&issue)[0].spec();
    assert_eq!(spec.name, "github_api");
    assert!(spec.description.contains("issues/3/comments"));
    let post =
        json!({ "method": "POST", "path": "/issues/3/comments", "body": { "body": "done" } });
    let (success, output) = call_tool(&*tracker, &issue, post).await;
    assert!(success, "{output}");
    assert_eq!(output["status"], 201);
    assert_eq!(output["body"]["body"], "done");
    assert!(!output.to_string().contains(TOKEN), "{output}");
    let (success, output) = call_tool(
        &*tracker,
        &issue,
        json!({ "method": "PATCH", "path": "issues/3?x=1" }),
    )
    .await;
    assert!(!success);
    assert_eq!(
        (&output["status"], &output["body"]["message"]),
        (&json!(422), &json!("Validation Failed"))
    );
    let asked = server.requests().len();
    for (method, path) in [
        ("GET", "../../user"),
        ("GET", "issues/../../other/issues"),
        ("GET", "issues/%2e%2e/%2e%2e/x"),
        ("GET", "hooks"),
        ("DELETE", ""),
        ("GET", "//example.com/issues"),
        ("GET", "https://example.com/issues"),
        ("GET", "issues/3 HTTP/1.1"),
        ("GET", "issues\\..\\x"),
        ("TRACE", "issues/3"),
    ] {
        let (success, output) =
            call_tool(&*tracker, &issue, json!({ "method": method, "path": path })).await;
        assert!(!success && output["error"].is_string(), "{path}: {output}");
    }
    assert_eq!(server.requests().len(), asked);
}
