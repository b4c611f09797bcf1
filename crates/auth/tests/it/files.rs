//! `auth.json` and what is kept in memory.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use quipu_auth::{Accounts, Authority, Claims, Keep, Login, LoginError};
use quipu_testkit::identity::{claims, jwt};
use quipu_wire::{Account, AuthMode, PlanType};
use serde_json::{Value, json};

fn accounts(home: &Path) -> Accounts {
    Accounts::new(home, Authority::default(), || Err("no network".to_owned()))
}

#[test]
fn a_key_is_stored_for_its_owner_alone_and_forgotten_at_logout() {
    let home = tempfile::tempdir().unwrap();
    let ours = accounts(home.path());
    assert_eq!(ours.current(), None);
    let file = home.path().join("auth.json");
    fs::write(&file, "{}").unwrap();
    ours.set_key("sk-1", Keep::File).unwrap();
    assert_eq!(
        fs::metadata(&file).unwrap().permissions().mode() & 0o777,
        0o600
    );
    let text = fs::read_to_string(&file).unwrap();
    assert_eq!(
        text,
        "{\n  \"auth_mode\": \"apikey\",\n  \"OPENAI_API_KEY\": \"sk-1\"\n}"
    );
    let other = accounts(home.path());
    assert_eq!(other.current(), Some(Login::ApiKey("sk-1".into())));
    assert!(other.log_out().unwrap());
    assert!(!other.log_out().unwrap());
    assert_eq!(ours.current(), None);
    assert_eq!(fs::read_dir(home.path()).unwrap().count(), 0);
}

#[test]
fn a_key_in_memory_leaves_no_file() {
    let home = tempfile::tempdir().unwrap();
    let accounts = accounts(home.path());
    accounts.set_key("sk-1", Keep::Memory).unwrap();
    assert_eq!(accounts.current().unwrap().secret(), "sk-1");
    assert_eq!(fs::read_dir(home.path()).unwrap().count(), 0);
    assert!(accounts.log_out().unwrap());
    assert_eq!(accounts.current(), None);
}

#[test]
fn a_login_that_cannot_be_stored_changes_nothing() {
    let home = tempfile::tempdir().unwrap();
    let blocked = home.path().join("file");
    fs::write(&blocked, "").unwrap();
    let accounts = accounts(&blocked);
    let error = accounts.set_key("sk-secret", Keep::File).unwrap_err();
    let text = error.to_string();
    assert!(text.starts_with("failed to save api key: "), "{text}");
    assert!(!text.contains("sk-secret"), "{text}");
    assert_eq!(accounts.current(), None);
}

#[test]
fn logins_of_other_programs_are_read() {
    let home = tempfile::tempdir().unwrap();
    let accounts = accounts(home.path());
    let write =
        |value: &Value| fs::write(home.path().join("auth.json"), value.to_string()).unwrap();
    write(&json!({ "OPENAI_API_KEY": "sk-2" }));
    assert_eq!(accounts.current().unwrap().mode(), AuthMode::Apikey);
    let id_token = jwt(&claims("a@b.c", "HC", "acct-1"));
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
        json!({ "auth_mode": "later", "OPENAI_API_KEY": "sk-3" }),
    ] {
        write(&broken);
        assert_eq!(accounts.current(), None, "{broken}");
    }
}

#[test]
fn tokens_of_a_client_hide_what_is_stored_until_logout() {
    let home = tempfile::tempdir().unwrap();
    let accounts = accounts(home.path());
    accounts.set_key("sk-1", Keep::File).unwrap();
    let junk = accounts.set_external("junk".into(), "ws".into(), None);
    assert!(junk.is_err());
    let token = jwt(&claims("a@b.c", "plus", "acct-1"));
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
