//! The limits that a workspace sets for its members, as the ChatGPT backend gives them.

use serde::Deserialize;

use crate::accounts::Accounts;
use crate::backend;
use crate::http::{self, Agent, status_line};
use crate::login::ChatGptLogin;

/// Why the backend gave no limits.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct NoRequirements {
    /// The status of its answer, if that says it.
    pub status: Option<u16>,
    reason: String,
}

#[derive(Deserialize)]
struct Answer {
    contents: Option<String>,
}

impl Accounts {
    /// Asks the backend at `base` for the limits of the login's workspace: the text of a `requirements.toml`, if
    /// there is one.
    pub async fn requirements(
        &self,
        login: &ChatGptLogin,
        base: &str,
        agent: &Agent,
    ) -> Result<Option<String>, NoRequirements> {
        let failed = |reason| NoRequirements {
            status: None,
            reason,
        };
        let url = backend::url(base, "config/requirements");
        let client = self.http.client().map_err(failed)?;
        let request = backend::get(client, &url, login, agent);
        let answer = http::send(request).await.map_err(failed)?;
        if !answer.status.is_success() {
            return Err(NoRequirements {
                status: Some(answer.status.as_u16()),
                reason: status_line(answer.status),
            });
        }
        let read = serde_json::from_str::<Answer>(&answer.body);
        // The error of the decoder may quote the answer.
        let read = read.map_err(|_| failed("the answer is not the expected JSON".to_owned()))?;
        Ok(read.contents)
    }
}
