//! Who is logged in, and how.

use std::fmt;

use quipu_wire::{Account, AuthMode, PlanType};

use crate::claims::Claims;

/// A login. Its `Debug` form says only of which kind it is.
#[derive(Clone, PartialEq)]
pub enum Login {
    /// An API key.
    ApiKey(String),
    /// A ChatGPT login whose tokens are stored.
    ChatGpt(ChatGptLogin),
    /// A ChatGPT login whose tokens a client brings and refreshes.
    External(ChatGptLogin),
}

/// The tokens of a ChatGPT login and what they say.
#[derive(Clone, PartialEq)]
pub struct ChatGptLogin {
    /// Sent with requests.
    pub access_token: String,
    /// The workspace.
    pub account_id: Option<String>,
    /// The user, for programs.
    pub user_id: Option<String>,
    /// The address of the user.
    pub email: Option<String>,
    /// What the user pays for.
    pub plan: PlanType,
    /// When the tokens are due for a refresh, in Unix seconds, if that is known.
    pub(crate) stale_at: Option<i64>,
}

/// A ChatGPT login that does not say whose it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("email and plan type are required for chatgpt authentication")]
pub struct NoEmail;

impl ChatGptLogin {
    pub(crate) fn new(access_token: String, account_id: Option<String>, claims: Claims) -> Self {
        Self {
            access_token,
            account_id: account_id.or(claims.account_id),
            user_id: claims.user_id,
            email: claims.email,
            plan: claims.plan.unwrap_or(PlanType::Unknown),
            stale_at: None,
        }
    }

    /// Whether the tokens are due for a refresh.
    pub(crate) fn is_stale(&self) -> bool {
        let now = chrono::Utc::now().timestamp();
        self.stale_at.is_some_and(|due| due <= now)
    }
}

impl Login {
    /// Of which kind it is.
    pub fn mode(&self) -> AuthMode {
        match self {
            Self::ApiKey(_) => AuthMode::Apikey,
            Self::ChatGpt(_) => AuthMode::Chatgpt,
            Self::External(_) => AuthMode::ChatgptAuthTokens,
        }
    }

    /// What is sent with requests.
    pub fn secret(&self) -> &str {
        match self {
            Self::ApiKey(key) => key,
            Self::ChatGpt(login) | Self::External(login) => &login.access_token,
        }
    }

    /// What the user pays for, if it is a ChatGPT login.
    pub fn plan(&self) -> Option<PlanType> {
        match self {
            Self::ApiKey(_) => None,
            Self::ChatGpt(login) | Self::External(login) => Some(login.plan),
        }
    }

    /// The login as clients see it.
    pub fn account(&self) -> Result<Account, NoEmail> {
        match self {
            Self::ApiKey(_) => Ok(Account::ApiKey),
            Self::ChatGpt(login) | Self::External(login) => Ok(Account::Chatgpt {
                email: login.email.clone().ok_or(NoEmail)?,
                plan_type: login.plan,
            }),
        }
    }
}

impl fmt::Debug for Login {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Login").field(&self.mode()).finish()
    }
}

impl fmt::Debug for ChatGptLogin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChatGptLogin")
            .field("plan", &self.plan)
            .finish_non_exhaustive()
    }
}
