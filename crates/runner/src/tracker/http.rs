//! HTTP to trackers: bounded in time and size, without redirects, and with errors that say what to do and hold no
//! secret.

use std::error::Error as _;
use std::time::Duration;

use reqwest::header::HeaderMap;
use reqwest::{Method, RequestBuilder};
use serde_json::Value;

use super::provider::Secret;
use super::{TrackerError, TrackerErrorKind};
use crate::time::{self, Millis};

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

    /// A value without the secret.
    pub fn scrubbed(&self, value: &Value) -> Value {
        let text = self.scrub(&value.to_string());
        serde_json::from_str(&text).unwrap_or_default()
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
        if answer.is_rate_limit() {
            let why = format!("too many requests ({status}{reason})");
            return rate_limited(&why, answer.wait());
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
        // A server that is being repaired may say for how long.
        let wait = (status == 503).then(|| answer.wait()).flatten();
        waiting(TrackerErrorKind::Status, &why, wait)
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
    waiting(TrackerErrorKind::RateLimited, why, wait)
}

fn waiting(kind: TrackerErrorKind, why: &str, wait: Option<Duration>) -> TrackerError {
    let wait = wait.map(|it| u64::try_from(it.as_millis()).unwrap_or(u64::MAX));
    TrackerError {
        retry_after_ms: wait,
        ..TrackerError::new(kind, why)
    }
}

impl Answer {
    fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok().map(str::trim)
    }

    fn number(&self, name: &str) -> Option<i64> {
        self.header(name)?.parse().ok()
    }

    /// Whether it says that there were too many requests.
    fn is_rate_limit(&self) -> bool {
        let is_used_up = self.number("x-ratelimit-remaining") == Some(0);
        match self.status {
            429 => true,
            403 => is_used_up || self.header("retry-after").is_some(),
            _ => false,
        }
    }

    /// How long to wait, if it says so.
    fn wait(&self) -> Option<Duration> {
        let now = time::now();
        let asked = self.header("retry-after").and_then(|it| wait(it, now));
        let reset = || {
            let at = self
                .number("x-ratelimit-reset")
                .or_else(|| self.number("ratelimit-reset"))?;
            Some(not_before(at.saturating_mul(1000), now))
        };
        asked.or_else(reset)
    }
}

/// How long `Retry-After` asks to wait: a number of seconds, or a date. Nothing for what is neither.
fn wait(text: &str, now: Millis) -> Option<Duration> {
    if !text.is_empty() && text.bytes().all(|it| it.is_ascii_digit()) {
        return Some(Duration::from_secs(text.parse().unwrap_or(u64::MAX)));
    }
    time::parse_http(text).map(|at| not_before(at, now))
}

/// The time until a moment; none is left if that has passed.
fn not_before(at: Millis, now: Millis) -> Duration {
    Duration::from_millis(u64::try_from(at.saturating_sub(now)).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_are_seconds_or_dates_of_any_age() {
        let now = time::parse("1994-11-06T08:49:30Z").unwrap();
        let seconds = |text| wait(text, now).map(|it| it.as_secs());
        for (text, expected) in [
            ("0", Some(0)),
            ("7", Some(7)),
            ("99999999999999999999999", Some(u64::MAX)),
            // The three forms that a date may have.
            ("Sun, 06 Nov 1994 08:49:37 GMT", Some(7)),
            ("Sunday, 06-Nov-94 08:49:37 GMT", Some(7)),
            ("Sun Nov  6 08:49:37 1994", Some(7)),
            // Past, and far away.
            ("Sun, 06 Nov 1994 08:49:29 GMT", Some(0)),
            ("Thu, 01 Jan 1970 00:00:00 GMT", Some(0)),
            ("Fri, 06 Nov 9998 08:49:30 GMT", Some(252_581_846_400)),
            // Neither.
            ("", None),
            ("-7", None),
            ("1.5", None),
            ("soon", None),
            ("Sun, 31 Feb 1994 08:49:37 GMT", None),
        ] {
            assert_eq!(seconds(text), expected, "{text}");
        }
        assert_eq!(not_before(i64::MAX, i64::MIN).as_millis(), i64::MAX as u128);
        assert_eq!(not_before(i64::MIN, i64::MAX), Duration::ZERO);
    }
}
