//! Whether a directory's rules about what to ignore can be read at all. The walk opens whatever has the right
//! name, and would wait at a pipe until somebody writes to it.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;

/// Longer files are no rules that a person wrote.
const MAX_BYTES: u64 = 16 * 1024 * 1024;
/// The longest line that names another directory.
const MAX_LINE: u64 = 16 * 1024;

/// Rules of one copy of a repository.
const EXCLUDED: &str = "info/exclude";

/// Whether a walk can start at a directory: it also reads the rules of the directories above.
pub(super) fn can_be_read_from(root: &Path) -> bool {
    let root = root.canonicalize();
    root.is_ok_and(|root| root.ancestors().all(can_be_read))
}

/// Whether everything that the walk reads in a directory comes to an end.
pub(super) fn can_be_read(directory: &Path) -> bool {
    let own = [".gitignore", ".ignore"];
    let git = directory.join(".git");
    own.iter().all(|name| ends(&directory.join(name)))
        && match fs::metadata(&git) {
            Ok(file) if file.is_dir() => ends(&git.join(EXCLUDED)),
            Ok(file) if file.is_file() => linked_can_be_read(&git),
            _ => true,
        }
}

/// The same for a linked work tree, whose `.git` is a file that names the directory.
fn linked_can_be_read(git: &Path) -> bool {
    let named = first_line(git);
    let Some(directory) = named
        .as_deref()
        .and_then(|line| line.strip_prefix("gitdir: "))
    else {
        return true;
    };
    let directory = Path::new(directory);
    let common = directory.join("commondir");
    ends(&common)
        && first_line(&common).is_none_or(|common| ends(&directory.join(common).join(EXCLUDED)))
}

/// Whether reading a file comes to an end: it is not there, a directory, or a regular file.
fn ends(path: &Path) -> bool {
    fs::metadata(path).map_or(true, |file| {
        file.is_dir() || (file.is_file() && file.len() <= MAX_BYTES)
    })
}

fn first_line(path: &Path) -> Option<String> {
    let mut line = String::new();
    let file = quipu_disk::open(path).ok()?.take(MAX_LINE);
    BufReader::new(file).read_line(&mut line).ok()?;
    Some(line.trim_end_matches(['\n', '\r']).to_owned())
}
