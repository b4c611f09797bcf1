//! Where a login is stored between processes: `auth.json`, or the keyring of the system.

use std::fmt::Write as _;
use std::io;
use std::path::Path;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use quipu_keyring::{Entry, Unusable};
use sha2::{Digest as _, Sha256};

use crate::file::{AuthFile, RefreshLock};
use crate::record::Record;

/// The name under which programs of this protocol keep logins.
const SERVICE: &str = "Codex Auth";
/// Bytes of the digest of a home directory that name its login.
const DIGEST_BYTES: usize = 8;
/// How long what the keyring said is believed: every request to a model asks for the login.
const BELIEVED: Duration = Duration::from_secs(2);

/// Where a login is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Keep {
    /// In a file of the home directory.
    #[default]
    File,
    /// In memory, until the process ends.
    Memory,
    /// In the keyring.
    Keyring,
    /// In the keyring if it can be used, else in the file.
    Auto,
}

/// Says where logins are kept; asked once.
pub type ChooseKeep = Box<dyn FnOnce() -> Keep + Send>;

/// The stored login.
pub(crate) struct Storage {
    file: AuthFile,
    entry: Entry,
    /// Locked while a login in the keyring is refreshed.
    keyring_lock: AuthFile,
    keep: LazyLock<Keep, ChooseKeep>,
    /// What the keyring said last.
    seen: Mutex<Option<(Instant, Option<Record>)>>,
}

impl std::fmt::Debug for Storage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Storage").finish_non_exhaustive()
    }
}

impl Storage {
    pub(crate) fn new(home: &Path, keep: ChooseKeep) -> Self {
        Self {
            file: AuthFile::new(home),
            entry: Entry::new(SERVICE, account(home)),
            keyring_lock: AuthFile::at(home.join("keyring.lock")),
            keep: LazyLock::new(keep),
            seen: Mutex::default(),
        }
    }

    /// What is stored, in the file or in the keyring.
    pub(crate) fn read(&self) -> Option<Record> {
        match *self.keep {
            Keep::File | Keep::Memory => self.file.read(),
            Keep::Keyring => self.read_keyring().unwrap_or_else(|error| {
                tracing::warn!(%error, "stored login not read");
                None
            }),
            Keep::Auto => match self.read_keyring() {
                Ok(Some(record)) => Some(record),
                Ok(None) => self.file.read(),
                Err(error) => {
                    tracing::debug!(%error, "the login is read from the file");
                    self.file.read()
                }
            },
        }
    }

    /// Stores a login over whatever is there. If it had to go into the file because the keyring cannot be used, why.
    pub(crate) fn write(&self, record: &Record, keep: Keep) -> io::Result<Option<Unusable>> {
        match keep {
            Keep::File | Keep::Memory => self.file.write(record).map(|()| None),
            Keep::Keyring => self.write_keyring(record).map_err(io::Error::other),
            Keep::Auto => match self.write_keyring(record) {
                Ok(stored) => Ok(stored),
                Err(error) => {
                    tracing::warn!(%error, "the login is stored in the file");
                    self.file.write(record).map(|()| Some(error))
                }
            },
        }
    }

    /// Stores `new` unless something else than `old` is there by now; tells whether it did.
    pub(crate) fn replace(&self, old: &Record, new: &Record) -> io::Result<bool> {
        if !self.is_in_keyring() {
            return self.file.replace(old, new);
        }
        self.forget_seen();
        if self.read_keyring().ok().flatten().as_ref() != Some(old) {
            return Ok(false);
        }
        self.write_keyring(new).map_err(io::Error::other)?;
        Ok(true)
    }

    /// Forgets the stored login, wherever it is; tells whether there was one.
    pub(crate) fn remove(&self) -> io::Result<bool> {
        let in_file = self.file.remove()?;
        let in_keyring = match *self.keep {
            Keep::File | Keep::Memory => false,
            Keep::Keyring => self.entry.remove().map_err(io::Error::other)?,
            // Without a keyring nothing is in it.
            Keep::Auto => self.entry.remove().unwrap_or(false),
        };
        self.forget_seen();
        Ok(in_file || in_keyring)
    }

    /// Keeps other processes from refreshing the login; see [`AuthFile::lock`].
    pub(crate) async fn lock(&self) -> Option<RefreshLock> {
        if !self.is_in_keyring() {
            return self.file.lock().await;
        }
        if let Err(error) = self.keyring_lock.create() {
            tracing::warn!(%error, "the login in the keyring cannot be locked");
        }
        self.keyring_lock.lock().await
    }

    /// Whether the login in use comes from the keyring.
    fn is_in_keyring(&self) -> bool {
        match *self.keep {
            Keep::File | Keep::Memory => false,
            Keep::Keyring => true,
            Keep::Auto => matches!(self.read_keyring(), Ok(Some(_))),
        }
    }

    fn read_keyring(&self) -> Result<Option<Record>, Unusable> {
        let seen = self.seen();
        if let Some((at, record)) = &*seen
            && at.elapsed() < BELIEVED
        {
            return Ok(record.clone());
        }
        drop(seen);
        let text = self.entry.read()?;
        let record: Option<Record> = text.and_then(|text| serde_json::from_str(&text).ok());
        *self.seen() = Some((Instant::now(), record.clone()));
        Ok(record)
    }

    /// Stores a login in the keyring, and in no file any more.
    fn write_keyring(&self, record: &Record) -> Result<Option<Unusable>, Unusable> {
        let text = serde_json::to_string(record).unwrap_or_default();
        self.entry.write(&text)?;
        *self.seen() = Some((Instant::now(), Some(record.clone())));
        if let Err(error) = self.file.remove() {
            tracing::warn!(%error, "the login is in the keyring, and an older one still in the file");
        }
        Ok(None)
    }

    fn forget_seen(&self) {
        *self.seen() = None;
    }

    fn seen(&self) -> parking_lot::MutexGuard<'_, Option<(Instant, Option<Record>)>> {
        self.seen.lock()
    }
}

/// The name of a home directory's login: other programs of this protocol make the same.
fn account(home: &Path) -> String {
    let home = home.canonicalize().unwrap_or_else(|_| home.to_owned());
    let digest = Sha256::digest(home.to_string_lossy().as_bytes());
    let mut account = "cli|".to_owned();
    for byte in &digest[..DIGEST_BYTES] {
        // Writing to a string cannot fail.
        write!(account, "{byte:02x}").ok();
    }
    account
}
