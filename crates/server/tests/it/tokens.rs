//! The tokens of a ChatGPT login in model requests, and what becomes of refused ones.

use quipu_testkit::conversation::Conversation;
use quipu_testkit::identity::{IdentityServer, TOKEN, claims, jwt};
use serde_json::{Value, json};

use crate::stage::{Stage, run, say, status};

/// A server whose provider needs a login, with an identity server for it.
async fn stage(settings: &str) -> (Stage, IdentityServer) {
    let identity = IdentityServer::start().await.unwrap();
    let mut stage = Stage::speaking("responses", "requires_openai_auth = true").await;
    let config = stage.home().join("config.toml");
    let text = std::fs::read_to_string(&config).unwrap();
    std::fs::write(&config, format!("{settings}\n{text}")).unwrap();
    let issuer = identity.issuer();
    stage.restart_with_env(&[("CODEX_APP_SERVER_LOGIN_ISSUER", &issuer)]);
    (stage, identity)
}

fn log_in(stage: &Stage, identity: &IdentityServer) -> [String; 3] {
    let [id, access, refresh] = identity.mint();
    let auth = json!({ "tokens": {
        "id_token": id, "access_token": access, "refresh_token": refresh, "account_id": "acct-1",
    } });
    std::fs::write(stage.home().join("auth.json"), auth.to_string()).unwrap();
    [id, access, refresh]
}

/// The tokens that the model was shown.
fn shown(stage: &Stage) -> Vec<String> {
    let requests = stage.model.requests();
    let shown = requests
        .iter()
        .map(|it| it.headers["authorization"].clone());
    shown.collect()
}

/// The error that ended a turn.
fn error(messages: &[Value]) -> (String, Value) {
    let error = &messages.last().unwrap()["params"]["turn"]["error"];
    let text = error["message"].as_str().unwrap_or_default().to_owned();
    (text, error["codexErrorInfo"].clone())
}

