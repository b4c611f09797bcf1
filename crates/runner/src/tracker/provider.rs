//! What a workflow says below `tracker.provider`, read by the trackers that speak over the network.

use std::fmt;

use base64::Engine as _;
use serde_json::{Map, Value};

use super::{TrackerError, TrackerErrorKind};
use crate::config::TrackerConfig;
use crate::env::{Env, variable};

/// The settings of one provider.
pub(super) struct Provider<'a> {
    settings: &'a Map<String, Value>,
    env: &'a Env,
}

impl<'a> Provider<'a> {
    pub fn new(config: &'a TrackerConfig, env: &'a Env) -> Provider<'a> {
        Provider {
            settings: &config.provider,
            env,
        }
    }

    /// A text, or what the variable that it names holds; nothing if it is not given or blank.
    pub fn text(&self, key: &str) -> Result<Option<String>, TrackerError> {
        let text = match self.settings.get(key) {
            None | Some(Value::Null) => return Ok(None),
            Some(Value::String(text)) => self.env.resolve(text),
            Some(Value::Number(number)) => Some(number.to_string()),
            Some(_) => return Err(invalid(key, "must be a text")),
        };
        Ok(text
            .map(|it| it.trim().to_owned())
            .filter(|it| !it.is_empty()))
    }

    pub fn required(&self, key: &str, example: &str) -> Result<String, TrackerError> {
        let missing = || invalid(key, &format!("is needed, such as `{example}`"));
        self.text(key)?.ok_or_else(missing)
    }

    /// The address of the API, without a slash at its end.
    pub fn endpoint(&self, default: &str) -> Result<String, TrackerError> {
        let url = self.text("endpoint")?.unwrap_or_else(|| default.to_owned());
        let is_local = ["http://127.0.0.1", "http://localhost", "http://[::1]"]
            .iter()
            .any(|local| url.starts_with(local));
        if !url.starts_with("https://") && !is_local {
            return Err(invalid("endpoint", "must begin with https://"));
        }
        Ok(url.trim_end_matches('/').to_owned())
    }

    /// The secret below `key`, else that of the usual variable.
    pub fn secret(&self, key: &str, usual: &str) -> Result<Secret, TrackerError> {
        let given = match self.settings.get(key) {
            None | Some(Value::Null) => format!("${usual}"),
            Some(Value::String(text)) => text.clone(),
            Some(_) => return Err(invalid(key, "must be a text, best `$NAME` of a variable")),
        };
        let mut variables = vec![usual.to_owned()];
        variables.extend(variable(&given).map(str::to_owned));
        variables.dedup();
        let value = self.env.resolve(&given).unwrap_or_default();
        let value = value.trim();
        if value.is_empty() {
            let name = variables.last().map(String::as_str).unwrap_or(usual);
            let why = format!(
                "set the variable {name}, or say with `tracker.provider.{key}` which holds the secret"
            );
            return Err(TrackerError::new(TrackerErrorKind::MissingSecret, why));
        }
        if !value.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(invalid(key, "holds characters that no token has"));
        }
        Ok(Secret {
            value: value.to_owned(),
            encoded: None,
            variables,
        })
    }
}

pub(super) fn invalid(key: &str, problem: &str) -> TrackerError {
    let why = format!("`tracker.provider.{key}` {problem}");
    TrackerError::new(TrackerErrorKind::InvalidConfig, why)
}

/// A token, which nothing prints.
#[derive(Clone)]
pub(super) struct Secret {
    value: String,
    /// What goes over the wire, if that is not the secret itself.
    encoded: Option<String>,
    /// The variables that may hold it.
    pub variables: Vec<String>,
}

impl Secret {
    /// The password of a user, as a header has it.
    pub fn with_user(self, user: &str) -> Secret {
        let pair = format!("{user}:{}", self.value);
        let encoded = base64::engine::general_purpose::STANDARD.encode(pair);
        Secret {
            encoded: Some(encoded),
            ..self
        }
    }

    /// For the one header that it is for.
    pub fn reveal(&self) -> &str {
        self.encoded.as_deref().unwrap_or(&self.value)
    }

    /// A text without it, should somebody have sent it back.
    pub fn removed_from(&self, text: &str) -> String {
        let text = text.replace(&self.value, "[secret]");
        match &self.encoded {
            Some(encoded) => text.replace(encoded, "[secret]"),
            None => text,
        }
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[secret]")
    }
}
