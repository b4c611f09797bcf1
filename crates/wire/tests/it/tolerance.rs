//! Two readers of one set of types: a client reads what a newer server sends, a server tells its caller
//! about every value it does not know.

use quipu_wire::codec::decode_strictly;
use quipu_wire::*;
use serde_json::{Value, json};

#[test]
fn unknown_members_are_ignored_by_both() {
    let params = json!({ "threadId": "t", "input": [], "title": "x", "metadata": {}, "user": 1 });
    let strict: TurnStartParams = decode_strictly(&params.to_string()).unwrap();
    let tolerant: TurnStartParams = serde_json::from_value(params).unwrap();
    assert_eq!(strict, tolerant);
}

#[test]
fn unknown_words_are_kept_apart_by_a_client_and_refused_by_a_server() {
    let text = r#"{"threadId":"t","input":[],"summary":"galactic"}"#;
    let read: TurnStartParams = serde_json::from_str(text).unwrap();
    assert_eq!(read.summary, Some(ReasoningSummary::Unrecognized));
    assert_eq!(
        decode_strictly::<TurnStartParams>(text).unwrap_err(),
        "unknown variant `galactic`, expected one of `auto`, `concise`, `detailed`, `none`"
    );
}

#[test]
fn efforts_and_tiers_may_be_any_word() {
    let text = r#"{"threadId":"t","input":[],"effort":"galactic","serviceTier":"wow"}"#;
    let read: TurnStartParams = decode_strictly(text).unwrap();
    assert_eq!(read.effort.unwrap().as_str(), "galactic");
    assert_eq!(read.service_tier.unwrap().unwrap().as_str(), "wow");
    let written = serde_json::to_value(&read).unwrap();
    assert_eq!(written["effort"], "galactic");
    let long = "x".repeat(49);
    for (effort, problem) in [
        ("", "reasoning_effort must not be empty"),
        (&long, "reasoning_effort must not exceed 48 bytes"),
    ] {
        let text = json!({ "threadId": "t", "input": [], "effort": effort }).to_string();
        let refused = decode_strictly::<TurnStartParams>(&text).unwrap_err();
        assert_eq!(refused, problem);
    }
}

#[test]
fn modes_of_the_past_are_the_default_one() {
    for name in ["default", "code", "custom", "execute", "pair_programming"] {
        let text = json!({ "mode": name, "settings": { "model": "m" } }).to_string();
        let read: CollaborationMode = decode_strictly(&text).unwrap();
        assert_eq!(read.mode, ModeKind::Default, "{name}");
    }
}

#[test]
fn unknown_items_pass_through_a_client_unchanged() {
    let item = json!({ "type": "hologram", "id": "i", "depth": [1, 2] });
    let notification = json!({ "item": item, "threadId": "t", "turnId": "u", "completedAtMs": 7 });
    let read = ServerNotification::decode("item/completed", &notification.to_string()).unwrap();
    let ServerNotification::ItemCompleted(completed) = &read else {
        panic!("not the notification that was sent")
    };
    assert!(matches!(completed.item, ThreadItem::Unrecognized(_)));
    let written = serde_json::to_value(&read).unwrap();
    assert_eq!(written["params"], notification);
    let error = decode_strictly::<ThreadItem>(&item.to_string()).unwrap_err();
    assert!(
        error.starts_with("unknown variant `hologram`, expected one of `userMessage`"),
        "{error}"
    );
}

#[test]
fn unknown_methods_reach_a_client_whole() {
    let read = ServerNotification::decode("thread/hologram/updated", r#"{"x":1}"#).unwrap();
    assert_eq!(read.method(), "thread/hologram/updated");
    let read = ServerRequest::decode("item/hologram/show", r#"{"x":1}"#).unwrap();
    assert_eq!(read.params().unwrap(), Json::from(json!({ "x": 1 })));
}

/// These are the texts that follow `Invalid request: ` on the official server's wire.
#[test]
fn a_server_explains_what_is_wrong() {
    fn error<T: serde::de::DeserializeOwned>(params: Value) -> String {
        decode_strictly::<T>(&params.to_string()).err().unwrap()
    }
    let turn = |input: Value| error::<TurnStartParams>(json!({ "threadId": "t", "input": input }));
    assert_eq!(
        error::<TurnStartParams>(json!({})),
        "missing field `threadId`"
    );
    assert_eq!(
        turn(json!(5)),
        "invalid type: integer `5`, expected a sequence"
    );
    assert_eq!(turn(json!([{}])), "missing field `type`");
    assert_eq!(turn(json!([{ "type": "text" }])), "missing field `text`");
    assert_eq!(
        turn(json!([{ "text": "t", "type": true }])),
        "invalid type: boolean `true`, expected variant identifier"
    );
    assert_eq!(
        turn(json!([{ "type": "smell" }])),
        "unknown variant `smell`, expected one of `text`, `image`, `localImage`, `skill`, `mention`"
    );
    let start = |key: &str, value: Value| error::<ThreadStartParams>(json!({ key: value }));
    assert_eq!(
        start("approvalPolicy", json!("bogus")),
        "unknown variant `bogus`, expected one of `untrusted`, `on-failure`, `on-request`, `granular`, `never`"
    );
    assert_eq!(
        start("approvalPolicy", json!([])),
        "invalid type: sequence, expected string or map"
    );
    assert_eq!(
        start("ephemeral", json!("yes")),
        "invalid type: string \"yes\", expected a boolean"
    );
    assert_eq!(
        error::<ThreadListParams>(json!({ "limit": -1 })),
        "invalid value: integer `-1`, expected u32"
    );
    assert_eq!(
        error::<FsReadFileParams>(json!({ "path": "relative" })),
        "AbsolutePathBuf deserialized without a base path"
    );
}
