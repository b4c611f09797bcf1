//! The skills that come with the program. They lie in the home directory like all others, so that the model
//! can read them and run their scripts.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// Where they lie below the home directory.
pub(super) const DIRECTORY: &str = "skills/.system";
/// Says who put them there. Another program of the same home keeps its own skills there.
const MARKER: &str = ".codex-system-skills.marker";
const OURS: &str = "quipu\n";
/// No file of these is longer.
const MAX_BYTES: u64 = 1024 * 1024;

macro_rules! files {
    ($($path:literal,)*) => {
        [$(($path, include_str!(concat!("bundled/", $path)))),*]
    };
}

const FILES: [(&str, &str); 5] = files![
    "skill-creator/SKILL.md",
    "skill-creator/agents/openai.yaml",
    "skill-installer/SKILL.md",
    "skill-installer/agents/openai.yaml",
    "skill-installer/scripts/install.sh",
];

/// Puts the skills into the home directory, unless another program has put its own there. What is there and
/// right is left alone.
pub fn install_bundled(home: &Path) -> io::Result<()> {
    let directory = home.join(DIRECTORY);
    match quipu_disk::read(&directory.join(MARKER), MAX_BYTES) {
        Ok(marker) if marker != OURS.as_bytes() => return Ok(()),
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    for (path, text) in FILES {
        put(home, Path::new(DIRECTORY).join(path), text)?;
    }
    put(home, Path::new(DIRECTORY).join(MARKER), OURS)
}

/// Makes a file in the home hold a text; it appears whole, for other processes may do the same.
fn put(home: &Path, below: PathBuf, text: &str) -> io::Result<()> {
    let path = home.join(&below);
    if quipu_disk::read(&path, MAX_BYTES).is_ok_and(|present| present == text.as_bytes()) {
        return Ok(());
    }
    let directory = quipu_disk::private_dirs(home, below.parent().unwrap_or(&below))?;
    let mut file = tempfile::NamedTempFile::new_in(directory)?;
    file.write_all(text.as_bytes())?;
    file.persist(path)?;
    Ok(())
}
