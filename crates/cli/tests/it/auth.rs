//! Credentials of websocket clients, through the real flags, files and upgrade.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, Mac as _};
use quipu_testkit::process::ServerProcess;
use quipu_testkit::raw::Raw;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use tempfile::TempDir;

use crate::http::{UPGRADE, ask, upgrade};
use crate::support::{app_server, converse};

const TOKEN: &str = "let me in, for I know the long word";
const SECRET: &str = "a secret that is long enough to sign with";

fn secret_file(content: &str) -> (TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("secret");
    std::fs::write(&file, content).unwrap();
    std::fs::set_permissions(&file, Permissions::from_mode(0o600)).unwrap();
    (directory, file)
}

fn start(mode: &str, file_flag: &str, content: &str, more: &[&str]) -> ServerProcess {
    let (_directory, file) = secret_file(content);
    let args = ["--listen", "ws://127.0.0.1:0", "--ws-auth", mode, file_flag];
    let args = args.into_iter().chain([file.to_str().unwrap()]);
    let process = app_server(args.chain(more.iter().copied())).start();
    // The file is read once at the start, so the directory must live until the banner.
    std::mem::forget(_directory);
    process
}

fn token(header: &Value, claims: &Value, secret: &str) -> String {
    let encode = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
    let head = format!("{}.{}", encode(header), encode(claims));
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).unwrap();
    mac.update(head.as_bytes());
    format!(
        "{head}.{}",
        URL_SAFE_NO_PAD.encode(mac.finalize().into_bytes())
    )
}

fn now() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap()
        .as_secs()
}

async fn refused(url: &str, authorization: Option<&str>) -> String {
    let header = authorization.map_or(String::new(), |it| format!("\r\nAuthorization: {it}"));
    let answer = ask(url, &format!("{UPGRADE}{header}")).await;
    assert!(
        answer.starts_with("HTTP/1.1 401 Unauthorized\r\n"),
        "{answer}"
    );
    answer.split("\r\n\r\n").nth(1).unwrap().to_owned()
}

#[tokio::test]
async fn pages_that_are_allowed_may_connect() {
    let token = "0123456789abcdef0123456789abcdef";
    let mut process = start(
        "capability-token",
        "--ws-token-file",
        token,
        &["--ws-allow-origin", "http://localhost:5173"],
    );
    let url = process.url().await;
    let page = "\r\nOrigin: http://localhost:5173";
    let offered = format!("{page}\r\nSec-WebSocket-Protocol: quipu, quipu.bearer.{token}");
    for (headers, status) in [
        (offered.clone(), "101"),
        (format!("{page}\r\nAuthorization: Bearer {token}"), "101"),
        (page.to_owned(), "401"),
        (offered.replace("bearer.", "bearer.x"), "401"),
        (offered.replace("5173", "5174"), "403"),
        (offered.replace("localhost", "localhost.example.com"), "403"),
        (offered.replace("http://localhost:5173", "null"), "403"),
    ] {
        let answer = upgrade(&url, &headers).await;
        assert!(
            answer.starts_with(&format!("HTTP/1.1 {status}")),
            "{headers}: {answer}"
        );
        let agreed = answer.contains("sec-websocket-protocol: quipu\r\n");
        assert_eq!(agreed, headers == offered, "{answer}");
    }
}

#[tokio::test]
async fn a_capability_token_opens_the_door() {
    let mut process = start(
        "capability-token",
        "--ws-token-file",
        &format!(" {TOKEN} \n"),
        &[],
    );
    let url = process.url().await;
    assert_eq!(refused(&url, None).await, "missing websocket bearer token");
    let basic = format!("Basic {TOKEN}");
    for header in [TOKEN, &basic, "Bearer", "Bearer "] {
        assert_eq!(
            refused(&url, Some(header)).await,
            "invalid authorization header",
            "{header}"
        );
    }
    for token in [&TOKEN[1..], &format!("{TOKEN}!"), &TOKEN.to_uppercase()] {
        let header = format!("Bearer {token}");
        assert_eq!(
            refused(&url, Some(&header)).await,
            "invalid websocket bearer token",
            "{header}"
        );
    }
    for header in [format!("Bearer {TOKEN}"), format!("bearer  {TOKEN} ")] {
        let connection = process.websocket(&[("authorization", &header)]).await;
        converse(&mut Raw::new(connection)).await;
    }
    // Probes need no credential, other requests are told first what they lack as an upgrade.
    assert!(
        ask(&url, "GET /healthz HTTP/1.1")
            .await
            .starts_with("HTTP/1.1 200 OK")
    );
    assert!(
        ask(&url, "GET / HTTP/1.1")
            .await
            .starts_with("HTTP/1.1 400 Bad Request")
    );
}

#[tokio::test]
async fn the_digest_of_a_token_is_enough_to_check_it() {
    let digest = format!("{:x}", Sha256::digest(TOKEN));
    let flags = ["--ws-auth", "capability-token", "--ws-token-sha256"];
    let listen = ["--listen", "ws://127.0.0.1:0"];
    let launch = |digest: &str| app_server(listen.into_iter().chain(flags).chain([digest]));
    let mut process = launch(&digest).start();
    let url = process.url().await;
    let invalid = "invalid websocket bearer token";
    assert_eq!(refused(&url, Some("Bearer no")).await, invalid);
    // The digest itself opens nothing.
    let header = format!("Bearer {digest}");
    assert_eq!(refused(&url, Some(&header)).await, invalid);
    let header = format!("Bearer {TOKEN}");
    let connection = process.websocket(&[("Authorization", &header)]).await;
    converse(&mut Raw::new(connection)).await;
    for bad in ["", "abc", &digest[1..], &format!("{}g", &digest[1..])] {
        let mut process = launch(bad).start();
        assert_eq!(process.exit().await.code(), Some(1), "{bad}");
        let text = process.stderr();
        assert!(text.contains("64 hexadecimal digits"), "{text}");
    }
}

