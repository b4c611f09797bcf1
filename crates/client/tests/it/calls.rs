//! Requests and what can become of them.

use std::time::Duration;

use futures_util::{FutureExt as _, StreamExt as _};
use quipu_client::wire::{
    AbsolutePath, FsReadFileParams, ThreadListParams, ThreadLoadedListParams, ThreadStartParams,
};
use quipu_client::{Cause, Client, Error, Event, Options, Retry, Timeouts};
use serde_json::{Value, json};

use crate::support::{Peer, scripted, soon, within};

fn quick(options: Options) -> Options {
    options
        .timeouts(Timeouts {
            request: Duration::from_millis(50),
            ..Timeouts::default()
        })
        .retry(Retry {
            attempts: 2,
            first: Duration::from_millis(2),
            longest: Duration::from_millis(4),
        })
}

fn page(data: Value) -> Value {
    json!({ "data": data, "nextCursor": null })
}

#[tokio::test]
async fn a_call_is_sent_at_once_and_in_order() {
    let (client, mut peer) = scripted(|it| it).await;
    let first = client.thread_loaded_list(ThreadLoadedListParams::default());
    let second = client.account_logout();
    let request = peer.asked("thread/loaded/list").await;
    assert_eq!(request["params"], json!({}));
    let logout = peer.asked("account/logout").await;
    assert_eq!(logout["params"], Value::Null);
    peer.answer(&logout, json!({})).await;
    peer.answer(&request, page(json!(["a"]))).await;
    assert_eq!(soon(first).await.data, ["a"]);
    soon(second).await;
}

#[tokio::test]
async fn errors_are_those_of_the_server() {
    let (client, mut peer) = scripted(|it| it).await;
    let params = FsReadFileParams {
        path: AbsolutePath::new("/nowhere").unwrap(),
    };
    let call = client.fs_read_file(params);
    let request = peer.asked("fs/readFile").await;
    peer.refuse(&request, -32602, "no such file").await;
    let error = within("an answer", call).await.unwrap_err();
    assert_eq!(error.code(), Some(-32602));
    let text = "`fs/readFile` was refused: no such file (code -32602)";
    assert_eq!(error.to_string(), text);
}

#[tokio::test]
async fn an_answer_of_another_shape_is_an_error() {
    let (client, mut peer) = scripted(|it| it).await;
    let call = client.thread_loaded_list(ThreadLoadedListParams::default());
    let request = peer.asked("thread/loaded/list").await;
    peer.answer(&request, json!("what?")).await;
    let error = within("an answer", call).await.unwrap_err();
    assert!(matches!(error, Error::Unreadable { .. }), "{error}");
}

#[tokio::test]
async fn an_overloaded_server_is_asked_again_and_not_for_ever() {
    let (client, mut peer) = scripted(|it| quick(it).timeouts(Timeouts::default())).await;
    let call = client.thread_loaded_list(ThreadLoadedListParams::default());
    let serve = async {
        let mut ids = Vec::new();
        for _ in 0..2 {
            let request = peer.asked("thread/loaded/list").await;
            peer.refuse(&request, -32001, "busy").await;
            ids.push(request["id"].clone());
        }
        let request = peer.asked("thread/loaded/list").await;
        assert!(!ids.contains(&request["id"]));
        peer.answer(&request, page(json!(["a"]))).await;
    };
    let (answer, ()) = within("an answer", async { tokio::join!(call, serve) }).await;
    assert_eq!(answer.unwrap().data, ["a"]);

    let call = client.thread_loaded_list(ThreadLoadedListParams::default());
    let serve = async {
        for _ in 0..3 {
            let request = peer.asked("thread/loaded/list").await;
            peer.refuse(&request, -32001, "busy").await;
        }
    };
    let (answer, ()) = within("an answer", async { tokio::join!(call, serve) }).await;
    assert_eq!(answer.unwrap_err().code(), Some(-32001));
}

