//! Which request of a browser gets which answer.

use std::borrow::Cow;
use std::sync::Arc;

use percent_encoding::percent_decode;
use quipu_rpc::http::Head;
use quipu_rpc::site::{Page, Site};
use serde_json::{Value, json};

use crate::assets::ASSETS;
use crate::codes::Codes;
use crate::policy;

/// The header that carries a one-time code. Pages of other origins cannot send it.
const CODE_HEADER: &str = "x-quipu-code";
const JSON: &str = "application/json";

/// What runs unattended on this machine.
pub trait Runners: Send + Sync {
    /// The runners of this user and their states.
    fn state(&self) -> Value;
    /// Has a runner do something: `refresh`, or `retry` or `cancel` with an issue. The status and the answer.
    fn act(&self, runner: &str, action: &str, issue: Option<&str>) -> (u16, Value);
}

/// The page and what it asks besides the protocol.
pub struct Console {
    codes: Arc<Codes>,
    /// What a code is exchanged for; nothing if clients need no token or bring their own.
    token: Option<String>,
    needs_token: bool,
    runners: Option<Box<dyn Runners>>,
}

impl Console {
    /// The console of a listener that anybody on this machine may use, or whose users bring their token.
    pub fn new(needs_token: bool) -> Console {
        Console {
            codes: Arc::default(),
            token: None,
            needs_token,
            runners: None,
        }
    }

    /// The console of a listener whose token is exchanged for one-time codes.
    pub fn with_codes(token: String, codes: Arc<Codes>) -> Console {
        Console {
            codes,
            token: Some(token),
            ..Console::new(true)
        }
    }

    /// Also shows runners.
    #[must_use]
    pub fn with_runners(self, runners: Box<dyn Runners>) -> Console {
        Console {
            runners: Some(runners),
            ..self
        }
    }

    /// The part of the page that is data. `path` is what follows `/console/`.
    fn data(&self, path: &str, head: &Head, is_admitted: bool) -> Page {
        let wanted = match path {
            "settings" | "runners" => "GET",
            _ => "POST",
        };
        if head.method != wanted {
            let mut page = refusal(405, &format!("use {wanted}"));
            page.headers.push(("allow", wanted.to_owned()));
            return page;
        }
        match path {
            "settings" => json_page(
                200,
                &json!({ "needsToken": self.needs_token, "hasRunners": self.runners.is_some() }),
            ),
            "session" => self.session(head),
            _ if !is_admitted => refusal(401, "the token is missing or invalid"),
            "code" => self.code(),
            _ => self.runner(path, head),
        }
    }

    /// Exchanges a code for the token.
    fn session(&self, head: &Head) -> Page {
        let code = head.header(CODE_HEADER).unwrap_or_default();
        match &self.token {
            Some(token) if self.codes.redeem(code) => json_page(200, &json!({ "token": token })),
            _ => refusal(403, "the code is not valid, or was used before"),
        }
    }

    /// A code for another browser of somebody who has the token.
    fn code(&self) -> Page {
        if self.token.is_none() {
            return refusal(404, "this server has no one-time codes");
        }
        match self.codes.issue() {
            Ok(code) => json_page(200, &json!({ "code": code })),
            Err(error) => refusal(503, &error.to_string()),
        }
    }

    fn runner(&self, path: &str, head: &Head) -> Page {
        let Some(runners) = &self.runners else {
            return refusal(404, "there is nothing here");
        };
        if path == "runners" {
            return json_page(200, &runners.state());
        }
        let issue = issue(head);
        match path
            .strip_prefix("runners/")
            .and_then(|it| it.split_once('/'))
        {
            Some((runner, action @ ("refresh" | "retry" | "cancel"))) => {
                let (status, answer) = runners.act(runner, action, issue.as_deref());
                json_page(status, &answer)
            }
            _ => refusal(404, "there is nothing here"),
        }
    }
}

impl Site for Console {
    fn answer(&self, head: &Head, is_admitted: bool) -> Option<Page> {
        if let Some(path) = head.path.strip_prefix("/console/") {
            return Some(self.data(path, head, is_admitted));
        }
        let reads = matches!(head.method.as_str(), "GET" | "HEAD");
        let asset = ASSETS.iter().find(|(path, _, _)| *path == head.path);
        asset
            .filter(|_| reads && head.header("upgrade").is_none())
            .map(|(_, kind, text)| Page {
                status: 200,
                headers: policy::headers(kind),
                body: Cow::Borrowed(text),
            })
    }
}

/// The issue that a request is about, percent-encoded since identifiers may hold anything.
fn issue(head: &Head) -> Option<String> {
    let value = percent_decode(head.header("x-quipu-issue")?);
    Some(value.decode_utf8().ok()?.into_owned())
}

fn json_page(status: u16, value: &Value) -> Page {
    Page {
        status,
        headers: policy::headers(JSON),
        body: Cow::Owned(value.to_string()),
    }
}

fn refusal(status: u16, message: &str) -> Page {
    json_page(status, &json!({ "error": message }))
}
