//! Logging in: registration, the browser's way back, tokens that are kept, shown and renewed.

use std::sync::Arc;
use std::time::Duration;

use quipu_mcp::oauth::{Grant, Login, LoginRequest, Store, supports_login};
use quipu_mcp::{Client, StartError};
use quipu_testkit::mcp::{HttpOptions, McpHttpServer};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::lab::{address, call, endpoint, start};

async fn server(token_life: Option<u64>) -> McpHttpServer {
    let options = HttpOptions {
        login: true,
        token_life,
        ..HttpOptions::default()
    };
    McpHttpServer::start(options).await.unwrap()
}

fn request(server: &McpHttpServer) -> LoginRequest {
    LoginRequest {
        server: "scripted".to_owned(),
        url: server.url(),
        scopes: None,
        resource: Some("https://example.com/r".to_owned()),
        callback_port: None,
        callback_url: None,
        client_name: "Test".to_owned(),
        timeout: Duration::from_secs(20),
        certificates: None,
    }
}

/// One member of the query of an address.
fn member(url: &str, name: &str) -> String {
    let (_, query) = url.split_once('?').unwrap();
    let found = query
        .split('&')
        .find_map(|pair| pair.strip_prefix(&format!("{name}=")));
    found
        .unwrap_or_else(|| panic!("no {name} in {url}"))
        .to_owned()
}

/// A connection to the page that the browser returns to.
async fn browser(login: &str) -> TcpStream {
    let redirect = member(login, "redirect_uri");
    let port = redirect
        .split("%3A")
        .nth(2)
        .unwrap()
        .split("%2F")
        .next()
        .unwrap();
    TcpStream::connect(format!("127.0.0.1:{port}"))
        .await
        .unwrap()
}

/// What a browser that comes back is shown.
async fn visit(login: &str, target: &str) -> String {
    let mut stream = browser(login).await;
    let head = format!("GET {target} HTTP/1.1\r\nhost: x\r\n\r\n");
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut page = String::new();
    stream.read_to_string(&mut page).await.unwrap();
    page
}

/// Logs in like a user who agrees.
async fn log_in(server: &McpHttpServer, store: &Store) {
    let login = Login::start(request(server)).await.unwrap();
    let url = login.authorization_url.clone();
    let good = format!("/callback?code=abc&state={}", member(&url, "state"));
    let (done, page) = tokio::join!(login.finish(store), visit(&url, &good));
    done.unwrap();
    assert!(page.contains("Authentication complete"), "{page}");
}

async fn connect(server: &McpHttpServer, home: &std::path::Path) -> Result<Client, StartError> {
    let mut endpoint = endpoint(server.url());
    endpoint.grant = Grant::load(Store::in_home(home), "scripted", &server.url()).map(Arc::new);
    start(&address(endpoint)).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_login_yields_tokens_that_are_shown() {
    let server = server(None).await;
    let home = tempfile::tempdir().unwrap();
    assert!(supports_login(&server.url(), None).await);
    assert_eq!(
        connect(&server, home.path()).await.err(),
        Some(StartError::NotLoggedIn)
    );
    log_in(&server, &Store::in_home(home.path())).await;
    let client = connect(&server, home.path()).await.unwrap();
    assert!(call(&client, "echo").await.is_ok());
    let requests = server.requests();
    let exchange = requests.iter().find(|it| it.path == "/token").unwrap();
    let form = String::from_utf8_lossy(&exchange.body).into_owned();
    assert!(
        form.starts_with("grant_type=authorization_code&code=abc&code_verifier="),
        "{form}"
    );
    let stored = std::fs::read_to_string(home.path().join(".credentials.json")).unwrap();
    assert!(
        stored.contains(r#""refresh_token":"refresh-1""#),
        "{stored}"
    );
    assert!(stored.contains(r#""scopes":["read","write"]"#), "{stored}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_address_for_the_browser_says_what_is_asked_for() {
    let server = server(None).await;
    let login = Login::start(request(&server)).await.unwrap();
    let url = &login.authorization_url;
    assert_eq!(member(url, "scope"), "read+write");
    assert_eq!(member(url, "code_challenge_method"), "S256");
    assert_eq!(member(url, "resource"), "https%3A%2F%2Fexample.com%2Fr");
    let mut narrow = request(&server);
    narrow.scopes = Some(vec!["one".to_owned()]);
    let login = Login::start(narrow).await.unwrap();
    assert_eq!(member(&login.authorization_url, "scope"), "one");
}

/// Browsers open connections that they do not use. Were each waited for, this login would time out.
#[tokio::test(flavor = "multi_thread")]
async fn silent_connections_do_not_delay_a_login() {
    let server = server(None).await;
    let home = tempfile::tempdir().unwrap();
    let store = Store::in_home(home.path());
    let login = Login::start(request(&server)).await.unwrap();
    let url = login.authorization_url.clone();
    let _silent = [
        browser(&url).await,
        browser(&url).await,
        browser(&url).await,
    ];
    let good = format!("/callback?code=abc&state={}", member(&url, "state"));
    let (done, page) = tokio::join!(login.finish(&store), visit(&url, &good));
    done.unwrap();
    assert!(page.contains("Authentication complete"), "{page}");
}

#[tokio::test(flavor = "multi_thread")]
async fn strangers_are_turned_away_and_refusals_reported() {
    let server = server(None).await;
    let home = tempfile::tempdir().unwrap();
    let store = Store::in_home(home.path());
    let login = Login::start(request(&server)).await.unwrap();
    let url = login.authorization_url.clone();
    let visits = async {
        for stranger in ["/", "/callback", "/callback?code=x&state=guessed"] {
            let page = visit(&url, stranger).await;
            assert!(page.ends_with("Invalid OAuth callback"), "{page}");
        }
        visit(
            &url,
            "/callback?error=access_denied&error_description=no+way",
        )
        .await
    };
    let (done, page) = tokio::join!(login.finish(&store), visits);
    assert_eq!(
        done.unwrap_err(),
        "OAuth provider returned `access_denied`: no way"
    );
    assert!(page.contains("access_denied"), "{page}");

    let mut hasty = request(&server);
    hasty.timeout = Duration::from_millis(10);
    let login = Login::start(hasty).await.unwrap();
    assert_eq!(
        login.finish(&store).await.unwrap_err(),
        "timed out waiting for OAuth callback"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn tokens_are_renewed_before_they_expire_and_when_they_are_refused() {
    let server = server(Some(1)).await;
    let home = tempfile::tempdir().unwrap();
    let store = Store::in_home(home.path());
    log_in(&server, &store).await;
    // Each token is about to expire when it is first shown.
    let client = connect(&server, home.path()).await.unwrap();
    assert!(call(&client, "echo").await.is_ok());
    let renewals = server
        .requests()
        .into_iter()
        .filter(|it| it.path == "/token" && it.body.starts_with(b"grant_type=refresh_token"));
    assert!(renewals.count() >= 2);

    // Another process logs in again: the old token is refused, the stored one is taken.
    let long = self::server(None).await;
    log_in(&long, &store).await;
    let client = connect(&long, home.path()).await.unwrap();
    log_in(&long, &store).await;
    assert!(call(&client, "echo").await.is_ok());
    let last = long.requests().pop().unwrap();
    assert_eq!(last.headers["authorization"], "Bearer access-2");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_without_a_login_says_so() {
    let server = McpHttpServer::start(HttpOptions::default()).await.unwrap();
    assert!(!supports_login(&server.url(), None).await);
    let error = Login::start(request(&server)).await.err().unwrap();
    assert_eq!(error, "No authorization support detected");
}
