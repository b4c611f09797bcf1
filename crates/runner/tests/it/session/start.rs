//! Requirements 8 to 14: handshake, thread, turns.

use std::sync::Arc;

use quipu_runner::session::{EventKind, SessionOptions};
use serde_json::{Value, json};

use super::support::{Lab, start, within};
use super::tools::Echo;

const ONE_TURN: &str = "greet; turn 3 turn-1; completed turn-1; stay";

#[tokio::test]
async fn r08_the_handshake_introduces_the_client_and_waits_for_its_answer() {
    let lab = Lab::new(ONE_TURN);
    lab.run().await.unwrap();
    let trace = lab.trace();
    let methods: Vec<_> = trace
        .iter()
        .take(4)
        .map(|it| it["method"].clone())
        .collect();
    assert_eq!(
        methods,
        ["initialize", "initialized", "thread/start", "turn/start"]
    );
    let ids: Vec<_> = trace.iter().take(4).map(|it| it["id"].clone()).collect();
    assert_eq!(ids, [json!(1), Value::Null, json!(2), json!(3)]);
    let hello = lab.sent("initialize");
    assert_eq!(hello["clientInfo"]["name"], "quipu-runner");
    assert!(hello["clientInfo"]["title"].is_string() && hello["clientInfo"]["version"].is_string());
    assert_eq!(hello["capabilities"]["experimentalApi"], true);
    assert_eq!(lab.sent("initialized"), json!({}));
}

#[tokio::test]
async fn r09_the_thread_gets_policy_sandbox_cwd_and_tools() {
    let lab = Lab::new(ONE_TURN);
    let options = SessionOptions {
        approval_policy: json!("on-request"),
        thread_sandbox: Some(json!("read-only")),
        model: Some("some-model".to_owned()),
        tools: vec![Arc::new(Echo)],
        ..lab.options()
    };
    lab.run_with(options).await.unwrap();
    let expected = json!({
        "approvalPolicy": "on-request",
        "sandbox": "read-only",
        "cwd": lab.path(),
        "model": "some-model",
        "dynamicTools": [{
            "name": "echo",
            "description": "Returns what it is given.",
            "inputSchema": { "type": "object", "required": ["value"] },
        }],
    });
    assert_eq!(lab.sent("thread/start"), expected);
}

#[tokio::test]
async fn r09_a_sandbox_object_becomes_the_mode_of_the_thread_and_the_policy_of_its_turns() {
    for (kind, mode) in [
        ("workspaceWrite", json!("workspace-write")),
        ("readOnly", json!("read-only")),
        ("dangerFullAccess", json!("danger-full-access")),
        ("externalSandbox", Value::Null),
    ] {
        let lab = Lab::new(ONE_TURN);
        let object = json!({ "type": kind, "networkAccess": false });
        let options = SessionOptions {
            thread_sandbox: Some(object.clone()),
            ..lab.options()
        };
        lab.run_with(options).await.unwrap();
        assert_eq!(lab.sent("thread/start")["sandbox"], mode);
        assert_eq!(lab.sent("turn/start")["sandboxPolicy"], object);
    }
}

#[tokio::test]
async fn r10_an_answer_without_a_thread_id_is_an_error_of_its_own() {
    for answer in [
        r#"{}"#,
        r#"{"thread":{}}"#,
        r#"{"thread":{"id":""}}"#,
        r#"{"thread":{"id":7}}"#,
    ] {
        let lab = Lab::new(&format!(
            "hello; get; say '{{\"id\":2,\"result\":{answer}}}'; stay"
        ));
        let error = lab.run().await.unwrap_err();
        assert_eq!(error.code(), "invalid_thread_payload", "{error}");
        let failed = lab.events(EventKind::StartupFailed);
        assert_eq!(failed[0].payload["code"], "invalid_thread_payload");
    }
}

#[tokio::test]
async fn r11_every_prompt_is_a_new_turn_on_the_same_thread() {
    let lab = Lab::new(
        "greet; turn 3 turn-1; completed turn-1; turn 4 turn-2; completed turn-2; turn 5 turn-3; completed turn-3; stay",
    );
    let mut session = lab.session().await;
    for (number, prompt) in ["one", "two", "three"].into_iter().enumerate() {
        let done = within("a turn", session.run_turn(prompt)).await.unwrap();
        assert_eq!(done.turn_id, format!("turn-{}", number + 1));
    }
    session.stop().await;
    let trace = lab.trace();
    assert_eq!(
        trace
            .iter()
            .filter(|it| it["method"] == "thread/start")
            .count(),
        1
    );
    let turns: Vec<_> = trace
        .iter()
        .filter(|it| it["method"] == "turn/start")
        .map(|it| {
            (
                it["params"]["threadId"].clone(),
                it["params"]["input"][0]["text"].clone(),
            )
        })
        .collect();
    let expected = ["one", "two", "three"].map(|text| (json!("thread-1"), json!(text)));
    assert_eq!(turns, expected);
}

