//! The accounts of the home directory and the settings about them, for the commands that change a login.

use quipu_auth::{Accounts, Authority, Keep};
use quipu_config::settings::{Account, CredentialsStore};
use quipu_config::{Env, Overrides};

use super::app_server;
use crate::args::ConfigArgs;

/// Who is logged in, and what the settings allow.
pub struct Desk {
    pub accounts: Accounts,
    pub settings: Account,
}

impl Desk {
    /// Reads the settings; nothing is connected yet.
    pub fn open(config: &[&ConfigArgs]) -> Result<Self, String> {
        let mut overrides = Overrides::default();
        for args in config {
            args.add_to(&mut overrides)?;
        }
        let config = app_server::load(Env::from_process(), overrides)?;
        let start_up = config.start_up().map_err(|error| error.to_string())?;
        let authority = Authority::from_env(|name| config.env().get(name));
        let home = config.home().path();
        Ok(Self {
            accounts: Accounts::new(home, authority, quipu_model::http_client),
            settings: start_up.snapshot.account(),
        })
    }

    /// Where a new login is kept. One in memory would be gone with this program.
    pub fn keep(&self) -> Result<Keep, String> {
        let store = match self.settings.credentials_store {
            CredentialsStore::File | CredentialsStore::Auto => return Ok(Keep::File),
            CredentialsStore::Keyring => "keyring, which this version of Quipu cannot use",
            CredentialsStore::Ephemeral => "memory, which ends with this program",
        };
        Err(format!(
            "cli_auth_credentials_store keeps logins in the {store}; set it to \"file\""
        ))
    }
}
