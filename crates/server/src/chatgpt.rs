//! The ChatGPT backend, asked in the name of the account in use.

use std::time::Duration;

use quipu_auth::{Agent, BackendError, BackendRequest, ChatGptLogin, Login};
use quipu_config::Snapshot;
use serde_json::Value;

use crate::{Server, accounts};

/// How long an answer may take.
const LIMIT: Duration = Duration::from_secs(30);

/// The backend and who asks it.
pub(crate) struct Backend {
    base: String,
    agent: Agent,
    login: Option<Login>,
}

/// Why something cannot be asked without a ChatGPT login.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NoChatGpt {
    NoLogin,
    ApiKey,
}

impl NoChatGpt {
    /// What a client reads about it.
    pub fn explain(self, what: &str) -> String {
        let text = format!("chatgpt authentication required {what}");
        match self {
            NoChatGpt::NoLogin => text,
            NoChatGpt::ApiKey => format!("{text}; api key auth is not supported"),
        }
    }
}

impl Backend {
    /// The backend of these settings, with a login whose token is fresh.
    pub async fn new(server: &Server, settings: &Snapshot) -> Backend {
        Backend::at(server, settings.account().chatgpt_base_url).await
    }

    /// The backend at an address.
    pub async fn at(server: &Server, base: String) -> Backend {
        let agent = accounts::agent(server);
        let login = server.accounts.fresh(&agent).await;
        Backend { base, agent, login }
    }

    /// The ChatGPT login.
    pub fn login(&self) -> Result<&ChatGptLogin, NoChatGpt> {
        match &self.login {
            Some(Login::ChatGpt(login) | Login::External(login)) => Ok(login),
            Some(Login::ApiKey(_)) => Err(NoChatGpt::ApiKey),
            None => Err(NoChatGpt::NoLogin),
        }
    }

    /// What tells the answers for one account from those for others.
    pub fn key(&self) -> (String, Option<String>) {
        let account = self.login().ok();
        let account = account.and_then(|login| login.account_id.clone().or(login.email.clone()));
        (self.base.clone(), account)
    }

    /// The address of a path.
    pub fn url(&self, path: &str) -> String {
        format!("{}/{path}", self.base.trim_end_matches('/'))
    }

    /// Asks for something.
    pub async fn get(&self, server: &Server, url: String) -> Result<String, BackendError> {
        self.get_within(server, url, LIMIT).await
    }

    /// The same with another limit of time.
    pub async fn get_within(
        &self,
        server: &Server,
        url: String,
        limit: Duration,
    ) -> Result<String, BackendError> {
        let request = self.request(url, limit, None);
        server.accounts.backend_get(request).await
    }

    /// Changes something.
    pub async fn post(
        &self,
        server: &Server,
        url: String,
        body: Option<&Value>,
    ) -> Result<String, BackendError> {
        let request = self.request(url, LIMIT, body);
        server.accounts.backend_post(request).await
    }

    fn request<'a>(
        &'a self,
        url: String,
        limit: Duration,
        body: Option<&'a Value>,
    ) -> BackendRequest<'a> {
        BackendRequest {
            url,
            login: self.login().ok(),
            agent: &self.agent,
            limit,
            body,
        }
    }
}

/// Whether there is a ChatGPT login, however old its token.
pub(crate) fn is_logged_in(server: &Server) -> bool {
    let login = server.accounts.current();
    matches!(login, Some(Login::ChatGpt(_) | Login::External(_)))
}
