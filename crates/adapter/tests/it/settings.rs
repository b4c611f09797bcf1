//! What the adapter's settings do to a server: approvals, sandbox, logins, MCP servers, the model.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use quipu_adapter::client::wire::{ReasoningEffort, SandboxMode, SandboxPolicy};
use quipu_adapter::{
    Approvals, Login, McpServer, Phase, Prompt, Section, Session, TokenSource, Tokens, ToolOwner,
};
use quipu_testkit::identity::{claims, jwt};
use quipu_testkit::mcp::{HttpOptions, McpHttpServer};
use quipu_testkit::model::ModelServer;
use serde_json::json;

use crate::support::{Events, Lab, on, scripted, soon};

/// A command, and how it is asked for.
fn running(arguments: serde_json::Value) -> Prompt<String> {
    scripted(
        json!([{ "calls": [{ "name": "exec_command", "arguments": arguments }] }, { "text": "done" }]),
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn approvals_are_given_by_policy() {
    let plain = json!({ "cmd": "touch trace" });
    let beyond = json!({ "cmd": "touch trace", "sandbox_permissions": "require_escalated", "justification": "test" });
    for (approvals, sandbox, arguments, runs) in [
        (Approvals::Untrusted, "workspace-write", &plain, true),
        (Approvals::OnFailure, "read-only", &plain, true),
        (Approvals::OnRequest, "read-only", &beyond, false),
        (Approvals::Never, "read-only", &plain, false),
    ] {
        let lab = Lab::with(&format!(
            "model_provider = \"offline\"\nsandbox_mode = \"{sandbox}\"\n"
        ));
        let (adapter, events) = Events::of(lab.adapter().approvals(approvals));
        soon(adapter.evaluate(&running(arguments.clone()), &Session::new()))
            .await
            .unwrap();
        assert_eq!(
            lab.directory.path().join("trace").exists(),
            runs,
            "{approvals:?}"
        );
        assert_eq!(events.tools()[0].success, runs, "{approvals:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn file_changes_are_approved_and_reported() {
    for (approvals, applied) in [(Approvals::Untrusted, true), (Approvals::OnRequest, false)] {
        let lab = Lab::with("model_provider = \"offline\"\nsandbox_mode = \"read-only\"\n");
        let (adapter, events) = Events::of(lab.adapter().approvals(approvals));
        let patch = "*** Begin Patch\n*** Add File: new.txt\n+hello\n*** End Patch";
        let prompt = scripted(json!([{ "patch": patch }, { "text": "done" }]));
        soon(adapter.evaluate(&prompt, &Session::new()))
            .await
            .unwrap();
        assert_eq!(
            lab.directory.path().join("new.txt").exists(),
            applied,
            "{approvals:?}"
        );
        let used = &events.tools()[0];
        assert_eq!((&*used.tool, used.success), ("file_change", applied));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_sandbox_reaches_the_server() {
    let lab = Lab::new();
    let adapter = lab.adapter().sandbox(SandboxMode::ReadOnly);
    let (adapter, events) = Events::of(adapter);
    let write = json!({ "name": "exec_command", "arguments": { "cmd": "touch trace" } });
    let prompt = scripted(json!([{ "calls": [write] }, { "text": "done" }]));
    let response = soon(adapter.evaluate(&prompt, &Session::new()))
        .await
        .unwrap();
    assert!(matches!(
        response.place.unwrap().sandbox,
        SandboxPolicy::ReadOnly { .. }
    ));
    assert!(!events.tools()[0].success);
    assert!(!lab.directory.path().join("trace").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_is_used_and_not_shown() {
    let model = ModelServer::start().await.unwrap();
    let lab = Lab::with(&(on(&model) + "requires_openai_auth = true\n"));
    let adapter = lab
        .adapter()
        .login(Login::api_key("sk-key"))
        .model("gpt-5.1-codex")
        .effort(ReasoningEffort::Low);
    let prompt = Prompt::text("test").section(Section::new("Task", "hello"));
    soon(adapter.evaluate(&prompt, &Session::new()))
        .await
        .unwrap();
    let request = &model.requests()[0];
    assert_eq!(request.headers["authorization"], "Bearer sk-key");
    assert_eq!(request.body["model"], "gpt-5.1-codex");
    assert_eq!(request.body["reasoning"]["effort"], "low");
    assert!(!format!("{adapter:?}").contains("sk-key"));
}

#[tokio::test(flavor = "multi_thread")]
async fn tokens_are_used_and_renewed() {
    let model = ModelServer::start().await.unwrap();
    let lab = Lab::with(&(on(&model) + "requires_openai_auth = true\n"));
    let token = |name: &str| {
        let mut claims = claims("a@b.c", "pro", "acct");
        claims["jti"] = json!(name);
        jwt(&claims)
    };
    let (old, new) = (token("old"), token("new"));
    let asked = Arc::new(AtomicUsize::new(0));
    let (counted, renewed) = (Arc::clone(&asked), new.clone());
    let source = TokenSource::new(move || {
        counted.fetch_add(1, Ordering::Relaxed);
        let token = renewed.clone();
        async move {
            Ok(Tokens {
                id_token: token.clone(),
                access_token: token,
            })
        }
    });
    let adapter = lab
        .adapter()
        .login(Login::tokens(&old, &old).renewed_by(source));
    model.queue_json(json!({ "fail": 401 }));
    let prompt = Prompt::text("test").section(Section::new("Task", "hello"));
    soon(adapter.evaluate(&prompt, &Session::new()))
        .await
        .unwrap();
    let requests = model.requests();
    assert_eq!(
        requests[0].headers["authorization"],
        format!("Bearer {old}")
    );
    assert_eq!(requests[0].headers["chatgpt-account-id"], "acct");
    assert_eq!(
        requests[1].headers["authorization"],
        format!("Bearer {new}")
    );
    assert_eq!(asked.load(Ordering::Relaxed), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn tokens_that_are_none_are_refused_before_the_thread() {
    let lab = Lab::new();
    let adapter = lab.adapter().login(Login::tokens("not a token", "x"));
    let error = soon(adapter.evaluate(&scripted(json!([{ "text": "done" }])), &Session::new()))
        .await
        .unwrap_err();
    assert_eq!(error.phase(), Phase::Request);
    assert!(error.message().contains("not a JWT"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn tools_of_mcp_servers_are_used_and_reported() {
    let server = McpHttpServer::start(HttpOptions::default()).await.unwrap();
    let lab = Lab::new();
    let adapter = lab
        .adapter()
        .mcp_server("scripted", McpServer::url(server.url()))
        .approvals(Approvals::Untrusted);
    let (adapter, events) = Events::of(adapter);
    let call = json!({ "name": "mcp__scripted__echo", "arguments": { "message": "hi" } });
    let prompt = scripted(json!([{ "calls": [call] }, { "text": "done" }]));
    soon(adapter.evaluate(&prompt, &Session::new()))
        .await
        .unwrap();
    let used = &events.tools()[0];
    assert_eq!(
        (&*used.tool, &used.owner, used.success),
        ("echo", &ToolOwner::Mcp("scripted".to_owned()), true),
        "{used:?}"
    );
    assert!(used.result.contains("hi"), "{used:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn threads_may_stay_in_memory() {
    let lab = Lab::new();
    let adapter = lab.adapter().ephemeral();
    soon(adapter.evaluate(&scripted(json!([{ "text": "done" }])), &Session::new()))
        .await
        .unwrap();
    assert!(!lab.directory.path().join("home/sessions").exists());
}
