//! HTTP to trackers: bounded in time and size, without redirects, and with errors that say what to do and hold no
//! secret.

use std::error::Error as _;
use std::time::Duration;

use reqwest::header::HeaderMap;
use reqwest::{Method, RequestBuilder};
use serde_json::Value;

use super::provider::Secret;
use super::{TrackerError, TrackerErrorKind};
use crate::time;

/// How long one request may take.
const LIMIT: Duration = Duration::from_secs(30);
/// The longest answer.
const MAX_BYTES: usize = 16 << 20;
/// How much of an error's text is passed on.
const MAX_REASON: usize = 300;

/// The way to one tracker.
#[derive(Clone, Debug)]
pub(super) struct Http {
    client: reqwest::Client,
    secret: Secret,
    header: &'static str,
    /// What stands before the secret in its header.
    scheme: &'static str,
}

/// What a tracker answered.
pub(super) struct Answer {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: Value,
}

impl Http {
    /// Requests that carry the secret in this header, after this scheme.
    pub fn new(
        secret: Secret,
        header: &'static str,
        scheme: &'static str,
    ) -> Result<Http, TrackerError> {
        let failed = |why| TrackerError::new(TrackerErrorKind::Request, why);
        Ok(Http {
            client: quipu_model::http_client().map_err(failed)?,
            secret,
            header,
            scheme,
        })
    }

    /// The variables that hold the secret.
    pub fn secret_variables(&self) -> Vec<String> {
        self.secret.variables.clone()
    }

    /// A text without the secret.
    pub fn scrub(&self, text: &str) -> String {
        self.secret.removed_from(text)
    }

    /// Asks, and reads the answer as JSON, whatever its status. An empty body is `null`.
    pub async fn ask(
        &self,
        method: Method,
        url: &str,
        body: Option<&Value>,
    ) -> Result<Answer, TrackerError> {
        let value = format!("{}{}", self.scheme, self.secret.reveal());
        let mut request = self
            .client
            .request(method, url)
            .timeout(LIMIT)
            .header(self.header, value)
            .header("accept", "application/json")
            .header(
                "user-agent",
                concat!("quipu-runner/", env!("CARGO_PKG_VERSION")),
            );
        if let Some(body) = body {
            request = request
                .header("content-type", "application/json")
                .body(body.to_string());
        }
        self.exchange(request).await
    }

    async fn exchange(&self, request: RequestBuilder) -> Result<Answer, TrackerError> {
        let failed = |error: reqwest::Error| {
            let error = error.without_url();
            let cause = error.source().map(|cause| format!(": {cause}"));
            let why = format!("{error}{}", cause.unwrap_or_default());
            TrackerError::new(TrackerErrorKind::Request, self.scrub(&why))
        };
        let mut response = request.send().await.map_err(failed)?;
        let status = response.status().as_u16();
        let headers = response.headers().clone();
        let mut bytes = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(failed)? {
            bytes.extend_from_slice(&chunk);
            if bytes.len() > MAX_BYTES {
                let why = format!("the answer is longer than {MAX_BYTES} bytes");
                return Err(TrackerError::new(TrackerErrorKind::Response, why));
            }
        }
        let body = match bytes.iter().all(u8::is_ascii_whitespace) {
            true => Ok(Value::Null),
            false => serde_json::from_slice(&bytes),
        };
        let body = match body {
            Ok(body) => body,
            // A page of a proxy, say; the status says enough.
            Err(_) if !(200..300).contains(&status) => Value::Null,
            Err(error) => {
                let why = format!("the answer is not JSON: {error}");
                return Err(TrackerError::new(TrackerErrorKind::Response, why));
            }
        };
        Ok(Answer {
            status,
            headers,
            body,
        })
    }

    /// The answer of a successful request; an error that says what is wrong otherwise.
    pub fn success(&self, answer: Answer) -> Result<Answer, TrackerError> {
        match answer.status {
            200..300 => Ok(answer),
            _ => Err(self.refusal(&answer)),
        }
    }

    fn refusal(&self, answer: &Answer) -> TrackerError {
        let status = answer.status;
        let reason = self.reason(&answer.body);
        if let Some(wait) = rate_limit(answer) {
            return rate_limited(&format!("too many requests ({status}{reason})"), wait);
        }
        let why = match status {
            401 | 403 => {
                let variables = self.secret.variables.join(" or ");
                format!("the token was refused ({status}{reason}); check {variables}")
            }
            300..=399 => {
                format!("it answers from another address ({status}); correct the endpoint")
            }
            _ => format!("it answered with {status}{reason}"),
        };
        TrackerError::new(TrackerErrorKind::Status, why)
    }

    /// What an answer says of its refusal, in a few words.
    pub fn reason(&self, body: &Value) -> String {
        let places = [
            "/message",
            "/error_description",
            "/error",
            "/errors/0/message",
            "/errorMessages/0",
        ];
        let text = places
            .iter()
            .find_map(|place| body.pointer(place)?.as_str());
        let Some(text) = text else {
            return String::new();
        };
        let short: String = self.scrub(text).chars().take(MAX_REASON).collect();
        format!(": {short}")
    }
}

/// An error that says how long to wait.
pub(super) fn rate_limited(why: &str, wait: Option<Duration>) -> TrackerError {
    let wait = wait.and_then(|it| u64::try_from(it.as_millis()).ok());
    TrackerError {
        retry_after_ms: wait,
        ..TrackerError::new(TrackerErrorKind::RateLimited, why)
    }
}

/// Whether an answer says that there were too many requests, and how long to wait if it says so too.
fn rate_limit(answer: &Answer) -> Option<Option<Duration>> {
    let header = |name: &str| {
        answer
            .headers
            .get(name)?
            .to_str()
            .ok()?
            .trim()
            .parse::<i64>()
            .ok()
    };
    let retry_after = header("retry-after");
    let is_used_up = header("x-ratelimit-remaining") == Some(0);
    let is_limited = match answer.status {
        429 => true,
        403 => is_used_up || retry_after.is_some(),
        _ => false,
    };
    if !is_limited {
        return None;
    }
    let reset = || {
        let at = header("x-ratelimit-reset").or_else(|| header("ratelimit-reset"))?;
        Some(at - time::now() / 1000)
    };
    let seconds = retry_after.or_else(reset);
    Some(seconds.map(|it| Duration::from_secs(it.max(0).unsigned_abs())))
}
