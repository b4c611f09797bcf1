//! Gets a published server to compare with, so that nobody has to hunt for its binary. Only this flag
//! reaches for the network, and what it gets stays in a cache directory.

use std::env;
use std::ffi::OsStr;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::str::FromStr;

use crate::ground::Subject;
use crate::{Failure, Result};

/// A published version of a server, such as `codex@0.118.0`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Published {
    version: String,
}

impl FromStr for Published {
    type Err = Failure;

    fn from_str(text: &str) -> Result<Published> {
        let is_version = |it: &&str| {
            it.starts_with(|it: char| it.is_ascii_digit())
                && it
                    .chars()
                    .all(|it| it.is_ascii_alphanumeric() || ".-".contains(it))
        };
        match text.strip_prefix("codex@").filter(is_version) {
            Some(version) => Ok(Published {
                version: version.to_owned(),
            }),
            None => Err("only codex can be fetched; give it as codex@VERSION".into()),
        }
    }
}

impl Published {
    /// The server's program, from the cache if it is there.
    pub fn fetch(&self) -> Result<Subject> {
        let name = format!("codex-{}", self.version);
        let directory = cache()?.join(&name);
        if let Some(program) = program_in(&directory)? {
            return Ok(Subject::new(&name, program));
        }
        writeln!(
            io::stderr().lock(),
            "npm puts {name} into {}",
            directory.display()
        )?;
        std::fs::create_dir_all(&directory)?;
        install(&directory, &format!("@openai/codex@{}", self.version))?;
        match program_in(&directory)? {
            Some(program) => Ok(Subject::new(&name, program)),
            None => Err(format!(
                "the package has no program for this machine; see {}",
                directory.display()
            )
            .into()),
        }
    }
}

/// Scripts of packages are not run: the program needs none.
#[expect(
    clippy::disallowed_methods,
    reason = "npm is run and waited for before anything is measured"
)]
fn install(directory: &Path, package: &str) -> Result<()> {
    let status = Command::new("npm")
        .args(["install", "--ignore-scripts", "--no-audit", "--no-fund"])
        .args(["--no-save", "--loglevel=error", "--prefix"])
        .arg(directory)
        .arg(package)
        // The table is what standard output is for.
        .stdout(io::stderr())
        .status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("npm install {package} ended with {status}").into()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Err(
            "--fetch-peer needs the program npm, which is not installed; \
             get the server otherwise and give it with --peer NAME=BINARY"
                .into(),
        ),
        Err(error) => Err(format!("npm cannot be run: {error}").into()),
    }
}

/// The directory for what is fetched.
fn cache() -> Result<PathBuf> {
    let named = |name| env::var_os(name).map(PathBuf::from);
    let base = named("XDG_CACHE_HOME").filter(|it| it.is_absolute());
    let base = base.or_else(|| Some(named("HOME")?.join(".cache")));
    let base = base.ok_or("--fetch-peer keeps a cache and needs HOME or XDG_CACHE_HOME")?;
    Ok(base.join("quipu-bench"))
}

/// The program inside an installed package: a launcher in JavaScript has other names.
fn program_in(directory: &Path) -> Result<Option<PathBuf>> {
    let entries = match std::fs::read_dir(directory) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        entries => entries?,
    };
    for entry in entries {
        let (path, kind) = entry.map(|it| (it.path(), it.file_type()))?;
        let is_vendored = path.components().any(|it| it.as_os_str() == "vendor");
        let found = match kind?.is_dir() {
            true => program_in(&path)?,
            false => (is_vendored && path.file_name() == Some(OsStr::new("codex"))).then_some(path),
        };
        if found.is_some() {
            return Ok(found);
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_exact() {
        let published: Published = "codex@0.118.0".parse().unwrap();
        assert_eq!(published.version, "0.118.0");
        for bad in [
            "codex",
            "codex@",
            "codex@latest",
            "codex@1 --global",
            "vim@9",
        ] {
            assert!(bad.parse::<Published>().is_err(), "{bad}");
        }
    }

    #[test]
    fn finds_the_program_and_not_its_launcher() {
        let directory = tempfile::tempdir().unwrap();
        let put = |path: &str| {
            let path = directory.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, "").unwrap();
            path
        };
        assert_eq!(program_in(&directory.path().join("none")).unwrap(), None);
        put("node_modules/.bin/codex");
        assert_eq!(program_in(directory.path()).unwrap(), None);
        let program = put("node_modules/@openai/codex-x/vendor/triple/codex/codex");
        assert_eq!(program_in(directory.path()).unwrap(), Some(program));
    }
}
