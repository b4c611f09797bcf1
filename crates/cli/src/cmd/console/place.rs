//! What is kept of the console between runs: its port and its token, readable by the owner only.

use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::address::Address;

/// No such file is longer.
const MAX_BYTES: u64 = 4096;

/// Where the console of a home directory is, or was.
#[derive(Serialize, Deserialize)]
pub struct Place {
    pub port: u16,
    pub token: String,
}

impl Place {
    /// What is stored; nothing if there never was a console. A file that cannot be read as one is replaced.
    pub fn read(home: &Path) -> Result<Option<Place>, String> {
        let path = file(home);
        match quipu_disk::read_text(&path, MAX_BYTES) {
            Ok(text) => Ok(serde_json::from_str(&text).ok()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(format!("cannot read {}: {error}", path.display())),
        }
    }

    pub fn write(&self, home: &Path) -> io::Result<()> {
        let text = serde_json::to_string(self)?;
        quipu_disk::Target::lock(&file(home))?.replace_secret(text.as_bytes())
    }

    pub fn address(&self) -> Address {
        Address::loopback(self.port)
    }
}

fn file(home: &Path) -> PathBuf {
    home.join("console.json")
}
