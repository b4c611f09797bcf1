//! ChatGPT logins that wait for their user, as clients see them begin and end.

use quipu_testkit::browser::{follow, open, query};
use quipu_testkit::client::Client;
use quipu_testkit::identity::{DEVICE_CODE, DEVICE_TOKEN, IdentityServer, TOKEN, USAGE};
use quipu_wire::method::event::{AccountLoginCompleted, AccountUpdated};
use quipu_wire::{AccountLoginCompletedNotification, AuthMode, PlanType};
use serde_json::{Value, json};

use crate::lab::Lab;

/// A server whose logins happen at an identity server of the test.
async fn with_identity(config: &str) -> (Lab, IdentityServer) {
    let identity = IdentityServer::start().await.unwrap();
    let issuer = identity.issuer();
    let vars = [
        ("CODEX_APP_SERVER_LOGIN_ISSUER", issuer.as_str()),
        ("QUIPU_LOGIN_PORT", "0"),
    ];
    let config = format!("chatgpt_base_url = \"{issuer}\"\n{config}");
    (Lab::with(&vars, &config), identity)
}

async fn start(client: &Client, kind: &str) -> Value {
    let params = json!({ "type": kind });
    client
        .call_raw("account/login/start", &params)
        .await
        .unwrap()
}

async fn refused(client: &Client, params: Value) -> (i64, String) {
    let error = client.call_raw("account/login/start", &params).await;
    let error = error.unwrap_err();
    (error.code, error.message)
}

async fn ended(client: &mut Client) -> AccountLoginCompletedNotification {
    client.notified::<AccountLoginCompleted>().await
}

fn failed(login: &Value, text: &str) -> AccountLoginCompletedNotification {
    AccountLoginCompletedNotification {
        login_id: Some(login["loginId"].as_str().unwrap().to_owned()),
        success: false,
        error: Some(text.to_owned()),
    }
}

#[tokio::test]
async fn a_browser_logs_in_everybody() {
    let (lab, identity) = with_identity("").await;
    let (mut client, mut other) = (lab.client().await, lab.client().await);
    let login = start(&client, "chatgpt").await;
    assert_eq!(login["type"], "chatgpt");
    let url = login["authUrl"].as_str().unwrap();
    assert_eq!(query(url, "originator").as_deref(), Some("testkit"));
    let page = follow(url).await;
    assert_eq!(page.status, 200, "{page:?}");
    for client in [&mut client, &mut other] {
        let completed = ended(client).await;
        assert_eq!(completed.login_id.as_deref(), login["loginId"].as_str());
        assert!(completed.success && completed.error.is_none());
        let updated = client.notified::<AccountUpdated>().await;
        assert_eq!(updated.auth_mode, Some(AuthMode::Chatgpt));
        assert_eq!(updated.plan_type, Some(PlanType::Plus));
    }
    let read = client.call_raw("account/read", &json!({})).await.unwrap();
    let account = json!({ "type": "chatgpt", "email": "user@example.com", "planType": "plus" });
    assert_eq!(read["account"], account);
    let cancel = json!({ "loginId": login["loginId"] });
    let cancel = client.call_raw("account/login/cancel", &cancel).await;
    assert_eq!(cancel.unwrap(), json!({ "status": "notFound" }));
    let limits = client
        .call_raw("account/rateLimits/read", &Value::Null)
        .await;
    assert_eq!(limits.unwrap()["rateLimits"]["planType"], "plus");
    assert_eq!(identity.asked(USAGE).len(), 1);
    client.finish().await;
    other.finish().await;
}

