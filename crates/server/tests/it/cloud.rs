//! The limits of a business workspace. The official server was asked the same of the same backend.

use std::sync::{Arc, Mutex};

use quipu_testkit::identity::{IdentityServer, TOKEN, claims};
use quipu_testkit::web::{Reply, WebServer};
use serde_json::{Value, json};

use crate::stage::{Stage, run, status};

/// Where the limits of a workspace are asked for.
const REQUIREMENTS: &str = "/api/codex/config/requirements";

const READ_ONLY: &str = "allowed_sandbox_modes = [\"read-only\"]\n";
const NOT_LOADED: &str = "failed to load your workspace-managed config";

/// A server whose user belongs to a workspace, and the backend of that.
struct Workspace {
    stage: Stage,
    identity: IdentityServer,
    backend: WebServer,
    reply: Arc<Mutex<Reply>>,
}

impl Workspace {
    async fn new(plan: &str, reply: Reply) -> Workspace {
        let identity = IdentityServer::start().await.unwrap();
        identity.set_claims(claims("user@example.com", plan, "acct-1"));
        let reply = Arc::new(Mutex::new(reply));
        let answer = Arc::clone(&reply);
        let backend = WebServer::start(move |_| answer.lock().unwrap().clone());
        let backend = backend.await.unwrap();
        let base = format!("chatgpt_base_url = \"{}\"", backend.url());
        let stage = Stage::with(&base).await;
        let workspace = Workspace {
            stage,
            identity,
            backend,
            reply,
        };
        workspace.log_in();
        workspace.restarted()
    }

    fn log_in(&self) {
        let [id, access, refresh] = self.identity.mint();
        let auth = json!({ "tokens": {
            "id_token": id, "access_token": access, "refresh_token": refresh, "account_id": "acct-1",
        } });
        std::fs::write(self.stage.home().join("auth.json"), auth.to_string()).unwrap();
    }

    fn restarted(mut self) -> Workspace {
        let issuer = self.identity.issuer();
        let vars = [("CODEX_APP_SERVER_LOGIN_ISSUER", issuer.as_str())];
        self.stage.restart_in_workspace(&vars);
        self
    }

    fn answer(&self, reply: Reply) {
        *self.reply.lock().unwrap() = reply;
    }

    /// How often the backend was asked.
    fn asked(&self) -> usize {
        let requests = self.backend.requests();
        let asked = requests.iter().filter(|it| it.path == REQUIREMENTS);
        asked.count()
    }

    /// What `thread/start` is refused with.
    async fn refused(&self) -> Value {
        let mut client = self.stage.client().await;
        let started = client.try_call("thread/start", json!({})).await;
        started.unwrap_err()
    }
}

fn limits(contents: &str) -> Reply {
    Reply::json(
        &json!({ "contents": contents, "sha256": "x", "updated_at": "2026-01-01T00:00:00Z" }),
    )
}

fn refusal(code: &str, detail: &str, more: Value) -> Value {
    let mut data = json!({ "reason": "cloudRequirements", "errorCode": code, "detail": detail });
    for (key, value) in more.as_object().unwrap() {
        data[key] = value.clone();
    }
    let message = format!("failed to load configuration: {detail}");
    json!({ "code": -32600, "message": message, "data": data })
}

