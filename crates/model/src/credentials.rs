//! Keys and tokens, and who supplies them. They reach this crate as values and leave it only in a
//! request header: nothing here prints them.

use std::fmt;

use futures_util::future::BoxFuture;
use reqwest::header::{HeaderMap, HeaderValue};
use serde::Deserialize;
use thiserror::Error;

/// A value that must not be shown. Its `Debug` form says only that it is there.
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct Secret(String);

impl Secret {
    /// Wraps a secret value.
    pub fn new(value: impl Into<String>) -> Self {
        Self(value.into())
    }

    /// The value itself, for the one place that sends it.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[redacted]")
    }
}

/// What a logged-in account can prove to a provider.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Credentials {
    /// Nobody is logged in; the provider's own settings may still hold a key.
    #[default]
    None,
    /// An API key.
    ApiKey(Secret),
    /// A ChatGPT login.
    ChatGpt {
        /// The OAuth access token.
        access_token: Secret,
        /// The workspace the token is for.
        account_id: Option<String>,
    },
}

impl Credentials {
    pub(crate) fn secret(&self) -> Option<&Secret> {
        match self {
            Self::None => None,
            Self::ApiKey(secret)
            | Self::ChatGpt {
                access_token: secret,
                ..
            } => Some(secret),
        }
    }
}

/// The login cannot be used; the text says why and goes to the client.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum CredentialsLost {
    /// Only a new login helps.
    #[error("{0}")]
    ForGood(String),
    /// It may work another time.
    #[error("{0}")]
    ForNow(String),
}

/// Credentials to try after others were refused.
#[derive(Debug)]
pub struct Recovered {
    /// What to try.
    pub credentials: Credentials,
    /// Whether there is more to try should they be refused too.
    pub more: bool,
}

/// Supplies credentials at the moment of each request, and fresh ones when a provider refuses them.
pub trait CredentialSource: Send + Sync + 'static {
    /// The credentials to use now.
    fn current(&self) -> BoxFuture<'_, Result<Credentials, CredentialsLost>>;

    /// Called after the provider answered 401 to `refused`. `None` means that nothing else can be tried.
    fn recover<'a>(
        &'a self,
        _refused: &'a Credentials,
    ) -> BoxFuture<'a, Result<Option<Recovered>, CredentialsLost>> {
        Box::pin(async { Ok(None) })
    }
}

impl CredentialSource for Credentials {
    fn current(&self) -> BoxFuture<'_, Result<Credentials, CredentialsLost>> {
        Box::pin(async { Ok(self.clone()) })
    }
}

/// Secrets that may turn up in what others write, and how they are hidden there: servers repeat the key
/// they refuse, and commands print their environment. Values shorter than eight bytes are words rather
/// than keys; hiding them would garble texts.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Secrets(Vec<String>);

const SHORTEST: usize = 8;
const HIDDEN: &str = "[redacted]";
/// Parts of the names of headers and parameters whose values anybody may see.
const PUBLIC: [&str; 8] = [
    "accept",
    "beta",
    "content-type",
    "origin",
    "referer",
    "title",
    "user-agent",
    "version",
];

impl Secrets {
    /// Adds a value, also in the form that it has inside JSON.
    pub fn add(&mut self, value: &str) {
        let value = value.trim();
        let quoted = serde_json::Value::from(value).to_string();
        for form in [value, quoted.trim_matches('"')] {
            if form.len() >= SHORTEST && !self.0.iter().any(|known| known == form) {
                self.0.push(form.to_owned());
            }
        }
        // A secret that contains another one is hidden whole.
        self.0.sort_by_key(|known| std::cmp::Reverse(known.len()));
    }

    /// Adds the value of a header or query parameter, unless its name says that it is no key.
    pub fn add_named(&mut self, name: &str, value: &str) {
        let name = name.to_ascii_lowercase();
        if !PUBLIC.iter().any(|mark| name.contains(mark)) {
            self.add(value);
        }
    }

    /// The text without the secrets; `None` when it has none.
    pub fn hide(&self, text: &str) -> Option<String> {
        let mut hidden: Option<String> = None;
        for secret in &self.0 {
            let text = hidden.as_deref().unwrap_or(text);
            if text.contains(secret.as_str()) {
                hidden = Some(text.replace(secret.as_str(), HIDDEN));
            }
        }
        hidden
    }

    /// Hides them in the values of headers.
    pub(crate) fn hide_in(&self, headers: &mut HeaderMap) {
        for value in headers.values_mut() {
            let hidden = value.to_str().ok().and_then(|text| self.hide(text));
            if let Some(Ok(hidden)) = hidden.map(HeaderValue::try_from) {
                *value = hidden;
            }
        }
    }

    /// The same for those who need a text in any case.
    pub fn redact(&self, text: String) -> String {
        self.hide(&text).unwrap_or(text)
    }

    /// Where the end of a text begins that may be the first part of a secret. It is called for every delta, so only the
    /// places that have a secret's first byte are compared.
    pub fn open_end(&self, text: &str) -> usize {
        let bytes = text.as_bytes();
        let begins = |secret: &String| {
            let secret = secret.as_bytes();
            let from = bytes.len().saturating_sub(secret.len() - 1);
            (from..bytes.len()).find(|&at| {
                bytes[at] == secret[0]
                    && secret.starts_with(&bytes[at..])
                    && text.is_char_boundary(at)
            })
        };
        let open = self.0.iter().filter_map(begins).min();
        open.unwrap_or(bytes.len())
    }
}

impl Extend<String> for Secrets {
    fn extend<T: IntoIterator<Item = String>>(&mut self, values: T) {
        for value in values {
            self.add(&value);
        }
    }
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} secrets", self.0.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_never_shows_a_secret() {
        let credentials = Credentials::ChatGpt {
            access_token: Secret::new("tok-123"),
            account_id: Some("acc".into()),
        };
        let shown = format!(
            "{credentials:?} {:?}",
            Credentials::ApiKey(Secret::new("sk-1"))
        );
        assert!(
            !shown.contains("tok-123") && !shown.contains("sk-1"),
            "{shown}"
        );
    }

    #[test]
    fn echoed_secrets_are_removed() {
        let mut secrets = Secrets::default();
        for value in ["sk-12345", "sk-12345678", "short", "with\"quote"] {
            secrets.add(value);
        }
        secrets.add_named("Content-Type", "application/json");
        secrets.add_named("x-extra", "extra-value");
        let hide = |text: &str| secrets.redact(text.into());
        assert_eq!(hide("sk-12345678, sk-12345!"), "[redacted], [redacted]!");
        assert_eq!(hide("short"), "short");
        assert_eq!(hide(r#"{"a":"with\"quote"}"#), r#"{"a":"[redacted]"}"#);
        assert_eq!(
            hide("application/json extra-value"),
            "application/json [redacted]"
        );
        assert_eq!(secrets.hide("nothing"), None);
        assert!(!format!("{secrets:?}").contains("sk-"));
    }

    #[test]
    fn the_first_part_of_a_secret_is_noticed() {
        let mut secrets = Secrets::default();
        secrets.add("sk-12345678");
        for (text, open) in [("key: sk-123", 5), ("keys", 3), ("none", 4), ("", 0)] {
            assert_eq!(secrets.open_end(text), open, "{text}");
        }
    }
}
