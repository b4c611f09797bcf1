//! The login in use and its changes.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::claims::{self, Claims, InvalidToken};
use crate::file;
use crate::login::{ChatGptLogin, Login};

/// Where a login is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keep {
    /// In the home folder.
    File,
    /// In memory, until the process ends.
    Memory,
}

/// Why there is no new login.
#[derive(Debug, thiserror::Error)]
pub enum LoginError {
    /// The tokens of a client are in use.
    #[error(
        "External auth is active. Use account/login/start (chatgptAuthTokens) to update it or \
         account/logout to clear it."
    )]
    External,
    /// It cannot be stored.
    #[error("failed to save api key: {0}")]
    Save(#[from] io::Error),
}

/// Who is logged in.
#[derive(Debug)]
pub struct Accounts {
    file: PathBuf,
    memory: Mutex<Option<Login>>,
}

impl Accounts {
    /// The accounts of a home folder. Nothing is read yet.
    pub fn new(home: &Path) -> Self {
        Self {
            file: home.join("auth.json"),
            memory: Mutex::default(),
        }
    }

    /// The login in use. What other programs store in the home folder counts at once.
    pub fn current(&self) -> Option<Login> {
        let kept = self.memory().clone();
        kept.or_else(|| file::read(&self.file))
    }

    /// Whether the tokens of a client are in use.
    pub fn is_external(&self) -> bool {
        matches!(*self.memory(), Some(Login::External(_)))
    }

    /// Logs in with an API key, which is not checked.
    pub fn set_key(&self, key: &str, keep: Keep) -> Result<(), LoginError> {
        let mut memory = self.memory();
        if matches!(*memory, Some(Login::External(_))) {
            return Err(LoginError::External);
        }
        *memory = match keep {
            Keep::File => {
                file::write_key(&self.file, key)?;
                None
            }
            Keep::Memory => Some(Login::ApiKey(key.to_owned())),
        };
        Ok(())
    }

    /// Uses the tokens of a client. They are kept in memory and hide what is stored.
    pub fn set_external(
        &self,
        access_token: String,
        account_id: String,
        plan: Option<&str>,
    ) -> Result<Login, InvalidToken> {
        let claims = Claims::read(&access_token)?;
        let mut login = ChatGptLogin::new(access_token, Some(account_id), claims);
        if let Some(plan) = plan {
            login.plan = claims::plan(plan);
        }
        let login = Login::External(login);
        *self.memory() = Some(login.clone());
        Ok(login)
    }

    /// Forgets every login, in memory and stored.
    pub fn log_out(&self) -> io::Result<()> {
        *self.memory() = None;
        file::remove(&self.file)
    }

    fn memory(&self) -> MutexGuard<'_, Option<Login>> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