async fn external(stage: &Stage, token: &str) -> (Conversation, String) {
    let (mut client, thread) = stage.thread().await;
    let params =
        json!({ "type": "chatgptAuthTokens", "accessToken": token, "chatgptAccountId": "acct-9" });
    client.call("account/login/start", params).await;
    client.skip_to("account/updated").await;
    (client, thread)
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_carry_the_login() {
    let (stage, identity) = stage("").await;
    let [_, access, _] = log_in(&stage, &identity);
    let (mut client, thread) = stage.thread().await;
    stage.play([json!({ "text": "hi" })]);
    assert_eq!(
        status(&run(&mut client, &thread, "hello").await),
        "completed"
    );
    let sent = &stage.model.requests()[0];
    assert_eq!(sent.headers["authorization"], format!("Bearer {access}"));
    assert_eq!(sent.headers["chatgpt-account-id"], "acct-1");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refused_token_is_refreshed_within_the_turn() {
    let (stage, identity) = stage("").await;
    let [_, old, _] = log_in(&stage, &identity);
    let (mut client, thread) = stage.thread().await;
    stage.play([json!({ "fail": 401 }), json!({ "text": "hi" })]);
    assert_eq!(
        status(&run(&mut client, &thread, "hello").await),
        "completed"
    );
    let shown = shown(&stage);
    assert_eq!(shown[0], format!("Bearer {old}"));
    assert_ne!(shown[0], shown[1]);
    assert_eq!(identity.asked(TOKEN).len(), 1);

    stage.play([json!({ "fail": 401 }), json!({ "fail": 401 })]);
    let messages = run(&mut client, &thread, "again").await;
    let (text, info) = error(&messages);
    assert!(
        text.starts_with("unexpected status 401 Unauthorized"),
        "{text}"
    );
    assert_eq!(info, "unauthorized");
    assert_eq!(identity.asked(TOKEN).len(), 2, "one refresh for a request");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_login_that_cannot_be_refreshed_ends_the_turn() {
    let (stage, identity) = stage("").await;
    log_in(&stage, &identity);
    let (mut client, thread) = stage.thread().await;
    identity.reply(TOKEN, 500, "boom");
    stage.play([json!({ "fail": 401 })]);
    let failed = error(&run(&mut client, &thread, "one").await);
    let text = "Failed to refresh token: 500 Internal Server Error: boom";
    assert_eq!(failed, (text.to_owned(), json!("other")));

    identity.reply(TOKEN, 401, r#"{"error":{"code":"refresh_token_expired"}}"#);
    let text = "Your access token could not be refreshed because your refresh token has expired. \
                Please log out and sign in again.";
    for words in ["two", "three"] {
        stage.play([json!({ "fail": 401 })]);
        let failed = error(&run(&mut client, &thread, words).await);
        assert_eq!(failed, (text.to_owned(), json!("unauthorized")));
    }
    assert_eq!(identity.asked(TOKEN).len(), 2, "the third did not ask");

    stage.play([json!({ "fail": 401 })]);
    log_in(&stage, &identity);
    say(&mut client, &thread, "four").await;
    let messages = client.until("turn/completed").await;
    assert_eq!(status(&messages), "completed", "a new login works at once");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_renews_its_tokens_when_asked() {
    let (stage, _identity) = stage("").await;
    let old = jwt(&claims("a@b.c", "plus", "acct-1"));
    let new = jwt(&claims("n@b.c", "plus", "acct-1"));
    let (mut client, thread) = external(&stage, &old).await;
    stage.play([json!({ "fail": 401 }), json!({ "text": "hi" })]);
    say(&mut client, &thread, "hello").await;
    let asked = client.skip_to("account/chatgptAuthTokens/refresh").await;
    let params = json!({ "reason": "unauthorized", "previousAccountId": "acct-9" });
    assert_eq!(asked["params"], params);
    let tokens =
        json!({ "accessToken": new, "chatgptAccountId": "acct-8", "chatgptPlanType": null });
    client.reply(&asked["id"], tokens).await;
    let messages = client.until("turn/completed").await;
    assert_eq!(status(&messages), "completed");
    let sent = &stage.model.requests()[1];
    assert_eq!(sent.headers["authorization"], format!("Bearer {new}"));
    assert_eq!(sent.headers["chatgpt-account-id"], "acct-8");
    let read = client
        .call("account/read", json!({ "refreshToken": true }))
        .await;
    assert_eq!(read["account"]["email"], "n@b.c");
    assert!(!stage.home().join("auth.json").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_does_not_renew_ends_the_turn() {
    let (stage, _identity) = stage("forced_chatgpt_workspace_id = \"acct-9\"").await;
    let token = jwt(&claims("a@b.c", "plus", "acct-1"));
    let (mut client, thread) = external(&stage, &token).await;
    let answers = [
        (
            None,
            "auth refresh request failed: code=-32000 message=not today",
        ),
        (
            Some(json!({ "accessToken": token, "chatgptAccountId": "acct-8" })),
            "external auth refresh returned workspace \"acct-8\", expected \"acct-9\"",
        ),
        (
            Some(json!({ "accessToken": "x", "chatgptAccountId": "acct-9" })),
            "invalid ID token format",
        ),
        (Some(json!({ "foo": 1 })), "missing field `accessToken`"),
    ];
    for (answer, message) in answers {
        stage.play([json!({ "fail": 401 })]);
        say(&mut client, &thread, "hello").await;
        let asked = client.skip_to("account/chatgptAuthTokens/refresh").await;
        match answer {
            Some(answer) => client.reply(&asked["id"], answer).await,
            None => client.refuse(&asked["id"]).await,
        }
        let failed = error(&client.until("turn/completed").await);
        assert_eq!(failed, (message.to_owned(), json!("other")));
    }
    // An interrupted turn does not wait for the answer.
    stage.play([json!({ "fail": 401 })]);
    let turn = say(&mut client, &thread, "hello").await;
    client.skip_to("account/chatgptAuthTokens/refresh").await;
    let interrupt = json!({ "threadId": thread, "turnId": turn });
    client.call("turn/interrupt", interrupt).await;
}
