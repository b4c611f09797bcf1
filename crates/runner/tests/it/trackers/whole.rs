//! The service with a tracker on the network: an issue is found, worked on and closed by the agent's own tool, and the
//! agent never sees the secret.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use quipu_testkit::web::{Reply, WebServer};
use serde_json::json;

use super::TOKEN;
use crate::service::support::Lab;

/// Writes down the environment, closes the issue with the tool, and ends the turn.
const WORK: &str = r#"
env > "$TRACES/environment"
say '{"id":"q","method":"item/tool/call","params":{"threadId":"'"$thread"'","turnId":"t","callId":"c","tool":"github_api","arguments":{"method":"PATCH","path":"issues/3","body":{"state":"closed"}}}}'
IFS= read -r line; printf '%s\n' "$line" > "$TRACES/answer"
finish completed"#;

#[tokio::test(flavor = "multi_thread")]
async fn an_issue_is_worked_on_and_closed_without_the_secret_reaching_the_agent() {
    let closed = Arc::new(AtomicBool::new(false));
    let state = Arc::clone(&closed);
    let server = WebServer::start(move |request| {
        assert_eq!(request.headers["authorization"], format!("Bearer {TOKEN}"));
        if request.method == "PATCH" {
            state.store(true, Ordering::SeqCst);
        }
        let is_closed = state.load(Ordering::SeqCst);
        let issue = json!({
            "number": 3, "title": "Fix the door", "labels": [], "assignees": [],
            "state": if is_closed { "closed" } else { "open" },
            "seen": request.headers["authorization"],
        });
        let wants_open = request.path.contains("state=open");
        match request.path.contains("/issues?") {
            true if wants_open == is_closed => Reply::json(&json!([])),
            true => Reply::json(&json!([issue])),
            false => Reply::json(&issue),
        }
    })
    .await
    .unwrap();
    // Cargo sets this variable for every test, so an agent that inherits it shows it.
    let front = format!(
        "tracker: {{ kind: github, provider: {{ repository: own/door, token: $CARGO_PKG_NAME, endpoint: \"{}\" }} }}",
        server.url()
    );
    assert!(std::env::var_os("CARGO_PKG_NAME").is_some());
    let mut lab = Lab::new(WORK, &front);
    let variables = &mut lab.options.env.variables;
    variables.insert("CARGO_PKG_NAME".to_owned(), TOKEN.to_owned());
    let running = lab.start().await;
    running.until_completed(1).await;
    running.stop().await;
    assert!(closed.load(Ordering::SeqCst));
    let read = |name: &str| std::fs::read_to_string(lab.path().join("traces").join(name)).unwrap();
    assert!(read("environment").contains("PATH="));
    assert!(!read("environment").contains("CARGO_PKG_NAME"));
    assert!(
        read("answer").contains(r#"\"seen\":\"Bearer [secret]\""#),
        "{}",
        read("answer")
    );
    for name in ["environment", "answer", "door-3"] {
        assert!(!read(name).contains(TOKEN), "{name}");
    }
    assert_eq!(lab.prompts("door-3"), ["Do door-3: Fix the door"]);
    let offered = lab.trace("door-3");
    let start = offered
        .iter()
        .find(|it| it["method"] == "thread/start")
        .unwrap();
    let tools = start["params"]["dynamicTools"].as_array().unwrap();
    assert_eq!(tools.len(), 1, "no other tracker's");
    assert_eq!(tools[0]["name"], "github_api");
}
