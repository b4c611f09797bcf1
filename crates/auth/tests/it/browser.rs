//! The login in a browser, from the address to open until the last page.

use quipu_auth::{BrowserLogin, Keep};
use quipu_testkit::browser::{follow, open, query};
use quipu_testkit::identity::{TOKEN, claims, jwt};
use quipu_wire::AuthMode;
use serde_json::{Value, json};

use crate::support::Desk;

async fn begin(desk: &Desk, workspace: Option<&str>) -> BrowserLogin {
    let workspace = workspace.map(str::to_owned);
    let login = BrowserLogin::start(&desk.accounts, "tests", workspace).await;
    login.unwrap()
}

/// The local page with this query and the right state.
fn callback(login: &BrowserLogin, rest: &str) -> String {
    let url = login.auth_url();
    let (page, state) = (query(url, "redirect_uri"), query(url, "state"));
    format!("{}?state={}{rest}", page.unwrap(), state.unwrap())
}

/// What the client is told, and the status and text of the page, after the browser opened an address.
async fn fail(desk: &Desk, mut login: BrowserLogin, url: &str) -> (String, u16, String) {
    let (outcome, page) = tokio::join!(login.granted(&desk.accounts), open(url));
    (outcome.unwrap_err(), page.status, page.body)
}

#[tokio::test]
async fn a_browser_logs_in() {
    let desk = Desk::new().await;
    desk.identity.set_api_key("sk-from-login");
    let mut login = begin(&desk, None).await;
    let url = login.auth_url().to_owned();
    let names: Vec<_> = url.split(['?', '&']).skip(1).collect();
    let names: Vec<_> = names
        .iter()
        .map(|it| it.split('=').next().unwrap())
        .collect();
    assert_eq!(
        names,
        [
            "response_type",
            "client_id",
            "redirect_uri",
            "scope",
            "code_challenge",
            "code_challenge_method",
            "id_token_add_organizations",
            "codex_cli_simplified_flow",
            "state",
            "originator"
        ]
    );
    assert!(url.contains("scope=openid%20profile%20email%20offline_access%20api.connectors.read"));
    let user = tokio::spawn(async move { follow(&url).await });
    let record = login.granted(&desk.accounts).await.unwrap();
    assert!(!desk.file().exists(), "it is not stored yet");
    let stored = desk.accounts.store(record, Keep::File).map(drop);
    tokio::spawn(login.conclude(stored).unwrap());
    let page = user.await.unwrap();
    assert_eq!(page.status, 200);
    assert!(page.body.contains("You are logged in"), "{}", page.body);
    assert_eq!(page.header("cache-control"), Some("no-store"));
    let stored = desk.stored();
    let members: Vec<_> = stored.as_object().unwrap().keys().collect();
    assert_eq!(
        members,
        ["OPENAI_API_KEY", "auth_mode", "last_refresh", "tokens"]
    );
    assert_eq!(stored["auth_mode"], "chatgpt");
    assert_eq!(stored["OPENAI_API_KEY"], "sk-from-login");
    assert_eq!(stored["tokens"]["account_id"], "acct-1");
    assert_eq!(desk.accounts.current().unwrap().mode(), AuthMode::Chatgpt);
    let sent = &desk.identity.asked(TOKEN)[0];
    assert_eq!(
        sent.headers["content-type"],
        "application/x-www-form-urlencoded"
    );
}

#[tokio::test]
async fn the_last_page_has_no_secret_in_its_address() {
    let desk = Desk::new().await;
    let mut claims = claims("a@b.c", "plus", "acct-1");
    claims["https://api.openai.com/auth"]["is_org_owner"] = json!(true);
    claims["https://api.openai.com/auth"]["organization_id"] = json!("org-1");
    desk.identity.set_claims(claims);
    let mut login = begin(&desk, None).await;
    let authorized = open(login.auth_url()).await;
    let back = authorized.header("location").unwrap().to_owned();
    let user = tokio::spawn(async move { open(&back).await });
    login.granted(&desk.accounts).await.unwrap();
    tokio::spawn(login.conclude(Ok(())).unwrap());
    let page = user.await.unwrap();
    let last = page.header("location").unwrap();
    assert!(
        last.contains("/success?needs_setup=true&org_id=org-1&"),
        "{last}"
    );
    assert!(!last.contains("secret") && !last.contains("eyJ"), "{last}");
    assert!(open(last).await.body.contains("no API access"));
}

