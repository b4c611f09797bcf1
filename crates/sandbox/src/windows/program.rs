//! Which file a program's name stands for. The system's own search would look into directories that
//! nobody named, the one this program lies in among them.

use std::{
    ffi::{OsStr, OsString},
    path::{Path, PathBuf},
};

/// What may be left out at the end of a name.
const ENDINGS: [&str; 4] = ["exe", "com", "bat", "cmd"];

/// The file to run, if there is one: a bare name is looked up in `search_path`, any other begins at
/// `cwd`.
pub(super) fn find(program: &OsStr, cwd: &Path, search_path: Option<&OsStr>) -> Option<PathBuf> {
    if Path::new(program).file_name() != Some(program) {
        return runnable(cwd.join(program));
    }
    let usual;
    let search_path = match search_path {
        Some(path) => path,
        None => {
            usual = system_directory()?;
            usual.as_os_str()
        }
    };
    // A relative part would mean whatever directory this program happens to be in.
    std::env::split_paths(search_path)
        .filter(|directory| directory.is_absolute())
        .find_map(|directory| runnable(directory.join(program)))
}

fn runnable(path: PathBuf) -> Option<PathBuf> {
    let with_ending = |ending: &str| {
        let mut longer = OsString::from(path.as_os_str());
        longer.push(".");
        longer.push(ending);
        PathBuf::from(longer)
    };
    let endings = ENDINGS.iter().map(|ending| with_ending(ending));
    let exact = path.extension().map(|_| path.clone());
    exact.into_iter().chain(endings).find(|path| path.is_file())
}

fn system_directory() -> Option<PathBuf> {
    Some(Path::new(&std::env::var_os("SystemRoot")?).join("System32"))
}
