//! New tokens for a stored ChatGPT login, fetched by one process at a time: a refresh token works once, and
//! two programs that use it at the same moment would log each other out.

use reqwest::StatusCode;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::accounts::Accounts;
use crate::claims::Claims;
use crate::http::{self, Agent, Answer, status_line};
use crate::login::{ChatGptLogin, Login};
use crate::record::{Record, Tokens};

/// Why there are no new tokens. The texts are those that clients know.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RefreshError {
    /// The refresh token is too old.
    #[error(
        "Your access token could not be refreshed because your refresh token has expired. Please log \
         out and sign in again."
    )]
    Expired,
    /// Another program used it.
    #[error(
        "Your access token could not be refreshed because your refresh token was already used. \
         Please log out and sign in again."
    )]
    Reused,
    /// Its owner or the provider withdrew it.
    #[error(
        "Your access token could not be refreshed because your refresh token was revoked. Please log \
         out and sign in again."
    )]
    Revoked,
    /// It is refused for another reason.
    #[error("Your access token could not be refreshed. Please log out and sign in again.")]
    Refused,
    /// The login that was in use is gone.
    #[error(
        "Your access token could not be refreshed because you have since logged out or signed in to \
         another account. Please sign in again."
    )]
    OtherLogin,
    /// It may work another time.
    #[error("Failed to refresh token: {0}")]
    Failed(String),
}

impl RefreshError {
    /// Whether only a new login helps.
    pub fn is_permanent(&self) -> bool {
        !matches!(self, Self::Failed(_))
    }

    /// Why a refresh token was refused.
    fn refused(body: &str) -> Self {
        let json: Value = serde_json::from_str(body).unwrap_or_default();
        let codes = [&json["error"]["code"], &json["error"], &json["code"]];
        match codes.into_iter().find_map(Value::as_str) {
            Some("refresh_token_expired") => Self::Expired,
            Some("refresh_token_reused") => Self::Reused,
            Some("refresh_token_invalidated") => Self::Revoked,
            _ => Self::Refused,
        }
    }
}

/// A login to try after a refused one.
#[derive(Debug)]
pub struct Recovered {
    /// What to try.
    pub login: Login,
    /// Whether there is more to try should this be refused too.
    pub more: bool,
}

#[derive(Deserialize)]
struct NewTokens {
    id_token: Option<String>,
    access_token: Option<String>,
    refresh_token: Option<String>,
}

impl Accounts {
    /// The login in use, with tokens that are not due for a refresh. If they cannot be refreshed, the old
    /// ones are better than none: the server that is asked next says what is wrong with them.
    pub async fn fresh(&self, agent: &Agent) -> Option<Login> {
        let login = self.current()?;
        if let Login::ChatGpt(chatgpt) = &login
            && chatgpt.is_stale()
        {
            match Box::pin(self.renew(chatgpt, agent)).await {
                Ok(renewed) => return Some(Login::ChatGpt(renewed)),
                Err(error) => tracing::warn!(%error, "tokens are due for a refresh"),
            }
        }
        Some(login)
    }

    /// Refreshes tokens that are stored. Keys have nothing to refresh, and the tokens of a client are its own
    /// business.
    pub async fn refresh(&self, agent: &Agent) -> Result<(), RefreshError> {
        match self.current() {
            Some(Login::ChatGpt(chatgpt)) => Box::pin(self.renew(&chatgpt, agent)).await.map(drop),
            _ => Ok(()),
        }
    }

    /// What to try after a provider refused a token: one that somebody else stored meanwhile, else a
    /// refreshed one.
    pub async fn recover(
        &self,
        refused: &str,
        account_id: Option<&str>,
        agent: &Agent,
    ) -> Result<Recovered, RefreshError> {
        let Some(Login::ChatGpt(now)) = self.current() else {
            return Err(RefreshError::OtherLogin);
        };
        if now.account_id.as_deref() != account_id {
            return Err(RefreshError::OtherLogin);
        }
        let more = now.access_token != refused;
        let login = if more {
            now
        } else {
            Box::pin(self.renew(&now, agent)).await?
        };
        Ok(Recovered {
            login: Login::ChatGpt(login),
            more,
        })
    }