#[tokio::test(flavor = "multi_thread")]
async fn the_limits_of_a_workspace_are_in_force_and_kept() {
    for plan in ["business", "enterprise", "enterprise_cbp_usage_based"] {
        let workspace = Workspace::new(plan, limits(READ_ONLY)).await;
        let mut client = workspace.stage.client().await;
        let warning = client.skip_to("configWarning").await;
        let summary = warning["params"]["summary"].as_str().unwrap();
        assert!(
            summary.contains("(set by cloud requirements)"),
            "{plan}: {summary}"
        );
        let started = client.call("thread/start", json!({})).await;
        assert_eq!(started["sandbox"]["type"], "readOnly", "{plan}");
        let read = client.call("configRequirements/read", json!(null)).await;
        let modes = &read["requirements"]["allowedSandboxModes"];
        assert_eq!(*modes, json!(["read-only"]), "{plan}");
        let requests = workspace.backend.requests();
        let asked = requests.iter().find(|it| it.path == REQUIREMENTS).unwrap();
        assert_eq!(asked.headers["chatgpt-account-id"], "acct-1");
        assert!(asked.headers["authorization"].starts_with("Bearer "));
        assert_eq!(workspace.asked(), 1, "{plan}");

        // Another server of the same user goes by what is stored, even if the backend is gone.
        workspace.answer(Reply::status(500, "gone"));
        let workspace = workspace.restarted();
        let mut client = workspace.stage.client().await;
        let started = client.call("thread/start", json!({})).await;
        assert_eq!(started["sandbox"]["type"], "readOnly", "{plan}");
        assert_eq!(workspace.asked(), 1, "{plan}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn other_accounts_and_workspaces_without_limits_have_none() {
    for (plan, reply, times) in [
        ("plus", Reply::status(500, "not asked"), 0),
        ("team", Reply::status(500, "not asked"), 0),
        ("business", Reply::json(&json!({ "contents": null })), 1),
        ("business", Reply::json(&json!({})), 1),
        ("business", limits("  \n"), 1),
    ] {
        let workspace = Workspace::new(plan, reply).await;
        let (mut client, thread) = workspace.stage.thread().await;
        let read = client.call("configRequirements/read", json!(null)).await;
        assert_eq!(read["requirements"], Value::Null, "{plan}");
        workspace.stage.play([json!({ "text": "hi" })]);
        let messages = run(&mut client, &thread, "hello").await;
        assert_eq!(status(&messages), "completed", "{plan}");
        assert_eq!(workspace.asked(), times, "{plan}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn without_the_limits_no_thread_is_opened() {
    let workspace = Workspace::new("business", Reply::status(500, "{}")).await;
    let mut client = workspace.stage.client().await;
    let warning = client.skip_to("configWarning").await;
    assert_eq!(warning["params"]["details"], NOT_LOADED);
    let expected = refusal("RequestFailed", NOT_LOADED, json!({ "statusCode": 500 }));
    assert_eq!(workspace.refused().await, expected);
    assert_eq!(workspace.asked(), 5, "five attempts, and then no more");
    let text = format!("failed to read configuration layers: {NOT_LOADED}");
    for (method, params) in [
        ("configRequirements/read", json!(null)),
        ("config/read", json!({})),
    ] {
        assert_eq!(client.refused(method, params).await, text, "{method}");
    }

    for (reply, attempts) in [
        (limits("allowed_sandbox_modes = 7"), 1),
        (limits("[features]\nnone_such = true"), 1),
    ] {
        let workspace = Workspace::new("business", reply).await;
        let expected = refusal("Parse", NOT_LOADED, json!({}));
        assert_eq!(workspace.refused().await, expected);
        assert_eq!(workspace.asked(), attempts);
    }
    let workspace = Workspace::new("business", Reply::status(200, "no JSON")).await;
    let expected = refusal("RequestFailed", NOT_LOADED, json!({}));
    assert_eq!(workspace.refused().await, expected);
    assert_eq!(workspace.asked(), 5);
}

#[tokio::test(flavor = "multi_thread")]
async fn stored_threads_are_neither_resumed_nor_forked_without_the_limits() {
    let workspace = Workspace::new("business", limits("")).await;
    let (mut client, thread) = workspace.stage.thread().await;
    workspace.stage.play([json!({ "text": "hi" })]);
    run(&mut client, &thread, "hello").await;
    workspace.stage.stop().await;
    let cache = workspace.stage.home().join("quipu_cloud_requirements.json");
    std::fs::remove_file(cache).unwrap();
    workspace.answer(Reply::status(503, "later"));
    let workspace = workspace.restarted();
    let mut client = workspace.stage.client().await;
    let expected = refusal("RequestFailed", NOT_LOADED, json!({ "statusCode": 503 }));
    for method in ["thread/resume", "thread/fork"] {
        let opened = client.try_call(method, json!({ "threadId": thread })).await;
        assert_eq!(opened.unwrap_err(), expected, "{method}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refused_token_is_renewed_and_a_lost_login_says_so() {
    let workspace = Workspace::new("business", Reply::status(401, "{}")).await;
    workspace
        .identity
        .reply(TOKEN, 401, r#"{"error":{"code":"refresh_token_expired"}}"#);
    let text = "Your access token could not be refreshed because your refresh token has expired. \
                Please log out and sign in again.";
    let more = json!({ "statusCode": 401, "action": "relogin" });
    assert_eq!(workspace.refused().await, refusal("Auth", text, more));

    // The next login of another member is asked about at once.
    workspace.answer(limits(READ_ONLY));
    let other = claims("other@example.com", "business", "acct-1");
    let mut other = other;
    other["https://api.openai.com/auth"]["chatgpt_user_id"] = json!("user-2");
    workspace.identity.set_claims(other);
    workspace.log_in();
    let mut client = workspace.stage.client().await;
    let started = client.call("thread/start", json!({})).await;
    assert_eq!(started["sandbox"]["type"], "readOnly");

    // Whoever logs out has no limits.
    client.call("account/logout", json!(null)).await;
    let started = client.call("thread/start", json!({})).await;
    assert_eq!(started["sandbox"]["type"], "dangerFullAccess");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backend_that_does_not_answer_is_not_waited_for() {
    let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let workspace = Workspace::new("business", limits("")).await;
    let config = workspace.stage.home().join("config.toml");
    let text = std::fs::read_to_string(&config).unwrap();
    let address = format!("http://{}", silent.local_addr().unwrap());
    std::fs::write(&config, text.replace(&workspace.backend.url(), &address)).unwrap();
    let detail = "timed out waiting for cloud requirements after 1s";
    assert_eq!(
        workspace.refused().await,
        refusal("Timeout", detail, json!({}))
    );
}
