//! Keys and tokens, and who supplies them. They reach this crate as values and leave it only in a
//! request header: nothing here prints them.

use std::fmt;

use futures_util::future::BoxFuture;
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

/// Removes every occurrence of the secrets from a text that a provider wrote: servers have been
/// seen to repeat the key they refuse.
pub(crate) fn redact(mut text: String, secrets: &[Secret]) -> String {
    for secret in secrets.iter().map(Secret::expose).filter(|s| !s.is_empty()) {
        if text.contains(secret) {
            text = text.replace(secret, "[redacted]");
        }
    }
    text
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
        let secrets = [Secret::new("sk-1"), Secret::new("")];
        assert_eq!(
            redact("bad key sk-1!".into(), &secrets),
            "bad key [redacted]!"
        );
    }
}
