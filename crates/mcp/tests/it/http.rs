//! Servers that are addresses.

use quipu_mcp::{CallEvent, Reaction};
use quipu_testkit::mcp::{HttpOptions, McpHttpServer};
use tokio::sync::mpsc;

use crate::lab::{address, call, call_with, endpoint, failure, start, text};

async fn server(streams: bool) -> McpHttpServer {
    let options = HttpOptions {
        streams,
        ..HttpOptions::default()
    };
    McpHttpServer::start(options).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_come_as_json_or_as_a_stream() {
    for streams in [false, true] {
        let server = server(streams).await;
        let mut endpoint = endpoint(server.url());
        endpoint.bearer = Some("secret-token".to_owned());
        endpoint.headers = vec![("x-team".to_owned(), "blue".to_owned())];
        let client = start(&address(endpoint)).await.unwrap();
        let result = call(&client, "echo").await.unwrap();
        assert_eq!(text(&result), r#"{"arguments":{"z":1}}"#);
        let posts: Vec<_> = server
            .requests()
            .into_iter()
            .filter(|it| it.method == "POST")
            .collect();
        for post in &posts {
            assert_eq!(post.headers["authorization"], "Bearer secret-token");
            assert_eq!(post.headers["x-team"], "blue");
        }
        assert!(!posts[0].headers.contains_key("mcp-session-id"));
        for post in &posts[1..] {
            assert_eq!(post.headers["mcp-session-id"], "session-1");
            assert_eq!(post.headers["mcp-protocol-version"], "2025-06-18");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn progress_and_questions_travel_on_the_stream_of_a_call() {
    let server = server(false).await;
    let client = start(&address(endpoint(server.url()))).await.unwrap();
    let (events, mut messages) = mpsc::channel(8);
    let result = call_with(&client, "progress", events).await.unwrap();
    assert_eq!(text(&result), "done");
    assert!(matches!(messages.recv().await, Some(CallEvent::Progress(it)) if it == "step 1"));

    let (events, mut messages) = mpsc::channel(8);
    let answers = async {
        let Some(CallEvent::Elicit(question)) = messages.recv().await else {
            panic!("no question");
        };
        question.reaction.send(Reaction::Decline).unwrap();
    };
    let (result, ()) = tokio::join!(call_with(&client, "ask", events), answers);
    assert_eq!(text(&result.unwrap()), r#"{"action":"decline"}"#);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_that_the_server_forgot_is_begun_anew() {
    let server = server(false).await;
    let client = start(&address(endpoint(server.url()))).await.unwrap();
    server.forget_session();
    assert!(call(&client, "echo").await.is_ok());
    let last = server.requests().pop().unwrap();
    assert_eq!(last.headers["mcp-session-id"], "session-2");
}

#[tokio::test(flavor = "multi_thread")]
async fn failures_cost_their_own_call() {
    let server = server(false).await;
    let client = start(&address(endpoint(server.url()))).await.unwrap();
    assert_eq!(
        failure(call(&client, "fail").await),
        "Mcp error: -32000: tool broke"
    );
    let broken = failure(call(&client, "crash").await);
    assert!(
        broken.starts_with("error sending request for url"),
        "{broken}"
    );
    assert!(call(&client, "echo").await.is_ok());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_address_that_nobody_serves_says_so_without_secrets() {
    let mut endpoint = endpoint("http://127.0.0.1:9/mcp?key=hidden".to_owned());
    endpoint.bearer = Some("hidden".to_owned());
    let error = start(&address(endpoint)).await.err().unwrap().to_string();
    assert!(
        error.starts_with(
            "handshaking with MCP server failed: error sending request for url (http://127.0.0.1:9/mcp): "
        ),
        "{error}"
    );
    assert!(!error.contains("hidden"), "{error}");
}
