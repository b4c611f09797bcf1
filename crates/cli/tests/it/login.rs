//! `quipu login` and `quipu logout`, and servers that share one login.

use std::path::Path;

use quipu_testkit::browser::follow;
use quipu_testkit::client::Client;
use quipu_testkit::identity::{DEVICE_TOKEN, IdentityServer, TOKEN};
use quipu_testkit::process::{Launch, ServerProcess};
use quipu_wire::method::request::AccountRead;
use quipu_wire::{Account, GetAccountParams};
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt as _;

use crate::support::{QUIPU, app_server};

/// The home directory of a process in this directory.
const HOME: &str = "quipu";

fn at(launch: Launch, identity: &IdentityServer, home: &Path) -> Launch {
    launch
        .env("CODEX_APP_SERVER_LOGIN_ISSUER", &identity.issuer())
        .env("QUIPU_LOGIN_PORT", "0")
        .env("QUIPU_HOME", home.to_str().unwrap())
}

/// Runs a command to its end, with this on standard input: whether it succeeded, and what it said.
async fn quipu(home: &Path, args: &[&str], input: &str) -> (bool, String) {
    let launch = Launch::new(QUIPU).args(args.iter().copied());
    let mut process = launch.env("QUIPU_HOME", home.to_str().unwrap()).start();
    let mut stdin = process.stdin.take().unwrap();
    // A command that does not read its input may be gone already.
    stdin.write_all(input.as_bytes()).await.ok();
    drop(stdin);
    let status = process.exit().await;
    (status.success(), process.stderr())
}

