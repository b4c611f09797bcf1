//! The login in use and its changes.

use std::io;
use std::path::Path;
use std::sync::Arc;

use parking_lot::Mutex;
use quipu_keyring::Unusable;

use crate::authority::Authority;
use crate::claims::{self, Claims, InvalidToken};
use crate::http::{Http, MakeHttp};
use crate::login::{ChatGptLogin, Login};
use crate::record::Record;
use crate::refresh::RefreshError;
use crate::storage::{ChooseKeep, Keep, Storage};

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

/// What memory holds. It hides what is stored.
#[derive(Debug)]
enum Kept {
    Client(ChatGptLogin),
    Own(Record),
}

/// Who is logged in.
#[derive(Debug)]
pub struct Accounts {
    pub(crate) storage: Arc<Storage>,
    pub(crate) authority: Authority,
    pub(crate) http: Http,
    /// Held while tokens are refreshed.
    pub(crate) refreshing: tokio::sync::Mutex<()>,
    memory: Arc<Mutex<Option<Kept>>>,
    lost: Mutex<Option<Lost>>,
}

/// A refresh token that will never work again.
struct Lost {
    refresh_token: String,
    error: RefreshError,
}

impl std::fmt::Debug for Lost {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Lost").field(&self.error).finish()
    }
}

impl Accounts {
    /// The accounts of a home directory, whose login is in a file. Nothing is read or connected yet.
    pub fn new(home: &Path, authority: Authority, make_http: MakeHttp) -> Self {
        Self::kept(home, authority, make_http, Box::new(Keep::default))
    }

    /// The accounts of a home directory, whose login is kept where `keep` says.
    pub fn kept(home: &Path, authority: Authority, make_http: MakeHttp, keep: ChooseKeep) -> Self {
        Self {
            storage: Arc::new(Storage::new(home, keep)),
            authority,
            http: Http::new(make_http),
            refreshing: tokio::sync::Mutex::default(),
            memory: Arc::default(),
            lost: Mutex::default(),
        }
    }

    /// The login in use. What other programs store in the home directory counts at once.
    pub fn current(&self) -> Option<Login> {
        match &*self.memory.lock() {
            Some(Kept::Client(login)) => return Some(Login::External(login.clone())),
            Some(Kept::Own(record)) => return record.login(),
            None => {}
        }
        self.storage.read()?.login()
    }

    /// The key and all tokens of the login in use.
    pub fn secrets(&self) -> Vec<String> {
        match &*self.memory.lock() {
            Some(Kept::Client(login)) => return vec![login.access_token.clone()],
            Some(Kept::Own(record)) => return record.secrets(),
            None => {}
        }
        self.storage.read().map_or_else(Vec::new, |it| it.secrets())
    }

    /// Whether the tokens of a client are in use.
    pub fn is_external(&self) -> bool {
        matches!(*self.memory.lock(), Some(Kept::Client(_)))
    }

    /// Logs in with an API key, which is not checked. See [`store`](Self::store).
    pub fn set_key(&self, key: &str, keep: Keep) -> Result<Option<Unusable>, LoginError> {
        if self.is_external() {
            return Err(LoginError::External);
        }
        Ok(self.store(Record::api_key(key), keep)?)
    }

    /// Stores a login over the one before it. If it had to go into the file because the keyring cannot be used, why.
    pub fn store(&self, record: Record, keep: Keep) -> io::Result<Option<Unusable>> {
        // Others may hold up the file, and must not hold up those that ask for the login.
        let (kept, unusable) = match keep {
            Keep::Memory => (Some(Kept::Own(record)), None),
            keep => (None, self.storage.write(&record, keep)?),
        };
        *self.memory.lock() = kept;
        Ok(unusable)
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
        *self.memory.lock() = Some(Kept::Client(login.clone()));
        Ok(Login::External(login))
    }

    /// Forgets every login, in memory and stored; says whether there was one.
    pub fn log_out(&self) -> io::Result<bool> {
        let kept = self.memory.lock().take();
        Ok(self.storage.remove()? || kept.is_some())
    }

    /// The login of our own, in the form in which it is stored.
    pub(crate) fn record(&self) -> Option<Record> {
        match &*self.memory.lock() {
            Some(Kept::Client(_)) => None,
            Some(Kept::Own(record)) => Some(record.clone()),
            None => self.storage.read(),
        }
    }

    pub(crate) fn keeps_in_memory(&self) -> bool {
        self.memory.lock().is_some()
    }

    /// Puts `new` in the place of `old`, wherever that is kept; `false` if it is not there any more.
    pub(crate) async fn replace(&self, old: &Record, new: &Record) -> io::Result<bool> {
        let (storage, memory) = (Arc::clone(&self.storage), Arc::clone(&self.memory));
        let (old, new) = (old.clone(), new.clone());
        let replaced = tokio::task::spawn_blocking(move || {
            match &mut *memory.lock() {
                Some(Kept::Own(kept)) if *kept == old => {
                    *kept = new;
                    return Ok(true);
                }
                Some(_) => return Ok(false),
                None => {}
            }
            storage.replace(&old, &new)
        });
        replaced.await.map_err(io::Error::other)?
    }

    /// Why a refresh token will never work again, if that is known.
    pub(crate) fn lost(&self, refresh_token: &str) -> Option<RefreshError> {
        let lost = self.lost.lock();
        let known = lost.as_ref().filter(|it| it.refresh_token == refresh_token);
        known.map(|it| it.error.clone())
    }

    pub(crate) fn note_lost(&self, refresh_token: &str, error: &RefreshError) {
        if error.is_permanent() {
            *self.lost.lock() = Some(Lost {
                refresh_token: refresh_token.to_owned(),
                error: error.clone(),
            });
        }
    }
}
