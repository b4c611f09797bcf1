//! The tokens of servers: in `.credentials.json`, in the form that other programs of this protocol share, or in the
//! keyring of the system.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};

use quipu_keyring::Entry;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

/// A file of tokens is small; whatever is larger is something else.
const MAX_BYTES: u64 = 4 * 1024 * 1024;
/// Hexadecimal digits of the digest that are part of a key.
const KEY_DIGITS: usize = 16;

/// The name under which tokens are in the keyring.
const SERVICE: &str = "Quipu MCP Credentials";

/// Where tokens are kept.
#[derive(Debug, Clone)]
pub enum Store {
    /// In this file.
    File(PathBuf),
    /// In the keyring, one entry for each server.
    Keyring,
}

/// What a login yielded.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Tokens {
    pub server_name: String,
    pub server_url: String,
    pub client_id: String,
    pub access_token: String,
    /// In milliseconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refresh_token: Option<String>,
    #[serde(default)]
    pub scopes: Vec<String>,
}

impl Store {
    /// The store in a home directory.
    #[must_use]
    pub fn in_home(home: &Path) -> Store {
        Store::File(home.join(".credentials.json"))
    }

    /// The tokens for a server at an address.
    pub(crate) fn load(&self, server: &str, url: &str) -> Option<Tokens> {
        let key = key(server, url);
        match self {
            Store::File(file) => serde_json::from_value(read(file).remove(&key)?).ok(),
            Store::Keyring => match Entry::new(SERVICE, key).read() {
                Ok(tokens) => serde_json::from_str(&tokens?).ok(),
                Err(error) => {
                    tracing::warn!(server, %error, "stored login not read");
                    None
                }
            },
        }
    }

    /// Keeps tokens in place of those of an earlier login. Entries of others stay as they are.
    pub(crate) async fn save(&self, tokens: &Tokens) -> io::Result<()> {
        let (store, tokens) = (self.clone(), tokens.clone());
        let saved = tokio::task::spawn_blocking(move || store.save_now(&tokens));
        saved.await.map_err(io::Error::other)?
    }

    fn save_now(&self, tokens: &Tokens) -> io::Result<()> {
        let key = key(&tokens.server_name, &tokens.server_url);
        match self {
            Store::File(file) => {
                let target = quipu_disk::Target::lock(file)?;
                let mut entries = read(file);
                entries.insert(key, serde_json::to_value(tokens)?);
                target.replace_secret(&serde_json::to_vec(&entries)?)
            }
            Store::Keyring => {
                let entry = Entry::new(SERVICE, key);
                entry
                    .write(&serde_json::to_string(tokens)?)
                    .map_err(io::Error::other)
            }
        }
    }
}

fn read(file: &Path) -> BTreeMap<String, Value> {
    match quipu_disk::read_text(file, MAX_BYTES) {
        Ok(text) => serde_json::from_str(&text).unwrap_or_else(|_| {
            tracing::warn!(file = %file.display(), "the stored logins cannot be read");
            BTreeMap::new()
        }),
        Err(_) => BTreeMap::new(),
    }
}

/// The name of an entry: the server's, and a digest of how it is reached.
fn key(server: &str, url: &str) -> String {
    let url = Value::from(url);
    let digest = Sha256::digest(format!(r#"{{"type":"http","url":{url},"headers":{{}}}}"#));
    let mut key = format!("{server}|");
    for byte in &digest[..KEY_DIGITS / 2] {
        // Writing to a string cannot fail.
        write!(key, "{byte:02x}").ok();
    }
    key
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn keys_are_those_of_other_programs() {
        let key = key("h", "http://127.0.0.1:46587/mcp");
        assert_eq!(key, "h|0d8a2f5e097d70b8");
    }

    #[test]
    fn entries_of_others_survive() {
        let home = tempfile::tempdir().unwrap();
        let store = Store::in_home(home.path());
        let file = home.path().join(".credentials.json");
        fs::write(&file, r#"{"other|1":{"secret":1}}"#).unwrap();
        let tokens = Tokens {
            server_name: "h".to_owned(),
            server_url: "http://h/mcp".to_owned(),
            client_id: "c".to_owned(),
            access_token: "a".to_owned(),
            expires_at: Some(7),
            refresh_token: None,
            scopes: vec!["s".to_owned()],
        };
        store.save_now(&tokens).unwrap();
        assert!(store.load("h", "http://h/mcp") == Some(tokens));
        assert!(store.load("h", "http://elsewhere/mcp").is_none());
        assert!(
            fs::read_to_string(&file)
                .unwrap()
                .contains(r#""other|1":{"secret":1}"#)
        );
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            assert_eq!(
                fs::metadata(&file).unwrap().permissions().mode() & 0o777,
                0o600
            );
        }
    }

    #[test]
    fn a_broken_file_holds_no_tokens() {
        let home = tempfile::tempdir().unwrap();
        fs::write(home.path().join(".credentials.json"), "{").unwrap();
        assert!(Store::in_home(home.path()).load("h", "u").is_none());
    }
}
