//! What an answer with an error status means. The Responses API's meanings are those of the
//! official server; the other formats say the same things with other words.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use reqwest::StatusCode;
use reqwest::header::HeaderMap;
use serde::Deserialize;

use crate::error::{ErrorKind, UnexpectedStatus, status_line};
use crate::provider::WireApi;
use crate::rate_limits::{active_limit_name, text};
use crate::retry::retry_after_header;
use crate::usage_limit::UsageLimit;

const INVALID_IMAGE: &str = "The image data you provided does not represent a valid image";
const LONGEST_BODY: usize = 1000;

/// A response with an error status, its body read and cleared of secrets.
pub(crate) struct Refusal {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) url: String,
    pub(crate) body: String,
}

#[derive(Default, Deserialize)]
struct Body {
    #[serde(default)]
    error: ErrorBody,
}

#[derive(Default, Deserialize)]
#[serde(untagged)]
enum ErrorBody {
    Fields(ErrorFields),
    Text(String),
    #[default]
    None,
}

#[derive(Default, Deserialize)]
struct ErrorFields {
    #[serde(default, rename = "type")]
    kind: Option<String>,
    #[serde(default)]
    code: Option<serde_json::Value>,
    #[serde(default)]
    message: Option<String>,
    #[serde(default)]
    plan_type: Option<String>,
    #[serde(default)]
    resets_at: Option<i64>,
}

impl Refusal {
    /// The reason behind the status.
    pub(crate) fn reason(&self, wire: WireApi) -> ErrorKind {
        let fields = self.fields();
        let code = fields
            .code
            .as_ref()
            .and_then(serde_json::Value::as_str)
            .unwrap_or_default();
        let kind = fields.kind.as_deref().unwrap_or_default();
        let message = fields.message.as_deref().unwrap_or_default();
        if matches!(wire, WireApi::Chat | WireApi::Anthropic)
            && let Some(reason) = self.foreign_reason(code, kind, message)
        {
            return reason;
        }
        match self.status {
            _ if code == "context_length_exceeded" => ErrorKind::ContextWindowExceeded,
            StatusCode::BAD_REQUEST if self.body.contains(INVALID_IMAGE) => ErrorKind::InvalidImage,
            StatusCode::BAD_REQUEST => ErrorKind::BadRequest(self.body.clone()),
            StatusCode::TOO_MANY_REQUESTS if kind == "usage_limit_reached" => {
                ErrorKind::UsageLimit(Box::new(self.usage_limit(&fields)))
            }
            StatusCode::TOO_MANY_REQUESTS if kind == "usage_not_included" => {
                ErrorKind::UsageNotIncluded
            }
            StatusCode::TOO_MANY_REQUESTS => ErrorKind::TooManyRequests {
                status: self.status,
                request_id: self.request_id(),
                retry_after: retry_after_header(&self.headers),
            },
            StatusCode::INTERNAL_SERVER_ERROR => ErrorKind::InternalServerError,
            StatusCode::SERVICE_UNAVAILABLE
                if matches!(code, "server_is_overloaded" | "slow_down") =>
            {
                ErrorKind::ServerOverloaded
            }
            _ => ErrorKind::UnexpectedStatus(Box::new(self.unexpected(&fields))),
        }
    }

    /// The status and the provider's explanation, in one line.
    pub(crate) fn summary(&self) -> String {
        let explanation = self.explanation(&self.fields());
        format!("{}: {explanation}", status_line(self.status))
    }

    fn fields(&self) -> ErrorFields {
        match serde_json::from_str::<Body>(&self.body)
            .unwrap_or_default()
            .error
        {
            ErrorBody::Fields(fields) => fields,
            ErrorBody::Text(text) => ErrorFields {
                message: Some(text),
                ..Default::default()
            },
            ErrorBody::None => ErrorFields::default(),
        }
    }

    fn explanation(&self, fields: &ErrorFields) -> String {
        match &fields.message {
            Some(message) if !message.is_empty() => message.clone(),
            _ if self.body.trim().is_empty() => "Unknown error".into(),
            _ => shortened(&self.body),
        }
    }

    /// What the words of other providers mean, where they mean something the set has a name for.
    fn foreign_reason(&self, code: &str, kind: &str, message: &str) -> Option<ErrorKind> {
        let lower = message.to_ascii_lowercase();
        let too_long = [
            "maximum context length",
            "prompt is too long",
            "context size",
            "context window",
        ];
        if self.status.is_client_error() && too_long.iter().any(|mark| lower.contains(mark)) {
            return Some(ErrorKind::ContextWindowExceeded);
        }
        match self.status {
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
                Some(ErrorKind::Unauthorized(self.unexpected_text(message)))
            }
            StatusCode::PAYMENT_REQUIRED => Some(ErrorKind::QuotaExceeded),
            _ if code == "insufficient_quota" || kind == "insufficient_quota" => {
                Some(ErrorKind::QuotaExceeded)
            }
            StatusCode::TOO_MANY_REQUESTS => Some(ErrorKind::TooManyRequests {
                status: self.status,
                request_id: self.request_id(),
                retry_after: retry_after_header(&self.headers)
                    .or(Some(std::time::Duration::from_secs(1))),
            }),
            StatusCode::REQUEST_TIMEOUT | StatusCode::CONFLICT => None,
            status if status.is_client_error() => {
                Some(ErrorKind::BadRequest(self.unexpected_text(message)))
            }
            _ => None,
        }
    }

    fn unexpected_text(&self, message: &str) -> String {
        let fields = ErrorFields {
            message: Some(message.into()),
            ..Default::default()
        };
        self.unexpected(&fields).to_string()
    }

    fn usage_limit(&self, fields: &ErrorFields) -> UsageLimit {
        UsageLimit {
            plan: fields.plan_type.clone(),
            resets_at: fields.resets_at,
            limit_name: active_limit_name(&self.headers),
            promo: text(&self.headers, "x-codex-promo-message").map(str::to_owned),
        }
    }

    fn unexpected(&self, fields: &ErrorFields) -> UnexpectedStatus {
        let header = |name| text(&self.headers, name).map(str::to_owned);
        UnexpectedStatus {
            status: self.status,
            message: self.explanation(fields),
            url: self.url.clone(),
            cf_ray: header("cf-ray"),
            request_id: self.request_id(),
            auth_error: header("x-openai-authorization-error"),
            auth_error_code: header("x-error-json").and_then(|encoded| error_code(&encoded)),
            blocked: self.status == StatusCode::FORBIDDEN
                && self.body.contains("Cloudflare")
                && self.body.contains("blocked"),
            retry_after: retry_after_header(&self.headers),
        }
    }

    fn request_id(&self) -> Option<String> {
        ["x-request-id", "x-oai-request-id", "request-id"]
            .iter()
            .find_map(|name| text(&self.headers, name))
            .map(str::to_owned)
    }
}

fn shortened(body: &str) -> String {
    if body.len() <= LONGEST_BODY {
        return body.to_owned();
    }
    let end = (0..=LONGEST_BODY)
        .rev()
        .find(|&at| body.is_char_boundary(at))
        .unwrap_or(0);
    format!("{}...", &body[..end])
}

/// The `error.code` inside base64-encoded JSON.
fn error_code(encoded: &str) -> Option<String> {
    let json = BASE64_STANDARD.decode(encoded).ok()?;
    let body: Body = serde_json::from_slice(&json).ok()?;
    match body.error {
        ErrorBody::Fields(fields) => fields.code?.as_str().map(str::to_owned),
        _ => None,
    }
}
