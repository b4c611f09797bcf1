//! A login as it is stored: the members of `auth.json`, which other programs of this protocol share.

use std::fmt;

use chrono::{DateTime, SecondsFormat, Utc};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::claims::{Claims, InvalidToken};
use crate::login::{ChatGptLogin, Login};

/// Tokens that do not say when they expire are refreshed after this many days.
const REFRESH_DAYS: i64 = 8;

/// A stored login. A new login replaces the one before it wholly; a refresh keeps what it does not know.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    auth_mode: Option<String>,
    #[serde(rename = "OPENAI_API_KEY", default)]
    openai_api_key: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) tokens: Option<Tokens>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    last_refresh: Option<String>,
    #[serde(flatten)]
    others: Map<String, Value>,
}

/// The tokens of a ChatGPT login.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Tokens {
    pub(crate) id_token: String,
    pub(crate) access_token: String,
    #[serde(default)]
    pub(crate) refresh_token: String,
    pub(crate) account_id: Option<String>,
}

impl Record {
    /// An API key.
    pub(crate) fn api_key(key: &str) -> Self {
        Self {
            auth_mode: Some("apikey".to_owned()),
            openai_api_key: Some(key.to_owned()),
            tokens: None,
            last_refresh: None,
            others: Map::new(),
        }
    }

    /// Everything in it that must not be shown.
    pub(crate) fn secrets(&self) -> Vec<String> {
        let tokens = self.tokens.iter();
        let tokens = tokens.flat_map(|it| [&it.id_token, &it.access_token, &it.refresh_token]);
        tokens.chain(&self.openai_api_key).cloned().collect()
    }

    /// Fresh tokens, with the API key they were good for, if any.
    pub(crate) fn chatgpt(tokens: Tokens, openai_api_key: Option<String>) -> Self {
        Self {
            auth_mode: Some("chatgpt".to_owned()),
            openai_api_key,
            tokens: Some(tokens),
            last_refresh: Some(now()),
            others: Map::new(),
        }
    }

    /// The same login with new tokens.
    pub(crate) fn refreshed(&self, tokens: Tokens) -> Self {
        Self {
            tokens: Some(tokens),
            last_refresh: Some(now()),
            ..self.clone()
        }
    }

    /// Who this logs in; nobody if it holds neither a key nor readable tokens.
    pub fn login(&self) -> Option<Login> {
        let is_key = match self.auth_mode.as_deref() {
            None => self.openai_api_key.is_some(),
            Some(mode) => mode == "apikey",
        };
        if is_key {
            return self.openai_api_key.clone().map(Login::ApiKey);
        }
        Some(Login::ChatGpt(self.chatgpt_login().ok()?))
    }

    /// The ChatGPT login, if the tokens are readable.
    pub(crate) fn chatgpt_login(&self) -> Result<ChatGptLogin, InvalidToken> {
        let tokens = self.tokens.as_ref().ok_or(InvalidToken)?;
        let claims = Claims::read(&tokens.id_token)?;
        let (token, account) = (tokens.access_token.clone(), tokens.account_id.clone());
        let mut login = ChatGptLogin::new(token, account, claims);
        let expires_at = Claims::read(&tokens.access_token).map(|claims| claims.expires_at);
        login.stale_at = expires_at.ok().flatten().or_else(|| self.due_at());
        Ok(login)
    }

    fn due_at(&self) -> Option<i64> {
        let refreshed = self.last_refresh.as_ref()?;
        let refreshed = DateTime::parse_from_rfc3339(refreshed).ok()?;
        Some(refreshed.timestamp() + REFRESH_DAYS * 24 * 60 * 60)
    }
}

fn now() -> String {
    Utc::now().to_rfc3339_opts(SecondsFormat::Nanos, true)
}

/// All members may be secret.
impl fmt::Debug for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Record")
            .field("auth_mode", &self.auth_mode)
            .finish_non_exhaustive()
    }
}
