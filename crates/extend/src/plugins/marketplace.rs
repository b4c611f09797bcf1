//! `marketplace.json`: which plugins there are, where they are, and who may install them.

use std::path::{Component, Path, PathBuf};

use quipu_wire::{PluginAuthPolicy, PluginInstallPolicy};
use serde::Deserialize;

use super::PluginError;

/// The longest file that is read.
const MAX_BYTES: u64 = 4 * 1024 * 1024;
/// Where the file is below the marketplace's root.
pub(super) const PLACE: &str = ".agents/plugins/marketplace.json";
/// The name of this product in a list of products.
const PRODUCT: &str = "codex";

const OUTSIDE: &str = "local plugin source path must stay within the marketplace root";

#[derive(Deserialize)]
pub(super) struct Marketplace {
    pub name: String,
    pub interface: Option<Interface>,
    pub plugins: Vec<Offer>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Interface {
    pub display_name: Option<String>,
}

/// A plugin on offer.
#[derive(Deserialize)]
pub(super) struct Offer {
    pub name: String,
    source: Source,
    #[serde(default)]
    pub policy: OfferPolicy,
    pub category: Option<String>,
}

#[derive(Deserialize)]
#[serde(tag = "source", rename_all = "lowercase")]
enum Source {
    Local { path: String },
}

/// A word that nobody knows is a mistake, unlike on the wire.
#[derive(Deserialize, Clone, Copy)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
enum Installation {
    NotAvailable,
    Available,
    InstalledByDefault,
}

#[derive(Deserialize, Clone, Copy)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
enum Authentication {
    OnInstall,
    OnUse,
}

#[derive(Deserialize, Default)]
pub(super) struct OfferPolicy {
    installation: Option<Installation>,
    authentication: Option<Authentication>,
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
            Err(error) => return Err(PluginError::Unreadable(error)),
        };
        let marketplace: Marketplace =
            serde_json::from_str(&text).map_err(|error| invalid(error.to_string()))?;
        for offer in &marketplace.plugins {
            let directory = root(path).and_then(|root| offer.directory(root));
            directory.map_err(|reason| invalid(reason.to_owned()))?;
        }
        Ok(marketplace)
    }

    /// The plugin of this name.
    pub fn find(&self, name: &str) -> Option<&Offer> {
        self.plugins.iter().find(|offer| offer.name == name)
    }

    /// The error about a name that no plugin has.
    pub fn not_found(&self, name: &str) -> PluginError {
        let market = &self.name;
        PluginError::Refused(format!(
            "plugin `{name}` was not found in marketplace `{market}`"
        ))
    }

    /// The plugin of this name that this product may install, its directory, and when to log in for it.
    pub fn offer(
        &self,
        path: &Path,
        name: &str,
    ) -> Result<(PathBuf, PluginAuthPolicy), PluginError> {
        let offer = self.find(name).ok_or_else(|| self.not_found(name))?;
        let unavailable = offer.policy.installation() == PluginInstallPolicy::NOTAVAILABLE;
        if unavailable || !offer.is_for_us() {
            let market = &self.name;
            return Err(PluginError::Refused(format!(
                "plugin `{name}` is not available for install in marketplace `{market}`"
            )));
        }
        let refused = |reason: &str| PluginError::Refused(reason.to_owned());
        let root = root(path).map_err(refused)?;
        let directory = offer.directory(root).map_err(refused)?;
        if directory.exists() && offer.source(root).is_none() && directory.is_dir() {
            return Err(refused(OUTSIDE));
        }
        Ok((directory, offer.policy.authentication()))
    }
}

impl OfferPolicy {
    pub fn installation(&self) -> PluginInstallPolicy {
        match self.installation {
            Some(Installation::NotAvailable) => PluginInstallPolicy::NOTAVAILABLE,
            Some(Installation::InstalledByDefault) => PluginInstallPolicy::INSTALLEDBYDEFAULT,
            Some(Installation::Available) | None => PluginInstallPolicy::AVAILABLE,
        }
    }

    pub fn authentication(&self) -> PluginAuthPolicy {
        match self.authentication {
            Some(Authentication::OnUse) => PluginAuthPolicy::ONUSE,
            Some(Authentication::OnInstall) | None => PluginAuthPolicy::ONINSTALL,
        }
    }
}

impl Offer {
    /// Whether it is meant for this product.
    pub fn is_for_us(&self) -> bool {
        self.policy.products.as_ref().is_none_or(|products| {
            let named = |product: &String| product.eq_ignore_ascii_case(PRODUCT);
            products.iter().any(named)
        })
    }

    /// Where the file says that it is.
    pub fn directory(&self, root: &Path) -> Result<PathBuf, &'static str> {
        let Source::Local { path } = &self.source;
        let Some(path) = path.strip_prefix("./") else {
            return Err("local plugin source path must start with `./`");
        };
        if path.is_empty() {
            return Err("local plugin source path must not be empty");
        }
        let normal = |part| matches!(part, Component::Normal(_));
        if !Path::new(path).components().all(normal) {
            return Err(OUTSIDE);
        }
        Ok(root.join(path))
    }

    /// Its directory, if there is one and no link on the way leads out of the marketplace.
    pub fn source(&self, root: &Path) -> Option<PathBuf> {
        let directory = self.directory(root).ok()?;
        let real = directory.canonicalize().ok()?;
        let inside = real.starts_with(root.canonicalize().ok()?);
        (inside && real.is_dir()).then_some(directory)
    }
}

/// The directory that paths in the file are meant from.
fn root(file: &Path) -> Result<&Path, &'static str> {
    let root = file.ancestors().nth(3);
    root.filter(|_| file.ends_with(PLACE))
        .ok_or("marketplace file must live under `<root>/.agents/plugins/`")
}
