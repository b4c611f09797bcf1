//! Requests to the ChatGPT backend, with a login or without one.

use std::time::Duration;

use reqwest::Method;
use serde_json::Value;

use crate::accounts::Accounts;
use crate::backend;
use crate::http::{self, Agent, quote, status_line};
use crate::login::ChatGptLogin;

/// The most of an answer that is read.
const MAX_BODY: usize = 16 * 1024 * 1024;

/// A request to the backend.
#[derive(Debug, Clone)]
pub struct BackendRequest<'a> {
    /// The whole address.
    pub url: String,
    /// Whose request it is; some work without.
    pub login: Option<&'a ChatGptLogin>,
    /// How this program names itself.
    pub agent: &'a Agent,
    /// How long the answer may take.
    pub limit: Duration,
    /// Sent as JSON.
    pub body: Option<&'a Value>,
}

/// Why there is no usable answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BackendError {
    /// It could not be reached, or did not answer.
    #[error("{0}")]
    Unreachable(String),
    /// It refused.
    #[error("{status}: {body}")]
    Status {
        /// Such as `500 Internal Server Error`.
        status: String,
        /// What it said, without tokens.
        body: String,
    },
}

impl Accounts {
    /// Asks for something; the text of the answer.
    pub async fn backend_get(&self, request: BackendRequest<'_>) -> Result<String, BackendError> {
        self.backend(Method::GET, request).await
    }

    /// Changes something; the text of the answer.
    pub async fn backend_post(&self, request: BackendRequest<'_>) -> Result<String, BackendError> {
        self.backend(Method::POST, request).await
    }

    async fn backend(
        &self,
        method: Method,
        request: BackendRequest<'_>,
    ) -> Result<String, BackendError> {
        let client = self.http.client().map_err(BackendError::Unreachable)?;
        let mut sent = client
            .request(method, &request.url)
            .header("user-agent", &request.agent.user_agent)
            .header("originator", &request.agent.originator);
        if let Some(login) = request.login {
            sent = sent.bearer_auth(&login.access_token);
            if let Some(account) = &login.account_id {
                sent = sent.header("chatgpt-account-id", account);
            }
        }
        if let Some(body) = request.body {
            sent = sent
                .header("content-type", "application/json")
                .body(body.to_string());
        }
        let answer = http::send_within(sent, request.limit, MAX_BODY).await;
        let answer = answer.map_err(BackendError::Unreachable)?;
        if answer.status.is_success() {
            return Ok(answer.body);
        }
        let secret = request.login.map(|login| login.access_token.as_str());
        Err(BackendError::Status {
            status: status_line(answer.status),
            body: quote(&answer.body, secret.as_slice()),
        })
    }
}

/// The address of a service for this program.
pub fn service_url(base: &str, service: &str) -> String {
    backend::url(base, service)
}
