//! What an answer with an error status means. The Responses API's meanings are those of the
//! official server; the other formats say the same things with other words.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use reqwest::StatusCode;
use reqwest::header::HeaderMap;
use serde::Deserialize;

use crate::error::{ErrorKind, UnexpectedStatus, status_line};
use crate::provider::ProviderConfig;
use crate::rate_limits::{active_limit_name, text};
use crate::retry::retry_after_header;
use crate::text::shortened;
use crate::usage_limit::UsageLimit;

const INVALID_IMAGE: &str = "The image data you provided does not represent a valid image";
const LONGEST_BODY: usize = 1000;
const UNEXPLAINED: &str = "Unknown error";

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
    /// Where servers put the explanation that have no `error`.
    #[serde(default)]
    message: Option<String>,
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
    pub(crate) fn reason(&self, provider: &ProviderConfig) -> ErrorKind {
        let fields = self.fields();
        let code = fields
            .code
            .as_ref()
            .and_then(serde_json::Value::as_str)
            .unwrap_or_default();
        let kind = fields.kind.as_deref().unwrap_or_default();
        let message = fields.message.as_deref().unwrap_or_default();
        if code == "context_length_exceeded" || is_overflow(message) {
            return ErrorKind::ContextWindowExceeded;
        }
        if !provider.wire_api.format().is_official
            && let Some(reason) = self.foreign_reason(provider, code, kind, &fields)
        {
            return reason;
        }
        match self.status {
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
                message: self.explanation(&fields).map(Into::into),
                request_id: self.request_id(),
                retry_after: retry_after_header(&self.headers),
            },
            StatusCode::INTERNAL_SERVER_ERROR => {
                let shown = provider.id != "openai" || self.explanation(&fields).is_some();
                let unexpected = shown.then(|| Box::new(self.unexpected(provider, &fields)));
                ErrorKind::InternalServerError(unexpected)
            }
            StatusCode::SERVICE_UNAVAILABLE
                if matches!(code, "server_is_overloaded" | "slow_down") =>
            {
                ErrorKind::ServerOverloaded
            }
            _ => ErrorKind::UnexpectedStatus(Box::new(self.unexpected(provider, &fields))),
        }
    }

    /// Whether the provider says that it has no such model. Each mark is of one kind of server.
    pub(crate) fn is_unknown_model(&self, model: &str) -> bool {
        let fields = self.fields();
        let code = fields.code.as_ref().and_then(serde_json::Value::as_str);
        let statuses = [StatusCode::NOT_FOUND, StatusCode::BAD_REQUEST];
        if !statuses.contains(&self.status) || code == Some("model_not_found") {
            return code == Some("model_not_found");
        }
        let message = fields.message.unwrap_or_default();
        let rest = message.replacen(model, "", 1).to_ascii_lowercase();
        let marks = [
            "not found",
            "not exist",
            "not a valid model",
            "unknown model",
        ];
        let is_missing = marks.iter().any(|mark| rest.contains(mark))
            || fields.kind.as_deref() == Some("not_found_error");
        message.contains(model) && rest.contains("model") && is_missing
    }

    /// The provider's name for what is wrong.
    pub(crate) fn code(&self) -> Option<String> {
        let code = self.fields().code;
        code.and_then(|code| code.as_str().map(str::to_owned))
    }

    /// The provider's words, if it has any.
    pub(crate) fn message(&self) -> String {
        self.explanation(&self.fields()).unwrap_or_default()
    }

    /// The status and the provider's explanation, in one line.
    pub(crate) fn summary(&self) -> String {
        let explanation = self.explanation(&self.fields());
        let explanation = explanation.as_deref().unwrap_or(UNEXPLAINED);
        format!("{}: {explanation}", status_line(self.status))
    }

    fn fields(&self) -> ErrorFields {
        let body: Body = serde_json::from_str(&self.body).unwrap_or_default();
        let message = match body.error {
            ErrorBody::Fields(fields) => return fields,
            ErrorBody::Text(text) => Some(text),
            ErrorBody::None => body.message,
        };
        ErrorFields {
            message,
            ..ErrorFields::default()
        }
    }

    /// The provider's own words, if it has any.
    fn explanation(&self, fields: &ErrorFields) -> Option<String> {
        let message = fields.message.clone().filter(|it| !it.is_empty());
        let body = || (!self.body.trim().is_empty()).then(|| shortened(&self.body, LONGEST_BODY));
        message.or_else(body)
    }

    /// What the words of other providers mean, where they mean something the set has a name for.
    fn foreign_reason(
        &self,
        provider: &ProviderConfig,
        code: &str,
        kind: &str,
        fields: &ErrorFields,
    ) -> Option<ErrorKind> {
        let text = || self.unexpected(provider, fields).to_string();
        match self.status {
            StatusCode::UNAUTHORIZED => Some(ErrorKind::Unauthorized(text())),
            StatusCode::PAYMENT_REQUIRED => Some(ErrorKind::QuotaExceeded),
            _ if code == "insufficient_quota" || kind == "insufficient_quota" => {
                Some(ErrorKind::QuotaExceeded)
            }
            StatusCode::TOO_MANY_REQUESTS => Some(ErrorKind::TooManyRequests {
                status: self.status,
                message: self.explanation(fields).map(Into::into),
                request_id: self.request_id(),
                retry_after: retry_after_header(&self.headers)
                    .or(Some(std::time::Duration::from_secs(1))),
            }),
            StatusCode::BAD_REQUEST | StatusCode::UNPROCESSABLE_ENTITY => {
                Some(ErrorKind::BadRequest(text()))
            }
            _ => None,
        }
    }

    fn usage_limit(&self, fields: &ErrorFields) -> UsageLimit {
        UsageLimit {
            plan: fields.plan_type.clone(),
            resets_at: fields.resets_at,
            limit_name: active_limit_name(&self.headers),
            promo: text(&self.headers, "x-codex-promo-message").map(str::to_owned),
        }
    }

    fn unexpected(&self, provider: &ProviderConfig, fields: &ErrorFields) -> UnexpectedStatus {
        let header = |name| text(&self.headers, name).map(str::to_owned);
        UnexpectedStatus {
            status: self.status,
            message: self
                .explanation(fields)
                .unwrap_or_else(|| UNEXPLAINED.into()),
            url: self.url.clone(),
            cf_ray: header("cf-ray"),
            request_id: self.request_id(),
            auth_error: header("x-openai-authorization-error"),
            auth_error_code: header("x-error-json").and_then(|encoded| error_code(&encoded)),
            blocked: self.status == StatusCode::FORBIDDEN
                && self.body.contains("Cloudflare")
                && self.body.contains("blocked"),
            retry_after: retry_after_header(&self.headers),
            hint: self.hint(provider),
        }
    }

    /// What the settings may have wrong.
    fn hint(&self, provider: &ProviderConfig) -> Option<String> {
        match self.status {
            StatusCode::UNAUTHORIZED => Some(key_hint(provider)),
            _ => self.address_hint(provider),
        }
    }

    /// What may be wrong when an address does not exist.
    fn address_hint(&self, provider: &ProviderConfig) -> Option<String> {
        let is_missing = [StatusCode::NOT_FOUND, StatusCode::METHOD_NOT_ALLOWED];
        let is_about_model = self.body.to_ascii_lowercase().contains("model");
        if !is_missing.contains(&self.status) || is_about_model || provider.id == "openai" {
            return None;
        }
        if provider.wire_api.format().is_official {
            return Some(format!(
                "for a server that speaks Chat Completions, set `wire_api = \"chat\"` in [model_providers.{}]",
                provider.id
            ));
        }
        let misses_version = !self.url.contains("/v1");
        misses_version.then(|| "most servers expect a `base_url` that ends in /v1".into())
    }

    fn request_id(&self) -> Option<String> {
        ["x-request-id", "x-oai-request-id", "request-id"]
            .iter()
            .find_map(|name| text(&self.headers, name))
            .map(str::to_owned)
    }
}