#[tokio::test]
async fn a_late_answer_is_reported_after_the_time_limit() {
    let (client, mut peer) = scripted(quick).await;
    let mut events = client.events();
    let call = client.thread_start(ThreadStartParams::default());
    let request = peer.asked("thread/start").await;
    let error = within("the time limit", call).await.unwrap_err();
    let text = "`thread/start` was not answered within 50ms; it may still take effect";
    assert_eq!(error.to_string(), text);
    peer.answer(&request, json!({ "thread": { "id": "t" } }))
        .await;
    let Some(Event::LateAnswer(late)) = within("an event", events.next()).await else {
        panic!("no late answer");
    };
    assert_eq!((late.method, late.id), ("thread/start", 1));
    assert_eq!(late.outcome.unwrap().to_value()["thread"]["id"], "t");
}

#[tokio::test]
async fn dropping_a_call_loses_neither_the_request_nor_its_answer() {
    let (client, mut peer) = scripted(|it| it).await;
    let mut events = client.events();
    drop(client.thread_start(ThreadStartParams::default()));
    let mut polled = Box::pin(client.start_thread(ThreadStartParams::default()));
    assert!((&mut polled).now_or_never().is_none());
    drop(polled);
    for id in [1, 2] {
        let request = peer.asked("thread/start").await;
        assert_eq!(request["id"], id);
        peer.refuse(&request, -32603, "not today").await;
        let Some(Event::LateAnswer(late)) = within("an event", events.next()).await else {
            panic!("no late answer");
        };
        assert_eq!(late.outcome.unwrap_err().message, "not today");
    }
}

#[tokio::test]
async fn all_that_waits_fails_with_one_cause() {
    let (client, Peer(mut raw)) = scripted(|it| it).await;
    let calls: Vec<_> = (0..3).map(|_| client.account_logout()).collect();
    raw.end().await;
    for call in calls {
        let error = within("the end", call).await.unwrap_err();
        assert!(
            matches!(error, Error::Closed(Cause::ServerClosed)),
            "{error}"
        );
    }
    let later = within("the end", client.account_logout()).await;
    assert!(matches!(later, Err(Error::Closed(Cause::ServerClosed))));
}

#[tokio::test]
async fn leaving_fails_what_waits_and_dropping_the_client_leaves() {
    let (client, mut peer) = scripted(|it| it).await;
    let call = client.account_logout();
    let other = client.clone();
    let left = tokio::spawn(async move { other.disconnect().await });
    peer.asked("account/logout").await;
    assert_eq!(peer.0.next().await, None);
    peer.0.end().await;
    within("leaving", left).await.unwrap();
    let error = within("the end", call).await.unwrap_err();
    assert!(
        matches!(error, Error::Closed(Cause::Disconnected)),
        "{error}"
    );

    let (client, mut peer) = scripted(|it| it).await;
    let mut events = client.events();
    drop(client);
    assert_eq!(peer.0.next().await, None);
    peer.0.end().await;
    let last = within("an event", events.next()).await;
    assert!(matches!(last, Some(Event::Closed(Cause::Disconnected))));
    assert!(within("the end", events.next()).await.is_none());
}

#[tokio::test]
async fn threads_are_listed_page_by_page() {
    let (client, mut peer) = scripted(|it| it).await;
    let mut threads = client.threads(ThreadListParams::default());
    let serve = async {
        for (cursor, next) in [(Value::Null, "b"), (json!("b"), "c"), (json!("c"), "c")] {
            let request = peer.asked("thread/list").await;
            assert_eq!(request["params"]["cursor"], cursor);
            let page = json!({ "data": [thread(next)], "nextCursor": next });
            peer.answer(&request, page).await;
        }
    };
    let all = async {
        let mut ids = Vec::new();
        while let Some(thread) = threads.next().await {
            ids.push(thread.unwrap().id);
        }
        ids
    };
    let (ids, ()) = within("all pages", async { tokio::join!(all, serve) }).await;
    assert_eq!(ids, ["b", "c", "c"], "a cursor that stays ends the list");
}

fn thread(id: &str) -> Value {
    json!({
        "id": id, "preview": "", "ephemeral": false, "modelProvider": "p", "createdAt": 0,
        "updatedAt": 0, "status": { "type": "idle" }, "path": null, "cwd": "/", "cliVersion": "1",
        "source": "cli", "agentNickname": null, "agentRole": null, "gitInfo": null, "name": null,
        "turns": [],
    })
}

#[tokio::test]
async fn a_client_is_shared_between_tasks() {
    fn check<T: Send + Sync + Clone + 'static>() {}
    check::<Client>();
}
