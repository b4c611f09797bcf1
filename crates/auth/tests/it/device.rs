//! The login with a code that the user enters elsewhere.

use quipu_auth::{DeviceLogin, Keep, NoDeviceCode};
use quipu_testkit::identity::{DEVICE_CODE, DEVICE_TOKEN, TOKEN, claims};
use serde_json::{Value, json};

use crate::support::Desk;

async fn begin(desk: &Desk) -> DeviceLogin {
    DeviceLogin::start(&desk.accounts, None).await.unwrap()
}

#[tokio::test]
async fn a_code_logs_in_once_the_user_entered_it() {
    let desk = Desk::new().await;
    let login = begin(&desk).await;
    let page = format!("{}/codex/device", desk.identity.issuer());
    assert_eq!(
        (login.user_code(), login.verification_url()),
        ("ABCD-1234", page.as_str())
    );
    let user = async {
        desk.identity.received(2).await;
        desk.identity.approve_device();
    };
    let (record, ()) = tokio::join!(login.granted(&desk.accounts), user);
    desk.accounts.store(record.unwrap(), Keep::File).unwrap();
    assert_eq!(desk.stored()["OPENAI_API_KEY"], Value::Null);
    assert_eq!(desk.stored()["tokens"]["account_id"], "acct-1");
    assert!(desk.identity.asked(DEVICE_TOKEN).len() >= 2);
    let asked = &desk.identity.asked(DEVICE_CODE)[0];
    assert_eq!(
        asked.body,
        r#"{"client_id":"app_EMoamEEZ73f0CkXaXp7hrann"}"#
    );
}

#[tokio::test]
async fn a_server_that_gives_no_code_is_quoted() {
    let desk = Desk::new().await;
    let interval = |value: Value| {
        json!({ "device_auth_id": "d", "usercode": "c", "interval": value }).to_string()
    };
    desk.identity.reply(DEVICE_CODE, 404, "");
    let start = DeviceLogin::start(&desk.accounts, None).await;
    assert_eq!(start.err(), Some(NoDeviceCode::Disabled));
    for (status, body, message) in [
        (
            500,
            "boom".to_owned(),
            "device code request failed with status 500 Internal Server Error",
        ),
        (
            200,
            "garbage".to_owned(),
            "expected value at line 1 column 1",
        ),
        (
            200,
            r#"{"user_code": "x"}"#.to_owned(),
            "missing field `device_auth_id` at line 1 column 18",
        ),
        (
            200,
            interval(json!("x")),
            "invalid digit found in string at line 1 column 36",
        ),
        (
            200,
            interval(json!(1)),
            "invalid type: integer `1`, expected a string at line 1 column 34",
        ),
    ] {
        desk.identity.reply(DEVICE_CODE, status, body.clone());
        let start = DeviceLogin::start(&desk.accounts, None).await;
        let text = start.err().unwrap().to_string();
        let text = text.strip_prefix("failed to request device code: ");
        assert_eq!(text, Some(message), "{body}");
    }
    desk.identity.reply(DEVICE_CODE, 200, interval(json!("7")));
    assert_eq!(begin(&desk).await.user_code(), "c");
}

#[tokio::test]
async fn a_login_that_fails_on_the_way_is_quoted() {
    let desk = Desk::new().await;
    let approved = json!({ "authorization_code": "c-secret", "code_challenge": "x", "code_verifier": "v-secret" });
    let cases = [
        (
            vec![(DEVICE_TOKEN, 500, "boom".to_owned())],
            "device auth failed with status 500 Internal Server Error",
        ),
        (
            vec![(DEVICE_TOKEN, 200, "garbage".to_owned())],
            "error decoding response body",
        ),
        (
            vec![(DEVICE_TOKEN, 200, approved.to_string())],
            "device code exchange failed: token endpoint returned status 400 Bad Request: [redacted] \
             is not valid",
        ),
        (
            vec![
                (DEVICE_TOKEN, 200, approved.to_string()),
                (
                    TOKEN,
                    200,
                    r#"{"id_token":"x","access_token":"a","refresh_token":"r"}"#.to_owned(),
                ),
            ],
            "invalid ID token format",
        ),
    ];
    for (replies, message) in cases {
        for (path, status, body) in replies {
            desk.identity.reply(path, status, body);
        }
        let outcome = begin(&desk).await.granted(&desk.accounts).await;
        assert_eq!(outcome.unwrap_err(), message);
    }
}

#[tokio::test]
async fn only_the_allowed_workspace_is_let_in() {
    let desk = Desk::new().await;
    desk.identity.approve_device();
    desk.identity.set_claims(claims("a@b.c", "plus", "acct-2"));
    let login = DeviceLogin::start(&desk.accounts, Some("ws-1".to_owned())).await;
    let outcome = login.unwrap().granted(&desk.accounts).await;
    assert_eq!(
        outcome.unwrap_err(),
        "Login is restricted to workspace id ws-1."
    );
}

#[tokio::test]
async fn a_user_who_does_not_come_is_not_awaited_for_ever() {
    let desk = Desk::new().await;
    let login = begin(&desk).await;
    desk.identity.hold(true);
    tokio::time::pause();
    let outcome = login.granted(&desk.accounts).await;
    // Either the one request that never ends is given up, or the login as a whole.
    let text = outcome.unwrap_err();
    assert!(
        [
            "no answer within 30 seconds",
            "device auth timed out after 15 minutes"
        ]
        .contains(&text.as_str()),
        "{text}"
    );
}
