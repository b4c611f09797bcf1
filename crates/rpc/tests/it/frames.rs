//! Classification of messages, by table and against a plain model.

use bytes::Bytes;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use quipu_rpc::{Answer, Frame, FrameError, Id, write};
use serde_json::{Value, json};

fn parse(text: &str) -> Result<Frame, FrameError> {
    Frame::parse(Bytes::copy_from_slice(text.as_bytes()))
}

/// What a message is, in one word.
fn kind(text: &str) -> &'static str {
    match parse(text) {
        Ok(Frame::Request(_)) => "request",
        Ok(Frame::Notification(_)) => "notification",
        Ok(Frame::Answer(Answer { outcome: Ok(_), .. })) => "result",
        Ok(Frame::Answer(Answer {
            outcome: Err(_), ..
        })) => "error",
        Err(FrameError::NotUtf8(_)) => "not UTF-8",
        Err(FrameError::NotAnObject) => "no object",
        Err(FrameError::Malformed(_)) => "malformed",
        Err(FrameError::BadId) => "bad id",
        Err(FrameError::BadMethod { .. }) => "bad method",
        Err(FrameError::ResultWithoutId) => "no id",
        Err(FrameError::ErrorWithoutId(_)) => "error without id",
        Err(FrameError::Shapeless) => "shapeless",
    }
}

