//! Jira: one project, its issues by state or id, and the tool `jira_api`.

use std::sync::Arc;

use quipu_runner::tracker::{Issue, Tracker};
use quipu_testkit::http::Request;
use quipu_testkit::web::{Reply, WebServer};
use serde_json::{Value, json};

use super::{TOKEN, call_tool, open, texts};

/// `me@example.com` and the token, as basic authentication has them.
const BASIC: &str = "Basic bWVAZXhhbXBsZS5jb206dG9rXzAxMjM0NTY3ODlhYmNkZWY=";

async fn tracker(
    answer: impl Fn(&Value, &Request) -> Reply + Send + Sync + 'static,
) -> (Arc<dyn Tracker>, WebServer) {
    let server = WebServer::start(move |request| {
        assert_eq!(request.headers["authorization"], BASIC);
        answer(
            &serde_json::from_slice(&request.body).unwrap_or_default(),
            request,
        )
    })
    .await
    .unwrap();
    let provider = json!({
        "project": "ABC", "email": "me@example.com", "api_token": "$TRACKER_TOKEN", "endpoint": server.url(),
    });
    (open("jira", provider).ok().unwrap(), server)
}

fn record(number: u32, state: &str) -> Value {
    json!({
        "id": format!("100{number}"), "key": format!("ABC-{number}"),
        "fields": {
            "summary": format!("Issue {number}"), "description": "Text", "status": { "name": state },
            "priority": { "id": "2" }, "labels": ["Backend"], "assignee": { "accountId": "acc" },
            "created": "2026-01-02T03:04:05.000+0100", "updated": "nonsense", "issuelinks": [],
        },
    })
}

#[tokio::test]
async fn candidates_are_asked_for_by_project_and_state_page_by_page() {
    let (tracker, server) = tracker(|body, request| {
        assert_eq!((&*request.method, &*request.path), ("POST", "/rest/api/2/search/jql"));
        match &body["nextPageToken"] {
            Value::Null => {
                let mut blocked = record(2, "To Do");
                let link = |inward: &str, state: &str, category: &str| {
                    let status = json!({ "name": state, "statusCategory": { "key": category } });
                    json!({
                        "type": { "inward": inward },
                        "inwardIssue": { "id": "9", "key": "OTHER-9", "fields": { "status": status } },
                    })
                };
                blocked["fields"]["issuelinks"] = json!([link("is blocked by", "Doing", "indeterminate")]);
                let mut free = record(3, "To Do");
                free["fields"]["issuelinks"] =
                    json!([link("is blocked by", "Shipped", "done"), link("is cloned by", "Doing", "new")]);
                Reply::json(&json!({ "issues": [record(1, "In Progress"), blocked, free], "nextPageToken": "p2" }))
            }
            token => {
                assert_eq!(token, "p2");
                Reply::json(&json!({ "issues": [{ "id": "1" }, record(4, "to do")], "isLast": true }))
            }
        }
    })
    .await;
    let issues = tracker
        .issues_in_states(&texts(&["To Do", "In \"Progress"]))
        .await
        .unwrap();
    let found: Vec<_> = issues
        .iter()
        .map(|it| (&*it.identifier, it.dispatchable))
        .collect();
    assert_eq!(found, [("ABC-2", false), ("ABC-3", true), ("ABC-4", true)]);
    let issue = &issues[1];
    assert_eq!((issue.priority, &*issue.labels[0]), (Some(2), "backend"));
    assert_eq!(issue.assignee_id.as_deref(), Some("acc"));
    assert_eq!(
        (issue.created_at, issue.updated_at),
        (Some(1_767_319_445_000), None)
    );
    assert_eq!(issue.blocked_by[0].identifier.as_deref(), Some("OTHER-9"));
    let sent: Value = serde_json::from_slice(&server.requests()[0].body).unwrap();
    let jql = r#"project = "ABC" AND status in ("To Do", "In \"Progress") ORDER BY created ASC"#;
    assert_eq!(sent["jql"], jql);
}

