//! What the service knows of its surroundings: variables, directories. Gathered once, so that tests can have others.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

/// The surroundings of one workflow.
#[derive(Clone, Debug)]
pub struct Env {
    pub variables: BTreeMap<String, String>,
    /// The directory of `WORKFLOW.md`, from which relative paths start.
    pub directory: PathBuf,
    /// For files that may disappear.
    pub temporary: PathBuf,
    /// What starts an agent where the workflow does not say.
    pub default_command: String,
}

impl Env {
    /// The surroundings of this process, for a workflow in a directory.
    #[must_use]
    pub fn of_process(directory: &Path) -> Env {
        let text = |it: std::ffi::OsString| it.into_string().ok();
        let variables = std::env::vars_os();
        let variables = variables.filter_map(|(name, value)| Some((text(name)?, text(value)?)));
        Env {
            variables: variables.collect(),
            directory: directory.to_owned(),
            temporary: std::env::temp_dir(),
            default_command: "codex app-server".to_owned(),
        }
    }

    /// A value that may be `$NAME`: the variable's value then, nothing if it is empty or not set.
    #[must_use]
    pub fn resolve(&self, value: &str) -> Option<String> {
        match variable(value) {
            Some(name) => self
                .variables
                .get(name)
                .filter(|it| !it.is_empty())
                .cloned(),
            None => Some(value.to_owned()),
        }
    }

    /// A path that may be `$NAME`, begin with `$NAME/` or `~/`, or be relative; absolute and without dots.
    pub fn path(&self, value: &str) -> Result<PathBuf, String> {
        let (first, rest) = match value.split_once('/') {
            Some((first, rest)) => (first, Some(rest)),
            None => (value, None),
        };
        let start = match first {
            "~" => self
                .variables
                .get("HOME")
                .cloned()
                .ok_or("begins with `~`, and HOME is not set")?,
            first if first.starts_with('$') => self
                .resolve(first)
                .ok_or_else(|| format!("names the variable {first}, which is not set"))?,
            first => first.to_owned(),
        };
        let whole = match rest {
            Some(rest) => format!("{start}/{rest}"),
            None => start,
        };
        if whole.is_empty() {
            return Err("is empty".to_owned());
        }
        Ok(absolute(&self.directory.join(whole)))
    }
}

/// The name in a value that is `$NAME` and nothing else.
#[must_use]
pub fn variable(value: &str) -> Option<&str> {
    let name = value.strip_prefix('$')?;
    let plain = |it: char| it.is_ascii_alphanumeric() || it == '_';
    (!name.is_empty() && name.chars().all(plain)).then_some(name)
}

/// The same place without `.` and `..`, which need not exist.
pub(crate) fn absolute(path: &Path) -> PathBuf {
    let mut clean = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                clean.pop();
            }
            part => clean.push(part),
        }
    }
    clean
}
