//! `account/login/start`: a key or tokens to use from now on, or a login that waits for its user.

use std::sync::Arc;

use quipu_auth::{BrowserLogin, DeviceLogin, Keep, Login, LoginError, NoDeviceCode};
use quipu_config::settings::Account;
use quipu_wire::method::request::AccountLoginStart;
use quipu_wire::{ForcedLoginMethod, LoginAccountParams, LoginAccountResponse};
use uuid::Uuid;

use super::ReplyHandler;
use crate::accounts::{self, Attempt, Stop, stop_pending};
use crate::blocking::blocking;
use crate::{Cx, Refusal, Reply, Server};

/// What follows the answer.
enum Next {
    Announce(Login),
    Wait {
        id: Uuid,
        attempt: Attempt,
        keep: Keep,
    },
}

impl ReplyHandler for AccountLoginStart {
    async fn handle(cx: Cx, params: LoginAccountParams, reply: Reply<Self>) {
        let server = &cx.server;
        let begun = match params {
            LoginAccountParams::ApiKey { api_key } => with_key(server, api_key).await,
            LoginAccountParams::ChatgptAuthTokens {
                access_token,
                chatgpt_account_id,
                chatgpt_plan_type,
            } => {
                let plan = chatgpt_plan_type.as_deref();
                with_tokens(server, access_token, chatgpt_account_id, plan).await
            }
            LoginAccountParams::Chatgpt => in_browser(server).await,
            LoginAccountParams::ChatgptDeviceCode => with_code(server).await,
        };
        match begun {
            Err(error) => reply.send(Err(error)).await,
            Ok((answer, next)) => {
                reply.send(Ok(answer)).await;
                match next {
                    Next::Announce(login) => accounts::announce(server, None, Ok(login)).await,
                    Next::Wait { id, attempt, keep } => {
                        accounts::wait_for(server, id, attempt, keep);
                    }
                }
            }
        }
    }
}

type Begun = Result<(LoginAccountResponse, Next), Refusal>;

async fn with_key(server: &Arc<Server>, key: String) -> Begun {
    let settings = accounts::settings(server)?;
    if server.accounts.is_external() {
        return Err(refused(&LoginError::External.to_string()));
    }
    if settings.forced_login_method == Some(ForcedLoginMethod::Chatgpt) {
        return Err(refused(
            "API key login is disabled. Use ChatGPT login instead.",
        ));
    }
    let keep = accounts::keep(settings.credentials_store);
    stop_pending(server, Stop::Cancelled).await;
    let login = Login::ApiKey(key.clone());
    let set = blocking(server, move |server| server.accounts.set_key(&key, keep)).await?;
    let unusable = set.map_err(|error| match error {
        LoginError::External => refused(&error.to_string()),
        LoginError::Save(_) => Refusal::internal(error.to_string()),
    })?;
    accounts::warn_of_file(server, unusable).await;
    Ok((LoginAccountResponse::ApiKey, Next::Announce(login)))
}

async fn with_tokens(
    server: &Arc<Server>,
    access_token: String,
    account_id: String,
    plan: Option<&str>,
) -> Begun {
    let settings = accounts::settings(server)?;
    if settings.forced_login_method == Some(ForcedLoginMethod::Api) {
        return Err(refused(
            "External ChatGPT auth is disabled. Use API key login instead.",
        ));
    }
    if let Some(forced) = settings.forced_chatgpt_workspace_id
        && forced != account_id
    {
        return Err(refused(&format!(
            "External auth must use workspace {forced}, but received {account_id:?}."
        )));
    }
    stop_pending(server, Stop::Cancelled).await;
    let set = server.accounts.set_external(access_token, account_id, plan);
    let login =
        set.map_err(|error| Refusal::internal(format!("failed to set external auth: {error}")))?;
    Ok((
        LoginAccountResponse::ChatgptAuthTokens,
        Next::Announce(login),
    ))
}

async fn in_browser(server: &Arc<Server>) -> Begun {
    let (settings, keep) = chatgpt_settings(server)?;
    stop_pending(server, Stop::Evicted).await;
    let originator = server.identity.originator();
    let workspace = settings.forced_chatgpt_workspace_id;
    let login = BrowserLogin::start(&server.accounts, originator, workspace).await;
    let login = login
        .map_err(|error| Refusal::internal(format!("failed to start login server: {error}")))?;
    let id = Uuid::new_v4();
    let answer = LoginAccountResponse::Chatgpt {
        login_id: id.to_string(),
        auth_url: login.auth_url().to_owned(),
    };
    let attempt = Attempt::Browser(Box::new(login));
    Ok((answer, Next::Wait { id, attempt, keep }))
}

async fn with_code(server: &Arc<Server>) -> Begun {
    let (settings, keep) = chatgpt_settings(server)?;
    let workspace = settings.forced_chatgpt_workspace_id;
    let login = DeviceLogin::start(&server.accounts, workspace).await;
    let login = login.map_err(|error| match error {
        NoDeviceCode::Disabled => refused(&error.to_string()),
        NoDeviceCode::Failed(_) => Refusal::internal(error.to_string()),
    })?;
    stop_pending(server, Stop::Cancelled).await;
    let id = Uuid::new_v4();
    let answer = LoginAccountResponse::ChatgptDeviceCode {
        login_id: id.to_string(),
        verification_url: login.verification_url().to_owned(),
        user_code: login.user_code().to_owned(),
    };
    let attempt = Attempt::Device(login);
    Ok((answer, Next::Wait { id, attempt, keep }))
}

/// The settings for a ChatGPT login, unless there may be none.
fn chatgpt_settings(server: &Server) -> Result<(Account, Keep), Refusal> {
    let settings = accounts::settings(server)?;
    if server.accounts.is_external() {
        return Err(refused(&LoginError::External.to_string()));
    }
    if settings.forced_login_method == Some(ForcedLoginMethod::Api) {
        return Err(refused(
            "ChatGPT login is disabled. Use API key login instead.",
        ));
    }
    let keep = accounts::keep(settings.credentials_store);
    Ok((settings, keep))
}

fn refused(text: &str) -> Refusal {
    Refusal::invalid_request(text)
}