#[tokio::test]
async fn refresh_leaves_out_what_is_gone_or_moved_and_fails_on_what_is_malformed() {
    let (tracker, server) = tracker(|body, request| {
        assert_eq!(request.path, "/rest/api/2/issue/bulkfetch");
        let mut moved = record(2, "Done");
        moved["key"] = json!("XYZ-2");
        let broken = json!({ "id": "1007", "key": "ABC-7", "fields": {} });
        match body["issueIdsOrKeys"]
            .as_array()
            .unwrap()
            .contains(&json!("1007"))
        {
            true => Reply::json(&json!({ "issues": [broken] })),
            false => {
                Reply::json(&json!({ "issues": [record(1, "Done"), moved], "issueErrors": [] }))
            }
        }
    })
    .await;
    let found = tracker
        .issues_by_id(&texts(&["1001", "1002", "gone", "1001"]))
        .await
        .unwrap();
    assert_eq!(
        found
            .iter()
            .map(|it| (&*it.id, &*it.state))
            .collect::<Vec<_>>(),
        [("1001", "Done")]
    );
    let sent: Value = serde_json::from_slice(&server.requests()[0].body).unwrap();
    assert_eq!(sent["issueIdsOrKeys"], json!(["1001", "1002", "gone"]));
    let error = tracker.issues_by_id(&texts(&["1007"])).await.unwrap_err();
    assert_eq!(error.category.name(), "tracker_response");
    assert_eq!(tracker.issues_by_id(&[]).await.unwrap(), []);
    assert_eq!(tracker.issues_in_states(&[]).await.unwrap(), []);
    assert_eq!(server.requests().len(), 2);
}

#[tokio::test]
async fn failures_have_categories_and_no_secrets() {
    for (reply, category) in [
        (
            Reply::status(401, "Client must be authenticated to access this resource."),
            "tracker_status",
        ),
        (
            Reply::status(403, r#"{"message":"tok_0123456789abcdef"}"#),
            "tracker_status",
        ),
        (
            Reply::status(400, r#"{"errorMessages":["bad jql"]}"#),
            "tracker_status",
        ),
        (
            Reply::status(429, "").header("retry-after", "5"),
            "tracker_rate_limited",
        ),
        (Reply::status(200, "[]"), "tracker_response"),
        (Reply::status(200, "{}"), "tracker_response"),
        (
            Reply::status(200, r#"{"issues":[],"nextPageToken":"same"}"#),
            "tracker_pagination",
        ),
    ] {
        let said = reply.clone();
        let (tracker, _server) = tracker(move |_, _| said.clone()).await;
        let error = tracker
            .issues_in_states(&texts(&["To Do"]))
            .await
            .unwrap_err();
        assert_eq!(error.category.name(), category, "{reply:?}: {error}");
        assert!(!error.to_string().contains(TOKEN), "{error}");
        if reply.status == 400 {
            assert!(error.message.contains("bad jql"), "{error}");
        }
    }
}

#[tokio::test]
async fn the_tool_reaches_issues_of_the_project_and_nothing_else() {
    let (tracker, server) = tracker(|_, request| {
        Reply::json(&json!({ "path": request.path, "seen": request.headers["authorization"] }))
    })
    .await;
    let issue = Issue::new("1003", "ABC-3", "t", "To Do");
    let spec = tracker.tools(&issue)[0].spec();
    assert_eq!(spec.name, "jira_api");
    assert!(spec.description.contains("issue/ABC-3/comment"));
    let call = json!({ "method": "POST", "path": "issue/ABC-3/transitions", "body": { "transition": { "id": "31" } } });
    let (success, output) = call_tool(&*tracker, &issue, call).await;
    assert!(success, "{output}");
    assert_eq!(
        output["body"]["path"],
        "/rest/api/2/issue/ABC-3/transitions"
    );
    assert_eq!(output["body"]["seen"], "Basic [secret]");
    for path in [
        "issue/XYZ-1",
        "issue",
        "issue/bulkfetch",
        "user",
        "issue/ABC-3/../../user",
        "search/jql",
    ] {
        let (success, output) =
            call_tool(&*tracker, &issue, json!({ "method": "GET", "path": path })).await;
        assert!(!success && output["error"].is_string(), "{path}: {output}");
    }
    assert_eq!(server.requests().len(), 1);
}
