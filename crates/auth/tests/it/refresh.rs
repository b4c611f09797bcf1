//! New tokens for old ones: when, how, and what becomes of those who cannot have any.

use quipu_auth::{Keep, Login, RefreshError};
use quipu_testkit::identity::{TOKEN, claims, jwt};
use quipu_wire::PlanType;
use serde_json::{Value, json};

use crate::support::{Desk, LONG_AGO, agent, now};

#[tokio::test]
async fn tokens_are_refreshed_when_they_are_due() {
    let desk = Desk::new().await;
    let [_, access, _] = desk.log_in(&now());
    let login = desk.accounts.fresh(&agent()).await.unwrap();
    assert_eq!(login.secret(), access, "they are good for a while");
    assert!(desk.identity.asked(TOKEN).is_empty());

    let [_, access, refresh] = desk.log_in(LONG_AGO);
    desk.identity
        .set_claims(claims("user@example.com", "pro", "acct-1"));
    let login = desk.accounts.fresh(&agent()).await.unwrap();
    assert_ne!(login.secret(), access);
    assert_eq!(login.plan(), Some(PlanType::Pro));
    let asked = &desk.identity.asked(TOKEN)[0];
    let body: Value = serde_json::from_str(&asked.body).unwrap();
    assert_eq!(
        body,
        json!({
            "client_id": "app_EMoamEEZ73f0CkXaXp7hrann",
            "grant_type": "refresh_token",
            "refresh_token": refresh,
        })
    );
    assert_eq!(asked.headers["originator"], "tests");
    assert_eq!(asked.headers["user-agent"], "tests/1");
    let stored = desk.stored();
    assert_eq!(stored["tokens"]["access_token"], login.secret());
    assert_eq!(stored["later"], json!({ "member": 1 }), "it is kept");
    assert_ne!(stored["last_refresh"], LONG_AGO);
}

#[tokio::test]
async fn a_token_that_says_when_it_expires_is_believed() {
    let desk = Desk::new().await;
    desk.identity.set_access_claims(json!({ "exp": 1 }));
    let [_, old, _] = desk.log_in(&now());
    desk.identity
        .set_access_claims(json!({ "exp": 4_000_000_000_i64 }));
    let login = desk.accounts.fresh(&agent()).await.unwrap();
    assert_ne!(login.secret(), old);
    desk.accounts.fresh(&agent()).await.unwrap();
    assert_eq!(desk.identity.asked(TOKEN).len(), 1);
    desk.log_in(LONG_AGO);
    desk.accounts.fresh(&agent()).await.unwrap();
    assert_eq!(
        desk.identity.asked(TOKEN).len(),
        1,
        "the token is good, however old it is"
    );
}

