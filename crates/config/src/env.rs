//! The process environment, read once, so that nothing else in the program depends on hidden globals
//! and tests can run side by side with environments of their own.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use crate::files::MAX_FILE_BYTES;
use crate::home::Home;

/// A copy of the process environment and working directory.
///
/// Variables that are not UTF-8 are left out. `Debug` shows names only: values may be secrets.
#[derive(Clone)]
pub struct Env {
    vars: BTreeMap<String, String>,
    cwd: PathBuf,
}

impl Env {
    /// Reads the environment of this process.
    pub fn from_process() -> Self {
        let vars = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .map(|(name, value)| (spelled(name), value))
            .collect();
        Self {
            vars,
            cwd: std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/")),
        }
    }

    /// An environment made of the given variables, as if started in `cwd`.
    pub fn new<K, V>(vars: impl IntoIterator<Item = (K, V)>, cwd: impl Into<PathBuf>) -> Self
    where
        K: Into<String>,
        V: Into<String>,
    {
        let vars = vars
            .into_iter()
            .map(|(name, value)| (name.into(), value.into()))
            .collect();
        Self {
            vars,
            cwd: cwd.into(),
        }
    }

    /// The value of a variable; an empty value counts as unset.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.vars
            .get(name)
            .map(String::as_str)
            .filter(|value| !value.is_empty())
    }

    /// All variables, sorted by name, empty ones included.
    pub fn vars(&self) -> impl Iterator<Item = (&str, &str)> {
        self.vars
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// The directory the process was started in.
    pub fn cwd(&self) -> &Path {
        &self.cwd
    }

    /// The user's home directory, for `~` in paths.
    pub fn user_home(&self) -> Option<&Path> {
        let home = self.get("HOME");
        let profile = || self.get("USERPROFILE").filter(|_| cfg!(windows));
        home.or_else(profile).map(Path::new)
    }

    /// Adds the variables of `<home>/.env`, which win over inherited ones.
    ///
    /// Names that steer this program (`CODEX_…`, `QUIPU_…`) are ignored there. A missing or
    /// unreadable file changes nothing.
    pub fn add_dotenv(&mut self, home: &Home) {
        let Ok(text) = quipu_disk::read_text(&home.path().join(".env"), MAX_FILE_BYTES) else {
            return;
        };
        for line in text.lines() {
            if let Some((name, value)) = dotenv_line(line)
                && !name.starts_with("CODEX_")
                && !name.starts_with("QUIPU_")
            {
                self.vars.insert(name.to_owned(), value.to_owned());
            }
        }
    }
}

impl fmt::Debug for Env {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Env")
            .field("names", &self.vars.keys().collect::<Vec<_>>())
            .field("cwd", &self.cwd)
            .finish()
    }
}

/// The name of a variable as it is asked for. Windows does not mind its case, and tells `Path` for `PATH`.
fn spelled(name: String) -> String {
    if cfg!(windows) {
        name.to_ascii_uppercase()
    } else {
        name
    }
}

/// `NAME=value`, `export NAME="value"`; comments and anything else give `None`.
fn dotenv_line(line: &str) -> Option<(&str, &str)> {
    let line = line.trim();
    let line = line.strip_prefix("export ").unwrap_or(line);
    let (name, value) = line.split_once('=')?;
    let (name, value) = (name.trim(), value.trim());
    let named = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if name.is_empty() || !named {
        return None;
    }
    let quoted = ['"', '\'']
        .into_iter()
        .find_map(|quote| value.strip_prefix(quote)?.strip_suffix(quote));
    let unquoted = || value.split(" #").next().unwrap_or(value).trim_end();
    Some((name, quoted.unwrap_or_else(unquoted)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dotenv_lines() {
        for (line, expected) in [
            ("A=1", Some(("A", "1"))),
            ("  export B = \"x y\" ", Some(("B", "x y"))),
            ("C='#no comment'", Some(("C", "#no comment"))),
            ("D=plain # comment", Some(("D", "plain"))),
            ("# E=1", None),
            ("no assignment", None),
            ("=1", None),
            ("A B=1", None),
        ] {
            assert_eq!(dotenv_line(line), expected, "{line}");
        }
    }

    #[test]
    fn debug_hides_values() {
        let env = Env::new([("OPENAI_API_KEY", "sk-very-secret")], "/");
        assert!(!format!("{env:?}").contains("very-secret"));
    }
}
