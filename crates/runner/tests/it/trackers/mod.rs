//! Trackers against scripted servers that check what they are asked.

mod github;
mod gitlab;
mod jira;
mod linear;
mod whole;

use std::path::Path;

use quipu_runner::config::TrackerConfig;
use quipu_runner::env::Env;
use quipu_runner::tracker;
use quipu_testkit::web::{Reply, WebServer};
use serde_json::{Value, json};

/// The token of every test, which must go nowhere but into its header.
const TOKEN: &str = "tok_0123456789abcdef";

/// A tracker with these settings below `tracker.provider`.
fn open(
    kind: &str,
    provider: Value,
) -> Result<std::sync::Arc<dyn tracker::Tracker>, tracker::TrackerError> {
    open_with(kind, provider, &[("TRACKER_TOKEN", TOKEN)])
}

fn open_with(
    kind: &str,
    provider: Value,
    variables: &[(&str, &str)],
) -> Result<std::sync::Arc<dyn tracker::Tracker>, tracker::TrackerError> {
    let (active, terminal) = tracker::default_states(kind).unwrap();
    let owned = |states: &[&str]| states.iter().map(|it| (*it).to_owned()).collect();
    let Value::Object(provider) = provider else {
        panic!("settings are an object");
    };
    let config = TrackerConfig {
        kind: kind.to_owned(),
        provider,
        required_labels: Vec::new(),
        active_states: owned(active),
        terminal_states: owned(terminal),
    };
    let mut env = Env::of_process(Path::new("/"));
    env.variables = variables
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect();
    tracker::open(&config, &env)
}

fn texts(items: &[&str]) -> Vec<String> {
    items.iter().map(|it| (*it).to_owned()).collect()
}

/// Calls the one tool that a tracker offers for an issue.
async fn call_tool(
    tracker: &dyn tracker::Tracker,
    issue: &tracker::Issue,
    arguments: Value,
) -> (bool, Value) {
    let tools = tracker.tools(issue);
    let [tool] = &tools[..] else {
        panic!("one tool");
    };
    let result = tool.call(arguments).await;
    (result.success, result.output)
}

#[tokio::test]
async fn secrets_are_required_and_may_be_in_a_variable_of_any_name() {
    for (kind, scope, usual) in [
        ("github", json!({ "repository": "o/r" }), "GITHUB_TOKEN"),
        ("gitlab", json!({ "project": "g/p" }), "GITLAB_TOKEN"),
        ("linear", json!({ "project_slug": "p" }), "LINEAR_API_KEY"),
        (
            "jira",
            json!({ "project": "ABC", "endpoint": "https://x.atlassian.net" }),
            "JIRA_API_TOKEN",
        ),
    ] {
        for variables in [&[][..], &[(usual, "")], &[(usual, "  ")]] {
            let error = open_with(kind, scope.clone(), variables).err().unwrap();
            assert_eq!(error.category.name(), "missing_tracker_secret");
            assert!(error.message.contains(usual), "{error}");
        }
        let found = open_with(kind, scope.clone(), &[(usual, "abc")])
            .ok()
            .unwrap();
        assert!(found.secret_variables().contains(&usual.to_owned()));
        let key = match kind {
            "linear" => "api_key",
            "jira" => "api_token",
            _ => "token",
        };
        let mut named = scope.clone();
        named[key] = json!("$MY_OWN");
        let found = open_with(kind, named, &[("MY_OWN", "abc")]).ok().unwrap();
        // Both are kept from agents: the usual one may hold a token as well.
        assert!(
            ["MY_OWN", usual]
                .iter()
                .all(|it| found.secret_variables().contains(&(*it).to_owned()))
        );
    }
}

#[tokio::test]
async fn settings_that_cannot_be_used_are_refused() {
    for (kind, provider) in [
        ("github", json!({})),
        ("github", json!({ "repository": "only-one-part" })),
        ("github", json!({ "repository": "o/r/../x" })),
        ("github", json!({ "repository": ["o", "r"] })),
        ("gitlab", json!({ "project": "g/../p" })),
        ("gitlab", json!({ "project": "g/p?x=1" })),
        ("linear", json!({})),
        ("jira", json!({ "project": "ABC" })),
        ("jira", json!({ "project": "a b", "endpoint": "https://x" })),
        (
            "linear",
            json!({ "project_slug": "p", "endpoint": "http://example.com/graphql" }),
        ),
    ] {
        let variables = [
            ("GITHUB_TOKEN", "t"),
            ("GITLAB_TOKEN", "t"),
            ("LINEAR_API_KEY", "t"),
            ("JIRA_API_TOKEN", "t"),
        ];
        let error = open_with(kind, provider.clone(), &variables).err();
        let error = error.unwrap_or_else(|| panic!("{kind}: {provider}"));
        assert_eq!(error.category.name(), "invalid_tracker_config", "{error}");
    }
}

#[tokio::test]
async fn every_tracker_waits_for_as_long_as_it_is_asked_to() {
    let far = "Fri, 06 Nov 9998 08:49:30 GMT";
    let past = "Sun, 06 Nov 1994 08:49:37 GMT";
    for (kind, scope) in [
        ("github", json!({ "repository": "o/r" })),
        ("gitlab", json!({ "project": "g/p" })),
        ("linear", json!({ "project_slug": "p" })),
        ("jira", json!({ "project": "ABC" })),
    ] {
        for (status, header, category, is_asked) in [
            (429, "7", "tracker_rate_limited", (7_000..7_001)),
            (429, past, "tracker_rate_limited", (0..1)),
            (429, far, "tracker_rate_limited", (1 << 40..u64::MAX)),
            (503, "7", "tracker_status", (7_000..7_001)),
            (503, past, "tracker_status", (0..1)),
        ] {
            let reply = Reply::status(status, "").header("retry-after", header);
            let server = WebServer::start(move |_| reply.clone()).await.unwrap();
            let mut provider = scope.clone();
            provider["endpoint"] = server.url().into();
            for key in ["token", "api_key", "api_token"] {
                provider[key] = json!("$TRACKER_TOKEN");
            }
            let tracker = open(kind, provider).ok().unwrap();
            let error = tracker.issues_in_states(&texts(&["open"])).await;
            let error = error.unwrap_err();
            assert_eq!(error.category.name(), category, "{kind}: {error}");
            let wait = error.retry_after_ms.unwrap();
            assert!(is_asked.contains(&wait), "{kind}, {header}: {wait}");
        }
    }
}