/// Where the key comes from that a provider refuses.
fn key_hint(provider: &ProviderConfig) -> String {
    let id = &provider.id;
    if let Some(variable) = &provider.env_key {
        format!("check the key in the variable {variable}")
    } else if provider.auth.is_some() {
        format!("check what the program in [model_providers.{id}.auth] prints")
    } else if provider.experimental_bearer_token.is_some() {
        format!("check `experimental_bearer_token` in [model_providers.{id}]")
    } else if provider.requires_openai_auth {
        "log in with `quipu login`, or set OPENAI_API_KEY".to_owned()
    } else {
        format!("name the variable that holds the key in `env_key` of [model_providers.{id}]")
    }
}

/// Whether a provider says that the prompt is longer than its model can read. Each mark is of one kind
/// of server.
pub(crate) fn is_overflow(message: &str) -> bool {
    let lower = message.to_ascii_lowercase();
    let marks = [
        // OpenAI, vLLM, llama-cpp-python, OpenRouter, DeepSeek, Mistral.
        "maximum context length",
        // Anthropic.
        "prompt is too long",
        // llama.cpp.
        "exceeds the available context size",
        // LM Studio, in two versions.
        "tokens to keep from the initial prompt is greater than the context length",
        "model is loaded with context length of only",
        // Ollama, in two versions.
        "exceeds the context length",
        "prompt too long; exceeded max context length",
        // llama-cpp-python.
        "exceed context window of",
        // Gemini.
        "exceeds the maximum number of tokens allowed",
        // xAI.
        "maximum prompt length",
        // Others.
        "exceeds the context window",
    ];
    marks.iter().any(|mark| lower.contains(mark))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refused_key_is_named_by_its_source() {
        let own = ProviderConfig {
            id: "own".into(),
            ..ProviderConfig::default()
        };
        let by_variable = ProviderConfig {
            env_key: Some("OWN_KEY".into()),
            ..own.clone()
        };
        let by_program = serde_json::json!({ "name": "own", "auth": { "command": "print-key" } });
        let by_program = ProviderConfig::declared("own", &by_program).unwrap();
        let openai = ProviderConfig::built_in("openai").unwrap();
        for (provider, source) in [
            (own, "`env_key` of [model_providers.own]"),
            (by_variable, "the variable OWN_KEY"),
            (by_program, "the program in [model_providers.own.auth]"),
            (openai, "`quipu login`, or set OPENAI_API_KEY"),
        ] {
            let hint = key_hint(&provider);
            assert!(hint.contains(source), "{hint}");
        }
    }
}