    /// Whether the identity server said that this login cannot be refreshed any more.
    pub fn is_lost(&self, login: &Login) -> bool {
        let record = match login {
            Login::ChatGpt(_) => self.record(),
            Login::ApiKey(_) | Login::External(_) => None,
        };
        let tokens = record.and_then(|record| record.tokens);
        tokens.is_some_and(|tokens| self.lost(&tokens.refresh_token).is_some())
    }

    /// Callers box it: it is rare, and they are part of every request to a model.
    async fn renew(&self, old: &ChatGptLogin, agent: &Agent) -> Result<ChatGptLogin, RefreshError> {
        let _one_of_ours = self.refreshing.lock().await;
        let lock = self.storage.lock().await;
        let record = self.record().ok_or(RefreshError::OtherLogin)?;
        if let Some(done) = taken_over(&record, old)? {
            return Ok(done);
        }
        if lock.is_none() && !self.keeps_in_memory() {
            let text = "another process has been at it for too long";
            return Err(RefreshError::Failed(text.to_owned()));
        }
        let tokens = record.tokens.as_ref().ok_or(RefreshError::OtherLogin)?;
        if let Some(error) = self.lost(&tokens.refresh_token) {
            return Err(error);
        }
        let answer = self.ask(&tokens.refresh_token, agent).await;
        let new = match answer.and_then(|answer| read(&answer, tokens)) {
            Ok(new) => record.refreshed(new),
            Err(error) => {
                self.note_lost(&tokens.refresh_token, &error);
                return Err(error);
            }
        };
        let saved = self.replace(&record, &new).await;
        match saved.map_err(|error| RefreshError::Failed(error.to_string()))? {
            true => new.chatgpt_login().map_err(|_| RefreshError::OtherLogin),
            // Somebody logged in or out while the identity server was asked.
            false => {
                let record = self.record().ok_or(RefreshError::OtherLogin)?;
                taken_over(&record, old)?.ok_or(RefreshError::OtherLogin)
            }
        }
    }

    async fn ask(&self, refresh_token: &str, agent: &Agent) -> Result<Answer, RefreshError> {
        let body = json!({
            "client_id": self.authority.client_id,
            "grant_type": "refresh_token",
            "refresh_token": refresh_token,
        });
        let client = self.http.client().map_err(RefreshError::Failed)?;
        let request = client
            .post(&self.authority.refresh_url)
            .header("content-type", "application/json")
            .header("user-agent", &agent.user_agent)
            .header("originator", &agent.originator)
            .body(body.to_string());
        http::send(request).await.map_err(RefreshError::Failed)
    }
}

/// The login of the same account that another process refreshed, if one did.
fn taken_over(record: &Record, old: &ChatGptLogin) -> Result<Option<ChatGptLogin>, RefreshError> {
    let Some(Login::ChatGpt(stored)) = record.login() else {
        return Err(RefreshError::OtherLogin);
    };
    if stored.account_id != old.account_id {
        return Err(RefreshError::OtherLogin);
    }
    Ok((stored.access_token != old.access_token).then_some(stored))
}

/// The tokens after a refresh: what the answer leaves out stays.
fn read(answer: &Answer, old: &Tokens) -> Result<Tokens, RefreshError> {
    if answer.status == StatusCode::UNAUTHORIZED {
        return Err(RefreshError::refused(&answer.body));
    }
    if !answer.status.is_success() {
        let status = status_line(answer.status);
        let reason = http::reason(&answer.body, &[&old.refresh_token]);
        return Err(RefreshError::Failed(format!("{status}: {reason}")));
    }
    let unreadable = || RefreshError::Failed("error decoding response body".to_owned());
    let new: NewTokens = serde_json::from_str(&answer.body).map_err(|_| unreadable())?;
    if let Some(id_token) = &new.id_token {
        Claims::read(id_token).map_err(|error| RefreshError::Failed(error.to_string()))?;
    }
    let old = old.clone();
    Ok(Tokens {
        id_token: new.id_token.unwrap_or(old.id_token),
        access_token: new.access_token.unwrap_or(old.access_token),
        refresh_token: new.refresh_token.unwrap_or(old.refresh_token),
        account_id: old.account_id,
    })
}
