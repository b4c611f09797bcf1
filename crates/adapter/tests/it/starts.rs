//! From nothing to a running turn: what is sent, and what a failure on the way says and leaves.

use std::time::Duration;

use quipu_adapter::{Adapter, Login, Phase, Prompt, Section, Server, Session, TokenSource, Tokens};
use quipu_testkit::identity::{claims, jwt};
use quipu_testkit::process_table::{appeared, holding, left, marker};
use serde_json::json;

use crate::peer::{self, Then};
use crate::support::soon;

fn prompt() -> Prompt<String> {
    Prompt::text("test").section(Section::new("Task", "Act."))
}

async fn failed(adapter: &Adapter) -> quipu_adapter::Error {
    let evaluated = soon(adapter.evaluate(&prompt(), &Session::new())).await;
    evaluated.unwrap_err()
}

#[tokio::test]
async fn what_a_server_refuses_is_an_error_of_the_request() {
    for step in ["initialize", "login", "thread", "turn"] {
        let (adapter, _) = peer::adapter(step, Then::Refuse);
        let error = failed(&adapter.login(Login::api_key("secret-key"))).await;
        assert_eq!(error.phase(), Phase::Request, "{step}: {error}");
        assert!(
            error.message().contains("not known here"),
            "{step}: {error}"
        );
        assert!(!format!("{error:?}").contains("secret-key"), "{step}");
    }
}

#[tokio::test]
async fn threads_and_turns_without_an_id_are_refused() {
    for what in ["thread", "turn"] {
        let error = failed(&peer::nameless(what)).await;
        assert_eq!(error.phase(), Phase::Request, "{what}: {error}");
        assert!(error.message().contains(what), "{error}");
    }
}

#[tokio::test]
async fn logins_are_made_before_the_thread() {
    let mut claims = claims("a@b.c", "pro", "acct");
    claims["jti"] = json!("old");
    let token = jwt(&claims);
    let key = json!({ "type": "apiKey", "apiKey": "sk-key" });
    let tokens = json!({
        "type": "chatgptAuthTokens", "accessToken": "access", "chatgptAccountId": "acct", "chatgptPlanType": "pro",
    });
    for (login, params) in [
        (Login::api_key("sk-key"), key),
        (Login::tokens(&token, "access"), tokens),
    ] {
        let (adapter, heard) = peer::sending(Vec::new());
        let adapter = adapter.login(login);
        soon(adapter.evaluate(&prompt(), &Session::new()))
            .await
            .unwrap();
        let order = [
            "initialize",
            "initialized",
            "account/login/start",
            "thread/start",
            "turn/start",
        ];
        assert_eq!(heard.methods(), order);
        assert_eq!(heard.params("account/login/start"), params);
    }
}

/// Also tokens and variables are not shown, nor what a token source fails with.
#[tokio::test]
async fn secrets_are_not_shown() {
    let token = jwt(&claims("a@b.c", "pro", "acct"));
    let source = TokenSource::new(async || Err::<Tokens, _>("the vault is closed".to_owned()));
    let refresh = json!({ "id": 1, "method": "account/chatgptAuthTokens/refresh", "params": { "reason": "unauthorized" } });
    let (adapter, heard) = peer::sending(vec![refresh]);
    let login = Login::tokens(&token, "sk-access").renewed_by(source);
    let adapter = adapter.login(login.clone());
    soon(adapter.evaluate(&prompt(), &Session::new()))
        .await
        .unwrap();
    assert_eq!(heard.answer(1)["error"]["message"], "the vault is closed");
    let server = Server::spawn("/nowhere")
        .env("KEY", "sk-variable")
        .args(["sk-argument"]);
    let mcp = quipu_adapter::McpServer::command("docs", ["sk-flag"]).env("KEY", "sk-mcp");
    let hidden = Adapter::new(server).login(login).mcp_server("docs", mcp);
    let error = failed(&hidden).await;
    let shown = format!("{adapter:?} {hidden:?} {error} {error:?}");
    assert!(!shown.contains("sk-") && !shown.contains(&token), "{shown}");
}

/// Time passes only when nobody has anything to do.
#[tokio::test(start_paused = true)]
async fn the_time_to_start_is_for_the_start_only() {
    let (adapter, _) = peer::adapter("thread", Then::Stall);
    let adapter = adapter.startup_timeout(Duration::from_secs(1));
    let (prompt, session) = (prompt(), Session::new());
    let evaluation = adapter
        .evaluate(&prompt, &session)
        .timeout(Duration::from_secs(10));
    let error = soon(evaluation).await.unwrap_err();
    assert_eq!(error.phase(), Phase::Deadline, "{error}");
}

