//! The login in use, as model clients ask for it at every request.

use std::sync::{Arc, Weak};

use futures_util::future::BoxFuture;
use quipu_auth::{Login, RefreshError};
use quipu_model::{CredentialSource, Credentials, CredentialsLost, Recovered, Secret};

use super::{agent, external};
use crate::Server;

/// Supplies the login in use. The server owns the clients that ask for it.
pub(crate) struct LoginCredentials(pub Weak<Server>);

impl CredentialSource for LoginCredentials {
    fn current(&self) -> BoxFuture<'_, Result<Credentials, CredentialsLost>> {
        Box::pin(async {
            let server = self.server()?;
            let login = server.accounts.fresh(&agent(&server)).await;
            Ok(login.map_or(Credentials::None, credentials))
        })
    }

    fn recover<'a>(
        &'a self,
        refused: &'a Credentials,
    ) -> BoxFuture<'a, Result<Option<Recovered>, CredentialsLost>> {
        Box::pin(async {
            let Credentials::ChatGpt {
                access_token,
                account_id,
            } = refused
            else {
                return Ok(None);
            };
            let server = self.server()?;
            let (refused, account) = (access_token.expose(), account_id.as_deref());
            let recovered = if server.accounts.is_external() {
                let renewed = external::renew(&server, refused).await;
                renewed.map_err(CredentialsLost::ForNow)?
            } else {
                let agent = agent(&server);
                let recovered = server.accounts.recover(refused, account, &agent).await;
                recovered.map_err(lost)?
            };
            Ok(Some(Recovered {
                credentials: credentials(recovered.login),
                more: recovered.more,
            }))
        })
    }
}

impl LoginCredentials {
    fn server(&self) -> Result<Arc<Server>, CredentialsLost> {
        let ends = || CredentialsLost::ForNow("the server is shutting down".to_owned());
        self.0.upgrade().ok_or_else(ends)
    }
}

fn credentials(login: Login) -> Credentials {
    match login {
        Login::ApiKey(key) => Credentials::ApiKey(Secret::new(key)),
        Login::ChatGpt(login) | Login::External(login) => Credentials::ChatGpt {
            access_token: Secret::new(login.access_token),
            account_id: login.account_id,
        },
    }
}

fn lost(error: RefreshError) -> CredentialsLost {
    if error.is_permanent() {
        CredentialsLost::ForGood(error.to_string())
    } else {
        CredentialsLost::ForNow(error.to_string())
    }
}