#[tokio::test]
async fn a_code_logs_in_once_it_is_entered() {
    let (lab, identity) = with_identity("").await;
    let mut client = lab.client().await;
    let login = start(&client, "chatgptDeviceCode").await;
    let url = format!("{}/codex/device", identity.issuer());
    assert_eq!(login["verificationUrl"], url);
    assert_eq!(login["userCode"], "ABCD-1234");
    identity.approve_device();
    assert!(ended(&mut client).await.success);
    client.notified::<AccountUpdated>().await;
    let status = json!({ "includeToken": true, "refreshToken": true });
    let status = client.call_raw("getAuthStatus", &status).await.unwrap();
    assert_eq!(status["authMethod"], "chatgpt");
    assert_eq!(identity.asked(TOKEN).len(), 2, "a code and a refresh");
    identity.reply(TOKEN, 401, r#"{"error":"refresh_token_reused"}"#);
    let ask = json!({ "includeToken": true, "refreshToken": true });
    let status = client.call_raw("getAuthStatus", &ask).await.unwrap();
    let lost = json!({ "authMethod": "chatgpt", "authToken": null, "requiresOpenaiAuth": true });
    assert_eq!(status, lost, "the token will not last");
    client.finish().await;
}

#[tokio::test]
async fn a_login_can_be_cancelled_once() {
    let (lab, _identity) = with_identity("").await;
    let mut client = lab.client().await;
    for (kind, text) in [
        ("chatgpt", "Login server error: Login was not completed"),
        ("chatgptDeviceCode", "Login was not completed"),
    ] {
        let login = start(&client, kind).await;
        let cancel = json!({ "loginId": login["loginId"] });
        let first = client.call_raw("account/login/cancel", &cancel).await;
        assert_eq!(first.unwrap(), json!({ "status": "canceled" }));
        assert_eq!(ended(&mut client).await, failed(&login, text));
        let second = client.call_raw("account/login/cancel", &cancel).await;
        assert_eq!(second.unwrap(), json!({ "status": "notFound" }));
    }
    client.finish().await;
}

#[tokio::test]
async fn a_new_login_ends_the_one_that_waits() {
    let (lab, _identity) = with_identity("").await;
    let mut client = lab.client().await;
    let first = start(&client, "chatgpt").await;
    let second = start(&client, "chatgpt").await;
    let evicted = failed(&first, "Login server error: Login cancelled");
    assert_eq!(ended(&mut client).await, evicted);
    let third = start(&client, "chatgptDeviceCode").await;
    let replaced = failed(&second, "Login server error: Login was not completed");
    assert_eq!(ended(&mut client).await, replaced);
    client
        .call_raw("account/logout", &Value::Null)
        .await
        .unwrap();
    let replaced = failed(&third, "Login was not completed");
    assert_eq!(ended(&mut client).await, replaced);
    client.notified::<AccountUpdated>().await;
    let fourth = start(&client, "chatgptDeviceCode").await;
    let key = json!({ "type": "apiKey", "apiKey": "sk-1" });
    client.call_raw("account/login/start", &key).await.unwrap();
    let replaced = failed(&fourth, "Login was not completed");
    assert_eq!(ended(&mut client).await, replaced);
    assert!(ended(&mut client).await.success);
    client.notified::<AccountUpdated>().await;
    client.finish().await;
}

#[tokio::test]
async fn a_login_that_fails_says_why() {
    let (lab, identity) = with_identity("").await;
    let mut client = lab.client().await;
    let device = json!({ "type": "chatgptDeviceCode" });
    identity.reply(DEVICE_CODE, 404, "");
    let disabled = "device code login is not enabled for this Codex server. Use the browser login or \
                    verify the server URL.";
    let answer = refused(&client, device.clone()).await;
    assert_eq!(answer, (-32600, disabled.to_owned()));
    identity.reply(DEVICE_CODE, 500, "");
    let (code, text) = refused(&client, device).await;
    assert_eq!(code, -32603);
    let status = "device code request failed with status 500 Internal Server Error";
    assert_eq!(text, format!("failed to request device code: {status}"));
    identity.reply(DEVICE_TOKEN, 500, "");
    let login = start(&client, "chatgptDeviceCode").await;
    let text = "device auth failed with status 500 Internal Server Error";
    assert_eq!(ended(&mut client).await, failed(&login, text));

    let login = start(&client, "chatgpt").await;
    let url = login["authUrl"].as_str().unwrap();
    let (page, state) = (query(url, "redirect_uri"), query(url, "state"));
    let denied = format!(
        "{}?state={}&error=access_denied",
        page.unwrap(),
        state.unwrap()
    );
    assert_eq!(open(&denied).await.status, 200);
    let text = "Login server error: Sign-in failed: access_denied";
    assert_eq!(ended(&mut client).await, failed(&login, text));
    client.finish().await;
}

#[tokio::test]
async fn a_login_that_cannot_be_stored_fails() {
    let (lab, identity) = with_identity("").await;
    let mut client = lab.client().await;
    // A directory is in the way of the file.
    let file = lab.directory.path().join("home/auth.json");
    std::fs::create_dir_all(file.join("inside")).unwrap();
    let login = start(&client, "chatgpt").await;
    let page = follow(login["authUrl"].as_str().unwrap()).await;
    let text = "Sign-in completed but credentials could not be saved locally.";
    assert!(page.body.contains(text), "{page:?}");
    let messages = format!("Login server error: {text}");
    assert_eq!(ended(&mut client).await, failed(&login, &messages));
    identity.approve_device();
    start(&client, "chatgptDeviceCode").await;
    assert!(!ended(&mut client).await.success);
    client.finish().await;
}

#[tokio::test]
async fn what_the_settings_forbid_is_refused() {
    let (lab, _identity) = with_identity("forced_login_method = \"api\"\n").await;
    let client = lab.client().await;
    let forbidden = "ChatGPT login is disabled. Use API key login instead.";
    for kind in ["chatgpt", "chatgptDeviceCode"] {
        let answer = refused(&client, json!({ "type": kind })).await;
        assert_eq!(answer, (-32600, forbidden.to_owned()));
    }
    client.finish().await;
    let (lab, identity) = with_identity("cli_auth_credentials_store = \"ephemeral\"\n").await;
    let mut client = lab.client().await;
    identity.approve_device();
    start(&client, "chatgptDeviceCode").await;
    assert!(ended(&mut client).await.success);
    client.notified::<AccountUpdated>().await;
    assert!(!lab.directory.path().join("home/auth.json").exists());
    let read = client.call_raw("account/read", &json!({})).await.unwrap();
    assert_eq!(read["account"]["type"], "chatgpt");
    client.finish().await;
}

#[tokio::test]
async fn tokens_of_a_client_leave_no_room_for_another_login() {
    let (lab, identity) = with_identity("").await;
    let mut client = lab.client().await;
    let waiting = start(&client, "chatgptDeviceCode").await;
    let [token, ..] = identity.mint();
    let tokens =
        json!({ "type": "chatgptAuthTokens", "accessToken": token, "chatgptAccountId": "a" });
    client
        .call_raw("account/login/start", &tokens)
        .await
        .unwrap();
    let replaced = failed(&waiting, "Login was not completed");
    assert_eq!(ended(&mut client).await, replaced);
    assert!(ended(&mut client).await.success);
    client.notified::<AccountUpdated>().await;
    let external = "External auth is active. Use account/login/start (chatgptAuthTokens) to update it \
                    or account/logout to clear it.";
    for params in [
        json!({ "type": "chatgpt" }),
        json!({ "type": "chatgptDeviceCode" }),
        json!({ "type": "apiKey", "apiKey": "k" }),
    ] {
        let answer = refused(&client, params).await;
        assert_eq!(answer, (-32600, external.to_owned()));
    }
    client.finish().await;
}
