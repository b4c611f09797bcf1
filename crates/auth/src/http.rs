//! Requests to the identity server: bounded in time and size, and with errors that repeat no secret.

use std::fmt;
use std::pin::Pin;
use std::sync::OnceLock;
use std::time::Duration;

use reqwest::{Client, RequestBuilder, StatusCode};
use serde_json::Value;

/// How long an answer may take.
const TIMEOUT: Duration = Duration::from_secs(30);
/// The most of an answer that is read.
const MAX_BODY: usize = 1024 * 1024;
/// The most of a foreign text that an error repeats.
const MAX_QUOTE: usize = 1000;
/// Anything shorter is no secret, but may be part of many words.
const SHORTEST: usize = 4;

/// Makes the HTTP client, with the proxies and certificate authorities of the process.
pub type MakeHttp = fn() -> Result<Client, String>;

/// How this program names itself in requests.
#[derive(Debug, Clone, Default)]
pub struct Agent {
    /// The program that drives this one.
    pub originator: String,
    /// The whole user agent.
    pub user_agent: String,
}

/// The HTTP client, made when it is first needed.
pub(crate) struct Http {
    make: MakeHttp,
    made: OnceLock<Result<Client, String>>,
}

impl Http {
    pub(crate) fn new(make: MakeHttp) -> Self {
        Self {
            make,
            made: OnceLock::new(),
        }
    }

    pub(crate) fn client(&self) -> Result<&Client, String> {
        let made = self.made.get_or_init(self.make);
        made.as_ref().map_err(Clone::clone)
    }
}

impl fmt::Debug for Http {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Http")
    }
}

/// An answer, read to its end.
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) content_type: String,
    pub(crate) body: String,
}

/// Sends a request and reads the answer, whatever its status. The future is boxed because those of the HTTP
/// client are deeply nested, and what awaits them is nested further.
pub(crate) fn send(
    request: RequestBuilder,
) -> Pin<Box<dyn Future<Output = Result<Answer, String>> + Send>> {
    send_within(request, TIMEOUT, MAX_BODY)
}

/// The same with other limits.
pub(crate) fn send_within(
    request: RequestBuilder,
    limit: Duration,
    max_body: usize,
) -> Pin<Box<dyn Future<Output = Result<Answer, String>> + Send>> {
    Box::pin(async move {
        let late = |_| Err(format!("no answer within {} seconds", limit.as_secs()));
        let answered = tokio::time::timeout(limit, answer(request, max_body)).await;
        answered.unwrap_or_else(late)
    })
}

async fn answer(request: RequestBuilder, max_body: usize) -> Result<Answer, String> {
    let mut response = request.send().await.map_err(|error| describe(&error))?;
    let status = response.status();
    let header = response.headers().get(reqwest::header::CONTENT_TYPE);
    let content_type = header.and_then(|it| it.to_str().ok()).unwrap_or_default();
    let content_type = content_type.to_owned();
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|error| describe(&error))? {
        if body.len() + chunk.len() > max_body {
            return Err("the answer is too long".to_owned());
        }
        body.extend_from_slice(&chunk);
    }
    Ok(Answer {
        status,
        content_type,
        body: String::from_utf8_lossy(&body).into_owned(),
    })
}

/// The innermost reason, which names no address: an address may hold a code.
fn describe(error: &reqwest::Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    if std::ptr::addr_eq(cause, error) {
        return "the request could not be sent".to_owned();
    }
    cause.to_string()
}

/// A status in words.
pub(crate) fn status_line(status: StatusCode) -> String {
    match status.canonical_reason() {
        Some(reason) => format!("{} {reason}", status.as_u16()),
        None => format!("{} <unknown status code>", status.as_u16()),
    }
}

/// What an error answer says, in the forms that identity servers use.
pub(crate) fn reason(body: &str, secrets: &[&str]) -> String {
    let json: Value = serde_json::from_str(body).unwrap_or_default();
    let error = &json["error"];
    let message = [
        &json["error_description"],
        &error["message"],
        &error["code"],
        error,
    ];
    let message = message.into_iter().find_map(Value::as_str);
    match message.unwrap_or(body) {
        "" => "unknown error".to_owned(),
        message => quote(message, secrets),
    }
}

/// A foreign text for an error: short, and without the secrets that were sent.
pub(crate) fn quote(text: &str, secrets: &[&str]) -> String {
    let mut text = text.to_owned();
    for secret in secrets.iter().filter(|secret| secret.len() >= SHORTEST) {
        text = text.replace(secret, "[redacted]");
    }
    if text.len() > MAX_QUOTE {
        let end = (0..=MAX_QUOTE).rev().find(|&at| text.is_char_boundary(at));
        text.truncate(end.unwrap_or(0));
        text.push_str("...");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_found_in_all_their_forms() {
        for (body, expected) in [
            (r#"{"error":"a","error_description":"b"}"#, "b"),
            (r#"{"error":{"message":"m","code":"c"}}"#, "m"),
            (r#"{"error":{"code":"c"}}"#, "c"),
            (r#"{"error":"a"}"#, "a"),
            (r#"{"other":1}"#, r#"{"other":1}"#),
            ("plain", "plain"),
            ("", "unknown error"),
            ("code rt-1 is bad", "code [redacted] is bad"),
        ] {
            assert_eq!(reason(body, &["rt-1", ""]), expected, "{body}");
        }
        assert_eq!(quote(&"é".repeat(1000), &[]).len(), MAX_QUOTE + 3);
    }
}