fn stored(home: &Path) -> Value {
    let text = std::fs::read_to_string(home.join("auth.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

#[tokio::test]
async fn a_key_is_piped_in_shown_in_part_and_forgotten() {
    let directory = tempfile::tempdir().unwrap();
    let home = directory.path().join(HOME);
    let (ok, said) = quipu(&home, &["login", "status"], "").await;
    assert!(!ok && said.contains("Not logged in"), "{said}");
    let (ok, said) = quipu(&home, &["login", "--with-api-key"], " \n").await;
    assert!(
        !ok && said.contains("No API key provided via stdin."),
        "{said}"
    );
    let key = "sk-12345678901234567890";
    let (ok, said) = quipu(&home, &["login", "--with-api-key"], &format!("{key}\n")).await;
    assert!(ok && said == "Successfully logged in\n", "{said}");
    assert_eq!(
        stored(&home),
        json!({ "auth_mode": "apikey", "OPENAI_API_KEY": key })
    );
    let (ok, said) = quipu(&home, &["login", "status"], "").await;
    let shown = "Logged in using an API key - sk-12345***67890\n";
    assert!(ok && said == shown, "{said}");
    let (ok, said) = quipu(&home, &["logout"], "").await;
    assert!(ok && said == "Successfully logged out\n", "{said}");
    let (ok, said) = quipu(&home, &["logout"], "").await;
    assert!(ok && said == "Not logged in\n", "{said}");
    let forced = [
        "login",
        "--with-api-key",
        "-c",
        "forced_login_method=chatgpt",
    ];
    let (ok, said) = quipu(&home, &forced, key).await;
    assert!(!ok && said.contains("API key login is disabled."), "{said}");
    let forced = ["login", "-c", "forced_login_method=api"];
    let (ok, said) = quipu(&home, &forced, "").await;
    assert!(!ok && said.contains("ChatGPT login is disabled."), "{said}");
    let store = ["login", "-c", "cli_auth_credentials_store=ephemeral"];
    let (ok, said) = quipu(&home, &store, "").await;
    assert!(!ok && said.contains("set it to \"file\""), "{said}");
}

#[tokio::test]
async fn people_log_in_at_a_terminal() {
    let directory = tempfile::tempdir().unwrap();
    let home = directory.path().join(HOME);
    let identity = IdentityServer::start().await.unwrap();
    let login = Launch::new(QUIPU).args(["login"]);
    let mut process = at(login, &identity, &home).start();
    let said = process.said("&originator=quipu").await;
    let words = said.split_whitespace();
    let url = words
        .into_iter()
        .find(|word| word.contains("/oauth/authorize?"));
    let page = follow(url.unwrap()).await;
    assert!(page.body.contains("You are logged in"), "{page:?}");
    assert!(process.exit().await.success());
    assert_eq!(stored(&home)["tokens"]["account_id"], "acct-1");

    let device = Launch::new(QUIPU).args(["login", "--device-auth"]);
    let mut process = at(device, &identity, &home).start();
    process.said("ABCD-1234").await;
    identity.approve_device();
    assert!(process.exit().await.success());
    assert!(!identity.asked(DEVICE_TOKEN).is_empty());
    let (ok, said) = quipu(&home, &["login", "status"], "").await;
    assert!(ok && said == "Logged in using ChatGPT\n", "{said}");
}

async fn client(process: &mut ServerProcess) -> Client {
    Client::start(process.stdio()).await
}

/// A refresh token works once: two that use it would log each other out.
#[tokio::test]
async fn processes_that_share_a_login_refresh_it_once() {
    let directory = tempfile::tempdir().unwrap();
    let home = directory.path().join(HOME);
    std::fs::create_dir_all(&home).unwrap();
    let identity = IdentityServer::start().await.unwrap();
    for round in 1..=3 {
        identity.set_access_claims(json!({ "exp": 1 }));
        let [id, access, refresh] = identity.mint();
        identity.set_access_claims(json!({ "exp": 4_000_000_000_i64 }));
        let auth = json!({ "tokens": {
            "id_token": id, "access_token": access, "refresh_token": refresh, "account_id": "acct-1",
        } });
        std::fs::write(home.join("auth.json"), auth.to_string()).unwrap();
        identity.hold(true);
        let mut processes: Vec<_> = (0..3)
            .map(|_| at(app_server([]), &identity, &home).start())
            .collect();
        let mut clients = Vec::new();
        for process in &mut processes {
            clients.push(client(process).await);
        }
        let params = GetAccountParams::default();
        let asked: Vec<_> = clients
            .iter()
            .map(|client| client.ask::<AccountRead>(&params))
            .collect();
        identity.received(round).await;
        identity.hold(false);
        for asked in asked {
            let read = asked.answer().await.unwrap();
            assert!(matches!(read.account, Some(Account::Chatgpt { .. })));
        }
        assert_eq!(identity.asked(TOKEN).len(), round, "one refresh each round");
        assert_ne!(stored(&home)["tokens"]["access_token"], access);
        for client in clients {
            client.finish().await;
        }
    }
}

/// Whatever is logged, however much, and whatever fails.
#[tokio::test]
async fn no_secret_is_logged_or_stored_elsewhere() {
    let identity = IdentityServer::start().await.unwrap();
    let directory = tempfile::tempdir().unwrap();
    let home = directory.path().join(HOME);
    let server = app_server([]).env("RUST_LOG", "trace");
    let mut process = at(server, &identity, &home).start();
    let mut client = client(&mut process).await;
    client.ignore(&["account/login/completed", "account/updated"]);
    let login = json!({ "type": "chatgpt" });
    let login = client.call_raw("account/login/start", &login).await;
    let login = login.unwrap();
    follow(login["authUrl"].as_str().unwrap()).await;
    let refresh = json!({ "refreshToken": true });
    client.call_raw("account/read", &refresh).await.unwrap();
    let [_, _, token] = ["id_token", "access_token", "refresh_token"]
        .map(|name| stored(&home)["tokens"][name].as_str().unwrap().to_owned());
    identity.reply(TOKEN, 500, format!("{token} is bad"));
    client.call_raw("account/read", &refresh).await.unwrap();
    client
        .call_raw("account/rateLimits/read", &Value::Null)
        .await
        .ok();
    let key = json!({ "type": "apiKey", "apiKey": "sk-secret-key" });
    client.call_raw("account/login/start", &key).await.unwrap();
    client.finish().await;
    process.exit().await;
    let logs = process.stderr();
    assert!(logs.contains("failed to refresh tokens"), "{logs}");
    assert!(!logs.contains("secret") && !logs.contains("eyJ"), "{logs}");
    for entry in std::fs::read_dir(&home).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() && !path.ends_with("auth.json") {
            let text = String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned();
            assert!(!text.contains("secret"), "{}", path.display());
        }
    }
}
