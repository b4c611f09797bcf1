//! A login with a code that the user enters on any device: for machines without a browser.

use std::time::Duration;

use reqwest::StatusCode;
use serde::{Deserialize, Deserializer, de};
use serde_json::json;
use tokio::time::{sleep, timeout};

use crate::accounts::Accounts;
use crate::exchange::Code;
use crate::http::{self, Answer, status_line};
use crate::record::Record;

/// How long the user may take.
const PATIENCE: Duration = Duration::from_secs(15 * 60);
/// The identity server is not asked more often than this, whatever it says.
const SHORTEST_INTERVAL: Duration = Duration::from_millis(250);

/// Why there is no code to show.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoDeviceCode {
    /// The identity server has no such login.
    #[error(
        "device code login is not enabled for this Codex server. Use the browser login or verify the \
         server URL."
    )]
    Disabled,
    /// It did not give one.
    #[error("failed to request device code: {0}")]
    Failed(String),
}

/// A login that waits for its user.
pub struct DeviceLogin {
    verification_url: String,
    code: UserCode,
    workspace: Option<String>,
}

#[derive(Deserialize)]
struct UserCode {
    device_auth_id: String,
    #[serde(alias = "usercode")]
    user_code: String,
    #[serde(default, deserialize_with = "seconds_in_text")]
    interval: u64,
}

fn seconds_in_text<'de, D: Deserializer<'de>>(text: D) -> Result<u64, D::Error> {
    let text = String::deserialize(text)?;
    text.trim().parse().map_err(de::Error::custom)
}

#[derive(Deserialize)]
struct Approved {
    authorization_code: String,
    code_verifier: String,
}

impl DeviceLogin {
    /// Asks for a code. Only tokens for `workspace` are accepted, if there is one.
    pub async fn start(
        accounts: &Accounts,
        workspace: Option<String>,
    ) -> Result<Self, NoDeviceCode> {
        let body = json!({ "client_id": accounts.authority.client_id });
        let asked = post(accounts, "usercode", &body).await;
        let answer = asked.map_err(NoDeviceCode::Failed)?;
        if answer.status == StatusCode::NOT_FOUND {
            return Err(NoDeviceCode::Disabled);
        }
        if !answer.status.is_success() {
            let status = status_line(answer.status);
            let text = format!("device code request failed with status {status}");
            return Err(NoDeviceCode::Failed(text));
        }
        let code = serde_json::from_str(&answer.body)
            .map_err(|error| NoDeviceCode::Failed(error.to_string()))?;
        Ok(Self {
            verification_url: format!("{}/codex/device", accounts.authority.issuer),
            code,
            workspace,
        })
    }

    /// The page on which the user enters the code.
    pub fn verification_url(&self) -> &str {
        &self.verification_url
    }

    /// The code to show to the user.
    pub fn user_code(&self) -> &str {
        &self.code.user_code
    }

    /// Waits until the user has entered the code; the login is still to be stored.
    pub async fn granted(&self, accounts: &Accounts) -> Result<Record, String> {
        let approved = timeout(PATIENCE, self.approved(accounts)).await;
        let late = |_| Err("device auth timed out after 15 minutes".to_owned());
        let approved = approved.unwrap_or_else(late)?;
        let code = Code {
            code: &approved.authorization_code,
            redirect_uri: &format!("{}/deviceauth/callback", accounts.authority.issuer),
            verifier: &approved.code_verifier,
        };
        let exchanged = code
            .exchange(accounts)
            .await
            .map_err(|error| format!("device code exchange failed: {error}"))?;
        exchanged.check_workspace(self.workspace.as_deref())?;
        exchanged.record(None).map_err(|error| error.to_string())
    }

    async fn approved(&self, accounts: &Accounts) -> Result<Approved, String> {
        let body = json!({
            "device_auth_id": self.code.device_auth_id,
            "user_code": self.code.user_code,
        });
        let interval = Duration::from_secs(self.code.interval).max(SHORTEST_INTERVAL);
        loop {
            let answer = post(accounts, "token", &body).await?;
            match answer.status {
                StatusCode::FORBIDDEN | StatusCode::NOT_FOUND => sleep(interval).await,
                status if status.is_success() => {
                    return serde_json::from_str(&answer.body)
                        .map_err(|_| "error decoding response body".to_owned());
                }
                status => {
                    let status = status_line(status);
                    return Err(format!("device auth failed with status {status}"));
                }
            }
        }
    }
}

async fn post(accounts: &Accounts, what: &str, body: &serde_json::Value) -> Result<Answer, String> {
    let issuer = &accounts.authority.issuer;
    let url = format!("{issuer}/api/accounts/deviceauth/{what}");
    let request = accounts.http.client()?.post(url);
    let request = request.header("content-type", "application/json");
    http::send(request.body(body.to_string())).await
}