#[tokio::test]
async fn only_the_answer_to_this_login_counts() {
    let desk = Desk::new().await;
    let mut login = begin(&desk, None).await;
    let page = query(login.auth_url(), "redirect_uri").unwrap();
    let base = page.strip_suffix("/auth/callback").unwrap().to_owned();
    let user = async {
        for (path, status, text) in [
            ("/auth/callback?state=bad&code=c", 400, "State mismatch"),
            ("/auth/callback?code=c", 400, "State mismatch"),
            ("/auth/callback", 400, "State mismatch"),
            ("/success", 404, "Not Found"),
            ("/", 404, "Not Found"),
        ] {
            let page = open(&format!("{base}{path}")).await;
            assert_eq!((page.status, page.body.as_str()), (status, text), "{path}");
        }
        open(&format!("{base}/cancel")).await
    };
    let (outcome, page) = tokio::join!(login.granted(&desk.accounts), user);
    assert_eq!(page.body, "Login cancelled");
    assert_eq!(outcome.unwrap_err(), "Login server error: Login cancelled");
    assert!(desk.identity.asked(TOKEN).is_empty());
}

#[tokio::test]
async fn a_browser_that_comes_without_a_code_ends_the_login() {
    let desk = Desk::new().await;
    for (rest, message) in [
        ("&error=server_error", "Sign-in failed: server_error"),
        (
            "&error=server_error&error_description=It%20broke+now%3Cb%3E",
            "Sign-in failed: It broke now<b>",
        ),
        (
            "&error=access_denied&error_description=missing_codex_entitlement%20x",
            "Codex is not enabled for your workspace. Contact your workspace administrator to \
             request access to Codex.",
        ),
        (
            "&code=",
            "Missing authorization code. Sign-in could not be completed.",
        ),
        (
            "",
            "Missing authorization code. Sign-in could not be completed.",
        ),
    ] {
        let login = begin(&desk, None).await;
        let url = callback(&login, rest);
        let (messages, status, page) = fail(&desk, login, &url).await;
        assert_eq!(messages, format!("Login server error: {message}"));
        assert_eq!(status, 200);
        assert!(page.contains("The login failed") && !page.contains("<b>"));
    }
}

#[tokio::test]
async fn an_identity_server_that_fails_is_quoted_without_secrets() {
    let desk = Desk::new().await;
    let tokens = |id: &str| json!({ "id_token": id, "access_token": "a", "refresh_token": "r" });
    let exchange = "Token exchange failed: ";
    for (status, body, message) in [
        (
            400,
            json!({ "error": "e", "error_description": "code c-secret is bad" }).to_string(),
            format!(
                "{exchange}token endpoint returned status 400 Bad Request: code [redacted] is bad"
            ),
        ),
        (
            500,
            String::new(),
            format!(
                "{exchange}token endpoint returned status 500 Internal Server Error: unknown error"
            ),
        ),
        (
            302,
            "moved".to_owned(),
            format!("{exchange}token endpoint returned status 302 Found: moved"),
        ),
        (
            200,
            "garbage".to_owned(),
            format!("{exchange}error decoding response body"),
        ),
        (
            200,
            json!({ "id_token": "x" }).to_string(),
            format!("{exchange}error decoding response body"),
        ),
        (
            200,
            tokens("x").to_string(),
            "Sign-in completed but credentials could not be saved locally.".to_owned(),
        ),
    ] {
        desk.identity.reply(TOKEN, status, body);
        let login = begin(&desk, None).await;
        let url = callback(&login, "&code=c-secret");
        let (messages, _, page) = fail(&desk, login, &url).await;
        assert_eq!(messages, format!("Login server error: {message}"));
        assert!(!page.contains("c-secret"), "{page}");
    }
    assert!(!desk.file().exists());
}

#[tokio::test]
async fn a_stolen_code_is_worth_nothing() {
    let desk = Desk::new().await;
    let (victim, thief) = (begin(&desk, None).await, begin(&desk, None).await);
    let authorized = open(victim.auth_url()).await;
    let code = query(authorized.header("location").unwrap(), "code").unwrap();
    let url = callback(&thief, &format!("&code={code}"));
    let (messages, ..) = fail(&desk, thief, &url).await;
    let expected = "Login server error: Token exchange failed: token endpoint returned status 400 Bad \
                    Request: [redacted] is not valid";
    assert_eq!(messages, expected);
}

