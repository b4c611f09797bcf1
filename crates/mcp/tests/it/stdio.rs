//! Servers that are processes, well-behaved and otherwise.

use std::time::Duration;

use quipu_mcp::{CallEvent, Elicitation, Listing, Reaction, Transport};
use quipu_testkit::wait::{gone, until};
use serde_json::Value;
use tokio::sync::mpsc;

use crate::lab::{call, call_with, failure, fleet, logged, program, start, text};

/// Whether a server gives its list in pages or in one piece.
#[tokio::test(flavor = "multi_thread")]
async fn a_list_has_an_end_and_a_tool_a_size() {
    let client = start(&program("many")).await.unwrap();
    assert_eq!(client.tools().len(), 10_000);
    let client = start(&program("large")).await.unwrap();
    let tools = client.tools();
    assert!(tools.iter().any(|tool| tool.name == "echo"));
    assert!(tools.iter().all(|tool| tool.name != "large"));
    let resources = client.list_all(Listing::Resources).await.unwrap();
    assert_eq!(resources.len(), 5, "of 3 MiB each");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_is_started_listed_and_called() {
    let directory = tempfile::tempdir().unwrap();
    let log = directory.path().join("log");
    let client = start(&logged("", &log)).await.unwrap();
    let tools = client.tools();
    let echo = tools.iter().find(|it| it.name == "echo").unwrap();
    assert_eq!(echo.title.as_deref(), Some("Echo"));
    assert_eq!(echo.hints.read_only_hint, Some(true));
    let result = call(&client, "echo").await.unwrap();
    assert_eq!(text(&result), r#"{"arguments":{"z":1}}"#);
    let read = std::fs::read_to_string(log).unwrap();
    let lines: Vec<Value> = read
        .lines()
        .map(|it| serde_json::from_str(it).unwrap())
        .collect();
    assert_eq!(lines[0]["params"]["protocolVersion"], "2025-06-18");
    assert_eq!(lines[0]["params"]["clientInfo"]["name"], "test");
    assert_eq!(lines[1]["method"], "notifications/initialized");
    assert_eq!(lines[2]["method"], "tools/list");
    assert_eq!(lines[3]["params"]["_meta"]["note"], "hi");
    assert_eq!(lines[3]["params"]["_meta"]["progressToken"], lines[3]["id"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn all_pages_of_a_list_are_read() {
    let client = start(&program("paged")).await.unwrap();
    assert!(client.tools().iter().any(|it| it.name == "hang"));
    let first = client.list(Listing::Resources, None).await.unwrap();
    assert_eq!(first.entries.len(), 1);
    assert_eq!(first.next_cursor.as_deref(), Some("two"));
    let all = client.list_all(Listing::Resources).await.unwrap();
    assert_eq!(all.len(), 2);
    let templates = client.list_all(Listing::ResourceTemplates).await.unwrap();
    assert_eq!(templates.len(), 1);
    let contents = client.read_resource("note://one").await.unwrap();
    assert!(contents.get().contains("abc"));
    let missing = client.read_resource("note://no").await.unwrap_err();
    assert_eq!(missing.to_string(), "Mcp error: -32002: no such resource");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_tells_how_far_it_is() {
    let client = start(&program("")).await.unwrap();
    let (events, mut messages) = mpsc::channel(8);
    let result = call_with(&client, "progress", events).await.unwrap();
    assert_eq!(text(&result), "done");
    for expected in ["step 1", "step 2"] {
        match messages.recv().await {
            Some(CallEvent::Progress(message)) => assert_eq!(message, expected),
            other => panic!("no progress: {other:?}"),
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_may_ask_and_hears_every_kind_of_answer() {
    let client = start(&program("")).await.unwrap();
    let yes = serde_json::value::RawValue::from_string(r#"{"ok":true}"#.to_owned()).unwrap();
    let reactions = [
        (
            Reaction::Accept(Some(yes)),
            r#"{"action":"accept","content":{"ok":true}}"#,
        ),
        (
            Reaction::Accept(None),
            r#"{"action":"accept","content":{}}"#,
        ),
        (Reaction::Decline, r#"{"action":"decline"}"#),
        (Reaction::Cancel, r#"{"action":"cancel"}"#),
        (
            Reaction::Unsupported("why".to_owned()),
            r#"{"code":-32602,"message":"why"}"#,
        ),
    ];
    for (reaction, heard) in reactions {
        let (events, mut messages) = mpsc::channel(8);
        let answers = async {
            let Some(CallEvent::Elicit(question)) = messages.recv().await else {
                panic!("no question");
            };
            assert!(
                matches!(&question.elicitation, Elicitation::Form { message, .. } if message == "Confirm?")
            );
            question.reaction.send(reaction).unwrap();
        };
        let (result, ()) = tokio::join!(call_with(&client, "ask", events), answers);
        assert_eq!(text(&result.unwrap()), heard);
    }
    // A question that nobody takes is cancelled.
    let dropped = call(&client, "ask_url").await.unwrap();
    assert!(text(&dropped).contains("nobody can be asked now"));
}

#[tokio::test(flavor = "multi_thread")]
async fn time_stands_still_while_the_user_is_asked() {
    let mut spec = program("");
    spec.tool_timeout = Duration::from_millis(300);
    let client = start(&spec).await.unwrap();
    let (events, mut messages) = mpsc::channel(8);
    let answers = async {
        let Some(CallEvent::Elicit(question)) = messages.recv().await else {
            panic!("no question");
        };
        // Another call of the same server runs out of time only after the question is answered.
        let hang = call(&client, "hang");
        let paused = tokio::time::timeout(Duration::from_millis(900), hang).await;
        assert!(paused.is_err(), "{paused:?}");
        question.reaction.send(Reaction::Decline).unwrap();
    };
    let (result, ()) = tokio::join!(call_with(&client, "ask", events), answers);
    assert_eq!(text(&result.unwrap()), r#""cancelled""#);
    let failure = failure(call(&client, "hang").await);
    assert_eq!(failure, "timed out awaiting tools/call after 300ms");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_is_given_up_is_cancelled() {
    let directory = tempfile::tempdir().unwrap();
    let log = directory.path().join("log");
    let client = start(&logged("", &log)).await.unwrap();
    let (events, mut messages) = mpsc::channel(8);
    let (abandon, abandoned) = tokio::sync::oneshot::channel();
    let running = tokio::spawn({
        let client = client.clone();
        async move {
            tokio::select! {
                result = call_with(&client, "ask", events) => panic!("it ended: {result:?}"),
                _ = abandoned => {}
            }
        }
    });
    let question = messages.recv().await;
    assert!(matches!(question, Some(CallEvent::Elicit(_))));
    abandon.send(()).unwrap();
    running.await.unwrap();
    // The server goes on to the next call, so it has heard.
    call(&client, "echo").await.unwrap();
    assert!(
        std::fs::read_to_string(log)
            .unwrap()
            .contains("notifications/cancelled")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_crash_costs_its_own_call_and_the_server_comes_back() {
    let (fleet, _told) = fleet(program(""));
    let client = fleet.client("scripted").await.unwrap();
    assert_eq!(failure(call(&client, "crash").await), "Transport closed");
    assert_eq!(failure(call(&client, "echo").await), "Transport closed");
    let again = fleet.client("scripted").await.unwrap();
    assert!(call(&again, "echo").await.is_ok());
}

#[tokio::test(flavor = "multi_thread")]
async fn garbage_and_floods_are_survived() {
    let client = start(&program("noisy")).await.unwrap();
    let result = call(&client, "garbage").await.unwrap();
    assert_eq!(text(&result), "after the garbage");
    let result = call(&client, "flood").await.unwrap();
    assert_eq!(text(&result), "after the flood");
    assert!(call(&client, "echo").await.is_ok());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_without_end_ends_the_connection() {
    let client = start(&program("")).await.unwrap();
    let failure = failure(call(&client, "huge").await);
    assert_eq!(
        failure,
        "Transport closed: the server sent a message of more than 32 MiB"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_reads_nothing_costs_only_time() {
    let mut spec = program("");
    spec.tool_timeout = Duration::from_millis(500);
    let client = start(&spec).await.unwrap();
    for _ in 0..3 {
        let failure = failure(call(&client, "deaf").await);
        assert!(failure.starts_with("timed out"), "{failure}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn servers_that_do_not_start_say_why() {
    let mut slow = program("silent");
    slow.startup_timeout = Duration::from_millis(1500);
    let mut missing = program("");
    if let Transport::Stdio(program) = &mut missing.transport {
        program.argv[0] = "no-such-program".into();
    }
    let cases = [
        (slow, "timed out handshaking with MCP server after 1.5s"),
        (
            missing,
            "cannot start `no-such-program`: No such file or directory (os error 2)",
        ),
        (
            program("refuse"),
            "handshaking with MCP server failed: JSON-RPC error: -32000: no way",
        ),
        (
            program("exit"),
            "handshaking with MCP server failed: connection closed: initialize response",
        ),
    ];
    for (spec, expected) in cases {
        let error = start(&spec).await.err().unwrap();
        assert_eq!(error.to_string(), expected);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_and_its_children_end_with_its_client() {
    for mode in ["", "stubborn"] {
        let client = start(&program(mode)).await.unwrap();
        let result = call(&client, "family").await.unwrap();
        let ids = text(&result);
        drop(client);
        for id in ids.split(' ') {
            gone(id).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn changed_tools_are_read_again() {
    let client = start(&program("")).await.unwrap();
    call(&client, "grow").await.unwrap();
    let is_read = || client.tools().iter().any(|it| it.name == "grown");
    until("the new tools", is_read).await;
}
