//! The tools over streamable HTTP.

use quipu_mcp_server::{HttpOptions, listen};
use quipu_testkit::client::within;
use reqwest::{Method, RequestBuilder, Response, StatusCode};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::peer::{Place, script};

/// A server that listens, with how to ask it.
struct Site {
    url: String,
    http: reqwest::Client,
    _serving: JoinSet<()>,
}

impl Site {
    async fn new(place: &Place, token: Option<&str>) -> Site {
        let options = HttpOptions {
            address: ([127, 0, 0, 1], 0).into(),
            token: token.map(str::to_owned),
            base: Some(place.work()),
        };
        let (address, serving) = listen(place.connect(), options).await.unwrap();
        Site {
            url: format!("http://{address}/mcp"),
            http: reqwest::Client::new(),
            _serving: serving,
        }
    }

    fn request(&self, method: Method, session: Option<&str>) -> RequestBuilder {
        let request = self.http.request(method, &self.url);
        match session {
            Some(session) => request.header("mcp-session-id", session),
            None => request,
        }
    }

    async fn post(&self, session: Option<&str>, message: Value) -> Response {
        let request = self
            .request(Method::POST, session)
            .body(message.to_string());
        within("an answer", request.send()).await.unwrap()
    }

    /// Introduces itself and returns the session's id.
    async fn session(&self) -> String {
        let params = json!({ "protocolVersion": "2025-06-18", "clientInfo": { "name": "t", "version": "1" } });
        let hello = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params });
        let answer = self.post(None, hello).await;
        assert_eq!(answer.status(), StatusCode::OK);
        answer.headers()["mcp-session-id"]
            .to_str()
            .unwrap()
            .to_owned()
    }
}

fn call(id: i64, steps: Value) -> Value {
    let arguments = json!({ "prompt": script(steps), "approval-policy": "untrusted" });
    let params = json!({ "name": "codex", "arguments": arguments });
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params })
}

/// Reads events until one passes the test; their ids and messages.
async fn read(answer: &mut Response, until: impl Fn(&Value) -> bool) -> Vec<(String, Value)> {
    let (mut text, mut events) = (String::new(), Vec::new());
    loop {
        while let Some((event, rest)) = text.split_once("\n\n") {
            let (id, data) = event.split_once('\n').unwrap();
            let message: Value =
                serde_json::from_str(data.strip_prefix("data: ").unwrap()).unwrap();
            let is_last = until(&message);
            events.push((id.strip_prefix("id: ").unwrap().to_owned(), message));
            if is_last {
                return events;
            }
            text = rest.to_owned();
        }
        let chunk = within("an event", answer.chunk()).await.unwrap().unwrap();
        text.push_str(std::str::from_utf8(&chunk).unwrap());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_streams_its_events_and_questions() {
    let place = Place::new();
    let site = Site::new(&place, None).await;
    let session = site.session().await;
    let command = json!({ "name": "shell_command", "arguments": { "command": "touch made" } });
    let steps = json!([{ "calls": [command] }, { "text": "done" }]);
    let mut answer = site.post(Some(&session), call(2, steps)).await;
    assert_eq!(answer.headers()["content-type"], "text/event-stream");
    let events = read(&mut answer, |it| it["method"] == "elicitation/create").await;
    let question = &events.last().unwrap().1;
    let yes = json!({ "jsonrpc": "2.0", "id": question["id"], "result": { "action": "decline" } });
    let accepted = site.post(Some(&session), yes).await;
    assert_eq!(accepted.status(), StatusCode::ACCEPTED);
    let events = read(&mut answer, |it| it["id"] == 2).await;
    assert_eq!(
        events.last().unwrap().1["result"]["structuredContent"]["content"],
        "done"
    );
    assert_eq!(answer.chunk().await.unwrap(), None);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_that_broke_is_read_on() {
    let place = Place::new();
    let site = Site::new(&place, None).await;
    let session = site.session().await;
    let steps = json!([{ "deltas": 50, "size": 4, "every": 2 }]);
    let mut answer = site.post(Some(&session), call(2, steps)).await;
    let is_delta = |it: &Value| it["params"]["msg"]["type"] == "agent_message_delta";
    let seen = read(&mut answer, is_delta).await;
    drop(answer);
    let last = &seen.last().unwrap().0;
    let request = site
        .request(Method::GET, Some(&session))
        .header("last-event-id", last);
    let mut rest = within("an answer", request.send()).await.unwrap();
    let events = read(&mut rest, |it| it["id"] == 2).await;
    let deltas = events.iter().filter(|(_, it)| is_delta(it)).count();
    assert_eq!(deltas, 49);
}

#[tokio::test(flavor = "multi_thread")]
async fn strangers_and_bad_requests_are_refused() {
    let place = Place::new();
    let site = Site::new(&place, Some("s3cret")).await;
    let status = async |request: RequestBuilder| request.send().await.unwrap().status();
    let post = || site.request(Method::POST, None).bearer_auth("s3cret");
    assert_eq!(
        status(site.request(Method::POST, None)).await,
        StatusCode::UNAUTHORIZED
    );
    assert_eq!(
        status(site.request(Method::POST, None).bearer_auth("s3cres")).await,
        StatusCode::UNAUTHORIZED
    );
    assert_eq!(
        status(post().header("origin", "http://evil.example")).await,
        StatusCode::FORBIDDEN
    );
    assert_eq!(
        status(post().header("host", "evil.example")).await,
        StatusCode::FORBIDDEN
    );
    assert_eq!(status(post().body("{")).await, StatusCode::BAD_REQUEST);
    let ping = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" }).to_string();
    assert_eq!(
        status(post().body(ping.clone())).await,
        StatusCode::BAD_REQUEST
    );
    let unknown = post().body(ping).header("mcp-session-id", "nope");
    assert_eq!(status(unknown).await, StatusCode::NOT_FOUND);
    let open = HttpOptions {
        address: ([0, 0, 0, 0], 0).into(),
        token: None,
        base: None,
    };
    let refused = listen(place.connect(), open).await.unwrap_err().to_string();
    assert!(refused.contains("--http-token-file"), "{refused}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_ends_when_it_is_deleted_or_its_place_is_needed() {
    let place = Place::new();
    let site = Site::new(&place, None).await;
    let session = site.session().await;
    let deleted = site
        .request(Method::DELETE, Some(&session))
        .send()
        .await
        .unwrap();
    assert_eq!(deleted.status(), StatusCode::NO_CONTENT);
    let ping = || json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" });
    assert_eq!(
        site.post(Some(&session), ping()).await.status(),
        StatusCode::NOT_FOUND
    );
    let first = site.session().await;
    let second = site.session().await;
    assert_eq!(
        site.post(Some(&first), ping()).await.status(),
        StatusCode::OK
    );
    for _ in 0..63 {
        site.session().await;
    }
    assert_eq!(
        site.post(Some(&second), ping()).await.status(),
        StatusCode::NOT_FOUND
    );
    assert_eq!(
        site.post(Some(&first), ping()).await.status(),
        StatusCode::OK
    );
}
