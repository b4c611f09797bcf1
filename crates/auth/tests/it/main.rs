//! Logins as files and as clients see them.

#![allow(clippy::unwrap_used, reason = "tests")]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use quipu_auth::{Accounts, Claims, Keep, Login, LoginError};
use quipu_wire::{Account, AuthMode, PlanType};
use serde_json::{Value, json};

fn jwt(payload: &Value) -> String {
    let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
    format!("{}.{}.sig", part(&json!({ "alg": "none" })), part(payload))
}

fn claims(email: &str, plan: &str) -> Value {
    json!({ "email": email, "https://api.openai.com/auth": {
        "chatgpt_plan_type": plan, "chatgpt_account_id": "acct-1",
    } })
}

#[test]
fn a_key_is_stored_for_its_owner_alone_and_forgotten_at_logout() {
    let home = tempfile::tempdir().unwrap();
    let accounts = Accounts::new(home.path());
    assert_eq!(accounts.current(), None);
    accounts.set_key("sk-1", Keep::File).unwrap();
    let file = home.path().join("auth.json");
    assert_eq!(
        fs::metadata(&file).unwrap().permissions().mode() & 0o777,
        0o600
    );
    let stored: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    assert_eq!(
        stored,
        json!({ "auth_mode": "apikey", "OPENAI_API_KEY": "sk-1" })
    );
    let other = Accounts::new(home.path());
    assert_eq!(other.current(), Some(Login::ApiKey("sk-1".into())));
    other.log_out().unwrap();
    other.log_out().unwrap();
    assert_eq!(accounts.current(), None);
    assert_eq!(fs::read_dir(home.path()).unwrap().count(), 0);
}

#[test]
fn a_key_in_memory_leaves_no_file() {
    let home = tempfile::tempdir().unwrap();
    let accounts = Accounts::new(home.path());
    accounts.set_key("sk-1", Keep::Memory).unwrap();
    assert_eq!(accounts.current().unwrap().secret(), "sk-1");
    assert_eq!(fs::read_dir(home.path()).unwrap().count(), 0);
}

#[test]
fn logins_of_other_programs_are_read() {
    let home = tempfile::tempdir().unwrap();
    let accounts = Accounts::new(home.path());
    let write =
        |value: &Value| fs::write(home.path().join("auth.json"), value.to_string()).unwrap();
    write(&json!({ "OPENAI_API_KEY": "sk-2" }));
    assert_eq!(accounts.current().unwrap().mode(), AuthMode::Apikey);
    let id_token = jwt(&claims("a@b.c", "HC"));
    write(&json!({ "OPENAI_API_KEY": null, "tokens": {
        "id_token": id_token, "access_token": "at", "refresh_token": "rt", "account_id": null,
    }, "last_refresh": "2026-11-15T06:57:46Z" }));
    let login = accounts.current().unwrap();
    assert_eq!((login.mode(), login.secret()), (AuthMode::Chatgpt, "at"));
    let account = Account::Chatgpt {
        email: "a@b.c".into(),
        plan_type: PlanType::Enterprise,
    };
    assert_eq!(login.account(), Ok(account));
    for broken in [
        json!(7),
        json!({}),
        json!({ "tokens": { "id_token": "x", "access_token": "y" } }),
    ] {
        write(&broken);
        assert_eq!(accounts.current(), None, "{broken}");
    }
}

#[test]
fn tokens_of_a_client_hide_what_is_stored_until_logout() {
    let home = tempfile::tempdir().unwrap();
    let accounts = Accounts::new(home.path());
    accounts.set_key("sk-1", Keep::File).unwrap();
    assert!(
        accounts
            .set_external("junk".into(), "ws".into(), None)
            .is_err()
    );
    let token = jwt(&claims("a@b.c", "plus"));
    let login = accounts
        .set_external(token.clone(), "ws".into(), Some("Pro"))
        .unwrap();
    assert_eq!(login.plan(), Some(PlanType::Pro));
    assert_eq!(
        accounts.current().unwrap().mode(),
        AuthMode::ChatgptAuthTokens
    );
    assert!(matches!(
        accounts.set_key("sk-2", Keep::File),
        Err(LoginError::External)
    ));
    let shown = format!("{accounts:?} {login:?}");
    assert!(
        !shown.contains(&token) && !shown.contains("a@b.c"),
        "{shown}"
    );
    accounts.log_out().unwrap();
    assert_eq!(accounts.current(), None);
}

#[test]
fn what_is_no_token_is_refused() {
    for text in ["", "a.b", "a.b.c.d", "a.!!.c", "a.bm8.c"] {
        assert!(Claims::read(text).is_err(), "{text}");
    }
    let nameless = Claims::read(&jwt(&json!({}))).unwrap();
    assert_eq!((nameless.email, nameless.plan), (None, None));
}