#[tokio::test]
async fn only_the_allowed_workspace_is_let_in() {
    let desk = Desk::new().await;
    let refused = "Login is restricted to workspace id ws-1.";
    let unknown = "Login is restricted to a specific workspace, but the token did not include an \
                   chatgpt_account_id claim.";
    let other = claims("a@b.c", "plus", "acct-1");
    for (claims, message) in [(other, refused), (json!({ "email": "a@b.c" }), unknown)] {
        desk.identity.set_claims(claims);
        let login = begin(&desk, Some("ws-1")).await;
        let url = login.auth_url().to_owned();
        assert!(url.ends_with("&allowed_workspace_id=ws-1"), "{url}");
        let authorized = open(&url).await;
        let back = authorized.header("location").unwrap().to_owned();
        let (messages, ..) = fail(&desk, login, &back).await;
        assert_eq!(messages, format!("Login server error: {message}"));
    }
    assert!(!desk.file().exists());
}

#[tokio::test]
async fn a_login_that_cannot_be_stored_says_so_in_the_browser() {
    let desk = Desk::new().await;
    let mut login = begin(&desk, None).await;
    let url = login.auth_url().to_owned();
    let user = tokio::spawn(async move { follow(&url).await });
    login.granted(&desk.accounts).await.unwrap();
    let full = std::io::Error::from(std::io::ErrorKind::StorageFull);
    let message = "Sign-in completed but credentials could not be saved locally.";
    let messages = login.conclude(Err(full)).err().unwrap();
    assert_eq!(messages, format!("Login server error: {message}"));
    assert!(user.await.unwrap().body.contains(message));
}

#[tokio::test]
async fn an_idle_connection_holds_nobody_up() {
    let desk = Desk::new().await;
    let mut login = begin(&desk, None).await;
    let page = query(login.auth_url(), "redirect_uri").unwrap();
    let host = page.strip_prefix("http://localhost").unwrap();
    let host = format!("127.0.0.1{}", host.split('/').next().unwrap());
    let _idle = tokio::net::TcpStream::connect(&host).await.unwrap();
    let url = login.auth_url().to_owned();
    let user = tokio::spawn(async move { follow(&url).await });
    login.granted(&desk.accounts).await.unwrap();
    tokio::spawn(login.conclude(Ok(())).unwrap());
    assert_eq!(user.await.unwrap().status, 200);
}

#[tokio::test]
async fn a_second_login_takes_the_port_of_the_first() {
    let mut desk = Desk::new().await;
    let mut first = begin(&desk, None).await;
    let page = query(first.auth_url(), "redirect_uri").unwrap();
    let port: u16 = page.split([':', '/']).nth(4).unwrap().parse().unwrap();
    let issuer = desk.identity.issuer();
    let text = port.to_string();
    let authority = quipu_auth::Authority::from_env(|name| match name {
        "CODEX_APP_SERVER_LOGIN_ISSUER" => Some(issuer.as_str()),
        "QUIPU_LOGIN_PORT" => Some(text.as_str()),
        _ => None,
    });
    let http = quipu_model::http_client;
    let other = quipu_auth::Accounts::new(desk.home.path(), authority, http);
    let ended = async {
        let outcome = first.granted(&desk.accounts).await;
        drop(first);
        outcome
    };
    let (outcome, second) = tokio::join!(ended, BrowserLogin::start(&other, "tests", None));
    assert_eq!(outcome.unwrap_err(), "Login server error: Login cancelled");
    let second = second.unwrap();
    // Nobody answers on the port now, so it cannot be taken over.
    desk.accounts = other;
    let third = BrowserLogin::start(&desk.accounts, "tests", None).await;
    let text = third.err().unwrap().to_string();
    assert_eq!(text, format!("Port 127.0.0.1:{port} is already in use"));
    drop(second);
}

#[tokio::test]
async fn a_user_who_does_not_come_is_not_awaited_for_ever() {
    let desk = Desk::new().await;
    let mut login = begin(&desk, None).await;
    tokio::time::pause();
    let outcome = login.granted(&desk.accounts).await;
    assert_eq!(outcome.unwrap_err(), "Login timed out");
}

#[tokio::test]
async fn the_plan_is_read_from_the_user_token() {
    let desk = Desk::new().await;
    desk.identity
        .set_access_claims(json!({ "exp": 4_000_000_000_i64 }));
    let mut login = begin(&desk, None).await;
    let url = login.auth_url().to_owned();
    let user = tokio::spawn(async move { follow(&url).await });
    let record = login.granted(&desk.accounts).await.unwrap();
    let access = record.login().unwrap().secret().to_owned();
    let stored = desk.accounts.store(record, Keep::File).map(drop);
    tokio::spawn(login.conclude(stored).unwrap());
    user.await.unwrap();
    let expected = Value::String(access);
    assert_eq!(desk.stored()["tokens"]["access_token"], expected);
    let id_token = jwt(&claims("user@example.com", "plus", "acct-1"));
    assert_eq!(desk.stored()["tokens"]["id_token"], id_token);
}
