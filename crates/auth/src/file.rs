//! `auth.json`: the stored login, shared with other programs of this protocol.

use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::claims::Claims;
use crate::login::{ChatGptLogin, Login};

/// A file with a login is small; whatever is larger is something else.
const MAX_BYTES: u64 = 1024 * 1024;

/// The members of the file. Those that this version does not use are not kept: a login replaces the one
/// before it wholly.
#[derive(Serialize, Deserialize)]
struct AuthFile {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    auth_mode: Option<String>,
    #[serde(rename = "OPENAI_API_KEY", default)]
    openai_api_key: Option<String>,
    #[serde(default, skip_serializing)]
    tokens: Option<Tokens>,
}

#[derive(Deserialize)]
struct Tokens {
    id_token: String,
    access_token: String,
    account_id: Option<String>,
}

/// The login in the file. A file that cannot be used holds none.
pub(crate) fn read(path: &Path) -> Option<Login> {
    let mut text = String::new();
    let file = File::open(path).ok()?;
    file.take(MAX_BYTES).read_to_string(&mut text).ok()?;
    let stored: AuthFile = serde_json::from_str(&text).ok()?;
    let mode = match stored.auth_mode.as_deref() {
        None if stored.openai_api_key.is_some() => "apikey",
        None => "chatgpt",
        Some(mode) => mode,
    };
    if mode == "apikey" {
        return stored.openai_api_key.map(Login::ApiKey);
    }
    let tokens = stored.tokens?;
    let claims = Claims::read(&tokens.id_token).ok()?;
    let login = ChatGptLogin::new(tokens.access_token, tokens.account_id, claims);
    Some(Login::ChatGpt(login))
}

/// Stores an API key. The file is there whole or not at all, and only its owner can read it.
pub(crate) fn write_key(path: &Path, key: &str) -> io::Result<()> {
    let stored = AuthFile {
        auth_mode: Some("apikey".to_owned()),
        openai_api_key: Some(key.to_owned()),
        tokens: None,
    };
    let text = serde_json::to_vec_pretty(&stored)?;
    // A link to another place stays one.
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let folder = path.parent().unwrap_or(Path::new("/"));
    fs::create_dir_all(folder)?;
    let mut file = tempfile::Builder::new()
        .prefix(".auth")
        .tempfile_in(folder)?;
    file.write_all(&text)?;
    file.as_file().sync_all()?;
    file.persist(&path)?;
    Ok(())
}

/// Forgets the stored login.
pub(crate) fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
