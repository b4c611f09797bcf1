//! The accounts of the home directory and the settings about them, for the commands that change a login.

use quipu_auth::{Accounts, Authority, Keep, Unusable};
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
        let settings = start_up.snapshot.account();
        let keep = kept(settings.credentials_store).unwrap_or_default();
        let keep = Box::new(move || keep);
        Ok(Self {
            accounts: Accounts::kept(home, authority, quipu_model::http_client, keep),
            settings,
        })
    }

    /// Where a new login is kept.
    pub fn keep(&self) -> Result<Keep, String> {
        kept(self.settings.credentials_store).ok_or_else(|| {
            "cli_auth_credentials_store keeps logins in the memory, which ends with this program; set it to \"file\""
                .to_owned()
        })
    }
}

/// Where logins are kept. One in memory would be gone with this program.
fn kept(store: CredentialsStore) -> Option<Keep> {
    match store {
        CredentialsStore::File => Some(Keep::File),
        CredentialsStore::Keyring => Some(Keep::Keyring),
        CredentialsStore::Auto => Some(Keep::Auto),
        CredentialsStore::Ephemeral => None,
    }
}

/// Says that a login is in the file because the keyring cannot be used.
pub fn warn_of_file(unusable: Option<Unusable>) {
    if let Some(unusable) = unusable {
        eprintln!("The login is stored in auth.json: {unusable}");
    }
}
