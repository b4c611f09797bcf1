//! Secrets in the keyring of the system: the Secret Service of a Linux desktop, the keychain of macOS, the
//! credentials of Windows.
//!
//! A keyring is another program, which may be missing, locked, or waiting for its user. No call here takes longer than
//! its limit, and after one that did, the keyring counts as missing for a while. Calls block: use them where that is
//! fine.

mod limit;

use std::time::Duration;

/// How long a keyring may take to answer. Longer than a program takes, shorter than a person who is asked for a
/// password: they find the keyring unlocked the next time.
const LIMIT: Duration = Duration::from_secs(5);

/// Why the keyring is of no use.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the keyring cannot be used: {0}")]
pub struct Unusable(String);

/// A secret by the names under which other programs find it too.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    service: &'static str,
    account: String,
}

impl Entry {
    /// The secret of an account at a service.
    pub fn new(service: &'static str, account: String) -> Entry {
        Entry { service, account }
    }

    /// The secret, if there is one.
    pub fn read(&self) -> Result<Option<String>, Unusable> {
        self.with(|entry| match entry.get_password() {
            Ok(secret) => Ok(Some(secret)),
            Err(keyring::Error::NoEntry) => Ok(None),
            Err(error) => Err(error),
        })
    }

    /// Stores a secret over the one before it.
    pub fn write(&self, secret: &str) -> Result<(), Unusable> {
        let secret = secret.to_owned();
        self.with(move |entry| entry.set_password(&secret))
    }

    /// Forgets the secret; tells whether there was one.
    pub fn remove(&self) -> Result<bool, Unusable> {
        self.with(|entry| match entry.delete_credential() {
            Ok(()) => Ok(true),
            Err(keyring::Error::NoEntry) => Ok(false),
            Err(error) => Err(error),
        })
    }

    fn with<T: Send + 'static>(
        &self,
        work: impl FnOnce(&keyring::Entry) -> keyring::Result<T> + Send + 'static,
    ) -> Result<T, Unusable> {
        if let Some(reason) = missing() {
            return Err(Unusable(reason.to_owned()));
        }
        let (service, account) = (self.service, self.account.clone());
        let done = limit::within(LIMIT, move || {
            let entry = keyring::Entry::new(service, &account)?;
            work(&entry)
        });
        match done {
            Some(done) => done.map_err(|error| Unusable(describe(&error))),
            None => Err(Unusable("it does not answer".to_owned())),
        }
    }
}

/// Why there is no keyring at all. The library would start a message bus of its own to find out.
#[cfg(all(unix, not(target_os = "macos")))]
fn missing() -> Option<&'static str> {
    let named = std::env::var_os("DBUS_SESSION_BUS_ADDRESS").is_some_and(|it| !it.is_empty());
    let usual = std::env::var_os("XDG_RUNTIME_DIR").map(std::path::PathBuf::from);
    let has_bus = named || usual.is_some_and(|it| it.join("bus").exists());
    (!has_bus).then_some("there is no D-Bus session")
}

#[cfg(not(all(unix, not(target_os = "macos"))))]
fn missing() -> Option<&'static str> {
    None
}

/// The innermost reason. None of them repeats a secret.
fn describe(error: &keyring::Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    cause.to_string()
}
