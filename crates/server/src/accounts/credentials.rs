//! The login in use, as model clients ask for it at every request.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use quipu_auth::{Accounts, Login};
use quipu_model::{CredentialSource, Credentials, CredentialsLost, Secret};

/// Supplies the login in use.
pub(crate) struct LoginCredentials(pub Arc<Accounts>);

impl CredentialSource for LoginCredentials {
    fn current(&self) -> BoxFuture<'_, Result<Credentials, CredentialsLost>> {
        let credentials = match self.0.current() {
            None => Credentials::None,
            Some(Login::ApiKey(key)) => Credentials::ApiKey(Secret::new(key)),
            Some(Login::ChatGpt(login) | Login::External(login)) => Credentials::ChatGpt {
                access_token: Secret::new(login.access_token),
                account_id: login.account_id,
            },
        };
        Box::pin(async { Ok(credentials) })
    }
}
