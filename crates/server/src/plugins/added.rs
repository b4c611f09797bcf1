//! Marketplaces that the user adds, removes and brings up to date. `config.toml` has where they come from.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use quipu_config::edit::{Edit, WriteRequest};
use quipu_config::settings::{MarketplaceSource, Repository};
use quipu_extend::plugins::{self, NewCopy, PluginError};
use quipu_wire::{AbsolutePath, MarketplaceUpgradeErrorInfo, MarketplaceUpgradeResponse};
use serde_json::Value;

use super::curated::git;
use super::refusal;
use crate::blocking::blocking;
use crate::{Refusal, Server};

const ADD: &str = "add marketplace";

/// A marketplace that was added.
pub(crate) struct Added {
    pub name: String,
    pub root: PathBuf,
    /// It was there before.
    pub is_old: bool,
}

/// Adds the marketplace of a source, unless it is there.
pub(crate) async fn add(server: &Arc<Server>, source: MarketplaceSource) -> Result<Added, Refusal> {
    let known = added(server)?;
    let same = known.iter().find(|(_, known)| **known == source);
    if let Some((name, source)) = same {
        let root = plugins::added_root(server.home(), name, source);
        if root.is_dir() {
            let name = name.clone();
            return Ok(Added {
                name,
                root,
                is_old: true,
            });
        }
    }
    match source {
        MarketplaceSource::Local { path } => {
            let root = path.clone();
            let name = named(server, &path).await?;
            store(server, &name, MarketplaceSource::Local { path })?;
            Ok(Added {
                name,
                root,
                is_old: false,
            })
        }
        MarketplaceSource::Git(repository) => {
            let copy = clone(server, &repository).await;
            let copy = copy.map_err(Refusal::internal)?;
            let name = named(server, copy.path()).await?;
            let source = MarketplaceSource::Git(repository);
            check_new(server, &name, &source)?;
            let root = take(server, copy, &name).await;
            let root = root.map_err(Refusal::internal)?;
            store(server, &name, source)?;
            Ok(Added {
                name,
                root,
                is_old: false,
            })
        }
    }
}

/// The marketplaces that were added.
fn added(server: &Server) -> Result<BTreeMap<String, MarketplaceSource>, Refusal> {
    let settings = server.settings.config.load_or_defaults();
    let settings = settings.map_err(|error| Refusal::internal(error.to_string()))?;
    Ok(settings.marketplaces())
}

/// The name of the marketplace in a directory.
async fn named(server: &Arc<Server>, root: &Path) -> Result<String, Refusal> {
    let root = root.to_owned();
    let named = blocking(server, move |_| plugins::name_of(&root)).await?;
    named.map_err(|error| refusal(&error, ADD))
}

/// Refuses a name that another source has.
fn check_new(server: &Server, name: &str, source: &MarketplaceSource) -> Result<(), Refusal> {
    match added(server)?.get(name) {
        Some(known) if known != source => Err(Refusal::invalid_request(format!(
            "marketplace '{name}' is already added from a different source; remove it before adding this source"
        ))),
        _ => Ok(()),
    }
}

/// Writes where a marketplace comes from to the settings.
fn store(server: &Server, name: &str, source: MarketplaceSource) -> Result<(), Refusal> {
    check_new(server, name, &source)?;
    let set = |key: &str, value: Value| Edit::set(&["marketplaces", name, key], value);
    let edits = match source {
        MarketplaceSource::Local { path } => vec![
            set("source_type", "local".into()),
            set("source", path.display().to_string().into()),
        ],
        MarketplaceSource::Git(repository) => {
            let mut edits = vec![
                set("source_type", "git".into()),
                set("source", repository.url.into()),
            ];
            edits.extend(repository.reference.map(|it| set("ref", it.into())));
            if !repository.sparse_paths.is_empty() {
                edits.push(set("sparse_paths", repository.sparse_paths.into()));
            }
            edits
        }
    };
    write(server, edits)
}

fn write(server: &Server, edits: Vec<Edit>) -> Result<(), Refusal> {
    let request = WriteRequest {
        edits,
        ..WriteRequest::default()
    };
    let written = server.settings.config.write(&request);
    let failed = |error| Refusal::internal(format!("failed to write marketplace config: {error}"));
    written.map(drop).map_err(failed)
}

