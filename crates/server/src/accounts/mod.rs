//! Who is logged in, as handlers and model clients need to know it.

mod credentials;

use std::sync::Arc;

use quipu_auth::{Keep, Login};
use quipu_config::settings::{Account, CredentialsStore};
use quipu_model::ProviderConfig;
use quipu_rpc::ErrorObject;
use quipu_wire::method::event;
use quipu_wire::{AccountLoginCompletedNotification, AccountUpdatedNotification};

use crate::Server;

pub(crate) use credentials::LoginCredentials;

/// Whether the provider that the settings name works only with an OpenAI login. Without a name it is
/// OpenAI, so that clients offer to log in, although the offline model would answer.
pub(crate) fn requires_login(server: &Server) -> Result<bool, ErrorObject> {
    let start_up = server.settings.config.start_up().map_err(unusable)?;
    let snapshot = &start_up.snapshot;
    if snapshot.model().provider.is_none() {
        return Ok(true);
    }
    let provider: ProviderConfig = server.provider(snapshot)?;
    Ok(provider.requires_openai_auth)
}

/// The settings about logging in.
pub(crate) fn settings(server: &Server) -> Result<Account, ErrorObject> {
    let start_up = server.settings.config.start_up().map_err(unusable)?;
    Ok(start_up.snapshot.account())
}

/// Where a new login is kept.
pub(crate) fn keep(store: CredentialsStore) -> Result<Keep, ErrorObject> {
    match store {
        CredentialsStore::File | CredentialsStore::Auto => Ok(Keep::File),
        CredentialsStore::Ephemeral => Ok(Keep::Memory),
        CredentialsStore::Keyring => Err(ErrorObject::internal(
            "failed to save api key: this version of Quipu cannot use the keyring; set \
             cli_auth_credentials_store to \"file\" or \"ephemeral\"",
        )),
    }
}

/// Tells every client that a login without an id succeeded, and who is logged in now.
pub(crate) async fn announce(server: &Arc<Server>, login: &Login) {
    let completed = AccountLoginCompletedNotification {
        login_id: None,
        success: true,
        error: None,
    };
    let hub = &server.hub;
    hub.broadcast::<event::AccountLoginCompleted>(&completed)
        .await;
    let updated = AccountUpdatedNotification {
        auth_mode: Some(login.mode()),
        plan_type: login.plan(),
    };
    hub.broadcast::<event::AccountUpdated>(&updated).await;
}

fn unusable(error: quipu_config::LoadError) -> ErrorObject {
    ErrorObject::internal(format!("failed to reload config: {error}"))
}
