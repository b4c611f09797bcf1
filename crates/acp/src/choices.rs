//! What users chose for their sessions, kept across restarts of the agent: a small file for each session that has a choice,
//! in the home directory. The server keeps the model of a turn, but not the mode, and nothing that no turn has used yet.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

/// Sessions whose choices are kept; with more, the oldest are forgotten.
const MOST: usize = 1_000;
/// The largest file that is read.
const MAX_BYTES: u64 = 64 << 10;

/// The choices for one session; what is absent was not chosen.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct Choice {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effort: Option<String>,
}

/// The directory with the files.
pub struct Choices {
    home: PathBuf,
}

impl Choices {
    pub fn new(home: &Path) -> Choices {
        Choices {
            home: home.to_owned(),
        }
    }

    fn directory(&self) -> PathBuf {
        self.home.join("acp")
    }

    /// The file of a session. Ids are the server's, which must not lead elsewhere.
    fn file(&self, session_id: &str) -> Option<PathBuf> {
        let is_plain = |it: u8| it.is_ascii_alphanumeric() || it == b'-';
        let is_name = (1..=64).contains(&session_id.len()) && session_id.bytes().all(is_plain);
        is_name.then(|| self.directory().join(format!("{session_id}.json")))
    }

    /// What was chosen for a session before.
    pub fn read(&self, session_id: &str) -> Choice {
        let Some(file) = self.file(session_id) else {
            return Choice::default();
        };
        let text = match quipu_disk::read_text(&file, MAX_BYTES) {
            Ok(text) => text,
            Err(error) => {
                if error.kind() != io::ErrorKind::NotFound {
                    tracing::warn!(file = %file.display(), %error, "choices of a session not read");
                }
                return Choice::default();
            }
        };
        serde_json::from_str(&text).unwrap_or_else(|error| {
            tracing::warn!(file = %file.display(), %error, "choices of a session ignored");
            Choice::default()
        })
    }

    /// Keeps what was chosen for a session. A choice that cannot be kept still holds until the agent ends.
    pub fn write(&self, session_id: &str, choice: &Choice) {
        let Some(file) = self.file(session_id) else {
            return;
        };
        let done = quipu_disk::private_dirs(&self.home, Path::new("acp"))
            .and_then(|_| serde_json::to_vec(choice).map_err(io::Error::other))
            .and_then(|text| quipu_disk::put(&file, &text))
            .and_then(|()| self.forget_oldest());
        if let Err(error) = done {
            tracing::warn!(file = %file.display(), %error, "choices of a session not kept");
        }
    }

    /// Forgets a session.
    pub fn remove(&self, session_id: &str) {
        if let Some(file) = self.file(session_id)
            && let Err(error) = fs::remove_file(&file)
            && error.kind() != io::ErrorKind::NotFound
        {
            tracing::warn!(file = %file.display(), %error, "choices of a session not removed");
        }
    }

    fn forget_oldest(&self) -> io::Result<()> {
        let mut files: Vec<(SystemTime, PathBuf)> = Vec::new();
        for entry in fs::read_dir(self.directory())? {
            let entry = entry?;
            // Another agent may have removed it meanwhile.
            if let Ok(changed) = entry.metadata().and_then(|it| it.modified()) {
                files.push((changed, entry.path()));
            }
        }
        files.sort();
        for (_, path) in files.iter().take(files.len().saturating_sub(MOST)) {
            fs::remove_file(path).ok();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_are_forgotten_and_ids_lead_nowhere_else() {
        let home = tempfile::tempdir().unwrap();
        let choices = Choices::new(home.path());
        let choice = Choice {
            mode: Some("auto".to_owned()),
            ..Choice::default()
        };
        choices.write("../outside", &choice);
        assert!(!home.path().join("outside.json").exists());
        choices.write("first", &choice);
        assert_eq!(choices.read("first"), choice);
        let old = fs::File::options();
        let old = { old }.write(true).open(choices.file("first").unwrap());
        old.unwrap().set_modified(SystemTime::UNIX_EPOCH).unwrap();
        for number in 0..MOST {
            fs::write(choices.directory().join(format!("{number}.json")), "{}").unwrap();
        }
        choices.write("0", &choice);
        assert_eq!(choices.read("first"), Choice::default());
        assert_eq!(choices.read("0"), choice);
        assert_eq!(fs::read_dir(choices.directory()).unwrap().count(), MOST);
        choices.remove("0");
        assert_eq!(choices.read("0"), Choice::default());
    }
}