#[tokio::test]
async fn a_signed_token_must_be_ours_and_in_time() {
    let more = [
        "--ws-issuer",
        " me ",
        "--ws-audience",
        "quipu",
        "--ws-max-clock-skew-seconds",
        "5",
    ];
    let mut process = start(
        "signed-bearer-token",
        "--ws-shared-secret-file",
        SECRET,
        &more,
    );
    let url = process.url().await;
    let hs256 = json!({ "alg": "HS256", "typ": "JWT" });
    let claims = |change: Value| {
        let mut claims = json!({ "exp": now() + 60, "iss": "me", "aud": ["other", "quipu"] });
        claims
            .as_object_mut()
            .unwrap()
            .extend(change.as_object().unwrap().clone());
        claims
    };
    let good = token(&hs256, &claims(json!({})), SECRET);
    for (token, expected) in [
        ("a.b.c".to_owned(), "invalid websocket jwt"),
        (
            token(&json!({ "alg": "none" }), &claims(json!({})), SECRET),
            "invalid websocket jwt",
        ),
        (
            token(
                &hs256,
                &claims(json!({})),
                "some other secret of the same kind",
            ),
            "invalid websocket jwt",
        ),
        (
            token(&hs256, &claims(json!({ "exp": null })), SECRET),
            "invalid websocket jwt",
        ),
        (
            token(&hs256, &claims(json!({ "exp": now() - 60 })), SECRET),
            "expired websocket jwt",
        ),
        (
            token(&hs256, &claims(json!({ "nbf": now() + 60 })), SECRET),
            "websocket jwt is not valid yet",
        ),
        (
            token(&hs256, &claims(json!({ "iss": "you" })), SECRET),
            "websocket jwt issuer mismatch",
        ),
        (
            token(&hs256, &claims(json!({ "aud": "you" })), SECRET),
            "websocket jwt audience mismatch",
        ),
    ] {
        assert_eq!(
            refused(&url, Some(&format!("Bearer {token}"))).await,
            expected
        );
    }
    let header = format!("Bearer {good}");
    let connection = process.websocket(&[("authorization", &header)]).await;
    converse(&mut Raw::new(connection)).await;
}

#[tokio::test]
async fn bad_secret_files_are_refused_at_the_start() {
    for (mode, flag, content, text) in [
        (
            "capability-token",
            "--ws-token-file",
            " \n",
            "must not be empty",
        ),
        (
            "capability-token",
            "--ws-token-file",
            &TOKEN[..31],
            "must be at least 32 bytes",
        ),
        (
            "signed-bearer-token",
            "--ws-shared-secret-file",
            "short",
            "must be at least 32 bytes",
        ),
    ] {
        let mut process = start(mode, flag, content, &[]);
        assert_eq!(process.exit().await.code(), Some(1));
        let stderr = process.stderr();
        assert!(
            stderr.starts_with("Error: ") && stderr.contains(text),
            "{stderr}"
        );
        assert!(stderr.contains("openssl rand -hex 32 > "), "{stderr}");
    }
    let args = "--listen ws://127.0.0.1:0 --ws-auth capability-token --ws-token-file /no/such";
    let mut process = app_server(args.split(' ')).start();
    assert_eq!(process.exit().await.code(), Some(1));
    let expected = "Error: failed to read websocket auth secret /no/such: No such file";
    assert!(
        process.stderr().starts_with(expected),
        "{}",
        process.stderr()
    );
}

/// With a credential the server may listen beyond this machine.
#[tokio::test]
async fn authenticated_listeners_may_be_open_to_the_network() {
    let (_directory, file) = secret_file(TOKEN);
    let args = [
        "--listen",
        "ws://0.0.0.0:0",
        "--ws-auth",
        "capability-token",
        "--ws-token-file",
    ];
    let mut process = app_server(args.into_iter().chain([file.to_str().unwrap()])).start();
    process
        .said("every client must present its credential")
        .await;
}

#[tokio::test]
async fn secrets_that_others_can_read_are_refused_at_the_start() {
    for (mode, flag) in [
        ("capability-token", "--ws-token-file"),
        ("signed-bearer-token", "--ws-shared-secret-file"),
    ] {
        for permissions in [0o604, 0o640, 0o620, 0o644] {
            let (_directory, file) = secret_file(SECRET);
            std::fs::set_permissions(&file, Permissions::from_mode(permissions)).unwrap();
            let path = file.to_str().unwrap();
            let args = [
                "--listen",
                "ws://127.0.0.1:0",
                "--ws-auth",
                mode,
                flag,
                path,
            ];
            let mut process = app_server(args).start();
            assert_eq!(process.exit().await.code(), Some(1), "{permissions:o}");
            let stderr = process.stderr();
            assert!(stderr.contains(&format!("`chmod 600 {path}`")), "{stderr}");
            assert!(!stderr.contains(SECRET), "{stderr}");
        }
    }
}
