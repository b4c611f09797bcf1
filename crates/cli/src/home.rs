//! The folder of all state: `$QUIPU_HOME`, else `$CODEX_HOME`, else `~/.quipu`.

use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::PathBuf;

/// Finds the home, creating it, private to the user, if it does not exist.
pub fn home() -> Result<PathBuf, String> {
    let named = ["QUIPU_HOME", "CODEX_HOME"].iter().find_map(|name| {
        std::env::var_os(name)
            .filter(|value| !value.is_empty())
            .map(PathBuf::from)
    });
    let home = match named {
        Some(home) => home,
        None => std::env::home_dir()
            .ok_or("cannot find your home folder; set QUIPU_HOME to where state may be kept")?
            .join(".quipu"),
    };
    create(&home).map_err(|error| format!("cannot use {} as home: {error}", home.display()))
}

fn create(home: &PathBuf) -> io::Result<PathBuf> {
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(home)?;
    home.canonicalize()
}
