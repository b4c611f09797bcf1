//! How users log in through their editor.

use quipu_client::Client;
use quipu_client::wire::{Account, GetAccountParams, GetAccountResponse, LoginAccountParams};

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
        API_KEY => log_in_with_key(client).await,
        // Its program has stored the login; whether it worked shows here.
        LOGIN => check(client).await.map(|()| Empty {}),
        other => {
            let text = format!("there is no authentication method `{other}`");
            Err(invalid(text))
        }
    }
}

/// Uses the key in the environment. Some editors authenticate whenever they connect, with whatever comes first, so a
/// login of another kind is left alone, and nothing is wrong if no key is needed.
async fn log_in_with_key(client: &Client) -> Result<Empty> {
    let read = account(client).await?;
    if !read.requires_openai_auth || matches!(read.account, Some(Account::Chatgpt { .. })) {
        return Ok(Empty {});
    }
    let key = KEYS.iter().find_map(|it| std::env::var(it).ok());
    match key.filter(|it| !it.trim().is_empty()) {
        Some(api_key) => {
            let key = LoginAccountParams::ApiKey { api_key };
            client.account_login_start(key).await.map_err(refused)?;
            Ok(Empty {})
        }
        None if read.account.is_some() => Ok(Empty {}),
        None => Err(invalid(format!(
            "set {} or {} in the environment of the agent",
            KEYS[0], KEYS[1]
        ))),
    }
}

/// Fails if the model needs a login that there is not.
pub async fn check(client: &Client) -> Result<()> {
    let read = account(client).await?;
    match read.requires_openai_auth && read.account.is_none() {
        true => Err(auth_required()),
        false => Ok(()),
    }
}

async fn account(client: &Client) -> Result<GetAccountResponse> {
    let params = GetAccountParams {
        refresh_token: false,
    };
    client.account_read(params).await.map_err(refused)
}
