//! Why an answer failed: a closed set. The messages are those clients already know; what they do
//! not say (which provider, what exactly it did) is in [`ModelError::details`].

use std::fmt::Display;
use std::sync::Arc;
use std::time::Duration;

use quipu_wire::CodexErrorInfo;
use reqwest::StatusCode;
use thiserror::Error;

use crate::reach::Unreachable;
use crate::text::shortened;
use crate::usage_limit::UsageLimit;

const HIGH_DEMAND: &str =
    "We're currently experiencing high demand, which may cause temporary errors.";
/// The longest reason in a notice about another attempt.
const BRIEF: usize = 120;

/// The reason of a failure.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum ErrorKind {
    /// The provider calls the request bad and says why.
    #[error("{0}")]
    BadRequest(String),
    /// The provider cannot read an image of the request.
    #[error("Invalid image in your last message. Please remove it and try again.")]
    InvalidImage,
    /// An answer with a status that has no meaning of its own here.
    #[error("{0}")]
    UnexpectedStatus(Box<UnexpectedStatus>),
    /// The account has used up what it may use.
    #[error("{0}")]
    UsageLimit(Box<UsageLimit>),
    /// The account's plan does not include this use.
    #[error(
        "To use Codex with your ChatGPT plan, upgrade to Plus: https://chatgpt.com/explore/plus."
    )]
    UsageNotIncluded,
    /// The account has no money left.
    #[error("Quota exceeded. Check your plan and billing details.")]
    QuotaExceeded,
    /// The provider wants to be left alone for a while.
    #[error(
        "exceeded retry limit, last status: {}{}{}",
        status_line(*status),
        labelled(": ", message),
        labelled(", request id: ", request_id)
    )]
    TooManyRequests {
        /// 429.
        status: StatusCode,
        /// The provider's explanation.
        message: Option<Box<str>>,
        /// The provider's name for the request.
        request_id: Option<String>,
        /// How long to wait, when the provider said so.
        retry_after: Option<Duration>,
    },
    /// The provider broke. OpenAI without an explanation has a text of its own.
    #[error(
        "{}",
        .0.as_ref().map_or_else(|| HIGH_DEMAND.to_owned(), ToString::to_string)
    )]
    InternalServerError(Option<Box<UnexpectedStatus>>),
    /// The model has too much to do.
    #[error("Selected model is at capacity. Please try a different model.")]
    ServerOverloaded,
    /// The history is longer than the model can read.
    #[error(
        "Codex ran out of room in the model's context window. Start a new thread or clear earlier history before retrying."
    )]
    ContextWindowExceeded,
    /// The first prompt of a thread is longer than the model can read.
    #[error(
        "The prompt does not fit the model's context window. Shorten it or choose a model with a larger window; if the model runs on a server of yours, start it with a larger context."
    )]
    PromptTooLong,
    /// The provider refuses the prompt.
    #[error("{0}")]
    InvalidPrompt(String),
    /// The connection could not be made.
    #[error("stream disconnected before completion: {0}")]
    Unreachable(Box<Unreachable>),
    /// The answer broke off, or did not come.
    #[error("stream disconnected before completion: {reason}")]
    Stream {
        /// What happened.
        reason: String,
        /// How long to wait, when the provider said so.
        retry_after: Option<Duration>,
    },
    /// The answer ended early for a reason that a second attempt would meet again.
    #[error("stream disconnected before completion: {0}")]
    Unfinished(String),
    /// The answer is longer than is accepted.
    #[error("stream disconnected before completion: {0}")]
    TooLarge(String),
    /// The environment variable for the key is not set.
    #[error(
        "Missing environment variable: `{name}`.{}",
        labelled(" ", instructions)
    )]
    MissingEnv {
        /// The variable.
        name: String,
        /// What the provider's settings say about getting one.
        instructions: Option<String>,
    },
    /// The login does not work any more, or the key is refused.
    #[error("{0}")]
    Unauthorized(String),
    /// The login cannot be renewed now.
    #[error("{0}")]
    Credentials(String),
    /// The provider's settings cannot be used.
    #[error("{0}")]
    Configuration(String),
}

