//! Who is logged in, as handlers and model clients need to know it.

mod command;
mod credentials;
mod external;
mod logins;

use std::sync::Arc;

use quipu_auth::{Agent, Keep, Login, Unusable};
use quipu_config::Loader;
use quipu_config::settings::{Account, CredentialsStore};
use quipu_wire::method::event;
use quipu_wire::{
    AccountLoginCompletedNotification, AccountUpdatedNotification, ConfigWarningNotification,
};

use crate::{Refusal, Server, cloud, providers};

pub(crate) use command::{CommandCredentials, PrintedTokens};
pub(crate) use credentials::LoginCredentials;
pub(crate) use logins::{Attempt, Logins, Stop, stop_pending, wait_for};

/// Whether the provider in use works only with an OpenAI login. Where only the offline model would answer,
/// it does, so that clients offer to log in.
pub(crate) fn requires_login(server: &Server) -> Result<bool, Refusal> {
    let start_up = server.settings.config.start_up().map_err(unusable)?;
    let snapshot = &start_up.snapshot;
    if snapshot.model().provider.is_none() && server.choose_provider().is_err() {
        return Ok(true);
    }
    Ok(providers::in_use(server, snapshot)?.requires_openai_auth)
}

/// The settings about logging in.
pub(crate) fn settings(server: &Server) -> Result<Account, Refusal> {
    let start_up = server.settings.config.start_up().map_err(unusable)?;
    Ok(start_up.snapshot.account())
}

/// Where logins are kept.
pub(crate) fn keep(store: CredentialsStore) -> Keep {
    match store {
        CredentialsStore::File => Keep::File,
        CredentialsStore::Ephemeral => Keep::Memory,
        CredentialsStore::Keyring => Keep::Keyring,
        CredentialsStore::Auto => Keep::Auto,
    }
}

/// Where logins are kept when the server starts; limits of the login's own workspace have no say in that.
pub(crate) fn usual_keep(config: &Loader) -> Keep {
    let snapshot = config.load_without_cloud();
    snapshot.map_or_else(
        |_| Keep::default(),
        |it| keep(it.account().credentials_store),
    )
}

/// Notifies clients that a login is in the file because the keyring cannot be used.
pub(crate) async fn warn_of_file(server: &Server, unusable: Option<Unusable>) {
    if let Some(unusable) = unusable {
        let warning = ConfigWarningNotification {
            summary: "The login is stored in auth.json.".to_owned(),
            details: Some(unusable.to_string()),
            path: None,
            range: None,
        };
        server.hub.broadcast::<event::ConfigWarning>(&warning).await;
    }
}

/// The login in use, refreshed if that is asked for or due. A failed refresh is no reason to tell nothing.
pub(crate) async fn login(server: &Server, refresh: bool) -> Option<Login> {
    let agent = agent(server);
    if !refresh {
        return server.accounts.fresh(&agent).await;
    }
    if let Err(error) = server.accounts.refresh(&agent).await {
        tracing::warn!(%error, "failed to refresh tokens");
    }
    server.accounts.current()
}

/// How the server names itself to the identity server.
pub(crate) fn agent(server: &Server) -> Agent {
    Agent {
        originator: server.identity.originator().to_owned(),
        user_agent: server.identity.user_agent(server.settings.config.env()),
    }
}

/// Tells every client how a login ended and, if it succeeded, who is logged in now.
pub(crate) async fn announce(
    server: &Arc<Server>,
    login_id: Option<String>,
    outcome: Result<Login, String>,
) {
    let hub = &server.hub;
    let completed = AccountLoginCompletedNotification {
        login_id,
        success: outcome.is_ok(),
        error: outcome.as_ref().err().cloned(),
    };
    hub.broadcast::<event::AccountLoginCompleted>(&completed)
        .await;
    if let Ok(login) = outcome {
        cloud::forget(server).await;
        let updated = AccountUpdatedNotification {
            auth_mode: Some(login.mode()),
            plan_type: login.plan(),
        };
        hub.broadcast::<event::AccountUpdated>(&updated).await;
    }
}

fn unusable(error: quipu_config::LoadError) -> Refusal {
    Refusal::config_unreadable(error)
}
