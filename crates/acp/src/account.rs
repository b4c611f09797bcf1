//! How users log in through their editor.

use agent_client_protocol::v1::schema::{
    AuthMethod, AuthMethodAgent, AuthMethodTerminal, AuthenticateResponse, ClientCapabilities,
};
use agent_client_protocol::{Error, Result};
use quipu_client::Client;
use quipu_client::wire::{GetAccountParams, LoginAccountParams};

use crate::agent::{invalid, refused};

/// Variables that may hold an API key, the first one winning.
const KEYS: [&str; 2] = ["CODEX_API_KEY", "OPENAI_API_KEY"];
const API_KEY: &str = "api-key";
const LOGIN: &str = "login";

/// The methods that this editor can use. The login in a terminal is done by the editor itself.
pub fn methods(editor: &ClientCapabilities) -> Vec<AuthMethod> {
    let key = AuthMethodAgent::new(API_KEY, "API key")
        .description(format!("Uses the key in {} or {}", KEYS[0], KEYS[1]));
    let mut methods = vec![AuthMethod::Agent(key)];
    if editor.auth.terminal {
        let login = AuthMethodTerminal::new(LOGIN, "Log in with ChatGPT")
            .description("Opens a login in the browser".to_owned())
            .args(vec!["login".to_owned()]);
        methods.push(AuthMethod::Terminal(login));
    }
    methods
}

pub async fn log_in(client: &Client, method: &str) -> Result<AuthenticateResponse> {
    match method {
        API_KEY => {
            let key = KEYS.iter().find_map(|it| std::env::var(it).ok());
            let Some(api_key) = key.filter(|it| !it.trim().is_empty()) else {
                let text = format!(
                    "set {} or {} in the environment of the agent",
                    KEYS[0], KEYS[1]
                );
                return Err(invalid(text));
            };
            let key = LoginAccountParams::ApiKey { api_key };
            client.account_login_start(key).await.map_err(refused)?;
            Ok(AuthenticateResponse::new())
        }
        // Its program has stored the login; whether it worked shows here.
        LOGIN => check(client).await.map(|()| AuthenticateResponse::new()),
        other => {
            let text = format!("there is no authentication method `{other}`");
            Err(invalid(text))
        }
    }
}

/// Fails if the model needs a login that there is not.
pub async fn check(client: &Client) -> Result<()> {
    let params = GetAccountParams {
        refresh_token: false,
    };
    let read = client.account_read(params).await.map_err(refused)?;
    match read.requires_openai_auth && read.account.is_none() {
        true => Err(Error::auth_required()),
        false => Ok(()),
    }
}
