//! Which request gets which answer.

use serde_json::{Value, json};

use super::page;
use super::request::Request;
use super::{Peer, is_local};
use crate::orchestrator::{Command, CommandError};
use crate::service::{AskError, Handle, Query};
use crate::time;

/// An answer.
#[derive(Debug)]
pub struct Response {
    status: u16,
    kind: &'static str,
    /// Methods that the place knows, for an answer that says so.
    allow: Option<&'static str>,
    policy: String,
    body: String,
}

/// The policy of answers that are not pages: nothing may be loaded or run from them.
const NOTHING: &str = "default-src 'none'; frame-ancestors 'none'";

impl Response {
    fn json(status: u16, body: &Value) -> Response {
        Response {
            status,
            kind: "application/json",
            allow: None,
            policy: NOTHING.to_owned(),
            body: format!("{body}\n"),
        }
    }

    pub fn error(status: u16, code: &str, message: impl ToString) -> Response {
        let error = json!({ "error": { "code": code, "message": message.to_string() } });
        Response::json(status, &error)
    }

    fn not_allowed(allow: &'static str) -> Response {
        let message = format!("this place knows {allow} only");
        Response {
            allow: Some(allow),
            ..Response::error(405, "method_not_allowed", message)
        }
    }

    /// What is sent; without the body if only the head was asked for.
    pub fn bytes(&self, with_body: bool) -> Vec<u8> {
        let reason = match self.status {
            200 => "OK",
            202 => "Accepted",
            400 => "Bad Request",
            403 => "Forbidden",
            404 => "Not Found",
            405 => "Method Not Allowed",
            409 => "Conflict",
            431 => "Request Header Fields Too Large",
            503 => "Service Unavailable",
            504 => "Gateway Timeout",
            _ => "Error",
        };
        let allow = self
            .allow
            .map_or(String::new(), |it| format!("Allow: {it}\r\n"));
        let head = format!(
            "HTTP/1.1 {} {reason}\r\nContent-Type: {}; charset=utf-8\r\nContent-Length: {}\r\n{allow}\
             Content-Security-Policy: {}\r\nX-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\n\
             Cache-Control: no-store\r\nConnection: close\r\n\r\n",
            self.status,
            self.kind,
            self.body.len(),
            self.policy,
        );
        let body = if with_body { self.body.as_bytes() } else { &[] };
        [head.as_bytes(), body].concat()
    }
}

/// Answers a request.
pub(super) async fn answer(request: &Request, peer: Peer, handle: &Handle) -> Response {
    if let Peer::Anybody(address) = peer
        && !is_local(request, address)
    {
        let message = "only pages and programs of this machine may ask";
        return Response::error(403, "forbidden", message);
    }
    let method = request.method.as_str();
    let path = request.path.as_str();
    let reads = matches!(method, "GET" | "HEAD");
    match path {
        "/" if !reads => Response::not_allowed("GET"),
        "/" => match handle.ask(Query::State).await {
            Ok(state) => page(&state),
            Err(error) => unanswered(error),
        },
        "/api/v1/state" if !reads => Response::not_allowed("GET"),
        "/api/v1/state" => match handle.ask(Query::State).await {
            Ok(state) => Response::json(200, &state),
            Err(error) => unanswered(error),
        },
        "/api/v1/refresh" if method != "POST" => Response::not_allowed("POST"),
        "/api/v1/refresh" => command(Command::Refresh, handle).await,
        _ => match path.strip_prefix("/api/v1/") {
            Some(rest) => of_issue(rest, method, peer, handle).await,
            None => Response::error(404, "not_found", "there is nothing here"),
        },
    }
}

/// What is asked of one issue: its state, or something to be done to it, which only the owner may ask.
async fn of_issue(rest: &str, method: &str, peer: Peer, handle: &Handle) -> Response {
    let action = rest.rsplit_once('/').and_then(|(identifier, action)| {
        let identifier = identifier.to_owned();
        match action {
            "retry" => Some(Command::Retry { identifier }),
            "cancel" => Some(Command::Cancel { identifier }),
            _ => None,
        }
    });
    match action {
        Some(_) if method != "POST" => Response::not_allowed("POST"),
        Some(_) if peer != Peer::Owner => {
            let message = "ask with `quipu runner retry` or `quipu runner cancel`";
            Response::error(403, "forbidden", message)
        }
        Some(action) => command(action, handle).await,
        None if !matches!(method, "GET" | "HEAD") => Response::not_allowed("GET"),
        None => {
            // The longer way is for issues whose names mean something else here.
            let rest = rest.strip_suffix("/show").unwrap_or(rest);
            let identifier = rest.to_owned();
            match handle.ask(|answer| Query::Issue(identifier, answer)).await {
                Ok(Some(details)) => Response::json(200, &details),
                Ok(None) => {
                    let message = format!("the service knows no issue `{rest}`");
                    Response::error(404, "issue_not_found", message)
                }
                Err(error) => unanswered(error),
            }
        }
    }
}

async fn command(command: Command, handle: &Handle) -> Response {
    let refreshes = command == Command::Refresh;
    match handle.ask(|answer| Query::Command(command, answer)).await {
        Ok(Ok(done)) if refreshes => Response::json(
            202,
            &json!({
                "queued": true,
                "coalesced": done.outcome == "coalesced",
                "requested_at": time::rfc3339(time::now()),
                "operations": ["poll", "reconcile"],
            }),
        ),
        Ok(Ok(done)) => {
            let body = json!({ "outcome": done.outcome, "reason": done.reason });
            Response::json(202, &body)
        }
        Ok(Err(error @ CommandError::UnknownIssue(_))) => {
            Response::error(404, "issue_not_found", error)
        }
        Ok(Err(error @ CommandError::Running(_))) => Response::error(409, "issue_running", error),
        Ok(Err(error @ CommandError::Stopping)) => Response::error(503, "unavailable", error),
        Err(error) => unanswered(error),
    }
}

fn unanswered(error: AskError) -> Response {
    match error {
        AskError::Timeout => Response::error(504, "timeout", error),
        AskError::Unavailable => Response::error(503, "unavailable", error),
    }
}

fn page(state: &Value) -> Response {
    Response {
        status: 200,
        kind: "text/html",
        allow: None,
        policy: page::policy(),
        body: page::html(state),
    }
}
