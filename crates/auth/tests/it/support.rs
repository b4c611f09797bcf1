//! A home directory, an identity server, and the accounts between them.

use std::fs;
use std::path::PathBuf;

use quipu_auth::{Accounts, Agent, Authority};
use quipu_testkit::identity::IdentityServer;
use serde_json::{Value, json};
use tempfile::TempDir;

pub struct Desk {
    pub home: TempDir,
    pub identity: IdentityServer,
    pub accounts: Accounts,
}

impl Desk {
    pub async fn new() -> Desk {
        let home = tempfile::tempdir().unwrap();
        let identity = IdentityServer::start().await.unwrap();
        let issuer = identity.issuer();
        let authority = Authority::from_env(|name| match name {
            "CODEX_APP_SERVER_LOGIN_ISSUER" => Some(issuer.as_str()),
            "QUIPU_LOGIN_PORT" => Some("0"),
            _ => None,
        });
        let accounts = Accounts::new(home.path(), authority, quipu_model::http_client);
        Desk {
            home,
            identity,
            accounts,
        }
    }

    pub fn file(&self) -> PathBuf {
        self.home.path().join("auth.json")
    }

    pub fn stored(&self) -> Value {
        serde_json::from_str(&fs::read_to_string(self.file()).unwrap()).unwrap()
    }

    /// Stores tokens as another program would, last refreshed at this time.
    pub fn log_in(&self, last_refresh: &str) -> [String; 3] {
        let [id, access, refresh] = self.identity.mint();
        self.store(json!({ "auth_mode": "chatgpt", "OPENAI_API_KEY": null, "tokens": {
            "id_token": id, "access_token": access, "refresh_token": refresh, "account_id": "acct-1",
        }, "last_refresh": last_refresh, "later": { "member": 1 } }));
        [id, access, refresh]
    }

    pub fn store(&self, value: Value) {
        fs::write(self.file(), value.to_string()).unwrap();
    }

    pub fn secret(&self) -> String {
        self.accounts.current().unwrap().secret().to_owned()
    }
}

pub fn agent() -> Agent {
    Agent {
        originator: "tests".to_owned(),
        user_agent: "tests/1".to_owned(),
    }
}

/// A time that is not long ago.
pub fn now() -> String {
    chrono::Utc::now().to_rfc3339()
}

/// A time that is long ago.
pub const LONG_AGO: &str = "2020-01-01T00:00:00Z";