#[test]
fn classification() {
    for (text, expected) in [
        (r#"{"id":1,"method":"m"}"#, "request"),
        (
            r#"{"jsonrpc":"2.0","id":"x","method":"m","params":[]}"#,
            "request",
        ),
        (r#"{"id":1,"method":"m","result":1,"error":2}"#, "request"),
        (
            r#" { "method" : "m" , "id" : -9223372036854775808 } "#,
            "request",
        ),
        (r#"{"\u0069d":1,"meth\u006fd":"m"}"#, "request"),
        (r#"{"method":"initialized"}"#, "notification"),
        (r#"{"id":null,"method":"m"}"#, "notification"),
        (r#"{"id":1.5,"method":"m"}"#, "bad id"),
        (r#"{"id":1.0,"method":"m"}"#, "bad id"),
        (r#"{"id":9223372036854775808,"method":"m"}"#, "bad id"),
        (r#"{"id":"\ud800","method":"m"}"#, "bad id"),
        (r#"{"id":[1],"method":"m"}"#, "bad id"),
        (r#"{"id":9,"result":null}"#, "result"),
        (r#"{"id":9,"method":7,"result":{}}"#, "result"),
        (
            r#"{"id":9,"result":1,"error":{"code":1,"message":"m"}}"#,
            "result",
        ),
        (
            r#"{"id":"","error":{"code":1,"message":"m","more":0}}"#,
            "error",
        ),
        (
            r#"{"id":9,"error":{"code":1,"message":"m","data":null}}"#,
            "error",
        ),
        (r#"{"id":9,"error":"m"}"#, "error"),
        (r#"{"id":9,"error":[1,null,"m"]}"#, "error"),
        (r#"{"id":9,"error":{"code":1.5,"message":"m"}}"#, "error"),
        (
            r#"{"id":null,"error":{"code":1,"message":"m"}}"#,
            "error without id",
        ),
        (r#"{"result":1}"#, "no id"),
        (r#"{"foo":1}"#, "shapeless"),
        (r#"{"id":5}"#, "shapeless"),
        (r#"{"id":5,"method":null}"#, "bad method"),
        (r#"{"method":"\ud800"}"#, "bad method"),
        ("{}", "shapeless"),
        ("", "malformed"),
        ("   ", "malformed"),
        ("nonsense", "malformed"),
        ("[{]", "malformed"),
        (r#"[{"id":1,"method":"m"}]"#, "no object"),
        ("null", "no object"),
        (r#"{"id":1,"method":"m""#, "malformed"),
        (r#"{"id":1,"method":"m"} {}"#, "malformed"),
        (r#"{"id":1,"id":1,"method":"m"}"#, "malformed"),
        (r#"{"method":"m","params":{},"params":{}}"#, "malformed"),
        (r#"{"method":"m","x":1,"x":2}"#, "notification"),
        (r#"{"method":"m","params":01}"#, "malformed"),
        ("{\"method\":\"m\",\"params\":\"a\nb\"}", "malformed"),
    ] {
        assert_eq!(kind(text), expected, "{text}");
    }
    let not_utf8 = Bytes::from_static(b"{\"method\":\"\xff\"}");
    assert!(matches!(
        Frame::parse(not_utf8),
        Err(FrameError::NotUtf8(_))
    ));
}

#[test]
fn raw_parts_share_the_buffer_of_the_message() {
    let message =
        Bytes::from_static(br#"{"id":1,"method":"m","params": {"a" : 1.10} ,"trace":{}}"#);
    let Ok(Frame::Request(request)) = Frame::parse(message.clone()) else {
        panic!("a request");
    };
    let params = request.params.unwrap();
    assert_eq!(params.as_bytes(), br#"{"a" : 1.10}"#);
    assert!(message.as_ptr_range().contains(&params.as_bytes().as_ptr()));
    assert_eq!(request.trace.unwrap().as_bytes(), b"{}");
}

#[test]
fn absent_and_null_params_differ() {
    let Ok(Frame::Notification(absent)) = parse(r#"{"method":"m"}"#) else {
        panic!("a notification");
    };
    let Ok(Frame::Notification(null)) = parse(r#"{"method":"m","params":null}"#) else {
        panic!("a notification");
    };
    assert_eq!(absent.params, None);
    assert!(null.params.unwrap().is_null());
}

#[test]
fn nesting_costs_no_stack() {
    let depth = 1_000_000;
    let open = "[".repeat(depth);
    let nested = format!(r#"{{"method":"m","params":{open}{}}}"#, "]".repeat(depth));
    let Ok(Frame::Notification(notification)) = parse(&nested) else {
        panic!("a notification");
    };
    let params = notification.params.unwrap();
    assert!(
        params.decode::<Value>().is_err(),
        "decoding has a depth limit"
    );
    assert_eq!(
        kind(&format!(r#"{{"method":"m","x":{nested}}}"#)),
        "notification"
    );
    assert_eq!(
        kind(&format!(r#"{{"method":"m","params":{open}"#)),
        "malformed"
    );
}

#[test]
fn huge_numbers_are_carried_and_only_decoding_refuses_them() {
    let digits = "9".repeat(100_000);
    let text = format!(r#"{{"id":{digits},"method":"m","params":[{digits},1e{digits}]}}"#);
    assert!(matches!(parse(&text), Err(FrameError::BadId)));
    let text = format!(r#"{{"id":1,"method":"m","params":[{digits},1e{digits}]}}"#);
    let Ok(Frame::Request(request)) = parse(&text) else {
        panic!("a request");
    };
    assert!(request.params.unwrap().decode::<Vec<f64>>().is_err());
}

#[test]
fn errors_do_not_repeat_the_content() {
    for text in [
        r#""secret""#,
        r#"{"id":1,"method":"m","secret":secret}"#,
        r#"{"id":"secret"}"#,
    ] {
        let error = parse(text).unwrap_err();
        assert!(
            !format!("{error} {error:?}").contains("secret"),
            "{error:?}"
        );
    }
}

#[test]
fn what_cannot_be_read_is_answered_unless_it_is_an_error() {
    for (text, expected) in [
        ("nonsense", Some((None, -32700))),
        ("[]", Some((None, -32600))),
        (r#"{"id":1.5,"method":"m"}"#, Some((None, -32600))),
        (r#"{"id":4,"method":{}}"#, Some((Some(Id::from(4)), -32600))),
        // It may be half an answer to a request of ours, and the id one of ours.
        (r#"{"id":4}"#, Some((None, -32600))),
        (r#"{"id":null,"error":{"code":1,"message":"m"}}"#, None),
        (r#"{"error":7}"#, None),
    ] {
        let error = parse(text).unwrap_err();
        let answer = error.answer();
        let found = answer.map(|(id, error)| (id.cloned(), error.code));
        assert_eq!(found, expected, "{text}");
    }
}

#[test]
fn a_pretty_printed_message_is_one_line_afterwards() {
    let value = json!({"id": 1, "method": "m", "params": {"k": ["a\nb\r", {"x": "\u{2028}"}]}});
    let pretty = serde_json::to_string_pretty(&value)
        .unwrap()
        .replace('\n', "\r\n");
    let frame = parse(&pretty).unwrap();
    let written = write::frame(&frame).unwrap();
    assert!(!written.iter().any(|byte| matches!(byte, b'\n' | b'\r')));
    assert_eq!(serde_json::from_slice::<Value>(&written).unwrap(), value);
}

/// One member: absent, or one of the values that matter for it.
fn member(values: &[Value]) -> impl Strategy<Value = Option<Value>> + use<> {
    option::of(select(values.to_vec()))
}

/// The rules, told on a tree.
fn model(message: &Value) -> &'static str {
    let has_id = message["id"].is_string() || message["id"].is_i64();
    let has_method = message["method"].is_string();
    let has = |name| message.get(name).is_some();
    match () {
        () if has_id && has_method => "request",
        () if has_method && !message["id"].is_null() => "bad id",
        () if has_method => "notification",
        () if has_id && has("result") => "result",
        () if has_id && has("error") => "error",
        () if has("result") => "no id",
        () if has("error") => "error without id",
        () if has("method") => "bad method",
        () => "shapeless",
    }
}

proptest! {
    #[test]
    fn classification_equals_the_model(
        id in member(&[json!(0), json!(-5), json!("x"), json!(null), json!(1.5), json!([1]), json!(u64::MAX)]),
        method in member(&[json!("m/n"), json!(""), json!(null), json!(3)]),
        params in member(&[json!(null), json!({"a": {"id": 3}}), json!([1, "]"]), json!("\"}\n")]),
        result in member(&[json!(null), json!({"id": 1}), json!("\\")]),
        error in member(&[json!(null), json!({"code": 1, "message": "m"}), json!({"code": 1}), json!("m")]),
        extra in member(&[json!("2.0"), json!({"method": "m"})]),
        pretty in any::<bool>(),
    ) {
        let members = [
            ("jsonrpc", extra), ("params", params), ("error", error), ("id", id), ("result", result), ("method", method),
        ];
        let object = members.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
        let message = Value::Object(object.collect());
        let text = if pretty { serde_json::to_string_pretty(&message) } else { serde_json::to_string(&message) }.unwrap();
        prop_assert_eq!(kind(&text), model(&message), "{}", text);
        if let Ok(frame) = parse(&text) {
            let (id, raw, name) = match &frame {
                Frame::Request(it) => (Some(&it.id), it.params.as_ref(), "params"),
                Frame::Notification(it) => (None, it.params.as_ref(), "params"),
                Frame::Answer(it) => (Some(&it.id), it.outcome.as_ref().ok(), "result"),
            };
            if let Some(id) = id {
                prop_assert_eq!(serde_json::to_value(id).unwrap(), message["id"].clone());
            }
            if let Some(raw) = raw {
                prop_assert_eq!(raw.decode::<Value>().unwrap(), message[name].clone());
            }
            let again = Frame::parse(write::frame(&frame).unwrap()).unwrap();
            prop_assert_eq!(write::frame(&again).unwrap(), write::frame(&frame).unwrap());
        }
    }

    #[test]
    fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        drop(Frame::parse(bytes.into()));
    }

    #[test]
    fn no_damage_to_a_message_panics(
        at in any::<prop::sample::Index>(),
        byte in select(b"{}[]\",:\\0-e \xff\n".to_vec()),
        length in 0..60_usize,
    ) {
        let mut message = br#"{"id":"a\u0041","method":"m","params":{"x":[-1.5e3,null]},"error":{"code":1}}"#.to_vec();
        let at = at.index(message.len());
        let end = (at + length).min(message.len());
        message.splice(at..end, [byte]);
        drop(Frame::parse(message.into()));
    }

    #[test]
    fn ids_come_back_as_they_came(id in prop_oneof![any::<i64>().prop_map(Id::from), ".*".prop_map(Id::from)]) {
        let written = write::result(&id, &()).unwrap();
        let Ok(Frame::Answer(answer)) = Frame::parse(written) else { panic!("an answer") };
        prop_assert_eq!(answer.id, id);
    }
}
