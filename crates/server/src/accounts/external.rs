//! Tokens that a client brings are renewed by asking for new ones: `account/chatgptAuthTokens/refresh`.

use std::sync::Arc;
use std::time::Duration;

use quipu_auth::{Login, Recovered};
use quipu_rpc::{Id, write};
use quipu_wire::method::Method;
use quipu_wire::method::question::AccountChatgptAuthTokensRefresh;
use quipu_wire::{
    ChatgptAuthTokensRefreshParams, ChatgptAuthTokensRefreshReason,
    ChatgptAuthTokensRefreshResponse,
};
use serde_json::Value;
use tokio::sync::mpsc;
use tokio::time::timeout;

use super::settings;
use crate::Server;
use crate::questions::{Outcome, Question};

/// How long clients may take to answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// Another token than the refused one: one that came meanwhile, else what the clients answer. The error is
/// told as the reason why the turn failed.
pub(super) async fn renew(server: &Arc<Server>, refused: &str) -> Result<Recovered, String> {
    // Threads that are refused at the same moment share one question.
    let _asks_alone = server.logins.asking().await;
    let previous = match server.accounts.current() {
        Some(Login::External(now)) if now.access_token == refused => now.account_id,
        Some(login) => return Ok(Recovered { login, more: true }),
        None => return Err("auth refresh request canceled: logged out".to_owned()),
    };
    let asked = timeout(PATIENCE, ask(server, previous)).await;
    let late = |_| {
        let seconds = PATIENCE.as_secs();
        Err(format!("auth refresh request timed out after {seconds}s"))
    };
    let answer = asked.unwrap_or_else(late)?;
    let forced = settings(server).map_err(|error| error.to_string())?;
    if let Some(forced) = forced.forced_chatgpt_workspace_id
        && forced != answer.chatgpt_account_id
    {
        let given = answer.chatgpt_account_id;
        return Err(format!(
            "external auth refresh returned workspace {given:?}, expected {forced:?}"
        ));
    }
    let plan = answer.chatgpt_plan_type.as_deref();
    let (token, account) = (answer.access_token, answer.chatgpt_account_id);
    let login = server.accounts.set_external(token, account, plan);
    Ok(Recovered {
        login: login.map_err(|error| error.to_string())?,
        more: false,
    })
}

/// Asks all clients; the first answer counts.
async fn ask(
    server: &Arc<Server>,
    previous_account_id: Option<String>,
) -> Result<ChatgptAuthTokensRefreshResponse, String> {
    let (answer, mut answered) = mpsc::channel::<Outcome>(1);
    let asker = move |_, outcome| {
        // Only the first answer is waited for.
        answer.try_send(outcome).ok();
    };
    let question = Question {
        id: server.question_ids.next(),
        method: AccountChatgptAuthTokensRefresh::NAME.to_owned(),
        asker: Arc::new(asker),
    };
    let params = ChatgptAuthTokensRefreshParams {
        reason: ChatgptAuthTokensRefreshReason::Unauthorized,
        previous_account_id,
    };
    let id = Id::Integer(question.id.get());
    let message = write::request(&id, &question.method, &params);
    let message = message.map_err(|error| error.to_string())?;
    let clients = server.hub.introduced();
    if clients.is_empty() {
        return Err("auth refresh request canceled: no client is connected".to_owned());
    }
    for client in clients {
        client.ask(question.clone(), message.clone()).await;
    }
    drop(question);
    let outcome = answered.recv().await;
    let outcome =
        outcome.ok_or_else(|| "auth refresh request canceled: it was withdrawn".to_owned())?;
    let result = outcome.map_err(|error| {
        let (code, message) = (error.code, error.message);
        format!("auth refresh request failed: code={code} message={message}")
    })?;
    let result: Value = result.decode().map_err(|error| error.to_string())?;
    serde_json::from_value(result).map_err(|error| error.to_string())
}
