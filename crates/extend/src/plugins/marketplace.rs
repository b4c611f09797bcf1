//! `marketplace.json`: which plugins there are, where they lie, and who may install them.

use std::path::{Component, Path, PathBuf};

use quipu_wire::{PluginAuthPolicy, PluginInstallPolicy};
use serde::Deserialize;

use super::PluginError;

/// The longest file that is read.
const MAX_BYTES: u64 = 4 * 1024 * 1024;
/// Where the file lies below the marketplace's root.
const PLACE: &str = ".agents/plugins/marketplace.json";
/// The name of this product in a list of products.
const PRODUCT: &str = "codex";

#[derive(Deserialize)]
pub(super) struct Marketplace {
    pub name: String,
    plugins: Vec<Offer>,
}

/// A plugin on offer.
#[derive(Deserialize)]
pub(super) struct Offer {
    name: String,
    source: Source,
    #[serde(default)]
    policy: OfferPolicy,
}

#[derive(Deserialize)]
#[serde(tag = "source", rename_all = "lowercase")]
enum Source {
    Local { path: String },
}

#[derive(Deserialize, Default)]
struct OfferPolicy {
    installation: Option<PluginInstallPolicy>,
    authentication: Option<PluginAuthPolicy>,
    /// Absent means all.
    products: Option<Vec<String>>,
}

impl Marketplace {
    /// Reads a marketplace's file; one mistake spoils the whole.
    pub fn read(path: &Path) -> Result<Marketplace, PluginError> {
        let invalid = |reason: String| PluginError::Marketplace {
            path: path.to_owned(),
            reason,
        };
        let text = match quipu_disk::read_text(path, MAX_BYTES) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                let text = format!("marketplace file `{}` does not exist", path.display());
                return Err(PluginError::Refused(text));
            }
            Err(error) => return Err(error.into()),
        };
        let marketplace: Marketplace =
            serde_json::from_str(&text).map_err(|error| invalid(error.to_string()))?;
        for offer in &marketplace.plugins {
            let directory = root(path).and_then(|root| offer.directory(root));
            directory.map_err(|reason| invalid(reason.to_owned()))?;
        }
        Ok(marketplace)
    }

    /// The plugin of this name that this product may install, its directory, and when to log in for it.
    pub fn offer(
        &self,
        path: &Path,
        name: &str,
    ) -> Result<(PathBuf, PluginAuthPolicy), PluginError> {
        let market = &self.name;
        let Some(offer) = self.plugins.iter().find(|offer| offer.name == name) else {
            return Err(PluginError::Refused(format!(
                "plugin `{name}` was not found in marketplace `{market}`"
            )));
        };
        let policy = &offer.policy;
        let for_us = policy.products.as_ref().is_none_or(|products| {
            let named = |product: &String| product.eq_ignore_ascii_case(PRODUCT);
            products.iter().any(named)
        });
        if !for_us || policy.installation == Some(PluginInstallPolicy::NOTAVAILABLE) {
            return Err(PluginError::Refused(format!(
                "plugin `{name}` is not available for install in marketplace `{market}`"
            )));
        }
        let directory = root(path).and_then(|root| offer.directory(root));
        let directory = directory.map_err(|reason| PluginError::Refused(reason.to_owned()))?;
        let login = policy.authentication;
        Ok((directory, login.unwrap_or(PluginAuthPolicy::ONINSTALL)))
    }
}

impl Offer {
    fn directory(&self, root: &Path) -> Result<PathBuf, &'static str> {
        let Source::Local { path } = &self.source;
        let Some(path) = path.strip_prefix("./") else {
            return Err("local plugin source path must start with `./`");
        };
        if path.is_empty() {
            return Err("local plugin source path must not be empty");
        }
        let normal = |part| matches!(part, Component::Normal(_));
        if !Path::new(path).components().all(normal) {
            return Err("local plugin source path must stay within the marketplace root");
        }
        Ok(root.join(path))
    }
}

/// The directory that paths in the file are meant from.
fn root(file: &Path) -> Result<&Path, &'static str> {
    let root = file.ancestors().nth(3);
    root.filter(|_| file.ends_with(PLACE))
        .ok_or("marketplace file must live under `<root>/.agents/plugins/`")
}
