//! Servers that do not keep to the protocol, go away in the middle, or are not there at all.

use std::time::Duration;

use quipu_client::wire::{ThreadItem, ThreadLoadedListParams, TurnStatus};
use quipu_client::{Cause, Client, ConnectError, Error, Event, Options, Timeouts, prompt};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{Peer, scripted, soon, unconnected, within};

fn turn(status: &str) -> Value {
    json!({ "id": "u", "items": [], "status": status, "error": null })
}

fn said(text: &str) -> Value {
    json!({ "type": "agentMessage", "id": "i", "text": text, "phase": null, "memoryCitation": null })
}

#[tokio::test]
async fn nonsense_disturbs_no_call() {
    let (client, mut peer) = scripted(|it| it).await;
    let mut events = client.events();
    let call = client.thread_loaded_list(ThreadLoadedListParams::default());
    let request = peer.asked("thread/loaded/list").await;
    let id = &request["id"];
    peer.0
        .send([
            "",
            "warning: this is no JSON",
            "[]",
            "{}",
            "7",
            r#"{"id":null,"result":{}}"#,
            r#"{"error":{"code":-32700,"message":"your message"},"id":null}"#,
            r#"{"id":999,"result":{}}"#,
            r#"{"id":"1","result":{}}"#,
            r#"{"id":-1,"error":{"code":1,"message":"nobody asked"}}"#,
        ])
        .await;
    let answer = json!({ "data": ["a"], "nextCursor": null });
    peer.answer(&request, answer).await;
    // The same answer again, and another one to the same request.
    peer.answer(&request, json!({ "data": [], "nextCursor": null }))
        .await;
    peer.say(json!({ "id": id, "error": { "code": 1, "message": "too late" } }))
        .await;
    assert_eq!(soon(call).await.data, ["a"]);
    let call = client.thread_loaded_list(ThreadLoadedListParams::default());
    let request = peer.asked("thread/loaded/list").await;
    peer.answer(&request, json!({ "data": ["b"], "nextCursor": null }))
        .await;
    assert_eq!(soon(call).await.data, ["b"]);
    let first = within("an event", events.next()).await;
    assert!(matches!(first, Some(Event::Malformed { .. })), "{first:?}");
}

#[tokio::test]
async fn a_turn_that_ends_before_its_start_is_answered_is_whole() {
    let (client, mut peer) = scripted(|it| it).await;
    let running = client.run_turn(prompt("t", "hello"));
    let serve = async {
        let request = peer.asked("turn/start").await;
        let item = json!({ "threadId": "t", "turnId": "u", "item": said("done") });
        peer.notify("item/completed", item).await;
        let ended = json!({ "threadId": "t", "turn": turn("completed") });
        peer.notify("turn/completed", ended).await;
        peer.answer(&request, json!({ "turn": turn("inProgress") }))
            .await;
    };
    let (done, ()) = within("the turn", async { tokio::join!(running, serve) }).await;
    let done = done.unwrap();
    assert_eq!(done.turn.status, TurnStatus::Completed);
    assert_eq!(done.agent_message, "done");
    assert!(matches!(&done.items[..], [ThreadItem::AgentMessage { .. }]));
}

#[tokio::test]
async fn the_end_of_the_server_in_the_middle_ends_the_turn() {
    let (client, mut peer) = scripted(|it| it).await;
    let mut stream = {
        let starting = client.stream_turn(prompt("t", "hello"));
        let serve = async {
            let request = peer.asked("turn/start").await;
            peer.answer(&request, json!({ "turn": turn("inProgress") }))
                .await;
        };
        let (stream, ()) = within("the start", async { tokio::join!(starting, serve) }).await;
        stream.unwrap()
    };
    peer.0.end().await;
    let last = within("an event", stream.next()).await;
    assert!(
        matches!(last, Some(Event::Closed(Cause::ServerClosed))),
        "{last:?}"
    );
    let ended = within("the end", stream.finish()).await;
    assert!(
        matches!(ended, Err(Error::Closed(Cause::ServerClosed))),
        "{ended:?}"
    );
}

#[tokio::test]
async fn the_exit_of_a_child_in_the_middle_of_a_turn_tells_its_last_words() {
    let directory = TempDir::new().unwrap();
    let script = r#"
        read -r hello
        echo '{"id":0,"result":{"userAgent":"sh/0.118.0 (test)"}}'
        read -r initialized
        read -r start
        echo '{"id":1,"result":{"turn":{"id":"u","items":[],"status":"inProgress","error":null}}}'
        echo 'out of memory' >&2
        exit 9
    "#;
    let options = Options::spawn("/bin/sh")
        .args(["-c", script])
        .cwd(directory.path());
    let client = within("a connection", Client::connect(options))
        .await
        .unwrap();
    let error = within("the end", client.run_turn(prompt("t", "hello")))
        .await
        .unwrap_err();
    let Error::Closed(Cause::ServerExited(exit)) = &error else {
        panic!("{error}");
    };
    assert_eq!(exit.status.code(), Some(9));
    assert_eq!(exit.stderr, "out of memory\n");
}

#[tokio::test]
async fn a_server_that_never_answers_is_given_up() {
    let (options, Peer(_silent)) = unconnected();
    let options = options.timeouts(Timeouts {
        handshake: Duration::from_millis(50),
        ..Timeouts::default()
    });
    let error = within("the time limit", Client::connect(options))
        .await
        .unwrap_err();
    let timed_out = matches!(
        error,
        ConnectError::Handshake {
            error: Error::TimedOut { .. },
            ..
        }
    );
    assert!(timed_out, "{error}");
}

#[tokio::test]
async fn a_child_that_refuses_the_handshake_is_quoted_although_it_lives() {
    let script = r#"
        echo 'the licence has expired' >&2
        read -r hello
        echo '{"id":0,"error":{"code":-1,"message":"not today"}}'
        while read -r line; do :; done
    "#;
    let silent = "echo 'the licence has expired' >&2; while read -r line; do :; done";
    for (script, limit) in [(script, 60_000), (silent, 1_000)] {
        let options = Options::spawn("/bin/sh")
            .args(["-c", script])
            .handshake_timeout(Duration::from_millis(limit));
        let connected = within("the refusal", Client::connect(options)).await;
        let Err(ConnectError::Handshake { stderr, .. }) = connected else {
            panic!("{connected:?}");
        };
        assert_eq!(stderr, "the licence has expired\n");
    }
}

#[tokio::test]
async fn places_where_nobody_listens_are_reported() {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("socket");
    let error = Client::connect(Options::unix(&path)).await.unwrap_err();
    assert!(matches!(error, ConnectError::Unix { .. }), "{error}");
    assert!(
        error.to_string().contains(path.to_str().unwrap()),
        "{error}"
    );

    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("ws://{}", port.local_addr().unwrap());
    drop(port);
    let error = Client::connect(Options::websocket(&url)).await.unwrap_err();
    assert!(matches!(error, ConnectError::WebSocket(_)), "{error}");
}
