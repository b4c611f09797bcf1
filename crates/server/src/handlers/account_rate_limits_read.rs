//! `account/rateLimits/read`: how much of a ChatGPT plan is spent.

use quipu_auth::Login;
use quipu_rpc::ErrorObject;
use quipu_wire::method::NoParams;
use quipu_wire::method::request::AccountRateLimitsRead;

use super::Handler;
use crate::blocking::blocking;
use crate::{Cx, Reply};

impl Handler for AccountRateLimitsRead {
    async fn handle(cx: Cx, _params: NoParams, reply: Reply<Self>) {
        let login = blocking(&cx.server, |server| server.accounts.current()).await;
        let error = match login {
            Ok(None) => ErrorObject::invalid_request(
                "codex account authentication required to read rate limits",
            ),
            Ok(Some(Login::ApiKey(_))) => {
                ErrorObject::invalid_request("chatgpt authentication required to read rate limits")
            }
            Ok(Some(Login::ChatGpt(_) | Login::External(_))) => ErrorObject::internal(
                "failed to fetch codex rate limits: this version of Quipu does not ask the ChatGPT \
                 backend; account/rateLimits/updated tells what model responses say",
            ),
            Err(error) => error,
        };
        reply.send(Err(error)).await;
    }
}
