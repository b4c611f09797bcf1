//! Sections and attachments: what clients store about threads, which survives a restart.

use quipu_testkit::conversation::Conversation;
use serde_json::{Value, json};

use crate::stage::{Stage, run, text};

const PINNED: &str = "01984de2-8f74-7c91-a3b2-5c5e937cf318";
const NONE: &str = "01984de2-8f74-7c91-a3b2-5c5e937cf000";

/// A thread that is stored.
async fn stored(stage: &Stage, client: &mut Conversation) -> String {
    let started = client.call("thread/start", json!({})).await;
    let thread = text(&started["thread"]["id"]);
    stage.play([json!({ "text": "hello" })]);
    run(client, &thread, "hi").await;
    thread
}

async fn make(client: &mut Conversation, name: &str) -> String {
    let made = client.call("threadSection/create", json!({ "name": name }));
    text(&made.await["section"]["id"])
}

async fn put(client: &mut Conversation, thread: &str, section: Value, before: Option<&str>) {
    let params = json!({ "threadId": thread, "sectionId": section, "beforeThreadId": before });
    client.call("thread/section/move", params).await;
}

async fn listed(client: &mut Conversation, params: Value) -> Vec<String> {
    let list = client.call("thread/list", params).await;
    let threads = list["data"].as_array().unwrap().iter();
    threads.map(|it| text(&it["id"])).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn threads_are_grouped_in_an_order_of_their_own() {
    let mut stage = Stage::new().await;
    let mut client = stage.client().await;
    let one = stored(&stage, &mut client).await;
    let two = stored(&stage, &mut client).await;
    let three = stored(&stage, &mut client).await;
    let work = make(&mut client, " Work ").await;
    let home = make(&mut client, "Home").await;
    put(&mut client, &one, json!(work), None).await;
    put(&mut client, &two, json!(work), None).await;
    put(&mut client, &three, json!(work), Some(&one)).await;
    stage.restart().await;
    let mut client = stage.client().await;
    let in_order = |more: Value| {
        let mut params = json!({ "sectionId": work, "sortKey": "section_position" });
        let members = params.as_object_mut().unwrap();
        members.extend(more.as_object().unwrap().clone());
        params
    };
    let all = listed(&mut client, in_order(json!({}))).await;
    assert_eq!(all, [three.clone(), one.clone(), two.clone()]);
    let back = listed(&mut client, in_order(json!({ "sortDirection": "desc" }))).await;
    assert_eq!(back, [two.clone(), one.clone(), three.clone()]);
    let page = client
        .call("thread/list", in_order(json!({ "limit": 2 })))
        .await;
    let rest = in_order(json!({ "limit": 2, "cursor": page["nextCursor"] }));
    assert_eq!(listed(&mut client, rest).await, std::slice::from_ref(&two));
    put(&mut client, &two, json!(home), None).await;
    put(&mut client, &one, Value::Null, None).await;
    let read = client.call("thread/read", json!({ "threadId": two })).await;
    let expected = json!({ "id": home, "name": "Home", "appearance": null });
    assert_eq!(read["thread"]["section"], expected);
    assert!(read["thread"]["sectionEnteredAt"].is_i64());
    let loose = json!({ "sectionId": null });
    assert_eq!(listed(&mut client, loose).await, [one]);
    // A thread or section that is deleted leaves nothing behind.
    client
        .call("thread/delete", json!({ "threadId": two }))
        .await;
    assert!(
        listed(&mut client, json!({ "sectionId": home }))
            .await
            .is_empty()
    );
    client
        .call("threadSection/delete", json!({ "sectionId": work }))
        .await;
    let read = client
        .call("thread/read", json!({ "threadId": three }))
        .await;
    assert_eq!(read["thread"]["section"], Value::Null);
    let sections = client.call("threadSection/list", json!({})).await;
    let names = sections["data"].as_array().unwrap().iter();
    let names: Vec<String> = names.map(|it| text(&it["name"])).collect();
    assert_eq!(names, ["Pinned", "Home"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn bad_sections_are_refused_in_the_words_of_later_versions() {
    let stage = Stage::new().await;
    let mut client = stage.client().await;
    let thread = stored(&stage, &mut client).await;
    let rename = |id: &str| json!({ "sectionId": id, "name": "x" });
    let moved = |section: Value, before: Option<&str>| json!({ "threadId": thread, "sectionId": section, "beforeThreadId": before });
    for (method, params, expected) in [
        (
            "threadSection/create",
            json!({ "name": " " }),
            "section name must not be empty".to_owned(),
        ),
        (
            "threadSection/update",
            rename(NONE),
            format!("thread section not found: {NONE}"),
        ),
        (
            "threadSection/update",
            rename(PINNED),
            "the built-in pinned section cannot be renamed".to_owned(),
        ),
        (
            "threadSection/delete",
            json!({ "sectionId": PINNED }),
            "the built-in pinned section cannot be deleted".to_owned(),
        ),
        (
            "thread/section/move",
            moved(json!(NONE), None),
            format!("section {NONE} does not exist"),
        ),
        (
            "thread/section/move",
            moved(json!(PINNED), Some(&thread)),
            format!("thread {thread} cannot be moved before itself"),
        ),
        (
            "thread/section/move",
            moved(json!(PINNED), Some(NONE)),
            format!("before thread {NONE} is not in section {PINNED}"),
        ),
        (
            "thread/section/move",
            moved(Value::Null, Some(NONE)),
            "beforeThreadId requires a non-null sectionId".to_owned(),
        ),
        (
            "thread/section/move",
            json!({ "threadId": NONE, "sectionId": PINNED }),
            format!("thread not found: {NONE}"),
        ),
        (
            "thread/list",
            json!({ "sortKey": "section_position" }),
            "section-position sorting requires a section filter".to_owned(),
        ),
    ] {
        assert_eq!(client.refused(method, params).await, expected, "{method}");
    }
}

fn attachment(thread: &str, key: &str, payload: Value) -> Value {
    json!({ "threadId": thread, "attachmentType": "pr", "identityKey": key, "payload": payload })
}

#[tokio::test(flavor = "multi_thread")]
async fn attachments_stay_with_their_thread() {
    let mut stage = Stage::new().await;
    let mut client = stage.client().await;
    let thread = stored(&stage, &mut client).await;
    let mut watcher = stage.client().await;
    let first = attachment(&thread, "k", json!({ "a": 1 }));
    let added = client.call("thread/attachment/add", first).await;
    assert_eq!(added["outcome"], "created");
    let updated = watcher.skip_to("thread/attachment/updated").await;
    assert_eq!(updated["params"]["attachmentId"], added["attachment"]["id"]);
    assert_eq!(updated["params"]["operation"], "created");
    let other = attachment(&thread, "k", json!({ "a": 2 }));
    let again = client.call("thread/attachment/add", other).await;
    assert_eq!(again["outcome"], "existing");
    assert_eq!(again["attachment"], added["attachment"]);
    let second = attachment(&thread, "l", Value::Null);
    client.call("thread/attachment/add", second).await;
    stage.restart().await;
    let mut client = stage.client().await;
    let list = json!({ "threadId": thread, "limit": 1 });
    let page = client.call("thread/attachment/list", list).await;
    assert_eq!(page["data"], json!([added["attachment"]]));
    let rest = json!({ "threadId": thread, "cursor": page["nextCursor"] });
    let rest = client.call("thread/attachment/list", rest).await;
    assert_eq!(rest["data"][0]["payload"], Value::Null);
    assert_eq!(rest["nextCursor"], Value::Null);
    let whose = json!({ "attachmentType": "pr", "identityKey": "k" });
    let owners = client
        .call("thread/attachmentOwner/list", whose.clone())
        .await;
    let expected = json!([{ "threadId": thread, "archived": false }]);
    assert_eq!(owners["data"], expected);
    let named = json!({ "threadId": thread, "attachmentType": "pr", "identityKey": "k" });
    for _ in 0..2 {
        let removed = client.call("thread/attachment/remove", named.clone()).await;
        assert_eq!(removed, json!({}));
    }
    let deleted = client.skip_to("thread/attachment/updated").await;
    assert_eq!(deleted["params"]["operation"], "deleted");
    let owners = client.call("thread/attachmentOwner/list", whose).await;
    assert_eq!(owners["data"], json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn bad_attachments_are_refused_in_the_words_of_later_versions() {
    let stage = Stage::new().await;
    let mut client = stage.client().await;
    let thread = stored(&stage, &mut client).await;
    let long = json!("x".repeat(65_536));
    for (params, expected) in [
        (
            attachment(&thread, "", json!(1)),
            "identityKey must not be empty".to_owned(),
        ),
        (
            attachment(&thread, "k", long),
            "attachment payload must not exceed 65536 bytes".to_owned(),
        ),
        (
            attachment(NONE, "k", json!(1)),
            format!("thread not found: {NONE}"),
        ),
    ] {
        let refused = client.refused("thread/attachment/add", params).await;
        assert_eq!(refused, expected);
    }
    let cursor = json!({ "threadId": thread, "cursor": "x" });
    let refused = client.refused("thread/attachment/list", cursor).await;
    assert_eq!(refused, "invalid pagination cursor");
}
