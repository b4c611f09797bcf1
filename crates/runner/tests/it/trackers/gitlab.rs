//! GitLab: one project, its issues by state or number, and the tool `gitlab_api`.

use std::sync::Arc;

use quipu_runner::tracker::{Issue, Tracker};
use quipu_testkit::http::Request;
use quipu_testkit::web::{Reply, WebServer};
use serde_json::{Value, json};

use super::{TOKEN, call_tool, open, texts};

async fn tracker(
    answer: impl Fn(&Request) -> Reply + Send + Sync + 'static,
) -> (Arc<dyn Tracker>, WebServer) {
    let server = WebServer::start(answer).await.unwrap();
    let provider = json!({
        "project": "group/sub/door", "token": "$TRACKER_TOKEN", "endpoint": format!("{}/api/v4/", server.url()),
        "state_prefix": "status::",
    });
    (open("gitlab", provider).ok().unwrap(), server)
}

fn record(iid: u64, state: &str) -> Value {
    json!({
        "id": 1000 + iid, "iid": iid, "title": format!("Issue {iid}"), "state": state, "description": null,
        "labels": ["Bug", "priority:1"], "assignees": [], "assignee": null,
        "web_url": format!("https://gitlab.com/group/sub/door/-/issues/{iid}"),
        "created_at": "2026-01-02T03:04:05.678Z", "updated_at": "2026-01-02T03:04:05.678Z",
    })
}

const PROJECT: &str = "/api/v4/projects/group%2Fsub%2Fdoor";

#[tokio::test]
async fn candidates_are_listed_page_by_page_in_order() {
    let (tracker, _server) = tracker(|request| {
        assert_eq!(request.headers["private-token"], TOKEN);
        let list =
            format!("{PROJECT}/issues?state=opened&order_by=created_at&sort=asc&per_page=100");
        match &request.path {
            path if *path == format!("{list}&page=1") => {
                let mut working = record(4, "opened");
                working["labels"] = json!(["status::Doing"]);
                Reply::json(&json!([record(2, "opened"), working])).header("x-next-page", "2")
            }
            path if *path == format!("{list}&page=2") => {
                Reply::json(&json!([{ "iid": 9 }, record(7, "opened")])).header("x-next-page", "")
            }
            other => Reply::status(404, other),
        }
    })
    .await;
    let issues = tracker
        .issues_in_states(&texts(&["opened", "doing"]))
        .await
        .unwrap();
    let found: Vec<_> = issues
        .iter()
        .map(|it| (&*it.identifier, &*it.state))
        .collect();
    assert_eq!(
        found,
        [
            ("door-2", "opened"),
            ("door-4", "doing"),
            ("door-7", "opened")
        ]
    );
    assert_eq!(
        (issues[0].priority, issues[0].description.as_deref()),
        (Some(1), None)
    );
    assert_eq!(issues[0].native_ref.as_ref().unwrap()["id"], 1002);
}

#[tokio::test]
async fn refresh_asks_for_the_numbers_together_and_fails_on_what_is_malformed() {
    let (tracker, server) = tracker(|request| match request.path.contains("iids[]=3") {
        true => Reply::json(&json!([{ "iid": 3 }])),
        false => Reply::json(&json!([record(1, "closed")])),
    })
    .await;
    let found = tracker
        .issues_by_id(&texts(&["2", "1", "2", "no number"]))
        .await
        .unwrap();
    assert_eq!(
        found
            .iter()
            .map(|it| (&*it.id, &*it.state))
            .collect::<Vec<_>>(),
        [("1", "closed")]
    );
    let path = &server.requests()[0].path;
    assert!(
        path.starts_with(&format!("{PROJECT}/issues?iids[]=1&iids[]=2&")),
        "{path}"
    );
    assert_eq!(server.requests().len(), 1);
    let error = tracker.issues_by_id(&texts(&["3"])).await.unwrap_err();
    assert_eq!(error.category.name(), "tracker_response");
    assert_eq!(tracker.issues_by_id(&[]).await.unwrap(), []);
    assert_eq!(server.requests().len(), 2);
}

#[tokio::test]
async fn failures_have_categories_and_no_secrets() {
    for (reply, category) in [
        (
            Reply::status(401, r#"{"message":"401 Unauthorized"}"#),
            "tracker_status",
        ),
        (
            Reply::status(
                401,
                r#"{"error":"invalid_token","error_description":"Token is expired."}"#,
            ),
            "tracker_status",
        ),
        (
            Reply::status(429, "Retry later").header("retry-after", "3"),
            "tracker_rate_limited",
        ),
        (Reply::status(200, "{}"), "tracker_response"),
        (
            Reply::status(200, "[").header("x-next-page", "2"),
            "tracker_response",
        ),
        (
            Reply::status(200, "[]").header("x-next-page", "1"),
            "tracker_pagination",
        ),
        (
            Reply::status(200, "[]").header("x-next-page", "two"),
            "tracker_pagination",
        ),
    ] {
        let said = reply.clone();
        let (tracker, _server) = tracker(move |_| said.clone()).await;
        let error = tracker
            .issues_in_states(&texts(&["opened"]))
            .await
            .unwrap_err();
        assert_eq!(error.category.name(), category, "{reply:?}: {error}");
        assert!(!error.to_string().contains(TOKEN));
        if reply.body.contains("expired") {
            assert!(error.message.contains("Token is expired."), "{error}");
        }
    }
}

#[tokio::test]
async fn the_tool_reaches_the_project_and_nothing_else() {
    let (tracker, server) = tracker(|request| {
        Reply::json(&json!({ "path": request.path, "token": request.headers["private-token"] }))
    })
    .await;
    let issue = Issue::new("3", "door-3", "t", "opened");
    assert_eq!(tracker.tools(&issue)[0].spec().name, "gitlab_api");
    let call = json!({ "method": "PUT", "path": "issues/3?state_event=close" });
    let (success, output) = call_tool(&*tracker, &issue, call).await;
    assert!(success);
    assert_eq!(
        output["body"]["path"],
        format!("{PROJECT}/issues/3?state_event=close")
    );
    assert_eq!(output["body"]["token"], "[secret]");
    let outside = json!({ "method": "GET", "path": "variables" });
    let (success, _) = call_tool(&*tracker, &issue, outside).await;
    assert!(!success);
    assert_eq!(server.requests().len(), 1);
}
