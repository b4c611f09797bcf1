//! The tokens of accounts stay where they belong. People log in by every way there is, with an identity
//! server, a backend and a model that repeat what they were sent; then everything the server said and wrote
//! is searched.

use quipu_testkit::browser::follow;
use quipu_testkit::conversation::Conversation;
use quipu_testkit::identity::{IdentityServer, TOKEN, USAGE, claims, jwt};
use quipu_testkit::model::ModelServer;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::secrets::files;
use crate::support::app_server;

/// A part of every secret that the identity server makes up, and of the client's own.
const MARK: &str = "-secret-";
const KEY: &str = "sk-from-secret-login";

struct Desk {
    model: ModelServer,
    identity: IdentityServer,
    home: TempDir,
    /// Which of its own tokens the client has brought.
    external: Option<u32>,
    /// Every message of the server.
    said: Vec<Value>,
}

impl Desk {
    async fn new() -> Desk {
        let desk = Desk {
            model: ModelServer::start().await.unwrap(),
            identity: IdentityServer::start().await.unwrap(),
            home: tempfile::tempdir().unwrap(),
            external: None,
            said: Vec::new(),
        };
        let config = format!(
            "model = \"m\"\nmodel_provider = \"mine\"\nchatgpt_base_url = \"{}\"\n\
             [model_providers.mine]\nname = \"mine\"\nbase_url = \"{}\"\nwire_api = \"responses\"\n\
             requires_openai_auth = true\nrequest_max_retries = 0\nstream_max_retries = 0\n",
            desk.identity.issuer(),
            desk.model.base_url(),
        );
        std::fs::write(desk.home.path().join("config.toml"), config).unwrap();
        desk
    }

    async fn ask(&mut self, client: &mut Conversation, method: &str, params: Value) -> Value {
        let answer = client.try_call(method, params).await;
        let answer = answer.unwrap_or_else(|error| error);
        self.said.push(answer.clone());
        answer
    }

    async fn log_in(&mut self, client: &mut Conversation, params: Value) {
        self.external = (params["type"] == "chatgptAuthTokens").then_some(1);
        let login = self.ask(client, "account/login/start", params).await;
        if let Some(url) = login["authUrl"].as_str() {
            follow(url).await;
        }
        self.identity.approve_device();
        self.said
            .extend(client.until("account/login/completed").await);
        self.said.extend(client.until("account/updated").await);
    }

    /// A thread, and turns that end well, badly, and after a refresh; then everything that can be asked.
    async fn work(&mut self, client: &mut Conversation) {
        let started = self.ask(client, "thread/start", json!({})).await;
        let thread = started["thread"]["id"].clone();
        for step in [
            json!({ "text": "fine" }),
            json!({ "fail": 400, "body": self.echo() }),
            json!({ "fail": 503, "body": self.echo() }),
            json!({ "fail": 401, "body": self.echo() }),
            json!({ "text": "fine again" }),
        ] {
            self.model.queue_json(step);
            let input = json!([{ "type": "text", "text": "hello" }]);
            let turn = json!({ "threadId": thread, "input": input });
            self.ask(client, "turn/start", turn).await;
            self.end_of_turn(client).await;
        }
        // A key has no usage to ask for: what is queued for it would answer the next account.
        if self.external.is_some() || self.stored()["tokens"].is_object() {
            self.identity.reply(USAGE, 500, self.echo());
        }
        let all = json!({ "threadId": thread, "includeTurns": true });
        let report = json!({ "classification": "bug", "includeLogs": true, "threadId": thread });
        for (method, params) in [
            ("account/rateLimits/read", json!({})),
            ("account/read", json!({ "refreshToken": true })),
            ("getAuthStatus", json!({})),
            ("config/read", json!({ "includeLayers": true })),
            ("thread/read", all),
            ("feedback/upload", report),
        ] {
            self.ask(client, method, params).await;
        }
    }

