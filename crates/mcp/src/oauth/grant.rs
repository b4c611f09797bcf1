//! The tokens of a login while they are used: shown with each request, renewed before they expire.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use quipu_oauth::form;
use reqwest::Url;
use reqwest::header::HeaderValue;
use serde::Deserialize;
use tokio::sync::Mutex;

use super::metadata;
use super::store::{Store, Tokens};
use crate::http::read_body;

/// Tokens are renewed this long before they expire.
const MARGIN: Duration = Duration::from_secs(30);
const PATIENCE: Duration = Duration::from_secs(30);
const MAX_BYTES: usize = 1024 * 1024;

/// A login at a server.
pub struct Grant {
    store: Store,
    server: String,
    url: Url,
    /// One renewal at a time.
    tokens: Mutex<Tokens>,
}

/// Nothing of a token is shown.
impl std::fmt::Debug for Grant {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Grant")
            .field("server", &self.server)
            .finish_non_exhaustive()
    }
}

/// A token as requests show it.
pub(crate) struct Token(String);

impl Token {
    pub fn header(&self) -> HeaderValue {
        let value = HeaderValue::from_str(&format!("Bearer {}", self.0));
        let mut value = value.unwrap_or_else(|_| HeaderValue::from_static("Bearer"));
        value.set_sensitive(true);
        value
    }
}

impl Grant {
    /// The tokens, unless they are being renewed.
    #[must_use]
    pub fn secrets(&self) -> Vec<String> {
        let Ok(tokens) = self.tokens.try_lock() else {
            return Vec::new();
        };
        let access = std::iter::once(&tokens.access_token);
        access.chain(&tokens.refresh_token).cloned().collect()
    }

    /// The stored login at a server; `None` if there is none.
    #[must_use]
    pub fn load(store: Store, server: &str, url: &str) -> Option<Grant> {
        let tokens = store.load(server, url)?;
        Some(Grant {
            store,
            server: server.to_owned(),
            url: Url::parse(url).ok()?,
            tokens: Mutex::new(tokens),
        })
    }

    /// The token to show, renewed if it is about to expire.
    pub(crate) async fn token(&self, client: &reqwest::Client) -> Option<Token> {
        let mut tokens = self.tokens.lock().await;
        let margin = u64::try_from(MARGIN.as_millis()).unwrap_or(u64::MAX);
        if tokens.expires_at.is_some_and(|at| at <= now() + margin) {
            self.refresh(client, &mut tokens).await;
        }
        Some(Token(tokens.access_token.clone()))
    }

    /// A token in place of one that was refused; `None` if a new login is needed.
    pub(crate) async fn renew(&self, client: &reqwest::Client, refused: &Token) -> Option<Token> {
        let mut tokens = self.tokens.lock().await;
        if tokens.access_token == refused.0 {
            self.refresh(client, &mut tokens).await;
        }
        (tokens.access_token != refused.0).then(|| Token(tokens.access_token.clone()))
    }

    /// Takes the tokens that another process has renewed, else renews them.
    async fn refresh(&self, client: &reqwest::Client, tokens: &mut Tokens) {
        let taken_over = |tokens: &mut Tokens| {
            let stored = self.store.load(&self.server, self.url.as_str());
            let stored = stored.filter(|it| it.access_token != tokens.access_token);
            stored.map(|it| *tokens = it).is_some()
        };
        if taken_over(tokens) {
            return;
        }
        match self.exchange(client, tokens).await {
            Ok(renewed) => {
                if let Err(error) = self.store.save(&renewed).await {
                    tracing::warn!(server = self.server, %error, "renewed tokens were not stored");
                }
                *tokens = renewed;
            }
            // A refresh token can be used once: another process may have been faster.
            Err(_) if taken_over(tokens) => {}
            Err(why) => tracing::warn!(server = self.server, why, "tokens were not renewed"),
        }
    }

    async fn exchange(&self, client: &reqwest::Client, tokens: &Tokens) -> Result<Tokens, String> {
        let refresh = tokens.refresh_token.as_deref();
        let refresh = refresh.ok_or("there is no refresh token")?;
        let metadata = metadata::discover(client, &self.url).await;
        let metadata = metadata.ok_or("the server does not say where")?;
        let form = [
            ("grant_type", "refresh_token"),
            ("refresh_token", refresh),
            ("client_id", &tokens.client_id),
        ];
        let answer = ask(client, metadata.token_endpoint.0, &form).await?;
        Ok(answer.into_tokens(tokens))
    }
}

/// What a token endpoint answers.
#[derive(Deserialize)]
pub(super) struct TokenAnswer {
    access_token: String,
    expires_in: Option<u64>,
    refresh_token: Option<String>,
    scope: Option<String>,
}

impl TokenAnswer {
    /// The tokens after an answer; what it leaves out stays as it was.
    pub fn into_tokens(self, before: &Tokens) -> Tokens {
        let scopes = self.scope.as_deref().map(words);
        Tokens {
            server_name: before.server_name.clone(),
            server_url: before.server_url.clone(),
            client_id: before.client_id.clone(),
            access_token: self.access_token,
            expires_at: self.expires_in.map(|it| now() + it.saturating_mul(1000)),
            refresh_token: self.refresh_token.or_else(|| before.refresh_token.clone()),
            scopes: scopes.unwrap_or_else(|| before.scopes.clone()),
        }
    }
}

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

/// Posts a form to a token endpoint. The error holds nothing of what was sent.
pub(super) async fn ask(
    client: &reqwest::Client,
    endpoint: Url,
    pairs: &[(&str, &str)],
) -> Result<TokenAnswer, String> {
    let request = client
        .post(endpoint)
        .header("accept", "application/json")
        .header("content-type", "application/x-www-form-urlencoded")
        .body(form::encode(pairs));
    let response = request
        .timeout(PATIENCE)
        .send()
        .await
        .map_err(|_| "the token endpoint cannot be reached")?;
    let status = response.status();
    if !status.is_success() {
        return Err(format!(
            "the token endpoint answered with HTTP status {status}"
        ));
    }
    let body = read_body(response, MAX_BYTES)
        .await
        .map_err(|error| error.to_string())?;
    serde_json::from_slice(&body).map_err(|_| "the token endpoint's answer is no token".to_owned())
}

fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |it| u64::try_from(it.as_millis()).unwrap_or(u64::MAX))
}