/// How long a turn may take is for the caller to say, and for nobody else.
#[tokio::test(start_paused = true)]
async fn a_turn_may_be_silent_for_hours() {
    let (adapter, _) = peer::adapter("tool", Then::Stall);
    let (prompt, session) = (prompt(), Session::new());
    let hours = Duration::from_secs(3 * 3600);
    let error = adapter.evaluate(&prompt, &session).timeout(hours).await;
    assert_eq!(error.unwrap_err().message(), "the deadline has passed");
}

/// A server as a shell script: it answers these lines, and leaves when its input ends.
fn script(answers: &[&str], more: &str) -> Server {
    let answers: String = answers
        .iter()
        .map(|answer| format!("read -r line; echo '{answer}'; "))
        .collect();
    let wait = "while read -r line; do :; done";
    Server::spawn("/bin/sh").args(["-c", &format!("{more}; {answers} {wait}")])
}

const GREETING: &str = r#"{"id":0,"result":{"userAgent":"sh/0.118.0 (test)"}}"#;

/// The child works in the adapter's directory with its variables, and is quoted although it lives.
#[tokio::test]
async fn a_server_that_lives_is_quoted() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().canonicalize().unwrap();
    let said = r#"echo "$(pwd -P) $WORD" >&2"#;
    let refusal = r#"{"id":0,"error":{"code":-1,"message":"not today"}}"#;
    let login = r#"{"id":1,"error":{"code":-1,"message":"not today"}}"#;
    for answers in [&[refusal][..], &[GREETING, login]] {
        let server = script(answers, said).env("WORD", "hello");
        let adapter = Adapter::new(server)
            .cwd(&path)
            .login(Login::api_key("secret-key"));
        let error = failed(&adapter).await;
        assert_eq!(error.phase(), Phase::Request);
        assert!(error.message().contains("not today"), "{error}");
        let stderr = format!("{} hello\n", path.display());
        assert_eq!(error.stderr(), Some(&*stderr));
    }
}

#[tokio::test]
async fn only_the_end_of_standard_error_is_kept() {
    let refusal = r#"{"id":0,"error":{"code":-1,"message":"not today"}}"#;
    let flood = "i=0; while [ $i -lt 3000 ]; do echo line $i >&2; i=$((i+1)); done";
    let error = failed(&Adapter::new(script(&[refusal], flood))).await;
    let stderr = error.stderr().unwrap();
    assert!(stderr.len() <= 8192, "{}", stderr.len());
    assert!(stderr.ends_with("line 2999\n"), "{stderr}");
}

/// Neither the server nor what it started is there when an evaluation returns that did not come to its turn.
#[tokio::test]
async fn a_start_in_vain_leaves_no_process() {
    let limit = Duration::from_millis(200);
    for (answers, is_deadline) in [(&[][..], false), (&[][..], true), (&[GREETING], true)] {
        let mark = marker();
        let server = script(answers, &format!("sleep {mark} & :"));
        let adapter = Adapter::new(server).login(Login::api_key("secret-key"));
        let (prompt, session) = (prompt(), Session::new());
        let error = match is_deadline {
            true => soon(adapter.evaluate(&prompt, &session).timeout(limit)).await,
            false => failing(&adapter.startup_timeout(limit), &prompt, &session).await,
        };
        let phase = match is_deadline {
            true => Phase::Deadline,
            false => Phase::Request,
        };
        assert_eq!(error.unwrap_err().phase(), phase, "{answers:?}");
        assert_eq!(holding(&mark), [""; 0], "{answers:?}");
    }
}

/// Nor when the caller gives up on the way. The script's own arguments show that it has begun.
#[tokio::test]
async fn a_start_that_is_given_up_leaves_no_process() {
    for answers in [&[][..], &[GREETING]] {
        let mark = marker();
        let server = script(answers, &format!("sleep {mark} & :"));
        let adapter = Adapter::new(server).login(Login::api_key("secret-key"));
        tokio::select! {
            done = failed(&adapter) => panic!("{done}"),
            () = appeared(&mark) => {}
        }
        assert_eq!(left(&mark).await, [""; 0], "{answers:?}");
    }
}

async fn failing(
    adapter: &Adapter,
    prompt: &Prompt<String>,
    session: &Session,
) -> quipu_adapter::Result<quipu_adapter::Response<String>> {
    soon(adapter.evaluate(prompt, session)).await
}
