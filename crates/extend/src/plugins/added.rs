//! Marketplaces that the user has added: from a directory, or from a repository that is kept in the home.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use quipu_config::settings::{MarketplaceSource, Repository};

use super::marketplace::{Marketplace, PLACE};
use super::{CURATED, PluginError, id};

/// The directory of the copies of repositories, below the home.
const COPIES: &str = ".tmp/marketplaces";
/// How the names of unfinished copies begin; no marketplace can have such a name.
const UNFINISHED: &str = ".quipu-";

const FORMAT: &str = "invalid marketplace source format; expected owner/repo, a git URL, or a local marketplace path";

/// Where the copy of a repository is.
pub fn copy_of(home: &Path, name: &str) -> PathBuf {
    home.join(COPIES).join(name)
}

/// The directory of a marketplace that was added.
pub fn added_root(home: &Path, name: &str, source: &MarketplaceSource) -> PathBuf {
    match source {
        MarketplaceSource::Local { path } => path.clone(),
        MarketplaceSource::Git(_) => copy_of(home, name),
    }
}

/// Refuses a name that no marketplace can have.
pub fn check_marketplace_name(name: &str) -> Result<(), PluginError> {
    id::problem("marketplace", name).map_or(Ok(()), |problem| Err(PluginError::Refused(problem)))
}

/// The name of the marketplace in a directory that is about to be added.
pub fn name_of(root: &Path) -> Result<String, PluginError> {
    if !root.join(PLACE).is_file() {
        return Err(PluginError::Marketplace {
            path: root.to_owned(),
            reason: "marketplace root does not contain a supported manifest".to_owned(),
        });
    }
    let name = Marketplace::read(&root.join(PLACE))?.name;
    check_marketplace_name(&name)?;
    if name == CURATED {
        let text = format!("marketplace `{name}` is reserved and cannot be added from this source");
        return Err(PluginError::Refused(text));
    }
    Ok(name)
}

/// Reads what the user names as a source, of which only some directories may be meant. Paths are relative to `cwd`, and
/// `~` is `user`.
pub fn parse_source(
    source: &str,
    (reference, sparse_paths): (Option<&str>, Vec<String>),
    (cwd, user): (&Path, Option<&Path>),
) -> Result<MarketplaceSource, PluginError> {
    let refused = |text: &str| PluginError::Refused(text.to_owned());
    let source = source.trim();
    if source.is_empty() {
        return Err(refused("marketplace source must not be empty"));
    }
    if let Some(path) = local_path(source, cwd, user) {
        if reference.is_some() {
            return Err(refused(
                "--ref is only supported for git marketplace sources",
            ));
        }
        if !sparse_paths.is_empty() {
            return Err(refused(
                "--sparse is only supported for git marketplace sources",
            ));
        }
        let path = fs::canonicalize(path).map_err(|error| {
            refused(&format!(
                "failed to resolve local marketplace source path: {error}"
            ))
        })?;
        if !path.is_dir() {
            let text = "local marketplace source must be a directory, not a file";
            return Err(refused(text));
        }
        return Ok(MarketplaceSource::Local { path });
    }
    let (source, after) = match source.split_once('#') {
        Some((source, after)) => (source, Some(after)),
        None => (source, None),
    };
    let reference = reference.or(after).map(str::to_owned);
    let is_option = |text: &String| text.is_empty() || text.starts_with('-');
    if reference.as_ref().is_some_and(is_option) {
        return Err(refused("the ref must not be empty or begin with `-`"));
    }
    if sparse_paths.iter().any(is_option) {
        return Err(refused("a sparse path must not be empty or begin with `-`"));
    }
    let url = url(source).ok_or_else(|| refused(FORMAT))?;
    Ok(MarketplaceSource::Git(Repository {
        url,
        reference,
        sparse_paths,
    }))
}

