//! Messages that are not quite requests: what is answered, what is ignored, and that nothing else suffers.

use serde_json::{Value, json};

use crate::lab::{Lab, initialize};

fn list(id: &str) -> String {
    format!(r#"{{"id":{id},"method":"thread/loaded/list","params":{{}}}}"#)
}

#[tokio::test]
async fn ids_come_back_as_they_were() {
    let mut raw = Lab::new().raw_initialized(Value::Null).await;
    let ids = [
        "0",
        "1",
        "-1",
        "9223372036854775807",
        "-9223372036854775808",
        r#""""#,
        r#""1""#,
        r#""ünï \" \\ \u0001""#,
        r#""0c8a4c3e-6f0e-4f61-8e53-5d8f4d9d6e0a""#,
    ];
    for id in ids {
        raw.send([list(id)]).await;
        let expected = json!({
            "id": serde_json::from_str::<Value>(id).unwrap(),
            "result": { "data": [], "nextCursor": null },
        });
        assert_eq!(raw.next().await.unwrap(), expected);
    }
}

#[tokio::test]
async fn an_id_used_twice_is_answered_twice() {
    let mut raw = Lab::new().raw_initialized(Value::Null).await;
    raw.send([list("3"), list("3")]).await;
    for _ in 0..2 {
        assert_eq!(raw.next().await.unwrap()["id"], 3);
    }
}

/// None of these is a message, and each leaves the connection as good as new.
#[tokio::test]
async fn what_is_no_message_is_answered_with_an_error() {
    let mut raw = Lab::new().raw_initialized(Value::Null).await;
    let deep = "[".repeat(100_000);
    let noise: &[(&[u8], Value, i64)] = &[
        (b"hello", Value::Null, -32700),
        (b"{", Value::Null, -32700),
        (b"\xff\xfe{}", Value::Null, -32700),
        (
            b"{\"id\":1,\"method\":\"thread/loaded/list\",\"params\":{}} trailing",
            Value::Null,
            -32700,
        ),
        (deep.as_bytes(), Value::Null, -32700),
        (b"[]", Value::Null, -32600),
        (b"5", Value::Null, -32600),
        (b"null", Value::Null, -32600),
        (
            br#"[{"id":1,"method":"thread/loaded/list","params":{}}]"#,
            Value::Null,
            -32600,
        ),
        (br#"{"foo":1}"#, Value::Null, -32600),
        (br#"{"id":5}"#, Value::Null, -32600),
        (br#"{"id":null,"result":{}}"#, Value::Null, -32600),
        (
            br#"{"id":1.5,"method":"thread/loaded/list","params":{}}"#,
            Value::Null,
            -32600,
        ),
        (
            br#"{"id":9223372036854775808,"method":"thread/loaded/list","params":{}}"#,
            Value::Null,
            -32600,
        ),
        (
            br#"{"id":{},"method":"thread/loaded/list"}"#,
            Value::Null,
            -32600,
        ),
        (br#"{"id":1,"method":5}"#, json!(1), -32600),
    ];
    for (noise, id, code) in noise {
        raw.send([bytes::Bytes::copy_from_slice(noise)]).await;
        let answer = raw.next().await.unwrap();
        let noise = String::from_utf8_lossy(noise);
        assert_eq!(
            (&answer["id"], &answer["error"]["code"]),
            (id, &json!(code)),
            "{noise}"
        );
        let text = answer["error"]["message"].as_str().unwrap();
        assert!(text.starts_with("Invalid message: "), "{text}");
        raw.send([list("\"next\"")]).await;
        assert_eq!(raw.next().await.unwrap()["id"], "next", "after {noise}");
    }
}

/// None of these wants an answer, and each leaves the connection as good as new.
#[tokio::test]
async fn what_is_no_request_gets_no_answer() {
    let mut raw = Lab::new().raw_initialized(Value::Null).await;
    let noise: &[&[u8]] = &[
        br#"{"id":null,"method":"thread/loaded/list","params":{}}"#,
        br#"{"method":"initialized"}"#,
        br#"{"method":"initialized","params":{}}"#,
        br#"{"method":"no/such/notification","params":[1]}"#,
        br#"{"id":77,"result":{}}"#,
        br#"{"id":"77","error":{"code":1,"message":"x"}}"#,
        br#"{"id":77,"error":5}"#,
        // Were errors answered with errors, two sides could do so without end.
        br#"{"id":null,"error":{"code":-32700,"message":"x"}}"#,
        br#"{"error":5}"#,
    ];
    for noise in noise {
        raw.send([bytes::Bytes::copy_from_slice(noise)]).await;
        raw.send([list("\"next\"")]).await;
        let answer = raw.next().await.unwrap();
        assert_eq!(
            answer["id"],
            "next",
            "after {:?}",
            String::from_utf8_lossy(noise)
        );
    }
}

#[tokio::test]
async fn members_of_a_request_that_nobody_knows_are_ignored() {
    let mut raw = Lab::new().raw_initialized(Value::Null).await;
    let request = json!({
        "jsonrpc": "2.0", "id": 1, "method": "thread/loaded/list", "params": { "zz": 1 },
        "trace": { "traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01" }, "x": {},
    });
    let answer = raw.call(&request).await;
    assert!(answer["result"].is_object(), "{answer}");
}

/// The order of members is the one clients of the official server see.
#[tokio::test]
async fn messages_are_written_in_the_official_order() {
    let mut raw = Lab::new().raw();
    raw.send([list("1")]).await;
    assert_eq!(
        raw.next_text().await.unwrap(),
        r#"{"error":{"code":-32600,"message":"Not initialized"},"id":1}"#
    );
    raw.send([initialize(json!(2), "c", Value::Null).to_string()])
        .await;
    let text = raw.next_text().await.unwrap();
    assert!(
        text.starts_with(r#"{"id":2,"result":{"userAgent":"c/0.166.0 "#),
        "{text}"
    );
    raw.send([list("3")]).await;
    let page = r#"{"id":3,"result":{"data":[],"nextCursor":null}}"#;
    assert_eq!(raw.next_text().await.unwrap(), page);
}

/// A client that only stops sending still gets what it asked for.
#[tokio::test]
async fn requests_sent_before_the_end_are_answered() {
    let lab = Lab::new();
    let mut raw = lab.raw();
    let hello = initialize(json!(0), "c", Value::Null).to_string();
    let requests = (1..=300).map(|id| list(&id.to_string()));
    raw.send(std::iter::once(hello).chain(requests)).await;
    raw.end().await;
    let mut answered = Vec::new();
    while let Some(answer) = raw.next().await {
        answered.push(answer["id"].as_i64().unwrap());
    }
    answered.sort_unstable();
    assert_eq!(answered, (0..=300).collect::<Vec<_>>());
}