/// A status without a meaning of its own, and what came with it.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{}", self.text())]
pub struct UnexpectedStatus {
    /// The status.
    pub status: StatusCode,
    /// The provider's explanation.
    pub message: String,
    /// Where the request went, without its query.
    pub url: String,
    /// The name of the request at the provider's front door.
    pub cf_ray: Option<String>,
    /// The provider's name for the request.
    pub request_id: Option<String>,
    /// Why the provider refused the credentials.
    pub auth_error: Option<String>,
    /// The same for programs.
    pub auth_error_code: Option<String>,
    /// Whether the front door refused the whole region.
    pub blocked: bool,
    /// How long to wait, when the provider said so.
    pub retry_after: Option<Duration>,
    /// What may be wrong with the settings.
    pub hint: Option<String>,
}

impl UnexpectedStatus {
    /// Whether the same request may succeed later: refusals of the request itself stay.
    fn may_pass(&self) -> bool {
        let passing = [
            StatusCode::REQUEST_TIMEOUT,
            StatusCode::CONFLICT,
            StatusCode::TOO_EARLY,
        ];
        !self.status.is_client_error() || passing.contains(&self.status)
    }

    fn text(&self) -> String {
        let status = status_line(self.status);
        let mut text = if self.blocked {
            format!(
                "Access blocked by Cloudflare. This usually happens when connecting from a restricted region (status {status}), url: {}",
                self.url
            )
        } else {
            format!(
                "unexpected status {status}: {}, url: {}",
                self.message, self.url
            )
        };
        let notes = [
            ("cf-ray", &self.cf_ray),
            ("request id", &self.request_id),
            ("auth error", &self.auth_error),
            ("auth error code", &self.auth_error_code),
        ];
        for (label, note) in notes {
            text.push_str(&labelled(&format!(", {label}: "), note));
        }
        text.push_str(&labelled("; ", &self.hint));
        text
    }
}

impl ErrorKind {
    pub(crate) fn stream(reason: impl Into<String>) -> Self {
        Self::Stream {
            reason: reason.into(),
            retry_after: None,
        }
    }

    /// The same reason with the words of the provider changed.
    pub(crate) fn map_text(self, change: impl FnOnce(String) -> String) -> Self {
        match self {
            Self::BadRequest(text) => Self::BadRequest(change(text)),
            Self::InvalidPrompt(text) => Self::InvalidPrompt(change(text)),
            Self::Unfinished(text) => Self::Unfinished(change(text)),
            Self::Stream {
                reason,
                retry_after,
            } => Self::Stream {
                reason: change(reason),
                retry_after,
            },
            other => other,
        }
    }

    /// Whether the same request may succeed if it is sent again.
    pub(crate) fn is_retryable(&self) -> bool {
        match self {
            Self::UnexpectedStatus(unexpected) => unexpected.may_pass(),
            Self::Unreachable(unreachable) => unreachable.may_pass(),
            Self::InternalServerError(_) | Self::Stream { .. } => true,
            Self::TooManyRequests { retry_after, .. } => retry_after.is_some(),
            Self::BadRequest(_)
            | Self::InvalidImage
            | Self::UsageLimit(_)
            | Self::UsageNotIncluded
            | Self::QuotaExceeded
            | Self::ServerOverloaded
            | Self::ContextWindowExceeded
            | Self::PromptTooLong
            | Self::InvalidPrompt(_)
            | Self::Unfinished(_)
            | Self::TooLarge(_)
            | Self::MissingEnv { .. }
            | Self::Unauthorized(_)
            | Self::Credentials(_)
            | Self::Configuration(_) => false,
        }
    }

    /// Whether there is more to read than the model can.
    pub fn is_overflow(&self) -> bool {
        matches!(self, Self::ContextWindowExceeded | Self::PromptTooLong)
    }