#[tokio::test]
async fn r12_a_turn_has_input_cwd_title_and_policies() {
    let lab = Lab::new(ONE_TURN);
    let policy = json!({ "type": "workspaceWrite", "networkAccess": true });
    let options = SessionOptions {
        title: Some("ABC-1: Fix the door".to_owned()),
        turn_sandbox_policy: Some(policy.clone()),
        ..lab.options()
    };
    lab.run_with(options).await.unwrap();
    let expected = json!({
        "threadId": "thread-1",
        "input": [{ "type": "text", "text": "do it" }],
        "cwd": lab.path(),
        "title": "ABC-1: Fix the door",
        "approvalPolicy": "never",
        "sandboxPolicy": policy,
    });
    assert_eq!(lab.sent("turn/start"), expected);
}

#[tokio::test]
async fn r12_an_answer_without_a_turn_id_is_an_error() {
    let lab =
        Lab::new(r#"greet; get; say '{"id":3,"result":{"turn":{"status":"inProgress"}}}'; stay"#);
    assert_eq!(lab.run().await.unwrap_err().code(), "invalid_turn_payload");
}

#[tokio::test]
async fn r13_the_session_id_is_thread_and_turn_and_new_with_each_turn() {
    let lab =
        Lab::new("greet; turn 3 turn-1; completed turn-1; turn 4 turn-2; completed turn-2; stay");
    let mut session = lab.session().await;
    let first = within("a turn", session.run_turn("one")).await.unwrap();
    let second = within("a turn", session.run_turn("two")).await.unwrap();
    assert_eq!(session.thread_id(), "thread-1");
    session.stop().await;
    assert_eq!(
        (&*first.session_id, &*second.session_id),
        ("thread-1-turn-1", "thread-1-turn-2")
    );
    let started = lab.events(EventKind::SessionStarted);
    let ids: Vec<_> = started
        .iter()
        .map(|it| it.session_id.as_deref().unwrap())
        .collect();
    assert_eq!(ids, ["thread-1-turn-1", "thread-1-turn-2"]);
    assert_eq!(
        started[1].payload,
        json!({ "threadId": "thread-1", "turnId": "turn-2" })
    );
}

#[tokio::test]
async fn r14_the_server_may_use_a_request_id_again() {
    let ask = r#"say '{"id":9,"method":"applyPatchApproval","params":{"conversationId":"thread-1"}}'; get"#;
    let lab = Lab::new(&format!(
        "greet; turn 3 turn-1; {ask}; completed turn-1; turn 4 turn-2; {ask}; completed turn-2; stay"
    ));
    let mut session = lab.session().await;
    within("a turn", session.run_turn("one")).await.unwrap();
    within("a turn", session.run_turn("two")).await.unwrap();
    session.stop().await;
    let answers = lab.trace().into_iter().filter(|it| it["id"] == 9);
    let decisions: Vec<_> = answers.map(|it| it["result"]["decision"].clone()).collect();
    assert_eq!(decisions, ["approved_for_session", "approved_for_session"]);
}

#[tokio::test]
async fn a_thread_can_be_resumed() {
    let lab = Lab::new(ONE_TURN);
    let options = SessionOptions {
        resume: Some("thread-1".to_owned()),
        ..lab.options()
    };
    lab.run_with(options).await.unwrap();
    let resume = lab.sent("thread/resume");
    assert_eq!(
        (&resume["threadId"], &resume["cwd"]),
        (&json!("thread-1"), &json!(lab.path()))
    );
    assert!(lab.trace().iter().all(|it| it["method"] != "thread/start"));
}

#[tokio::test]
async fn a_workspace_that_is_not_an_absolute_directory_is_refused() {
    let lab = Lab::new(ONE_TURN);
    for workspace in ["relative", "/no/such/directory", "/etc/passwd"] {
        let options = SessionOptions {
            workspace: workspace.into(),
            ..lab.options()
        };
        let error = start(options).await.err().unwrap();
        assert_eq!(error.code(), "invalid_workspace_cwd", "{error}");
    }
    assert_eq!(lab.trace(), Vec::<Value>::new());
}

#[tokio::test]
async fn variables_are_set_and_removed_in_the_environment_of_the_server() {
    let lab = Lab::new(
        "echo \"[$CARGO_MANIFEST_DIR] [$GIVEN]\" > variables; greet; turn 3 t; completed t; stay",
    );
    // Cargo sets it for every test.
    assert!(std::env::var_os("CARGO_MANIFEST_DIR").is_some());
    let options = SessionOptions {
        environment: vec![
            ("CARGO_MANIFEST_DIR".into(), None),
            ("GIVEN".into(), Some("it's here".into())),
        ],
        ..lab.options()
    };
    lab.run_with(options).await.unwrap();
    let variables = std::fs::read_to_string(lab.path().join("variables")).unwrap();
    assert_eq!(variables, "[] [it's here]\n");
}