#[tokio::test]
async fn what_an_answer_leaves_out_stays() {
    let desk = Desk::new().await;
    let [id, _, refresh] = desk.log_in(&now());
    desk.identity.reply(TOKEN, 200, r#"{"access_token":"new"}"#);
    desk.accounts.refresh(&agent()).await.unwrap();
    let tokens = json!({
        "id_token": id, "access_token": "new", "refresh_token": refresh, "account_id": "acct-1",
    });
    assert_eq!(desk.stored()["tokens"], tokens);
}

#[tokio::test]
async fn a_refused_login_is_not_tried_again() {
    let desk = Desk::new().await;
    for (body, error) in [
        (
            r#"{"error":{"code":"refresh_token_expired"}}"#,
            RefreshError::Expired,
        ),
        (r#"{"error":"refresh_token_reused"}"#, RefreshError::Reused),
        (
            r#"{"code":"refresh_token_invalidated"}"#,
            RefreshError::Revoked,
        ),
        ("?", RefreshError::Refused),
    ] {
        desk.log_in(LONG_AGO);
        let login = desk.accounts.current().unwrap();
        assert!(!desk.accounts.is_lost(&login));
        desk.identity.reply(TOKEN, 401, body);
        let before = desk.identity.asked(TOKEN).len();
        for _ in 0..2 {
            let refreshed = desk.accounts.refresh(&agent()).await;
            assert_eq!(refreshed, Err(error.clone()));
        }
        assert_eq!(desk.identity.asked(TOKEN).len(), before + 1);
        assert!(desk.accounts.is_lost(&login));
        let still = desk.accounts.fresh(&agent()).await;
        assert_eq!(still, Some(login), "the old tokens may still do");
    }
    desk.log_in(LONG_AGO);
    desk.accounts.refresh(&agent()).await.unwrap();
}

#[tokio::test]
async fn a_failed_refresh_may_work_another_time() {
    let desk = Desk::new().await;
    let [_, access, refresh] = desk.log_in(LONG_AGO);
    let echo = format!("no {refresh} here");
    for (status, body, message) in [
        (500, "boom", "500 Internal Server Error: boom"),
        (400, &echo, "400 Bad Request: no [redacted] here"),
        (200, "garbage", "error decoding response body"),
        (200, r#"{"id_token":"x"}"#, "invalid ID token format"),
    ] {
        desk.identity.reply(TOKEN, status, body);
        let error = desk.accounts.refresh(&agent()).await.unwrap_err();
        assert_eq!(error, RefreshError::Failed(message.to_owned()));
        assert_eq!(desk.secret(), access);
    }
    desk.accounts.refresh(&agent()).await.unwrap();
    assert_ne!(desk.secret(), access);
}

#[tokio::test]
async fn a_refused_token_is_replaced_by_a_stored_one_or_a_new_one() {
    let desk = Desk::new().await;
    desk.log_in(&now());
    let (account, agent) = (Some("acct-1"), agent());
    let stored = desk.accounts.recover("older", account, &agent).await;
    let stored = stored.unwrap();
    assert!(stored.more && desk.identity.asked(TOKEN).is_empty());
    let refused = stored.login.secret().to_owned();
    let new = desk.accounts.recover(&refused, account, &agent).await;
    let new = new.unwrap();
    assert!(!new.more && new.login.secret() != refused);
    assert_eq!(desk.identity.asked(TOKEN).len(), 1);

    let other = desk
        .accounts
        .recover(&refused, Some("acct-2"), &agent)
        .await;
    assert_eq!(other.unwrap_err(), RefreshError::OtherLogin);
    desk.accounts.log_out().unwrap();
    let gone = desk.accounts.recover(&refused, account, &agent).await;
    assert_eq!(gone.unwrap_err(), RefreshError::OtherLogin);
}

#[tokio::test]
async fn many_at_once_refresh_once() {
    let desk = Desk::new().await;
    desk.identity.hold(true);
    desk.log_in(LONG_AGO);
    let agent = agent();
    let all = async {
        tokio::join!(
            desk.accounts.fresh(&agent),
            desk.accounts.fresh(&agent),
            desk.accounts.fresh(&agent)
        )
    };
    let release = async {
        desk.identity.received(1).await;
        desk.identity.hold(false);
    };
    let ((one, two, three), ()) = tokio::join!(all, release);
    assert_eq!(desk.identity.asked(TOKEN).len(), 1);
    let secret = desk.secret();
    for login in [one, two, three] {
        assert_eq!(login.unwrap().secret(), secret);
    }
}

#[tokio::test]
async fn a_login_during_a_refresh_is_not_overwritten() {
    let desk = Desk::new().await;
    let agent = agent();
    for (stored, outcome) in [
        (
            json!({ "auth_mode": "apikey", "OPENAI_API_KEY": "sk-1" }),
            Err(RefreshError::OtherLogin),
        ),
        (
            json!({ "tokens": { "id_token": jwt(&claims("a@b.c", "pro", "acct-1")),
                "access_token": "other", "refresh_token": "r", "account_id": "acct-1" } }),
            Ok(()),
        ),
    ] {
        desk.log_in(&now());
        desk.identity.hold(true);
        let seen = desk.identity.asked(TOKEN).len();
        let meanwhile = async {
            desk.identity.received(seen + 1).await;
            desk.store(stored.clone());
            desk.identity.hold(false);
        };
        let (refreshed, ()) = tokio::join!(desk.accounts.refresh(&agent), meanwhile);
        assert_eq!(refreshed, outcome);
        assert_eq!(desk.stored(), stored);
    }
}

#[tokio::test]
async fn a_login_in_memory_is_refreshed_there() {
    let desk = Desk::new().await;
    let login = quipu_auth::DeviceLogin::start(&desk.accounts, None).await;
    desk.identity.approve_device();
    let record = login.unwrap().granted(&desk.accounts).await.unwrap();
    desk.accounts.store(record, Keep::Memory).unwrap();
    let old = desk.secret();
    desk.accounts.refresh(&agent()).await.unwrap();
    assert_ne!(desk.secret(), old);
    assert!(!desk.file().exists());
}

#[tokio::test]
async fn what_has_no_refresh_token_is_left_alone() {
    let desk = Desk::new().await;
    desk.accounts.refresh(&agent()).await.unwrap();
    desk.accounts.set_key("sk-1", Keep::File).unwrap();
    desk.accounts.refresh(&agent()).await.unwrap();
    let expired = jwt(&json!({ "exp": 1, "email": "a@b.c" }));
    let set = desk.accounts.set_external(expired, "ws".to_owned(), None);
    set.unwrap();
    desk.accounts.refresh(&agent()).await.unwrap();
    let login = desk.accounts.fresh(&agent()).await;
    assert!(matches!(login, Some(Login::External(_))));
    assert!(desk.identity.asked(TOKEN).is_empty());
}
