//! How the server logs in: not at all, with an API key, or with tokens that the program owns.

use std::fmt;
use std::future::Future;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use quipu_client::wire::{ChatgptAuthTokensRefreshResponse, LoginAccountParams};
use quipu_client::{Client, ErrorObject};
use serde_json::Value;

use crate::{Error, Phase, Result};

/// A login that is made after the handshake. Without one the server uses what it finds: its home, its
/// configuration, its environment. A server keeps an API key in its home.
#[derive(Clone)]
#[non_exhaustive]
pub enum Login {
    /// An API key.
    ApiKey(String),
    /// Tokens of a ChatGPT account that the program owns.
    Tokens(Tokens, Option<TokenSource>),
}

/// The tokens of a ChatGPT account.
#[derive(Clone)]
pub struct Tokens {
    /// A JWT whose claims name the account and the plan.
    pub id_token: String,
    /// The token for requests.
    pub access_token: String,
}

/// Where new tokens come from when the server says that the old ones are refused. It may be asked
/// several times in one turn.
#[derive(Clone)]
pub struct TokenSource(Arc<dyn Fn() -> BoxFuture<'static, Result<Tokens, String>> + Send + Sync>);

impl TokenSource {
    /// A function that gets new tokens, or says why there are none.
    pub fn new<F>(refresh: impl Fn() -> F + Send + Sync + 'static) -> TokenSource
    where
        F: Future<Output = Result<Tokens, String>> + Send + 'static,
    {
        TokenSource(Arc::new(move || refresh().boxed()))
    }
}

impl Login {
    /// An API key.
    pub fn api_key(key: impl Into<String>) -> Login {
        Login::ApiKey(key.into())
    }

    /// Tokens that are not renewed.
    pub fn tokens(id_token: impl Into<String>, access_token: impl Into<String>) -> Login {
        let tokens = Tokens {
            id_token: id_token.into(),
            access_token: access_token.into(),
        };
        Login::Tokens(tokens, None)
    }

    /// Tokens, and where new ones come from.
    #[must_use]
    pub fn renewed_by(self, source: TokenSource) -> Login {
        match self {
            Login::Tokens(tokens, _) => Login::Tokens(tokens, Some(source)),
            key => key,
        }
    }

    pub(crate) async fn perform(&self, client: &Client) -> Result<()> {
        let params = match self {
            Login::ApiKey(key) => LoginAccountParams::ApiKey {
                api_key: key.clone(),
            },
            Login::Tokens(tokens, _) => {
                let Account { id, plan } = tokens.account().map_err(Error::request)?;
                LoginAccountParams::ChatgptAuthTokens {
                    access_token: tokens.access_token.clone(),
                    chatgpt_account_id: id,
                    chatgpt_plan_type: plan,
                }
            }
        };
        let answer = client.account_login_start(params).await;
        answer.map_err(|error| Error::of_client(Phase::Request, &error))?;
        Ok(())
    }

    pub(crate) async fn renew(&self) -> Result<ChatgptAuthTokensRefreshResponse, ErrorObject> {
        let Login::Tokens(_, Some(TokenSource(source))) = self else {
            return Err(ErrorObject::internal("this program has no new tokens"));
        };
        let tokens = source().await.map_err(ErrorObject::internal)?;
        let Account { id, plan } = tokens.account().map_err(ErrorObject::internal)?;
        Ok(ChatgptAuthTokensRefreshResponse {
            access_token: tokens.access_token,
            chatgpt_account_id: id,
            chatgpt_plan_type: plan,
        })
    }
}

struct Account {
    id: String,
    plan: Option<String>,
}

impl Tokens {
    /// What the claims of the id token say. The server checks them, so the signature is not looked at.
    fn account(&self) -> Result<Account, String> {
        let payload = self.id_token.split('.').nth(1).unwrap_or_default();
        let payload = URL_SAFE_NO_PAD
            .decode(payload.trim_end_matches('='))
            .unwrap_or_default();
        let claims: Value =
            serde_json::from_slice(&payload).map_err(|_| "the id token is not a JWT".to_owned())?;
        let claim = |name: &str| {
            let nested = &claims["https://api.openai.com/auth"][name];
            nested
                .as_str()
                .or(claims[name].as_str())
                .map(ToOwned::to_owned)
        };
        let id = claim("chatgpt_account_id").ok_or("the id token names no ChatGPT account")?;
        Ok(Account {
            id,
            plan: claim("chatgpt_plan_type"),
        })
    }
}

/// Secrets are not shown.
impl fmt::Debug for Login {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Login::ApiKey(_) => "ApiKey(…)",
            Login::Tokens(..) => "Tokens(…)",
        })
    }
}

/// Secrets are not shown.
impl fmt::Debug for Tokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Tokens(…)")
    }
}

impl fmt::Debug for TokenSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TokenSource")
    }
}
