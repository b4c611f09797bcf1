//! `account/rateLimits/read`: how much of a ChatGPT plan is spent.

use quipu_auth::Login;
use quipu_wire::GetAccountRateLimitsResponse;
use quipu_wire::method::NoParams;
use quipu_wire::method::request::AccountRateLimitsRead;

use super::Handler;
use crate::{Cx, Refusal, Server, accounts};

impl Handler for AccountRateLimitsRead {
    async fn run(cx: Cx, _params: NoParams) -> Result<Self::Result, Refusal> {
        read(&cx.server).await
    }
}

async fn read(server: &Server) -> Result<GetAccountRateLimitsResponse, Refusal> {
    let agent = accounts::agent(server);
    let login = match server.accounts.fresh(&agent).await {
        None => {
            let text = "codex account authentication required to read rate limits";
            return Err(Refusal::invalid_request(text));
        }
        Some(Login::ApiKey(_)) => {
            let text = "chatgpt authentication required to read rate limits";
            return Err(Refusal::invalid_request(text));
        }
        Some(Login::ChatGpt(login) | Login::External(login)) => login,
    };
    let base = accounts::settings(server)?.chatgpt_base_url;
    let limits = server.accounts.rate_limits(&login, &base, &agent).await;
    limits.map_err(|error| Refusal::internal(format!("failed to fetch codex rate limits: {error}")))
}
