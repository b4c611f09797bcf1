//! `account/login/start`: an API key or tokens to use from now on.

use quipu_auth::Login;
use quipu_rpc::ErrorObject;
use quipu_wire::method::request::AccountLoginStart;
use quipu_wire::{ForcedLoginMethod, LoginAccountParams, LoginAccountResponse};

use super::Handler;
use crate::blocking::blocking;
use crate::{Cx, Reply, Server, accounts};

impl Handler for AccountLoginStart {
    async fn handle(cx: Cx, params: LoginAccountParams, reply: Reply<Self>) {
        let done = blocking(&cx.server, move |server| log_in(server, params)).await;
        match done.and_then(|done| done) {
            Ok((answer, login)) => {
                reply.send(Ok(answer)).await;
                accounts::announce(&cx.server, &login).await;
            }
            Err(error) => reply.send(Err(error)).await,
        }
    }
}

fn log_in(
    server: &Server,
    params: LoginAccountParams,
) -> Result<(LoginAccountResponse, Login), ErrorObject> {
    match params {
        LoginAccountParams::ApiKey { api_key } => {
            with_key(server, &api_key)?;
            Ok((LoginAccountResponse::ApiKey, Login::ApiKey(api_key)))
        }
        LoginAccountParams::ChatgptAuthTokens {
            access_token,
            chatgpt_account_id,
            chatgpt_plan_type,
        } => {
            let plan = chatgpt_plan_type.as_deref();
            let login = with_tokens(server, access_token, chatgpt_account_id, plan)?;
            Ok((LoginAccountResponse::ChatgptAuthTokens, login))
        }
        LoginAccountParams::Chatgpt => Err(no_browser_login(server, "in the browser")),
        LoginAccountParams::ChatgptDeviceCode => {
            Err(no_browser_login(server, "with a device code"))
        }
    }
}

fn with_key(server: &Server, key: &str) -> Result<(), ErrorObject> {
    let settings = accounts::settings(server)?;
    if server.accounts.is_external() {
        return Err(external());
    }
    if settings.forced_login_method == Some(ForcedLoginMethod::Chatgpt) {
        let text = "API key login is disabled. Use ChatGPT login instead.";
        return Err(ErrorObject::invalid_request(text));
    }
    let keep = accounts::keep(settings.credentials_store)?;
    server
        .accounts
        .set_key(key, keep)
        .map_err(|error| match error {
            quipu_auth::LoginError::External => external(),
            quipu_auth::LoginError::Save(_) => ErrorObject::internal(error.to_string()),
        })
}

fn with_tokens(
    server: &Server,
    access_token: String,
    account_id: String,
    plan: Option<&str>,
) -> Result<Login, ErrorObject> {
    let settings = accounts::settings(server)?;
    if settings.forced_login_method == Some(ForcedLoginMethod::Api) {
        let text = "External ChatGPT auth is disabled. Use API key login instead.";
        return Err(ErrorObject::invalid_request(text));
    }
    if let Some(forced) = settings.forced_chatgpt_workspace_id
        && forced != account_id
    {
        let text =
            format!("External auth must use workspace {forced}, but received {account_id:?}.");
        return Err(ErrorObject::invalid_request(text));
    }
    let set = server.accounts.set_external(access_token, account_id, plan);
    set.map_err(|error| ErrorObject::internal(format!("failed to set external auth: {error}")))
}

fn no_browser_login(server: &Server, how: &str) -> ErrorObject {
    if server.accounts.is_external() {
        return external();
    }
    let forced = accounts::settings(server).map(|settings| settings.forced_login_method);
    match forced {
        Err(error) => error,
        Ok(Some(ForcedLoginMethod::Api)) => {
            ErrorObject::invalid_request("ChatGPT login is disabled. Use API key login instead.")
        }
        Ok(_) => ErrorObject::internal(format!(
            "this version of Quipu cannot log in to ChatGPT {how}; log in with an API key, or with \
             tokens of the client (chatgptAuthTokens)"
        )),
    }
}

fn external() -> ErrorObject {
    ErrorObject::invalid_request(quipu_auth::LoginError::External.to_string())
}
