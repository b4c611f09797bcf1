//! Logging in and out, and reports of users.

use quipu_wire::AuthMode;
use quipu_wire::method::event::{AccountLoginCompleted, AccountUpdated};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::lab::Lab;

#[tokio::test]
async fn a_key_logs_in_everybody_until_logout() {
    let lab = Lab::new();
    let mut client = lab.client().await;
    let mut other = lab.client().await;
    let nobody = json!({ "account": null, "requiresOpenaiAuth": true });
    let read = client.call_raw("account/read", &json!({})).await;
    assert_eq!(read.unwrap(), nobody);
    let login = json!({ "type": "apiKey", "apiKey": "sk-1" });
    let login = client.call_raw("account/login/start", &login).await;
    assert_eq!(login.unwrap(), json!({ "type": "apiKey" }));
    for client in [&mut client, &mut other] {
        let completed = client.notified::<AccountLoginCompleted>().await;
        assert!(completed.success && completed.login_id.is_none());
        let updated = client.notified::<AccountUpdated>().await;
        assert_eq!(updated.auth_mode, Some(AuthMode::Apikey));
    }
    let read = other.call_raw("account/read", &json!({})).await.unwrap();
    assert_eq!(read["account"], json!({ "type": "apiKey" }));
    let status = json!({ "includeToken": true });
    let status = other.call_raw("getAuthStatus", &status).await.unwrap();
    assert_eq!(status["authToken"], "sk-1");
    other
        .call_raw("account/logout", &Value::Null)
        .await
        .unwrap();
    for client in [&mut client, &mut other] {
        let updated = client.notified::<AccountUpdated>().await;
        assert_eq!(updated.auth_mode, None);
    }
    let read = client.call_raw("account/read", &json!({})).await;
    assert_eq!(read.unwrap(), nobody);
    client.finish().await;
    other.finish().await;
}

#[tokio::test]
async fn a_provider_without_login_shows_none() {
    let lab = Lab::with(&[], "model_provider = \"ollama\"\n");
    let auth = lab.directory.path().join("home/auth.json");
    std::fs::write(auth, r#"{"OPENAI_API_KEY":"sk-1"}"#).unwrap();
    let client = lab.client().await;
    let read = client.call_raw("account/read", &json!({})).await;
    let expected = json!({ "account": null, "requiresOpenaiAuth": false });
    assert_eq!(read.unwrap(), expected);
    client.finish().await;
}

#[tokio::test]
async fn what_cannot_be_done_is_said() {
    let lab = Lab::with(&[], "forced_login_method = \"chatgpt\"\n");
    let client = lab.client().await;
    for (method, params, message) in [
        (
            "account/login/start",
            json!({ "type": "apiKey", "apiKey": "k" }),
            "API key login is disabled. Use ChatGPT login instead.",
        ),
        (
            "account/login/start",
            json!({ "type": "chatgptAuthTokens", "accessToken": "x", "chatgptAccountId": "a" }),
            "failed to set external auth: invalid ID token format",
        ),
        (
            "account/login/cancel",
            json!({ "loginId": "x" }),
            "invalid login id: x",
        ),
        (
            "account/rateLimits/read",
            Value::Null,
            "codex account authentication required to read rate limits",
        ),
    ] {
        let error = client.call_raw(method, &params).await.unwrap_err();
        assert_eq!(error.message, message);
    }
    let unknown = json!({ "loginId": "00000000-0000-0000-0000-000000000000" });
    let unknown = client.call_raw("account/login/cancel", &unknown).await;
    assert_eq!(unknown.unwrap(), json!({ "status": "notFound" }));
    client.finish().await;
}

#[tokio::test]
async fn a_report_stays_on_the_machine() {
    let lab = Lab::new();
    let client = lab.client().await;
    let log = lab.directory.path().join("my.log");
    std::fs::write(&log, "lines").unwrap();
    let report = json!({
        "classification": "bug", "includeLogs": true, "reason": "it broke",
        "extraLogFiles": [log, "/no/such/file", "/dev/zero"],
    });
    let answer = client.call_raw("feedback/upload", &report).await.unwrap();
    let thread = answer["threadId"].as_str().unwrap();
    assert!(thread.starts_with("no-active-thread-"), "{thread}");
    let mut reports = std::fs::read_dir(lab.directory.path().join("home/feedback")).unwrap();
    let directory = reports.next().unwrap().unwrap().path();
    let text = std::fs::read_to_string(directory.join("report.json")).unwrap();
    let text: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(text["reason"], "it broke");
    let copied = directory.join("0-my.log");
    assert_eq!(std::fs::read_to_string(copied).unwrap(), "lines");
    client.finish().await;

    let lab = Lab::with(&[], "[feedback]\nenabled = false\n");
    let client = lab.client().await;
    let error = client.call_raw("feedback/upload", &report).await;
    assert_eq!(
        error.unwrap_err().message,
        "sending feedback is disabled by configuration"
    );
    client.finish().await;
}

#[tokio::test]
async fn a_report_is_sent_only_where_the_user_wants_it() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let received = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut text = String::new();
        let mut bytes = [0; 4096];
        while !text.ends_with("}}") {
            let read = stream.read(&mut bytes).await.unwrap();
            assert!(read > 0, "{text}");
            text += std::str::from_utf8(&bytes[..read]).unwrap();
        }
        let answer = "HTTP/1.1 500 No\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
        stream.write_all(answer.as_bytes()).await.unwrap();
        text
    });
    let settings = format!("[feedback]\nendpoint = \"http://{address}/reports\"\n");
    let lab = Lab::with(&[], &settings);
    let client = lab.client().await;
    let log = lab.directory.path().join("my.log");
    std::fs::write(&log, "lines").unwrap();
    let report = json!({ "classification": "bug", "includeLogs": false, "reason": "it broke", "extraLogFiles": [log] });
    // The other side refuses it, but it is kept, so all is well.
    client.call_raw("feedback/upload", &report).await.unwrap();
    let request = received.await.unwrap();
    assert!(
        request.starts_with("POST /reports HTTP/1.1\r\n"),
        "{request}"
    );
    let body = request.split_once("\r\n\r\n").unwrap().1;
    let body: Value = serde_json::from_str(body).unwrap();
    assert_eq!(body["report"]["reason"], "it broke");
    assert_eq!(
        body["files"],
        json!([{ "name": "0-my.log", "dataBase64": "bGluZXM=" }])
    );
    let kept = std::fs::read_dir(lab.directory.path().join("home/feedback")).unwrap();
    assert_eq!(kept.count(), 1);
    client.finish().await;
}
