//! A code that the identity server gave becomes tokens.

use quipu_oauth::form;
use serde::Deserialize;

use crate::accounts::Accounts;
use crate::claims::{Claims, InvalidToken};
use crate::http::{self, status_line};
use crate::record::{Record, Tokens};

/// What a browser or a device came back with.
pub(crate) struct Code<'a> {
    pub(crate) code: &'a str,
    pub(crate) redirect_uri: &'a str,
    pub(crate) verifier: &'a str,
}

/// The tokens of a finished login.
#[derive(Deserialize)]
pub(crate) struct Exchanged {
    pub(crate) id_token: String,
    pub(crate) access_token: String,
    refresh_token: String,
}

impl Code<'_> {
    /// Exchanges the code for tokens.
    pub(crate) async fn exchange(&self, accounts: &Accounts) -> Result<Exchanged, String> {
        let body = form::encode(&[
            ("grant_type", "authorization_code"),
            ("code", self.code),
            ("redirect_uri", self.redirect_uri),
            ("client_id", &accounts.authority.client_id),
            ("code_verifier", self.verifier),
        ]);
        let answer = http::send(token_request(accounts, body)?).await?;
        if !answer.status.is_success() {
            let status = status_line(answer.status);
            let reason = http::reason(&answer.body, &[self.code, self.verifier]);
            return Err(format!("token endpoint returned status {status}: {reason}"));
        }
        serde_json::from_str(&answer.body).map_err(|_| "error decoding response body".to_owned())
    }
}

impl Exchanged {
    /// Refuses tokens for another workspace than the only one allowed.
    pub(crate) fn check_workspace(&self, only: Option<&str>) -> Result<(), String> {
        let Some(only) = only else {
            return Ok(());
        };
        let claims = Claims::read(&self.id_token).ok();
        match claims.and_then(|claims| claims.account_id) {
            Some(account) if account == only => Ok(()),
            Some(_) => Err(format!("Login is restricted to workspace id {only}.")),
            None => Err(
                "Login is restricted to a specific workspace, but the token did not include an \
                 chatgpt_account_id claim."
                    .to_owned(),
            ),
        }
    }

    /// The API key that an organisation's owner has with the same login. Most people have none.
    pub(crate) async fn api_key(&self, accounts: &Accounts) -> Option<String> {
        #[derive(Deserialize)]
        struct Key {
            access_token: String,
        }
        let body = form::encode(&[
            (
                "grant_type",
                "urn:ietf:params:oauth:grant-type:token-exchange",
            ),
            ("client_id", &accounts.authority.client_id),
            ("requested_token", "openai-api-key"),
            ("subject_token", &self.id_token),
            (
                "subject_token_type",
                "urn:ietf:params:oauth:token-type:id_token",
            ),
        ]);
        let answer = http::send(token_request(accounts, body).ok()?).await.ok()?;
        if !answer.status.is_success() {
            return None;
        }
        let key: Key = serde_json::from_str(&answer.body).ok()?;
        Some(key.access_token)
    }

    /// The login to be stored.
    pub(crate) fn record(self, api_key: Option<String>) -> Result<Record, InvalidToken> {
        let claims = Claims::read(&self.id_token)?;
        let tokens = Tokens {
            id_token: self.id_token,
            access_token: self.access_token,
            refresh_token: self.refresh_token,
            account_id: claims.account_id,
        };
        Ok(Record::chatgpt(tokens, api_key))
    }
}

fn token_request(accounts: &Accounts, body: String) -> Result<reqwest::RequestBuilder, String> {
    let request = accounts.http.client()?.post(accounts.authority.token_url());
    let form_type = "application/x-www-form-urlencoded";
    Ok(request
        .header(reqwest::header::CONTENT_TYPE, form_type)
        .body(body))
}