    /// Answers requests for new tokens on the way.
    async fn end_of_turn(&mut self, client: &mut Conversation) {
        loop {
            let message = client.next().await;
            let method = message["method"].as_str().unwrap_or_default().to_owned();
            if method == "account/chatgptAuthTokens/refresh" {
                let tokens = json!({ "accessToken": external(2), "chatgptAccountId": "acct-1" });
                client.reply(&message["id"], tokens).await;
                self.external = Some(2);
            }
            self.said.push(message);
            if method == "turn/completed" {
                return;
            }
        }
    }

    /// What a careless server repeats of what it was sent to let somebody in.
    fn echo(&self) -> String {
        match self.external {
            Some(number) => format!("no: {}", external(number)),
            None => {
                let auth = self.stored();
                let token = auth["tokens"]["access_token"].as_str();
                format!("no: {}", token.or(auth["OPENAI_API_KEY"].as_str()).unwrap())
            }
        }
    }

    fn stored(&self) -> Value {
        let text = std::fs::read_to_string(self.home.path().join("auth.json")).unwrap();
        serde_json::from_str(&text).unwrap()
    }

    fn search(&self, log: String) {
        assert!(log.contains("TRACE"), "the log was looked at");
        let shown = |kind: &str, text: String| (kind.to_owned(), text);
        let mut all = vec![shown("the log", log)];
        all.extend(
            self.said
                .iter()
                .map(|it| shown("a message", it.to_string())),
        );
        let requests = self.model.requests();
        all.extend(
            requests
                .iter()
                .map(|it| shown("a request", it.body.to_string())),
        );
        files(self.home.path(), &mut all);
        for part in ["/sessions/", "/feedback/"] {
            let found = all.iter().any(|(name, _)| name.contains(part));
            assert!(found, "{part} was looked through");
        }
        let id_token = jwt(&claims("user@example.com", "plus", "acct-1"));
        let payload = id_token.split('.').nth(1).unwrap();
        for (name, text) in all.iter().filter(|(name, _)| !name.ends_with("/auth.json")) {
            for secret in [MARK, KEY, payload] {
                let line = text.lines().find(|line| line.contains(secret));
                assert_eq!(line, None, "{secret} is in {name}");
            }
        }
    }
}

/// A token that a client brings.
fn external(number: u32) -> String {
    let mut payload = claims("me@example.com", "pro", "acct-1");
    payload["jti"] = json!(format!("jti-{number}"));
    format!("{}-external{MARK}{number}", jwt(&payload))
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_that_is_said_or_written_has_a_token() {
    let mut desk = Desk::new().await;
    desk.identity.set_api_key(&format!("sk-exchanged{MARK}key"));
    let mut process = app_server([])
        .env("QUIPU_HOME", desk.home.path().to_str().unwrap())
        .env("CODEX_APP_SERVER_LOGIN_ISSUER", &desk.identity.issuer())
        .env("QUIPU_LOGIN_PORT", "0")
        .env("RUST_LOG", "trace")
        .start();
    let mut client = Conversation::start(process.stdio()).await;
    let tokens = json!({ "type": "chatgptAuthTokens", "accessToken": external(1), "chatgptAccountId": "acct-1" });
    for login in [
        json!({ "type": "chatgpt" }),
        json!({ "type": "chatgptDeviceCode" }),
        json!({ "type": "apiKey", "apiKey": KEY }),
        tokens,
    ] {
        desk.log_in(&mut client, login).await;
        desk.work(&mut client).await;
    }
    // An identity server that fails, and repeats what it was sent.
    desk.ask(&mut client, "account/logout", json!({})).await;
    desk.log_in(&mut client, json!({ "type": "chatgpt" })).await;
    for status in [500, 401] {
        let sent = desk.stored()["tokens"]["refresh_token"].to_string();
        desk.identity.reply(TOKEN, status, sent);
        let refresh = json!({ "refreshToken": true });
        desk.ask(&mut client, "account/read", refresh).await;
    }
    client.end().await;
    desk.said.extend(client.rest().await);
    process.exit().await;
    desk.search(process.stderr());
}
