//! Adds rules that a person has just agreed to, in the form that every program of this kind reads.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use super::file::MAX_FILE_BYTES;
use super::network::{HostError, NetworkDecision, NetworkProtocol, normal_host};
use super::prefix::PatternError;

/// The file below the home directory that amendments go to.
pub const DEFAULT_RULES_FILE: &str = "rules/default.rules";

/// Why an amendment was not saved.
#[derive(Debug, thiserror::Error)]
pub enum AmendError {
    /// The prefix is none.
    #[error(transparent)]
    Pattern(#[from] PatternError),
    /// The host is none.
    #[error(transparent)]
    Host(#[from] HostError),
    /// The file is as large as it may become.
    #[error("{} is full; remove rules that are no longer needed", path.display())]
    Full {
        /// The file.
        path: PathBuf,
    },
    /// The file could not be changed.
    #[error("cannot add a rule to {}: {error}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why not.
        error: io::Error,
    },
}

/// Saves that commands starting with these words are allowed; `false` if that was saved before. Blocks, for some
/// seconds if others keep the file locked.
pub fn append_allow_prefix(home: &Path, words: &[String]) -> Result<bool, AmendError> {
    if words.is_empty() {
        return Err(PatternError::Empty.into());
    }
    let pattern = words
        .iter()
        .map(|word| quoted(word))
        .collect::<Vec<_>>()
        .join(", ");
    append(
        home,
        &format!("prefix_rule(pattern=[{pattern}], decision=\"allow\")"),
    )
}

/// Saves what to do about a host; `false` if that was saved before. Blocks like [`append_allow_prefix`].
pub fn append_network_rule(
    home: &Path,
    host: &str,
    protocol: NetworkProtocol,
    decision: NetworkDecision,
) -> Result<bool, AmendError> {
    let host = normal_host(host)?;
    let protocol = protocol.name();
    let (decision, verb) = match decision {
        NetworkDecision::Allow => ("allow", "Allow"),
        NetworkDecision::Prompt => ("prompt", "Ask about"),
        NetworkDecision::Deny => ("deny", "Deny"),
    };
    let why = quoted(&format!("{verb} {protocol} access to {host}"));
    let host = quoted(&host);
    append(
        home,
        &format!(
            "network_rule(host={host}, protocol=\"{protocol}\", decision=\"{decision}\", justification={why})"
        ),
    )
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

fn append(home: &Path, line: &str) -> Result<bool, AmendError> {
    let path = home.join(DEFAULT_RULES_FILE);
    let failed = |error| AmendError::Io {
        path: path.clone(),
        error,
    };
    if let Some(directory) = path.parent() {
        std::fs::create_dir_all(directory).map_err(failed)?;
    }
    let mut options = OpenOptions::new();
    options.read(true).append(true).create(true);
    let mut file = quipu_disk::open_locked(&mut options, &path).map_err(failed)?;
    let mut before = String::new();
    let mut limited = (&mut file).take(MAX_FILE_BYTES as u64 + 1);
    limited.read_to_string(&mut before).map_err(failed)?;
    if before.lines().any(|present| present == line) {
        return Ok(false);
    }
    let gap = if before.is_empty() || before.ends_with('\n') {
        ""
    } else {
        "\n"
    };
    let added = format!("{gap}{line}\n");
    if before.len() + added.len() > MAX_FILE_BYTES {
        return Err(AmendError::Full { path: path.clone() });
    }
    write_whole(&mut file, before.len(), &added).map_err(failed)?;
    Ok(true)
}

/// Writes all of `added` or nothing: half a rule would make the whole file invalid.
fn write_whole(file: &mut File, end: usize, added: &str) -> io::Result<()> {
    let written = file
        .write_all(added.as_bytes())
        .and_then(|()| file.sync_data());
    if written.is_err() {
        file.set_len(end as u64)?;
        file.seek(SeekFrom::End(0))?;
    }
    written
}
