//! What a client shows of its server beyond events: every line as it came, standard error, and whose process it is.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use quipu_client::wire::{Json, ThreadStartParams, TurnStatus};
use quipu_client::{
    Error, ErrorObject, Event, Handler, Options, Received, TurnLimit, TurnLimits, prompt,
};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::support::{connect, scripted, soon, within};

fn begun() -> Value {
    json!({ "turn": { "id": "u", "items": [], "status": "inProgress", "error": null } })
}

#[tokio::test]
async fn an_observer_sees_every_message_as_it_came_and_in_order() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&seen);
    let (client, mut peer) = scripted(move |options| {
        options.observer(move |received| sink.lock().unwrap().push(format!("{received:?}")))
    })
    .await;
    let mut events = client.events();
    let lines = [
        r#"{"method":"new/thing","params":{"b":1,"a":[2]}}"#,
        "warning: not JSON",
        r#"{"id":7,"method":"new/question"}"#,
    ];
    peer.0.send(lines).await;
    let answer = peer.0.next().await.unwrap();
    assert_eq!(answer["error"]["code"], -32601, "{answer}");
    let malformed = async {
        loop {
            if let Some(Event::Malformed { text, .. }) = events.next().await {
                return text;
            }
        }
    };
    assert_eq!(within("the line", malformed).await, "warning: not JSON");
    let seen = seen.lock().unwrap().join("\n");
    let parts = [
        r#"Notification { method: "new/thing", params: "{\"b\":1,\"a\":[2]}" }"#,
        r#"text: "warning: not JSON" }"#,
        r#"Question { method: "new/question", params: "null" }"#,
    ];
    let places: Vec<_> = parts.iter().map(|part| seen.find(part)).collect();
    assert!(places.iter().all(Option::is_some), "{seen}");
    assert!(places.is_sorted(), "{seen}");
}

#[tokio::test]
async fn standard_error_is_followed_line_by_line_while_the_server_lives() {
    let (sender, mut lines) = mpsc::unbounded_channel();
    let script = r#"
        read -r hello
        echo '{"id":0,"result":{"userAgent":"sh/0.118.0 (test)"}}'
        printf 'first\nsec' >&2; printf 'ond\n' >&2
        cat > /dev/null
    "#;
    let options = Options::spawn("/bin/sh")
        .args(["-c", script])
        .observer(move |received| {
            if let Received::Stderr(line) = received {
                sender.send(line.to_owned()).unwrap();
            }
        });
    let client = connect(options).await;
    let mut next = async || within("a line", lines.recv()).await.unwrap();
    assert_eq!(
        (next().await, next().await),
        ("first".into(), "second".into())
    );
    assert_eq!(client.stderr_tail(), "first\nsecond\n");
    let pid = client.server_pid().unwrap();
    let cmdline = std::fs::read_to_string(format!("/proc/{pid}/cmdline"));
    assert!(cmdline.unwrap().starts_with("/bin/sh\0"));
    within("leaving", client.disconnect()).await;
}

#[tokio::test]
async fn what_begins_without_an_id_is_refused() {
    let (client, mut peer) = scripted(|it| it).await;
    for answer in [json!({}), json!({ "thread": { "id": "" } })] {
        let starting = client.start_thread(ThreadStartParams::default());
        let serve = async {
            let request = peer.asked("thread/start").await;
            peer.answer(&request, answer).await;
        };
        let (thread, ()) = within("the answer", async { tokio::join!(starting, serve) }).await;
        let error = thread.unwrap_err();
        assert!(matches!(error, Error::Unreadable { .. }), "{error}");
    }
    let running = client.run_turn(prompt("t", "hello"));
    let serve = async {
        let request = peer.asked("turn/start").await;
        peer.answer(&request, json!({ "turn": {} })).await;
    };
    let (turn, ()) = within("the answer", async { tokio::join!(running, serve) }).await;
    let error = turn.unwrap_err();
    assert!(matches!(error, Error::Unreadable { .. }), "{error}");
}

#[tokio::test]
async fn a_turn_whose_end_names_no_turn_is_completed() {
    let (client, mut peer) = scripted(|it| it).await;
    let streaming = client.stream_turn(prompt("t", "hello"));
    let serve = async {
        let request = peer.asked("turn/start").await;
        peer.answer(&request, begun()).await;
    };
    let (stream, ()) = within("the start", async { tokio::join!(streaming, serve) }).await;
    let mut stream = stream.unwrap();
    let item = json!({ "type": "agentMessage", "id": "i", "text": "done", "phase": null, "memoryCitation": null });
    let said = json!({ "threadId": "t", "turnId": "u", "item": item });
    peer.notify("item/completed", said).await;
    peer.say(json!({ "method": "turn/completed" })).await;
    let mut methods = Vec::new();
    while let Some(event) = within("an event", stream.next()).await {
        methods.push(event.method().to_owned());
    }
    assert_eq!(methods, ["item/completed", "turn/completed"]);
    let done = soon(stream.finish()).await;
    assert_eq!(
        (&*done.turn.id, done.turn.status),
        ("u", TurnStatus::Completed)
    );
    assert_eq!(done.agent_message, "done");
}

#[tokio::test]
async fn turns_can_have_limits_of_their_own() {
    let (client, mut peer) = scripted(|it| it).await;
    let limit = Duration::from_millis(50);
    let hasty = client.with_turn_limits(TurnLimits {
        silence: Some(limit),
        total: None,
    });
    let running = hasty.run_turn(prompt("t", "hello"));
    let serve = async {
        let request = peer.asked("turn/start").await;
        peer.answer(&request, begun()).await;
        let request = peer.asked("turn/interrupt").await;
        peer.answer(&request, json!({})).await;
        let turn = json!({ "id": "u", "items": [], "status": "interrupted", "error": null });
        peer.notify("turn/completed", json!({ "threadId": "t", "turn": turn }))
            .await;
    };
    let (turn, ()) = within("the limit", async { tokio::join!(running, serve) }).await;
    let error = turn.unwrap_err();
    let Error::TurnTimedOut { limit: found, .. } = error else {
        panic!("{error}");
    };
    assert_eq!(found, TurnLimit::Silence(limit));
}

/// Answers one method in its own way.
struct Raw;

impl Handler for Raw {
    async fn intercept(&self, method: &str, params: &Json) -> Option<Result<Json, ErrorObject>> {
        let known = method == "item/commandExecution/requestApproval";
        known.then(|| Ok(json!({ "seen": params.to_value() }).into()))
    }
}

#[tokio::test]
async fn a_handler_can_answer_a_question_as_it_came() {
    let (_client, mut peer) = scripted(|it| it.handler(Raw)).await;
    // These params have none of the members that the question must have.
    let answer = peer.ask("item/commandExecution/requestApproval", json!({ "odd": 1 }));
    assert_eq!(answer.await["result"], json!({ "seen": { "odd": 1 } }));
    let other = peer.ask("item/tool/call", json!({ "odd": 1 })).await;
    assert!(
        other["result"]["success"] == false || other["error"].is_object(),
        "{other}"
    );
}
