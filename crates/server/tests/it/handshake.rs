//! `initialize`: what must come first, what it answers, and what it decides for the connection.

use quipu_testkit::client::{Client, hello};
use quipu_wire::method::{event, request};
use serde_json::{Value, json};

use crate::lab::{Lab, initialize, refusal};

fn list(id: i64) -> Value {
    json!({ "id": id, "method": "thread/loaded/list", "params": {} })
}

#[tokio::test]
async fn nothing_is_served_before_and_nothing_is_needed_after() {
    let lab = Lab::new();
    let mut raw = lab.raw();
    assert_eq!(
        raw.call(&list(1)).await,
        refusal(json!(1), "Not initialized")
    );
    let answer = raw.call(&initialize(json!(2), "c", Value::Null)).await;
    assert_eq!(answer["id"], 2);
    // `initialized` is never sent by some clients.
    let page = json!({ "id": 3, "result": { "data": [], "nextCursor": null } });
    assert_eq!(raw.call(&list(3)).await, page);
}

#[tokio::test]
async fn a_second_introduction_is_refused_and_the_first_stays_in_force() {
    let lab = Lab::new();
    let mut raw = lab
        .raw_initialized(json!({ "experimentalApi": true }))
        .await;
    let again = initialize(json!(2), "other", json!({ "experimentalApi": false }));
    assert_eq!(
        raw.call(&again).await,
        refusal(json!(2), "Already initialized")
    );
    let echo = json!({ "id": 3, "method": "mock/experimentalMethod", "params": { "value": "x" } });
    let echoed = json!({ "id": 3, "result": { "echoed": "x" } });
    assert_eq!(raw.call(&echo).await, echoed);
}

#[tokio::test]
async fn requests_sent_along_with_it_are_served_after_it() {
    let lab = Lab::new();
    let mut raw = lab.raw();
    let first = initialize(json!(1), "c", Value::Null);
    raw.send([first.to_string(), list(2).to_string()]).await;
    assert_eq!(raw.next().await.unwrap()["id"], 1);
    assert!(raw.next().await.unwrap()["result"].is_object());
}

#[tokio::test]
async fn names_that_cannot_be_sent_as_a_header_are_refused() {
    let lab = Lab::new();
    let mut raw = lab.raw();
    for name in ["a\nb", "a\u{7f}", "\0"] {
        let text = format!("Invalid clientInfo.name: '{name}'. Must be a valid HTTP header value.");
        let answer = raw.call(&initialize(json!(1), name, Value::Null)).await;
        assert_eq!(answer, refusal(json!(1), &text));
    }
    // The connection may try again.
    let answer = raw.call(&initialize(json!(2), "é\t", Value::Null)).await;
    assert!(answer["result"].is_object(), "{answer}");
}

#[tokio::test]
async fn the_answer_tells_who_serves_where() {
    let lab = Lab::with(&[("TERM", "dumb")], "");
    let mut raw = lab.raw();
    let text = raw
        .call(&initialize(json!(1), "my_client", Value::Null))
        .await;
    let result = text["result"].as_object().unwrap();
    let home = lab.directory.path().join("home");
    assert_eq!(result["codexHome"], json!(home));
    assert_eq!(result["platformFamily"], std::env::consts::FAMILY);
    assert_eq!(result["platformOs"], std::env::consts::OS);
    let agent = result["userAgent"].as_str().unwrap();
    assert!(agent.starts_with("my_client/0.166.0 ("), "{agent}");
    assert!(agent.ends_with(") dumb (my_client; 1)"), "{agent}");
    assert_eq!(result.len(), 4);
}

#[tokio::test]
async fn unknown_members_and_missing_capabilities_are_fine() {
    let lab = Lab::new();
    for params in [
        json!({ "clientInfo": { "name": "c", "version": "" } }),
        json!({ "clientInfo": { "name": "", "version": "1", "title": null }, "capabilities": null }),
        json!({ "clientInfo": { "name": "c", "version": "1", "x": 1 }, "protocolVersion": 2, "client": {} }),
        json!({ "clientInfo": { "name": "c", "version": "1" }, "capabilities": {} }),
        json!({ "clientInfo": { "name": "c", "version": "1" }, "capabilities": {
            "experimentalApi": true, "optOutNotificationMethods": ["no/such"], "roots": {} } }),
    ] {
        let request =
            json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params });
        let answer = lab.raw().call(&request).await;
        assert!(answer["result"].is_object(), "{answer}");
        assert!(answer.get("jsonrpc").is_none());
    }
}

#[tokio::test]
async fn the_first_client_names_the_process() {
    let lab = Lab::new();
    let first = Client::connect(lab.connection());
    let second = Client::connect(lab.connection());
    let agent = async |client: &Client, name: &str| {
        let answer = client
            .call::<request::Initialize>(&hello(name, false))
            .await;
        answer.unwrap().user_agent
    };
    assert!(agent(&first, "first").await.starts_with("first/0.166.0 "));
    let agent = agent(&second, "second").await;
    assert!(agent.starts_with("first/0.166.0 "), "{agent}");
    assert!(agent.ends_with(" (second; 1.0)"), "{agent}");
}

#[tokio::test]
async fn problems_of_the_configuration_follow_the_answer() {
    let lab = Lab::with(&[], "model = 5\n");
    let mut raw = lab.raw();
    let hello = initialize(json!(1), "c", Value::Null);
    raw.send([hello.to_string(), list(2).to_string()]).await;
    assert!(raw.next().await.unwrap()["result"].is_object());
    let warning = raw.next().await.unwrap();
    assert_eq!(warning["method"], "configWarning");
    let params = &warning["params"];
    assert_eq!(params["summary"], "Invalid configuration; using defaults.");
    assert_eq!(params["range"]["start"], json!({ "line": 1, "column": 9 }));
    assert_eq!(raw.next().await.unwrap()["id"], 2);
    // Every connection is told, unless it does not want to hear it.
    let mut client = lab.client().await;
    client.notified::<event::ConfigWarning>().await;
    client.finish().await;
    let deaf = json!({ "optOutNotificationMethods": ["configWarning"] });
    let mut raw = lab.raw_initialized(deaf).await;
    assert_eq!(raw.call(&list(2)).await["id"], 2);
}
