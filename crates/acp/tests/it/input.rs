//! What editors get wrong.

use serde_json::{Value, json};

use crate::editor::Place;

#[tokio::test(flavor = "multi_thread")]
async fn bad_input_gets_a_clear_message_and_the_connection_goes_on() {
    let place = Place::new();
    let mut editor = place.stranger();
    editor.write("not JSON").await;
    let answer = editor.next().await;
    assert_eq!(answer["id"], Value::Null);
    assert_eq!(answer["error"]["code"], -32700);
    editor.write(r#"{"jsonrpc":"2.0","id":"a"}"#).await;
    assert_eq!(editor.next().await["error"]["code"], -32600);
    let long = format!("{{\"x\":\"{}\"}}", "y".repeat(1 << 20));
    editor.write(&long).await;
    let answer = editor.next().await;
    let message = answer["error"]["message"].as_str().unwrap();
    assert!(message.contains("too many"), "{message}");
    let mut error = async |method: &str, params: Value| {
        let answer = editor.call(method, params).await;
        let error = &answer["error"];
        (
            error["code"].as_i64().unwrap_or_default(),
            error["message"].as_str().unwrap_or_default().to_owned(),
        )
    };
    let early = error("session/new", json!({})).await;
    let text = "`initialize` must come before `session/new`".to_owned();
    assert_eq!(early, (-32600, text));
    assert_eq!(
        error("initialize", json!({ "protocolVersion": 7 })).await.0,
        0
    );
    let (code, message) = error("session/new", json!({ "cwd": 5 })).await;
    assert_eq!(code, -32602);
    assert!(message.starts_with("invalid params: "), "{message}");
    let unknown = error("session/dance", json!({})).await;
    assert_eq!(
        unknown,
        (-32601, "there is no method `session/dance`".into())
    );
    let nobody = json!({ "sessionId": "nobody", "prompt": [] });
    let (code, message) = error("session/prompt", nobody).await;
    assert_eq!(code, -32002);
    assert_eq!(message, "unknown session nobody; start or load one first");
    // Editors that keep ids of sessions begin a new one if theirs is gone.
    let unknown = "01900000-0000-7000-8000-000000000000";
    let params = json!({ "sessionId": unknown, "cwd": place.work(), "mcpServers": [] });
    for method in ["session/load", "session/resume", "session/delete"] {
        let (code, message) = error(method, params.clone()).await;
        assert_eq!(code, -32002, "{method}: {message}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_end_of_the_input_interrupts_the_turn_and_ends_the_agent() {
    let place = Place::new();
    let (mut editor, session) = place.editor(json!({})).await;
    let stalled = crate::editor::prompt(&session, json!([{ "deltas": ["begun"], "stall": true }]));
    editor.ask("session/prompt", stalled).await;
    editor.until_said("begun").await;
    tokio::io::AsyncWriteExt::shutdown(&mut editor.writer)
        .await
        .unwrap();
    let answer = loop {
        if let Some(answer) = editor.take().await {
            break answer;
        }
    };
    assert_eq!(answer["result"]["stopReason"], "cancelled");
    quipu_testkit::client::within("the end of the agent", editor.serving)
        .await
        .unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_image_that_is_none_is_refused() {
    let place = Place::new();
    let (mut editor, session) = place.editor(json!({})).await;
    for (data, kind) in [("!!!", "image/png"), ("aGk=", "text/plain")] {
        let image = json!({ "type": "image", "data": data, "mimeType": kind });
        let params = json!({ "sessionId": session, "prompt": [image] });
        let answer = editor.call("session/prompt", params).await;
        let message = answer["error"]["message"].as_str().unwrap();
        assert!(message.contains("not base64 of an image"), "{answer}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_of_the_editor_that_does_not_start_is_shown() {
    let place = Place::new();
    let (mut editor, _) = place.editor(json!({})).await;
    let missing = place.work().join("missing");
    let server = json!({ "name": "my.tools", "command": missing, "args": [], "env": [] });
    let params = json!({ "cwd": place.work(), "mcpServers": [server] });
    let opened = editor.call("session/new", params).await;
    assert!(opened["result"]["sessionId"].is_string(), "{opened}");
    editor
        .until_said("The MCP server `my_tools` did not start: ")
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_editor_that_always_authenticates_needs_no_key_where_none_is_needed() {
    let place = Place::new();
    let mut editor = place.stranger();
    let hello = json!({ "protocolVersion": 1 });
    let hello = editor.call("initialize", hello).await;
    let first = &hello["result"]["authMethods"][0]["id"];
    let answer = editor
        .call("authenticate", json!({ "methodId": first }))
        .await;
    assert_eq!(answer["result"], json!({}), "{answer}");
    let params = json!({ "cwd": place.work(), "mcpServers": [] });
    let opened = editor.call("session/new", params).await;
    assert!(opened["result"]["sessionId"].is_string(), "{opened}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_editor_must_name_its_version_and_directories_that_are_there() {
    let place = Place::new();
    let mut editor = place.stranger();
    let refused = async |editor: &mut crate::editor::Editor, method: &str, params: Value| {
        let answer = editor.call(method, params).await;
        assert_eq!(answer["error"]["code"], -32602, "{answer}");
        answer["error"]["message"].as_str().unwrap().to_owned()
    };
    for hello in [json!({}), json!({ "protocolVersion": null })] {
        let message = refused(&mut editor, "initialize", hello).await;
        assert!(message.contains("invalid params: "), "{message}");
    }
    editor
        .call("initialize", json!({ "protocolVersion": 1 }))
        .await;
    let missing = place.work().join("missing");
    std::fs::write(place.work().join("file"), "").unwrap();
    for (cwd, why) in [
        (json!(null), "invalid params: "),
        (json!("here"), "cwd must be an absolute path, but is `here`"),
        (json!(missing), "cwd cannot be used: "),
        (json!(place.work().join("file")), "cwd is not a directory: "),
    ] {
        let params = json!({ "cwd": cwd, "mcpServers": [] });
        let message = refused(&mut editor, "session/new", params).await;
        assert!(message.starts_with(why), "{message}");
    }
    let message = refused(&mut editor, "session/new", json!({ "mcpServers": [] })).await;
    assert!(message.contains("missing field `cwd`"), "{message}");
    let further = json!({ "cwd": place.work(), "mcpServers": [], "additionalDirectories": ["x"] });
    let message = refused(&mut editor, "session/new", further).await;
    assert!(message.starts_with("additionalDirectories must be"));
    let load = json!({ "sessionId": "x", "cwd": missing, "mcpServers": [] });
    let message = refused(&mut editor, "session/load", load).await;
    assert!(message.starts_with("cwd cannot be used: "), "{message}");
}