/// Removes a marketplace; the directory of its copy, if there was one.
pub(crate) async fn remove(server: &Arc<Server>, name: &str) -> Result<Option<PathBuf>, Refusal> {
    let checked = plugins::check_marketplace_name(name);
    checked.map_err(|error| refusal(&error, "remove marketplace"))?;
    let is_added = added(server)?.contains_key(name);
    if is_added {
        write(
            server,
            vec![Edit::set(&["marketplaces", name], Value::Null)],
        )?;
    }
    let copy = name.to_owned();
    let removed = blocking(server, move |server| {
        plugins::remove_copy(server.home(), &copy)
    });
    let removed = removed
        .await?
        .map_err(|error| refusal(&PluginError::Io(error), "remove marketplace"))?;
    if !is_added && removed.is_none() {
        let text = format!("marketplace `{name}` is not configured or installed");
        return Err(Refusal::invalid_request(text));
    }
    Ok(removed)
}

/// Brings the copies of repositories up to date: all, or the one of a name.
pub(crate) async fn upgrade(
    server: &Arc<Server>,
    only: Option<&str>,
) -> Result<MarketplaceUpgradeResponse, Refusal> {
    let mut answer = MarketplaceUpgradeResponse {
        selected_marketplaces: Vec::new(),
        upgraded_roots: Vec::new(),
        errors: Vec::new(),
    };
    let known = added(server)?.into_iter();
    for (name, source) in known.filter(|(name, _)| only.is_none_or(|only| only == name)) {
        let MarketplaceSource::Git(repository) = source else {
            continue;
        };
        answer.selected_marketplaces.push(name.clone());
        match upgrade_one(server, &name, &repository).await {
            Ok(root) => {
                let root = root.and_then(|root| AbsolutePath::new(&root));
                answer.upgraded_roots.extend(root);
            }
            Err(message) => answer.errors.push(MarketplaceUpgradeErrorInfo {
                marketplace_name: name,
                message,
            }),
        }
    }
    match only {
        Some(name) if answer.selected_marketplaces.is_empty() => {
            let text = format!("marketplace `{name}` is not configured as a Git marketplace");
            Err(Refusal::invalid_request(text))
        }
        _ => Ok(answer),
    }
}

/// Fetches a repository again if it has changed; the directory of its copy if so.
async fn upgrade_one(
    server: &Arc<Server>,
    name: &str,
    repository: &Repository,
) -> Result<Option<PathBuf>, String> {
    let reference = repository.reference.as_deref().unwrap_or("HEAD");
    let remote = git(server, &["ls-remote", "--", &repository.url, reference]).await?;
    let remote = remote.split_whitespace().next().unwrap_or_default();
    let root = plugins::copy_of(server.home(), name).display().to_string();
    let own = git(server, &["-C", &root, "rev-parse", "HEAD"]).await;
    if own.is_ok_and(|own| own.trim() == remote) {
        return Ok(None);
    }
    let copy = clone(server, repository).await?;
    let found = named(server, copy.path()).await;
    let found = found.map_err(|error| error.to_string())?;
    if found != name {
        return Err(format!("the repository is now the marketplace `{found}`"));
    }
    take(server, copy, name).await.map(Some)
}

/// A new copy of a repository, or of a part of it.
async fn clone(server: &Arc<Server>, repository: &Repository) -> Result<NewCopy, String> {
    let copy = blocking(server, |server| NewCopy::begin(server.home())).await;
    let copy = copy.map_err(|error| error.to_string())?;
    let copy = copy.map_err(|error| error.to_string())?;
    let path = copy.path().display().to_string();
    let url = repository.url.as_str();
    let reference = repository.reference.as_deref();
    let paths = &repository.sparse_paths;
    if paths.is_empty() {
        git(server, &["clone", "--quiet", "--", url, &path]).await?;
    } else {
        let mut begin = vec!["clone", "--quiet", "--filter=blob:none", "--no-checkout"];
        begin.extend(["--", url, &path]);
        git(server, &begin).await?;
        let mut choose = vec!["-C", &path, "sparse-checkout", "set", "--cone"];
        choose.extend(paths.iter().map(String::as_str));
        git(server, &choose).await?;
    }
    if reference.is_some() || !paths.is_empty() {
        let reference = reference.unwrap_or("HEAD");
        let checkout = ["-C", &path, "checkout", "--quiet", reference];
        git(server, &checkout).await?;
    }
    Ok(copy)
}

async fn take(server: &Arc<Server>, copy: NewCopy, name: &str) -> Result<PathBuf, String> {
    let name = name.to_owned();
    let taken = blocking(server, move |server| copy.take(server.home(), &name)).await;
    let taken = taken.map_err(|error| error.to_string())?;
    taken.map_err(|error| error.to_string())
}