    /// The reason in a few words, for a notice about another attempt.
    pub(crate) fn brief(&self) -> String {
        match self {
            Self::Unreachable(unreachable) => unreachable.brief(),
            Self::UnexpectedStatus(unexpected) => status_line(unexpected.status),
            Self::InternalServerError(_) => status_line(StatusCode::INTERNAL_SERVER_ERROR),
            Self::TooManyRequests { status, .. } => status_line(*status),
            Self::Stream { reason, .. } => shortened(reason, BRIEF),
            other => shortened(&other.to_string(), BRIEF),
        }
    }

    /// How long the provider wants us to wait.
    pub(crate) fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::UnexpectedStatus(unexpected) => unexpected.retry_after,
            Self::TooManyRequests { retry_after, .. } | Self::Stream { retry_after, .. } => {
                *retry_after
            }
            _ => None,
        }
    }
}

/// A failure, and which provider it came from. `Display` gives the message for clients.
#[derive(Debug, Clone, PartialEq, Error)]
#[error("{kind}")]
pub struct ModelError {
    /// The reason.
    pub kind: ErrorKind,
    /// The provider's id.
    pub provider: Arc<str>,
    /// What the provider did, when the message does not tell.
    pub cause: Option<String>,
}

impl ModelError {
    /// The reason for programs, whatever the wire format.
    pub fn info(&self) -> CodexErrorInfo {
        match &self.kind {
            ErrorKind::BadRequest(_) | ErrorKind::InvalidImage => CodexErrorInfo::BadRequest,
            ErrorKind::Unreachable(_) => CodexErrorInfo::HttpConnectionFailed {
                http_status_code: None,
            },
            ErrorKind::UnexpectedStatus(it) if it.status == StatusCode::UNAUTHORIZED => {
                CodexErrorInfo::Unauthorized
            }
            ErrorKind::UnexpectedStatus(_) => CodexErrorInfo::ResponseStreamConnectionFailed {
                http_status_code: self.http_status(),
            },
            ErrorKind::Stream { .. } | ErrorKind::TooLarge(_) => {
                CodexErrorInfo::ResponseStreamDisconnected {
                    http_status_code: None,
                }
            }
            ErrorKind::UsageLimit(_) | ErrorKind::UsageNotIncluded | ErrorKind::QuotaExceeded => {
                CodexErrorInfo::UsageLimitExceeded
            }
            ErrorKind::TooManyRequests { status, .. } => {
                CodexErrorInfo::ResponseTooManyFailedAttempts {
                    http_status_code: Some(status.as_u16()),
                }
            }
            ErrorKind::InternalServerError(_) => CodexErrorInfo::InternalServerError,
            ErrorKind::ServerOverloaded => CodexErrorInfo::ServerOverloaded,
            ErrorKind::ContextWindowExceeded | ErrorKind::PromptTooLong => {
                CodexErrorInfo::ContextWindowExceeded
            }
            ErrorKind::Unauthorized(_) => CodexErrorInfo::Unauthorized,
            ErrorKind::InvalidPrompt(_)
            | ErrorKind::Unfinished(_)
            | ErrorKind::MissingEnv { .. }
            | ErrorKind::Credentials(_)
            | ErrorKind::Configuration(_) => CodexErrorInfo::Other,
        }
    }

    /// Which provider did what, when the message alone does not tell.
    pub fn details(&self) -> Option<String> {
        self.cause
            .as_ref()
            .map(|cause| format!("provider `{}` {cause}", self.provider))
    }

    /// The HTTP status that caused the failure, where the reason does not already say it.
    pub fn http_status(&self) -> Option<u16> {
        match &self.kind {
            ErrorKind::UnexpectedStatus(unexpected) => Some(unexpected.status.as_u16()),
            ErrorKind::TooManyRequests { status, .. } => Some(status.as_u16()),
            _ => None,
        }
    }
}

pub(crate) fn status_line(status: StatusCode) -> String {
    match status.canonical_reason() {
        Some(reason) => format!("{} {reason}", status.as_u16()),
        None => format!("{} <unknown status code>", status.as_u16()),
    }
}

/// What follows a label, if there is something.
fn labelled(label: &str, text: &Option<impl Display>) -> String {
    text.as_ref()
        .map(|text| format!("{label}{text}"))
        .unwrap_or_default()
}
