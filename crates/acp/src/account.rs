//! How users log in through their editor.

use quipu_client::Client;
use quipu_client::wire::{GetAccountParams, LoginAccountParams};

use crate::error::{Result, auth_required, invalid, refused};
use crate::schema::{AuthMethod, ClientCapabilities, Empty};

/// Variables that may hold an API key, the first one winning.
const KEYS: [&str; 2] = ["CODEX_API_KEY", "OPENAI_API_KEY"];
const API_KEY: &str = "api-key";
const LOGIN: &str = "login";

/// The methods that this editor can use. The login in a terminal is done by the editor itself.
pub fn methods(editor: &ClientCapabilities) -> Vec<AuthMethod> {
    let key = AuthMethod {
        id: API_KEY,
        name: "API key",
        description: format!("Uses the key in {} or {}", KEYS[0], KEYS[1]),
        kind: None,
        args: Vec::new(),
    };
    let login = AuthMethod {
        id: LOGIN,
        name: "Log in with ChatGPT",
        description: "Opens a login in the browser".to_owned(),
        kind: Some("terminal"),
        args: vec!["login"],
    };
    let login = editor.auth.terminal.then_some(login);
    [key].into_iter().chain(login).collect()
}

pub async fn log_in(client: &Client, method: &str) -> Result<Empty> {
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
            Ok(Empty {})
        }
        // Its program has stored the login; whether it worked shows here.
        LOGIN => check(client).await.map(|()| Empty {}),
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
        true => Err(auth_required()),
        false => Ok(()),
    }
}