/// The path that a source names, if it is one.
fn local_path(source: &str, cwd: &Path, user: Option<&Path>) -> Option<PathBuf> {
    if let Some(rest) = source.strip_prefix("~/") {
        return Some(user.unwrap_or(cwd).join(rest));
    }
    let path = Path::new(source);
    let is_relative =
        source == "." || source == ".." || source.starts_with("./") || source.starts_with("../");
    (path.is_absolute() || is_relative).then(|| cwd.join(path))
}

/// The URL of a repository, which `git` takes for nothing else.
fn url(source: &str) -> Option<String> {
    let is_url = ["https://", "http://", "ssh://"]
        .iter()
        .any(|scheme| source.starts_with(scheme));
    let is_address = source.starts_with("git@") && source.contains(':');
    if is_url || is_address {
        return Some(source.to_owned());
    }
    let plain = |part: &str| {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        !part.is_empty() && !part.starts_with(['.', '-']) && part.chars().all(is_plain)
    };
    let (owner, repository) = source.split_once('/')?;
    let is_known = plain(owner) && plain(repository);
    is_known.then(|| format!("https://github.com/{owner}/{repository}.git"))
}

/// A place for the new copy of a repository. What is there is removed when this is dropped.
#[derive(Debug)]
pub struct NewCopy(PathBuf);

impl NewCopy {
    /// A directory that does not exist yet.
    pub fn begin(home: &Path) -> io::Result<NewCopy> {
        let directory = quipu_disk::private_dirs(home, Path::new(COPIES))?;
        let name = format!("{UNFINISHED}{}", super::curated::random_name());
        Ok(NewCopy(directory.join(name)))
    }

    /// The directory to fetch into.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Puts the copy in the place of the one that is there; its new place.
    pub fn take(&self, home: &Path, name: &str) -> io::Result<PathBuf> {
        let (root, old) = (copy_of(home, name), self.0.with_extension("old"));
        match fs::rename(&root, &old) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        fs::rename(&self.0, &root)?;
        remove(&old)?;
        Ok(root)
    }
}

impl Drop for NewCopy {
    fn drop(&mut self) {
        if let Err(error) = remove(&self.0) {
            tracing::warn!(path = %self.0.display(), %error, "unfinished copy stays behind");
        }
    }
}

/// Removes the copy of a repository; its place, if there was one.
pub fn remove_copy(home: &Path, name: &str) -> io::Result<Option<PathBuf>> {
    let root = copy_of(home, name);
    if !root.exists() {
        return Ok(None);
    }
    remove(&root)?;
    Ok(Some(root))
}

fn remove(path: &Path) -> io::Result<()> {
    match quipu_disk::remove_tree(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_is_a_directory_or_a_repository() {
        let cwd = std::env::temp_dir();
        let parse =
            |source: &str, reference| parse_source(source, (reference, Vec::new()), (&cwd, None));
        let git = |url: &str, reference: Option<&str>| {
            MarketplaceSource::Git(Repository {
                url: url.to_owned(),
                reference: reference.map(str::to_owned),
                sparse_paths: Vec::new(),
            })
        };
        for (source, reference, expected) in [
            (
                "me/tools",
                None,
                git("https://github.com/me/tools.git", None),
            ),
            (
                "https://h/x.git#v1",
                None,
                git("https://h/x.git", Some("v1")),
            ),
            (
                "git@h:x.git",
                Some("main"),
                git("git@h:x.git", Some("main")),
            ),
        ] {
            assert_eq!(parse(source, reference).unwrap(), expected);
        }
        let local = parse(".", None).unwrap();
        let path = fs::canonicalize(&cwd).unwrap();
        assert_eq!(local, MarketplaceSource::Local { path });
        for (source, reference, text) in [
            (" ", None, "marketplace source must not be empty"),
            ("name", None, FORMAT),
            ("file:///x", None, FORMAT),
            ("a/b/c", None, FORMAT),
            ("-u/x", None, FORMAT),
            (
                ".",
                Some("main"),
                "--ref is only supported for git marketplace sources",
            ),
            (
                "me/tools",
                Some("--upload-pack=x"),
                "the ref must not be empty or begin with `-`",
            ),
        ] {
            assert_eq!(parse(source, reference).unwrap_err().to_string(), text);
        }
    }
}
